// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A log of RMM's columns.  Its addresses are resolved here, before anything is
 * played: an allocation has a number, and its free has the same one, so that
 * what is measured later is the allocator and no table.
 *
 * Columns are found by their names, as RMM's own reader does it; those that
 * are not needed may be missing.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/address_table.h"
#include "replay.h"

#define MOST_COLUMNS 32

enum column {
	COLUMN_ACTION,
	COLUMN_POINTER,
	COLUMN_SIZE,
	COLUMNS,
};

static const char *const names[COLUMNS] = { "Action", "Pointer", "Size" };

struct reader {
	FILE *file;
	const char *path;
	uint64_t line; /* number of the current one, from 1 */
	uint64_t read, all; /* bytes; all: 0 where it is not known */
	int columns; /* of the header */
	int at[COLUMNS];
	struct log *log;
	size_t room; /* of events */
	struct dray_address_table table; /* to open allocations */
	uint64_t *sizes; /* of each slot */
	size_t sizes_room;
	uint64_t out; /* bytes */
};

/* What is out, by a number that is no NULL. */
static void *value_of(uint32_t slot)
{
	return (void *)((uintptr_t)slot + 1);
}

static uint32_t slot_of(void *value)
{
	return (uint32_t)((uintptr_t)value - 1);
}

/* Cuts @line at its commas; the number of fields, or more than there may be. */
static int split(char *line, char *fields[MOST_COLUMNS])
{
	int count = 0;
	char *field;

	line[strcspn(line, "\r\n")] = 0;
	while ((field = strsep(&line, ",")) != NULL) {
		if (count < MOST_COLUMNS)
			fields[count] = field;
		count++;
	}
	return count;
}

static bool read_header(struct reader *reader, char *line)
{
	char *fields[MOST_COLUMNS];
	int i, column;

	reader->columns = split(line, fields);
	if (reader->columns > MOST_COLUMNS) {
		complain("%s:1: %d columns, at most %d are possible",
			 reader->path, reader->columns, MOST_COLUMNS);
		return false;
	}
	for (column = 0; column < COLUMNS; column++) {
		i = 0;
		while (i < reader->columns && strcmp(fields[i], names[column]))
			i++;
		if (i == reader->columns) {
			complain(
				"%s:1: no column \"%s\": the first line of a "
				"log is Thread,Time,Action,Pointer,Size,Stream",
				reader->path, names[column]);
			return false;
		}
		reader->at[column] = i;
	}
	return true;
}

/* A number with nothing in front of it or behind. */
static bool parse_number(const char *text, int base, uint64_t *out)
{
	char *end;

	if (!*text || !strchr("0123456789abcdefABCDEF", *text))
		return false;
	errno = 0;
	*out = strtoull(text, &end, base);
	return !errno && !*end;
}

static bool parse_pointer(const char *text, uint64_t *out)
{
	*out = 0;
	return !strcmp(text, "(nil)") || parse_number(text, 16, out);
}

static void add_event(struct reader *reader, struct event event)
{
	struct log *log = reader->log;

	if (log->count == reader->room) {
		reader->room = reader->room ? 2 * reader->room : 1024;
		log->events = memory_resize(log->events, reader->room,
					    sizeof(*log->events));
	}
	log->events[log->count++] = event;
}

static bool add_allocation(struct reader *reader, uint64_t pointer,
			   uint64_t size)
{
	struct log *log = reader->log;
	uint32_t slot = log->slots;
	uint64_t out;
	void *before;

	if (__builtin_add_overflow(reader->out, size, &out)) {
		complain("%s:%" PRIu64 ": more than %" PRIu64
			 " bytes are allocated",
			 reader->path, reader->line, UINT64_MAX);
		return false;
	}
	if (slot == UINT32_MAX) {
		complain("%s:%" PRIu64 ": more than %" PRIu32 " allocations",
			 reader->path, reader->line, slot);
		return false;
	}
	if (slot == reader->sizes_room) {
		reader->sizes_room = slot ? 2 * (size_t)slot : 1024;
		reader->sizes = memory_resize(reader->sizes, reader->sizes_room,
					      sizeof(*reader->sizes));
	}
	if (!dray_address_reserve(&reader->table)) {
		complain("out of memory");
		return false;
	}
	log->slots++;
	reader->sizes[slot] = size;
	before = dray_address_put(&reader->table, pointer, value_of(slot));
	/* The log has lost the free: nothing else gives an address twice. */
	if (before) {
		uint32_t old = slot_of(before);

		log->lost_frees++;
		reader->out -= reader->sizes[old];
		add_event(reader, (struct event){ .size = reader->sizes[old],
						  .slot = old,
						  .frees = true });
	}
	reader->out += size;
	if (reader->out > log->peak)
		log->peak = reader->out;
	add_event(reader, (struct event){ .size = size, .slot = slot });
	return true;
}

static void add_free(struct reader *reader, uint64_t pointer)
{
	void *value = dray_address_take(&reader->table, pointer);
	uint32_t slot;

	if (!value) {
		reader->log->unknown_frees++;
		return;
	}
	slot = slot_of(value);
	reader->out -= reader->sizes[slot];
	add_event(reader, (struct event){ .size = reader->sizes[slot],
					  .slot = slot,
					  .frees = true });
}

static bool read_event(struct reader *reader, char *line)
{
	char *fields[MOST_COLUMNS], *action;
	uint64_t pointer, size;
	int count = split(line, fields);

	if (count != reader->columns) {
		complain("%s:%" PRIu64 ": %d columns, the first line has %d",
			 reader->path, reader->line, count, reader->columns);
		return false;
	}
	action = fields[reader->at[COLUMN_ACTION]];
	if (!parse_pointer(fields[reader->at[COLUMN_POINTER]], &pointer)) {
		complain("%s:%" PRIu64 ": \"%.40s\" is no pointer",
			 reader->path, reader->line,
			 fields[reader->at[COLUMN_POINTER]]);
		return false;
	}
	if (!parse_number(fields[reader->at[COLUMN_SIZE]], 10, &size) ||
	    size > PTRDIFF_MAX) {
		complain("%s:%" PRIu64 ": \"%.40s\" is no size in bytes",
			 reader->path, reader->line,
			 fields[reader->at[COLUMN_SIZE]]);
		return false;
	}
	if (!strcmp(action, "allocate"))
		return add_allocation(reader, pointer, size);
	if (!strcmp(action, "free")) {
		add_free(reader, pointer);
		return true;
	}
	if (!strcmp(action, "allocate failure")) {
		reader->log->failures++;
		return true;
	}
	complain("%s:%" PRIu64 ": \"%.40s\" is no action: allocate, "
		 "allocate failure or free",
		 reader->path, reader->line, action);
	return false;
}

static bool read_lines(struct reader *reader)
{
	char *line = NULL;
	size_t room = 0;
	bool fine = true;
	ssize_t length;

	while (fine && (length = getline(&line, &room, reader->file)) >= 0) {
		reader->line++;
		reader->read += (uint64_t)length;
		if (strlen(line) != (size_t)length) {
			complain("%s:%" PRIu64 ": a zero byte", reader->path,
				 reader->line);
			fine = false;
		} else if (reader->line == 1) {
			fine = read_header(reader, line);
		} else {
			fine = read_event(reader, line);
		}
		if (reader->line % 4096 == 0)
			progress("reading", reader->read, reader->all);
	}
	if (fine && ferror(reader->file)) {
		complain("%s: %s", reader->path, strerror(errno));
		fine = false;
	} else if (fine && !reader->line) {
		complain("%s: it is empty", reader->path);
		fine = false;
	}
	free(line);
	return fine;
}

bool log_read(const char *path, struct log *log)
{
	bool standard = !strcmp(path, "-");
	struct reader reader = {
		.file = standard ? stdin : fopen(path, "re"),
		.path = standard ? "standard input" : path,
		.log = log,
	};
	struct stat status;
	bool fine;

	if (!reader.file) {
		complain("%s: %s", path, strerror(errno));
		return false;
	}
	if (!fstat(fileno(reader.file), &status) && S_ISREG(status.st_mode))
		reader.all = (uint64_t)status.st_size;
	fine = read_lines(&reader);
	progress_end();
	log->left_blocks = reader.table.count;
	log->left_bytes = reader.out;
	dray_address_end(&reader.table);
	free(reader.sizes);
	if (!standard)
		fclose(reader.file);
	return fine;
}

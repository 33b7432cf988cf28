// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reads a log with RMM's columns.  Addresses are resolved before the log is
 * played: an allocation and its free get the same number, so that the
 * measurement covers the allocator and no table.
 *
 * Columns are found by their names, as in RMM's own reader; unused columns may
 * be missing.
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

enum log_column {
	COLUMN_ACTION,
	COLUMN_POINTER,
	COLUMN_SIZE,
	COLUMNS,
};

/* In RMM's logs of today, and in logs of twelve columns. */
static const char *const names[COLUMNS][2] = {
	{ "Action", "Event Type" },
	{ "Pointer", "Address" },
	{ "Size", "Size (bytes)" },
};

struct log_reader {
	FILE *file;
	const char *path;
	uint64_t line; /* number of the current line, from 1 */
	uint64_t read, all; /* bytes; all: 0 if unknown */
	int columns; /* of the header */
	int at[COLUMNS];
	struct replay_log *log;
	size_t room; /* of events */
	struct dray_address_table table; /* to open allocations */
	uint64_t *sizes; /* of each slot */
	size_t sizes_room;
	uint64_t out; /* allocated bytes */
};

/* Makes a slot a table value other than NULL. */
static void *value_of(uint32_t slot)
{
	return (void *)((uintptr_t)slot + 1);
}

static uint32_t slot_of(void *value)
{
	return (uint32_t)((uintptr_t)value - 1);
}

/* Cuts @line at its commas; returns the number of fields, even if too many. */
static int log_split(char *line, char *fields[MOST_COLUMNS])
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

/* Complains of the current line; returns false. */
__attribute__((format(printf, 2, 3))) static bool
log_fail(const struct log_reader *reader, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = text_format_list(format, args);
	va_end(args);
	complain("%s:%" PRIu64 ": %s", reader->path, reader->line, text);
	free(text);
	return false;
}

static bool log_read_header(struct log_reader *reader, char *line)
{
	char *fields[MOST_COLUMNS];
	int i, column;

	reader->columns = log_split(line, fields);
	if (reader->columns > MOST_COLUMNS) {
		return log_fail(reader, "%d columns, at most %d are possible",
				reader->columns, MOST_COLUMNS);
	}
	for (column = 0; column < COLUMNS; column++) {
		i = 0;
		while (i < reader->columns &&
		       strcmp(fields[i], names[column][0]) &&
		       strcmp(fields[i], names[column][1]))
			i++;
		if (i == reader->columns)
			return log_fail(
				reader,
				"no column \"%s\": the first line of a log "
				"is Thread,Time,Action,Pointer,Size,Stream",
				names[column][0]);
		reader->at[column] = i;
	}
	return true;
}

static bool parse_field(const char *text, int base, uint64_t *out)
{
	const char *end = parse_number(text, base, out);

	return end && !*end;
}

static bool parse_pointer(const char *text, uint64_t *out)
{
	*out = 0;
	return !strcmp(text, "(nil)") || parse_field(text, 16, out);
}

static void log_add_event(struct log_reader *reader, struct log_event event)
{
	struct replay_log *log = reader->log;

	if (log->count == reader->room) {
		reader->room = reader->room ? 2 * reader->room : 1024;
		log->events = memory_resize(log->events, reader->room,
					    sizeof(*log->events));
	}
	log->events[log->count++] = event;
}

static void add_free_of(struct log_reader *reader, void *value)
{
	uint32_t slot = slot_of(value);

	reader->out -= reader->sizes[slot];
	log_add_event(reader, (struct log_event){ .size = reader->sizes[slot],
						  .slot = slot,
						  .frees = true });
}

static bool add_allocation(struct log_reader *reader, uint64_t pointer,
			   uint64_t size)
{
	struct replay_log *log = reader->log;
	uint32_t slot = log->slots;
	uint64_t out;
	void *before;

	if (__builtin_add_overflow(reader->out, size, &out))
		return log_fail(reader,
				"more than %" PRIu64 " bytes are allocated",
				UINT64_MAX);
	if (slot == UINT32_MAX)
		return log_fail(reader, "more than %" PRIu32 " allocations",
				slot);
	if (slot == reader->sizes_room) {
		reader->sizes_room = slot ? 2 * (size_t)slot : 1024;
		reader->sizes = memory_resize(reader->sizes, reader->sizes_room,
					      sizeof(*reader->sizes));
	}
	if (!dray_address_reserve(&reader->table))
		return log_fail(reader, "out of memory");
	log->slots++;
	reader->sizes[slot] = size;
	before = dray_address_put(&reader->table, pointer, value_of(slot));
	/* An address occurs twice only if the log has lost its free. */
	if (before) {
		log->lost_frees++;
		add_free_of(reader, before);
	}
	reader->out += size;
	if (reader->out > log->peak)
		log->peak = reader->out;
	log_add_event(reader, (struct log_event){ .size = size, .slot = slot });
	return true;
}

static void log_add_free(struct log_reader *reader, uint64_t pointer)
{
	void *value = dray_address_take(&reader->table, pointer);

	if (value)
		add_free_of(reader, value);
	else
		reader->log->unknown_frees++;
}

static bool log_read_event(struct log_reader *reader, char *line)
{
	char *fields[MOST_COLUMNS], *action;
	uint64_t pointer, size;
	int count = log_split(line, fields);

	if (count != reader->columns)
		return log_fail(reader, "%d columns, the first line has %d",
				count, reader->columns);
	action = fields[reader->at[COLUMN_ACTION]];
	if (!parse_pointer(fields[reader->at[COLUMN_POINTER]], &pointer))
		return log_fail(reader, "\"%.40s\" is not a pointer",
				fields[reader->at[COLUMN_POINTER]]);
	if (!parse_field(fields[reader->at[COLUMN_SIZE]], 10, &size) ||
	    size > PTRDIFF_MAX)
		return log_fail(reader, "\"%.40s\" is not a size in bytes",
				fields[reader->at[COLUMN_SIZE]]);
	if (!strcmp(action, "allocate") || !strcmp(action, "Alloc"))
		return add_allocation(reader, pointer, size);
	if (!strcmp(action, "free") || !strcmp(action, "Free")) {
		log_add_free(reader, pointer);
		return true;
	}
	if (!strcmp(action, "allocate failure") ||
	    !strcmp(action, "Alloc failure")) {
		reader->log->failures++;
		return true;
	}
	return log_fail(
		reader,
		"\"%.40s\" is not an action: allocate, allocate failure or "
		"free",
		action);
}

static bool log_read_lines(struct log_reader *reader)
{
	char *line = NULL;
	size_t room = 0;
	bool fine = true;
	ssize_t length;

	while (fine && (length = getline(&line, &room, reader->file)) >= 0) {
		reader->line++;
		reader->read += (uint64_t)length;
		if (strlen(line) != (size_t)length) {
			fine = log_fail(reader, "a zero byte");
		} else if (reader->line == 1) {
			fine = log_read_header(reader, line);
		} else {
			fine = log_read_event(reader, line);
		}
		if (reader->line % 4096 == 0)
			progress("reading", reader->read, reader->all);
	}
	if (fine && ferror(reader->file)) {
		complain("%s: %s", reader->path, strerror(errno));
		fine = false;
	} else if (fine && !reader->line) {
		complain("%s: the log is empty", reader->path);
		fine = false;
	}
	free(line);
	return fine;
}

bool log_read(const char *path, struct replay_log *log)
{
	bool standard = !strcmp(path, "-");
	struct log_reader reader = {
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
	fine = log_read_lines(&reader);
	progress_end();
	log->left_blocks = reader.table.count;
	log->left_bytes = reader.out;
	dray_address_end(&reader.table);
	free(reader.sizes);
	if (!standard)
		fclose(reader.file);
	return fine;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The lines of a recording.  A file may come from anywhere: lines and numbers are
 * checked, and no more than one line is in memory.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "recording.h"

#define BEFORE "buffer" /* the "event" of a buffer that was there before */
#define SAMPLE "heap"
#define END "end"

static json_t *line_of(const char *word, uint64_t time_ns)
{
	json_t *line = json_object();

	document_word(line, "event", word);
	document_number(line, "time_ns", time_ns);
	return line;
}

void recording_begin(FILE *file, uint64_t time_ns)
{
	json_t *line = json_object();

	document_word(line, "format", RECORDING_FORMAT);
	document_number(line, "version", RECORDING_VERSION);
	document_number(line, "time_ns", time_ns);
	document_line(line, file);
}

void recording_buffer(FILE *file, const struct event *event)
{
	json_t *line = event_document(event);

	document_word(line, "event", BEFORE);
	document_line(line, file);
}

void recording_sample(FILE *file, const struct heap_sample *sample)
{
	json_t *line = line_of(SAMPLE, sample->time_ns);

	document_text(line, "heap", sample->heap, sizeof(sample->heap));
	document_number(line, "total", sample->total);
	document_number(line, "used", sample->used);
	document_number(line, "free", sample->free);
	document_number(line, "largest_free", sample->largest_free);
	document_line(line, file);
}

void recording_end(FILE *file, uint64_t time_ns, uint64_t lost)
{
	json_t *line = line_of(END, time_ns);

	document_number(line, "lost", lost);
	document_line(line, file);
}

struct position {
	const char *path;
	uint64_t line; /* from 1 */
	bool ended;
};

static bool recording_wrong(const struct position *at, const char *mistake)
{
	complain("%s:%" PRIu64 ": %s", at->path, at->line, mistake);
	return false;
}

static bool recording_number_of(const json_t *object, const char *key,
				uint64_t *out)
{
	const json_t *value = json_object_get(object, key);
	const char *text = json_string_value(value);
	const char *end;

	if (json_is_integer(value) && json_integer_value(value) >= 0) {
		*out = (uint64_t)json_integer_value(value);
		return true;
	}
	end = text ? parse_number(text, 10, out) : NULL;
	return end && !*end;
}

static bool read_first(const struct position *at, const json_t *object,
		       const struct recording_reader *reader)
{
	const char *format =
		json_string_value(json_object_get(object, "format"));
	uint64_t version, time_ns;

	if (!format || strcmp(format, RECORDING_FORMAT) != 0 ||
	    !recording_number_of(object, "version", &version) ||
	    !recording_number_of(object, "time_ns", &time_ns))
		return recording_wrong(at, "not a recording of dmactl record");
	if (version != RECORDING_VERSION) {
		complain("%s: the recording has version %" PRIu64
			 ", and this dmactl reads version %d",
			 at->path, version, RECORDING_VERSION);
		return false;
	}
	reader->begin(reader->context, time_ns);
	return true;
}

static bool read_sample(const struct position *at, const json_t *object,
			const struct recording_reader *reader)
{
	const char *heap = json_string_value(json_object_get(object, "heap"));
	struct heap_sample sample = { 0 };

	if (!heap || !recording_number_of(object, "time_ns", &sample.time_ns) ||
	    !recording_number_of(object, "total", &sample.total) ||
	    !recording_number_of(object, "used", &sample.used) ||
	    !recording_number_of(object, "free", &sample.free) ||
	    !recording_number_of(object, "largest_free", &sample.largest_free))
		return recording_wrong(
			at, "a member of the sample of a heap is missing, "
			    "or wrong");
	snprintf(sample.heap, sizeof(sample.heap), "%s", heap);
	reader->sample(reader->context, &sample);
	return true;
}

static bool read_end(struct position *at, const json_t *object,
		     const struct recording_reader *reader)
{
	uint64_t time_ns, lost;

	if (!recording_number_of(object, "time_ns", &time_ns) ||
	    !recording_number_of(object, "lost", &lost))
		return recording_wrong(
			at, "a member of the end is missing, or wrong");
	at->ended = true;
	reader->end(reader->context, time_ns, lost);
	return true;
}

static bool recording_read_event(const struct position *at, json_t *object,
				 const struct recording_reader *reader,
				 bool before)
{
	struct event event;
	const char *error;

	if (before)
		document_word(object, "event", event_names[EVENT_ALLOC]);
	error = event_read(object, &event);
	if (error)
		return recording_wrong(at, error);
	return reader->event(reader->context, &event, before);
}

static bool read_object(struct position *at, json_t *object,
			const struct recording_reader *reader)
{
	const char *word = json_string_value(json_object_get(object, "event"));

	if (at->line == 1)
		return read_first(at, object, reader);
	if (at->ended)
		return recording_wrong(at, "there is something behind the end");
	if (!word)
		return recording_wrong(at, "\"event\" is not a text");
	if (!strcmp(word, SAMPLE))
		return read_sample(at, object, reader);
	if (!strcmp(word, END))
		return read_end(at, object, reader);
	return recording_read_event(at, object, reader, !strcmp(word, BEFORE));
}

/* Reads a line without its end; @whole: it had one. */
static bool recording_read_line(struct position *at, const char *line,
				size_t length, bool whole,
				const struct recording_reader *reader)
{
	json_error_t error;
	json_t *object =
		json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);
	bool fine;

	if (!object && !whole)
		return true; /* it was cut: its end is missing too */
	if (!object) {
		char *mistake = text_format("no JSON: %s", error.text);

		recording_wrong(at, mistake);
		free(mistake);
		return false;
	}
	fine = json_is_object(object)
		       ? read_object(at, object, reader)
		       : recording_wrong(at, "this is not an object");
	json_decref(object);
	return fine;
}

static bool recording_read_lines(FILE *file, struct position *at,
				 const struct recording_reader *reader)
{
	char *line = memory_resize(NULL, RECORDING_LINE + 1, 1);
	bool fine = true;

	while (fine && fgets(line, RECORDING_LINE + 1, file)) {
		/* a zero byte ends the text before the line does */
		size_t length = strlen(line);
		bool whole = length && line[length - 1] == '\n';

		at->line++;
		if (!whole && !feof(file))
			fine = recording_wrong(at,
					       length == RECORDING_LINE
						       ? "the line is too long"
						       : "a zero byte");
		else
			fine = recording_read_line(at, line, length - whole,
						   whole, reader);
	}
	if (fine && ferror(file)) {
		complain("%s: %s", at->path, strerror(errno));
		fine = false;
	}
	free(line);
	return fine;
}

enum recording_state recording_read(const char *path,
				    const struct recording_reader *reader)
{
	bool standard = !strcmp(path, "-");
	FILE *file = standard ? stdin : fopen(path, "re");
	struct position at = { .path = standard ? "standard input" : path };
	bool fine;

	if (!file) {
		complain("%s: %s", path, strerror(errno));
		return RECORDING_WRONG;
	}
	fine = recording_read_lines(file, &at, reader);
	if (!standard)
		fclose(file);
	if (!fine)
		return RECORDING_WRONG;
	if (at.ended)
		return RECORDING_COMPLETE;
	if (!at.line) {
		complain("%s: the file is empty", at.path);
		return RECORDING_WRONG;
	}
	complain("%s: the recording was cut in or behind line %" PRIu64
		 ": its end is missing",
		 at.path, at.line);
	return RECORDING_CUT;
}

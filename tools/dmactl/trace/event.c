// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The fields of events, and events as JSON.  The tables are all that knows
 * which kind has which field.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "base/document.h"
#include "event.h"

#define OF(kind) EVENT_BIT(EVENT_##kind)

#define OF_BUFFER (OF(ALLOC) | OF(FREE))
#define OF_DEVICE (OF(MAP) | OF(ATTACH) | OF(DETACH))
#define OF_JOB (OF(SUBMIT) | OF(COMPLETE))
#define OF_FRAME (OF(FRAME_SUBMIT) | OF(FRAME_COMPLETE))

const char *const event_names[EVENT_KINDS] = {
	[EVENT_ALLOC] = "alloc",
	[EVENT_FREE] = "free",
	[EVENT_FAIL] = "fail",
	[EVENT_MAP] = "map",
	[EVENT_MMAP] = "mmap",
	[EVENT_SYNC] = "sync",
	[EVENT_ATTACH] = "attach",
	[EVENT_DETACH] = "detach",
	[EVENT_SUBMIT] = "submit",
	[EVENT_COMPLETE] = "complete",
	[EVENT_FRAME_SUBMIT] = "frame_submit",
	[EVENT_FRAME_COMPLETE] = "frame_complete",
};

const struct event_field event_numbers[EVENT_NUMBERS] = {
	[EVENT_ID] = { "id", "id", OF_BUFFER | OF_DEVICE | OF(MMAP) | OF(SYNC),
		       false },
	[EVENT_SIZE] = { "size", "size",
			 OF_BUFFER | OF_DEVICE | OF(MMAP) | OF(FAIL), false },
	[EVENT_OFFSET] = { "offset", "offset", OF_BUFFER | OF(MMAP), true },
	[EVENT_PID] = { "pid", "pid",
			OF_BUFFER | OF(FAIL) | OF(MMAP) | OF(SYNC) | OF_JOB |
				OF_FRAME,
			true },
	[EVENT_CALL] = { "call", "call", OF(FAIL), false },
	[EVENT_ERROR] = { "error", "error",
			  OF(FAIL) | OF(COMPLETE) | OF(FRAME_COMPLETE), true },
	[EVENT_REASON] = { "reason", "reason", OF(FAIL), false },
	[EVENT_LIMIT] = { "limit", "limit", OF(FAIL), false },
	[EVENT_MEMORY] = { "kind", "kind", OF_DEVICE, false },
	[EVENT_BYTES] = { "bytes", "bytes", OF(SYNC) | OF_JOB | OF_FRAME,
			  false },
	[EVENT_NS] = { "ns", "ns", OF(SYNC), false },
	[EVENT_FOR_CPU] = { "for_cpu", "for_cpu", OF(SYNC), false },
	[EVENT_DIRECTION] = { "direction", "direction", OF(SYNC), false },
	[EVENT_CONTEXT] = { "context", "context", OF_JOB, false },
	[EVENT_SEQNO] = { "number", "seqno", OF_JOB, false },
	[EVENT_QUEUE] = { "queue", "queue", OF_JOB | OF_FRAME, false },
	[EVENT_RUNS] = { "runs", "runs", OF(SUBMIT), false },
	[EVENT_TRANSFERS] = { "count", "transfers", OF(SUBMIT), false },
	[EVENT_FRAME] = { "frame", "frame", OF_FRAME, false },
	[EVENT_POINT] = { "point", "point", OF(FRAME_COMPLETE), false },
	[EVENT_CONDEMNED] = { "condemned", "condemned", OF(FREE), false },
};

const struct event_field event_texts[EVENT_TEXTS] = {
	/* the kernel's field is the owner's; others are looked up */
	[EVENT_COMM] = { "comm", "comm", EVENT_ALL, false },
	[EVENT_HEAP] = { "heap", "heap", OF_BUFFER | OF(FAIL), false },
	[EVENT_NAME] = { "name", "name", OF(ALLOC), false },
	[EVENT_NODE] = { "node", "node", OF(FAIL), false },
	[EVENT_DEVICE] = { "device", "device", OF_DEVICE | OF(SYNC), false },
	[EVENT_CHANNEL] = { "channel", "channel", OF_JOB | OF_FRAME, false },
};

enum event_kind event_kind_of(const char *name)
{
	int kind = 0;

	while (kind < EVENT_KINDS && strcmp(event_names[kind], name) != 0)
		kind++;
	return (enum event_kind)kind;
}

int64_t event_signed(const struct event *event, enum event_number which)
{
	return (int64_t)event->number[which];
}

json_t *event_document(const struct event *event)
{
	json_t *object = json_object();
	uint32_t bit = EVENT_BIT(event->kind);
	int i;

	document_word(object, "event", event_names[event->kind]);
	document_number(object, "time_ns", event->time_ns);
	document_set(object, "thread", json_integer(event->thread));
	for (i = 0; i < EVENT_NUMBERS; i++) {
		const struct event_field *field = &event_numbers[i];

		if (!(field->kinds & bit))
			continue;
		if (field->is_signed)
			document_set(object, field->json,
				     json_integer(event_signed(event, i)));
		else
			document_number(object, field->json, event->number[i]);
	}
	for (i = 0; i < EVENT_TEXTS; i++)
		if (event_texts[i].kinds & bit)
			document_text(object, event_texts[i].json,
				      event->text[i], EVENT_TEXT_ROOM);
	return object;
}

/* A complaint about a member of an object. */
static const char *event_wrong(const char *key, const char *what)
{
	static char text[96];

	snprintf(text, sizeof(text), "\"%s\" is %s", key, what);
	return text;
}

/* Reads an integer, or the string that stands for one above 2^63 - 1. */
static const char *event_read_number(const json_t *object, const char *key,
				     bool is_signed, uint64_t *out)
{
	const json_t *value = json_object_get(object, key);
	const char *text = json_string_value(value);
	const char *end;

	if (!value)
		return event_wrong(key, "missing");
	if (json_is_integer(value) &&
	    (is_signed || json_integer_value(value) >= 0)) {
		*out = (uint64_t)json_integer_value(value);
		return NULL;
	}
	end = text && !is_signed ? parse_number(text, 10, out) : NULL;
	return end && !*end ? NULL
			    : event_wrong(key, "not a number of this field");
}

static const char *event_read_text(const json_t *object, const char *key,
				   char out[EVENT_TEXT_ROOM])
{
	const char *text = json_string_value(json_object_get(object, key));

	if (!text)
		return event_wrong(key, "not a text");
	/* a name that was not UTF-8 may be longer now: it is cut */
	snprintf(out, EVENT_TEXT_ROOM, "%s", text);
	return NULL;
}

static const char *event_read_fields(const json_t *object, struct event *event)
{
	uint32_t bit = EVENT_BIT(event->kind);
	const char *error = NULL;
	int i;

	for (i = 0; i < EVENT_NUMBERS && !error; i++)
		if (event_numbers[i].kinds & bit)
			error = event_read_number(object, event_numbers[i].json,
						  event_numbers[i].is_signed,
						  &event->number[i]);
	for (i = 0; i < EVENT_TEXTS && !error; i++)
		if (event_texts[i].kinds & bit)
			error = event_read_text(object, event_texts[i].json,
						event->text[i]);
	return error;
}

const char *event_read(const json_t *object, struct event *event)
{
	const char *name = json_string_value(json_object_get(object, "event"));
	const char *error;
	uint64_t thread;

	memset(event, 0, sizeof(*event));
	if (!name)
		return event_wrong("event", "not a text");
	event->kind = event_kind_of(name);
	if (event->kind == EVENT_KINDS)
		return event_wrong("event", "of no known kind");
	error = event_read_number(object, "time_ns", false, &event->time_ns);
	if (!error)
		error = event_read_number(object, "thread", true, &thread);
	if (!error) {
		event->thread = (int32_t)(int64_t)thread;
		error = event_read_fields(object, event);
	}
	return error;
}

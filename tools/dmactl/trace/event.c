// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The fields of events, and events as JSON.  The tables are all that knows
 * which kind has which field.
 */
#include <string.h>

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

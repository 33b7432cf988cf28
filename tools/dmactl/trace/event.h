/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Events of the module's tracepoints, as trace handles them:
 * a kind, numbers and texts by the names of the tracepoint's fields.
 */
#ifndef DMACTL_EVENT_H
#define DMACTL_EVENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum event_kind {
	EVENT_ALLOC,
	EVENT_FREE,
	EVENT_FAIL,
	EVENT_MAP,
	EVENT_MMAP,
	EVENT_SYNC,
	EVENT_ATTACH,
	EVENT_DETACH,
	EVENT_SUBMIT,
	EVENT_COMPLETE,
	EVENT_FRAME_SUBMIT,
	EVENT_FRAME_COMPLETE,
	EVENT_KINDS,
};

#define EVENT_BIT(kind) (1u << (kind))
#define EVENT_ALL (EVENT_BIT(EVENT_KINDS) - 1)

/* Numbers; a negative number is stored as its two's complement. */
enum event_number {
	EVENT_ID,
	EVENT_SIZE, /* bytes */
	EVENT_OFFSET, /* bytes in the heap, -1: a heap without places; of mmap */
	EVENT_PID,
	EVENT_CALL,
	EVENT_ERROR, /* 0 or a negative errno */
	EVENT_REASON,
	EVENT_LIMIT,
	EVENT_MEMORY, /* enum dray_kind */
	EVENT_BYTES,
	EVENT_NS,
	EVENT_FOR_CPU,
	EVENT_DIRECTION,
	EVENT_CONTEXT,
	EVENT_SEQNO,
	EVENT_QUEUE,
	EVENT_RUNS,
	EVENT_TRANSFERS,
	EVENT_FRAME,
	EVENT_POINT,
	EVENT_CONDEMNED,
	EVENT_NUMBERS,
};

enum event_text {
	EVENT_COMM,
	EVENT_HEAP,
	EVENT_NAME,
	EVENT_NODE,
	EVENT_DEVICE,
	EVENT_CHANNEL,
	EVENT_TEXTS,
};

#define EVENT_TEXT_ROOM 33 /* with the terminating zero */

struct event {
	enum event_kind kind;
	uint64_t time_ns; /* since 1970, UTC */
	int32_t thread; /* that the kernel's code ran in */
	uint64_t number[EVENT_NUMBERS];
	char text[EVENT_TEXTS][EVENT_TEXT_ROOM];
};

/* A field: its names in a tracepoint and in JSON, and the kinds with it. */
struct event_field {
	const char *kernel;
	const char *json;
	uint32_t kinds; /* bits */
	bool is_signed; /* of numbers */
};

extern const struct event_field event_numbers[EVENT_NUMBERS];
extern const struct event_field event_texts[EVENT_TEXTS];

/* Names of the kinds, without the "dray_" of their tracepoints. */
extern const char *const event_names[EVENT_KINDS];

/* Finds a kind by its name; EVENT_KINDS: there is none. */
enum event_kind event_kind_of(const char *name);

/* Returns a number of the event as a signed number. */
int64_t event_signed(const struct event *event, enum event_number which);

/* Returns the event as a sentence that is safe on a terminal; for free(). */
char *event_sentence(const struct event *event, bool exact);

/* Returns the event as an object. */
json_t *event_document(const struct event *event);

#endif /* DMACTL_EVENT_H */

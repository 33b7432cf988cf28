// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Events for people: one sentence each, with the numbers that tell it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dray/memory.h>

#include "cli.h"
#include "escape.h"
#include "event.h"
#include "base/quantity.h"
#include "base/words.h"

/* The calls by their numbers in linux/dray.h. */
static const char *const calls[] = {
	"INFO",	  "HEAP_INFO", "CHANNEL_INFO", "ALLOC",	      "ADDRESS",
	"SYNC",	  "SUBMIT",    "LIST",	       "BUFFER_INFO", "EXPORT",
	"ATTACH", "CANCEL",    "RECLAIM",      "TIMELINE",    "HEAP_MAP",
};

/* Those of a timeline's file, from 32 on. */
static const char *const timeline_calls[] = { "WAIT", "RING", "RELEASE" };

/* Returns the name of a call, or its number, written to @out. */
static const char *event_call_word(uint64_t call, char out[EVENT_TEXT_ROOM])
{
	if (call < sizeof(calls) / sizeof(calls[0]))
		return calls[call];
	if (call >= 32 &&
	    call - 32 < sizeof(timeline_calls) / sizeof(timeline_calls[0]))
		return timeline_calls[call - 32];
	snprintf(out, EVENT_TEXT_ROOM, "call %" PRIu64, call);
	return out;
}

/* Returns why a call failed, as a sentence; for free(). */
static char *event_reason(int64_t error, uint64_t reason, uint64_t limit)
{
	char text[192];

	/* numbers of a file may be anything */
	if (error < -4095 || error >= 0)
		return text_format("error %" PRId64, error);
	if (reason <= UINT32_MAX &&
	    dray_reason_text((int)error, (uint32_t)reason, limit, text,
			     sizeof(text)))
		return text_format("%s", text);
	return text_format("%s", strerror(-(int)error));
}

/* The texts and sizes of one event, ready to print. */
struct words {
	const struct event *event;
	char size[QUANTITY_ROOM];
	char bytes[QUANTITY_ROOM];
	char time[QUANTITY_ROOM];
	char word[EVENT_TEXT_ROOM];
};

static uint64_t event_sentence_number(const struct words *words,
				      enum event_number which)
{
	return words->event->number[which];
}

static const char *event_sentence_text(const struct words *words,
				       enum event_text which)
{
	return words->event->text[which];
}

static char *say_alloc(struct words *words)
{
	char *said =
		text_format("buffer %" PRIu64 ": %s in %s",
			    event_sentence_number(words, EVENT_ID), words->size,
			    event_sentence_text(words, EVENT_HEAP));
	int64_t offset = event_signed(words->event, EVENT_OFFSET);

	if (offset >= 0)
		text_append(&said, " at offset %" PRId64, offset);
	if (*event_sentence_text(words, EVENT_NAME))
		text_append(&said, ", \"%s\"",
			    event_sentence_text(words, EVENT_NAME));
	return said;
}

static char *say_free(struct words *words)
{
	return text_format("buffer %" PRIu64 ": %s back to %s%s",
			   event_sentence_number(words, EVENT_ID), words->size,
			   event_sentence_text(words, EVENT_HEAP),
			   event_sentence_number(words, EVENT_CONDEMNED)
				   ? ", out of use: a device may write it"
				   : "");
}

static char *say_fail(struct words *words)
{
	const char *heap = event_sentence_text(words, EVENT_HEAP);
	char *reason = event_reason(event_signed(words->event, EVENT_ERROR),
				    event_sentence_number(words, EVENT_REASON),
				    event_sentence_number(words, EVENT_LIMIT));
	char *said = text_format(
		"%s: %s", event_sentence_text(words, EVENT_NODE),
		event_call_word(event_sentence_number(words, EVENT_CALL),
				words->word));

	if (event_sentence_number(words, EVENT_SIZE))
		text_append(&said, " of %s%s%s", words->size,
			    *heap ? " in " : "", heap);
	text_append(&said, " failed: %s", reason);
	free(reason);
	return said;
}

static const char *memory_word(struct words *words)
{
	return kind_word((uint32_t)event_sentence_number(words, EVENT_MEMORY),
			 words->word);
}

static char *say_map(struct words *words)
{
	return text_format("%s %" PRIu64 ": mapped for %s", memory_word(words),
			   event_sentence_number(words, EVENT_ID),
			   event_sentence_text(words, EVENT_DEVICE));
}

static char *say_mmap(struct words *words)
{
	return text_format("buffer %" PRIu64
			   ": a program maps %s from offset %" PRIu64,
			   event_sentence_number(words, EVENT_ID), words->size,
			   event_sentence_number(words, EVENT_OFFSET));
}

static char *say_sync(struct words *words)
{
	return text_format(
		"memory %" PRIu64 ": %s for the %s, %s, by %s",
		event_sentence_number(words, EVENT_ID), words->bytes,
		event_sentence_number(words, EVENT_FOR_CPU) ? "CPU" : "device",
		words->time, event_sentence_text(words, EVENT_DEVICE));
}

static char *say_attach(struct words *words)
{
	return text_format("%s %" PRIu64 ": %s %s", memory_word(words),
			   event_sentence_number(words, EVENT_ID),
			   words->event->kind == EVENT_ATTACH ? "attached to"
							      : "detached from",
			   event_sentence_text(words, EVENT_DEVICE));
}

static char *say_submit(struct words *words)
{
	return text_format("%s: job %" PRIu64 ":%" PRIu64 " of %" PRIu64
			   " transfers, %s in %" PRIu64 " runs",
			   event_sentence_text(words, EVENT_CHANNEL),
			   event_sentence_number(words, EVENT_CONTEXT),
			   event_sentence_number(words, EVENT_SEQNO),
			   event_sentence_number(words, EVENT_TRANSFERS),
			   words->bytes,
			   event_sentence_number(words, EVENT_RUNS));
}

static char *say_end(char *job, struct words *words)
{
	int64_t error = event_signed(words->event, EVENT_ERROR);
	char *reason;

	if (!error) {
		text_append(&job, " done, %s", words->bytes);
		return job;
	}
	reason = event_reason(error, DRAY_REASON_NONE, 0);
	text_append(&job, " failed: %s", reason);
	free(reason);
	return job;
}

static char *say_complete(struct words *words)
{
	return say_end(text_format("%s: job %" PRIu64 ":%" PRIu64,
				   event_sentence_text(words, EVENT_CHANNEL),
				   event_sentence_number(words, EVENT_CONTEXT),
				   event_sentence_number(words, EVENT_SEQNO)),
		       words);
}

static char *say_frame(struct words *words)
{
	return text_format("%s: frame %" PRIu64 " of ring %" PRIu64 ", %s",
			   event_sentence_text(words, EVENT_CHANNEL),
			   event_sentence_number(words, EVENT_FRAME),
			   event_sentence_number(words, EVENT_QUEUE),
			   words->bytes);
}

static char *say_frame_complete(struct words *words)
{
	return say_end(text_format("%s: frame %" PRIu64 " of ring %" PRIu64
				   ", point %" PRIu64,
				   event_sentence_text(words, EVENT_CHANNEL),
				   event_sentence_number(words, EVENT_FRAME),
				   event_sentence_number(words, EVENT_QUEUE),
				   event_sentence_number(words, EVENT_POINT)),
		       words);
}

static char *(*const say[EVENT_KINDS])(struct words *words) = {
	[EVENT_ALLOC] = say_alloc,
	[EVENT_FREE] = say_free,
	[EVENT_FAIL] = say_fail,
	[EVENT_MAP] = say_map,
	[EVENT_MMAP] = say_mmap,
	[EVENT_SYNC] = say_sync,
	[EVENT_ATTACH] = say_attach,
	[EVENT_DETACH] = say_attach,
	[EVENT_SUBMIT] = say_submit,
	[EVENT_COMPLETE] = say_complete,
	[EVENT_FRAME_SUBMIT] = say_frame,
	[EVENT_FRAME_COMPLETE] = say_frame_complete,
};

char *event_sentence(const struct event *event, bool exact)
{
	struct words words = { .event = event };
	char *safe;
	char *said;

	quantity_size(words.size, event->number[EVENT_SIZE], exact);
	quantity_size(words.bytes, event->number[EVENT_BYTES], exact);
	quantity_time(words.time, event->number[EVENT_NS]);
	said = say[event->kind](&words);
	safe = escape(said, strlen(said), ESCAPE_CONTROL);
	free(said);
	return safe;
}

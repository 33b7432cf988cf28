// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A stand-in for the kernel's tracing: follow.c and latency.c over files.  The
 * kernel's own events are with-trace.sh's.
 *
 * DRAY_EVENTS	a file with events, as dmactl trace --json prints them; "none":
 *		the kernel has no tracing
 * DRAY_LOST	number of events that were lost; 0 by default
 * DRAY_HIST	a file as the kernel's "hist" of an event
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "trace/follow.h"
#include "trace/histogram.h"
#include "base/interrupt.h"
#include "trace/latency.h"

struct follow {
	FILE *file;
	uint32_t kinds;
};

struct follow *follow_open(uint32_t kinds, uint64_t buffer)
{
	const char *path = getenv("DRAY_EVENTS");
	struct follow *follow;

	(void)buffer;
	if (!path || !strcmp(path, "none")) {
		complain("scripted: no tracing");
		return NULL;
	}
	follow = memory_new(1, sizeof(*follow));
	follow->kinds = kinds;
	follow->file = fopen(path, "re");
	if (!follow->file)
		abort();
	return follow;
}

static uint64_t number_of(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return json_is_string(value)
		       ? strtoull(json_string_value(value), NULL, 10)
		       : (uint64_t)json_integer_value(value);
}

static struct event event_of(const json_t *object)
{
	struct event event = {
		.kind = event_kind_of(
			json_string_value(json_object_get(object, "event"))),
		.time_ns = number_of(object, "time_ns"),
		.thread = (int32_t)number_of(object, "thread"),
	};
	int i;

	for (i = 0; i < EVENT_NUMBERS; i++)
		if (event_numbers[i].kinds & EVENT_BIT(event.kind))
			event.number[i] =
				number_of(object, event_numbers[i].json);
	for (i = 0; i < EVENT_TEXTS; i++)
		if (event_texts[i].kinds & EVENT_BIT(event.kind))
			snprintf(event.text[i], EVENT_TEXT_ROOM, "%s",
				 json_string_value(json_object_get(
					 object, event_texts[i].json)));
	return event;
}

static bool take_line(struct follow *follow,
		      void (*take)(void *context, const struct event *event),
		      void *context)
{
	long start = ftell(follow->file);
	char line[4096];
	struct event event;
	json_t *object;

	/* the writer may add lines meanwhile, and may be inside of a line */
	clearerr(follow->file);
	if (!fgets(line, sizeof(line), follow->file))
		return false;
	if (!strchr(line, '\n')) {
		fseek(follow->file, start, SEEK_SET);
		return false;
	}
	object = json_loads(line, 0, NULL);
	if (!object)
		abort();
	event = event_of(object);
	json_decref(object);
	if (follow->kinds & EVENT_BIT(event.kind))
		take(context, &event);
	return true;
}

/* An event at a time; then it waits as the kernel would. */
bool follow_wait(struct follow *follow, int milliseconds,
		 void (*take)(void *context, const struct event *event),
		 void *context)
{
	if (!take_line(follow, take, context))
		interrupt_wait(NULL, 0, milliseconds);
	return true;
}

bool follow_drain(struct follow *follow,
		  void (*take)(void *context, const struct event *event),
		  void *context)
{
	while (take_line(follow, take, context))
		continue;
	return true;
}

uint64_t follow_lost(const struct follow *follow)
{
	const char *lost = getenv("DRAY_LOST");

	(void)follow;
	return lost ? strtoull(lost, NULL, 10) : 0;
}

void follow_close(struct follow *follow)
{
	fclose(follow->file);
	free(follow);
}

enum exit_code latency_print(const struct request *request,
			     const struct span *span)
{
	static char text[65536];
	struct histograms all = { 0 };
	FILE *file = fopen(getenv("DRAY_HIST"), "re");
	enum exit_code status;

	(void)span;
	if (!file)
		abort();
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	histograms_read(&all, "transfer", text);
	status = histograms_print(&all, request);
	histograms_free(&all);
	return status;
}

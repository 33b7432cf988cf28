// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Sums a recording up while it is read.  The steps of time become twice as wide
 * when the recording turns out to be longer.
 */
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "history.h"

#define FIRST_WIDTH 100000 /* ns */

static int history_compare_ids(const void *a, const void *b)
{
	const struct history_buffer *first = a, *second = b;

	return (first->id > second->id) - (first->id < second->id);
}

/* Adds without going round: numbers of a file may be anything. */
static void history_add(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

static void history_subtract(uint64_t *sum, uint64_t less)
{
	*sum = *sum > less ? *sum - less : 0;
}

/* Notes each owner's memory, if no other moment of the step had more. */
static void note_memory(struct history *history, struct history_step *step)
{
	size_t i;

	if (history->now < step->total)
		return;
	step->total = history->now;
	for (i = 0; i <= HISTORY_OWNERS; i++)
		step->owner[i] = history->owners[i].now;
}

static void join_steps(struct history_step *into,
		       const struct history_step *later)
{
	size_t i;

	if (later->total > into->total) {
		memcpy(into->owner, later->owner, sizeof(into->owner));
		into->total = later->total;
	}
	history_add(&into->synced, later->synced);
	history_add(&into->moved, later->moved);
	for (i = 0; i < HISTORY_HEAPS; i++) {
		if (!later->free[i] && !later->largest[i])
			continue;
		into->free[i] = later->free[i];
		into->largest[i] = later->largest[i];
	}
}

static void history_widen(struct history *history)
{
	struct history_step *steps = history->steps;
	size_t i;

	for (i = 0; i < HISTORY_STEPS / 2; i++) {
		if (i)
			steps[i] = steps[2 * i];
		join_steps(&steps[i], &steps[2 * i + 1]);
	}
	memset(steps + i, 0, (HISTORY_STEPS - i) * sizeof(*steps));
	history->step /= 2;
	history->width_ns *= 2;
}

/* Returns the step of that time; times before the current one belong to it. */
static struct history_step *step_at(struct history *history, uint64_t time_ns)
{
	uint64_t passed =
		time_ns > history->begin_ns ? time_ns - history->begin_ns : 0;

	if (time_ns > history->end_ns)
		history->end_ns = time_ns;
	while (passed / history->width_ns >= HISTORY_STEPS)
		history_widen(history);
	while (history->step < passed / history->width_ns)
		note_memory(history, &history->steps[++history->step]);
	return &history->steps[history->step];
}

static size_t history_owner_of(struct history *history,
			       const struct event *event)
{
	int64_t pid = event_signed(event, EVENT_PID);
	struct history_owner *owner;
	size_t i;

	for (i = 0; i < history->owner_count; i++) {
		owner = &history->owners[i];
		if (owner->pid == pid &&
		    !strcmp(owner->comm, event->text[EVENT_COMM]))
			return i;
	}
	if (i == HISTORY_OWNERS)
		return i;
	owner = &history->owners[history->owner_count++];
	memcpy(owner->comm, event->text[EVENT_COMM], sizeof(owner->comm));
	owner->pid = pid;
	return i;
}

/* Keeps a buffer in the list of the longest-lived, if it belongs there. */
static void note_age(struct history *history, const struct history_buffer *live)
{
	size_t i = history->longest_count;

	while (i && history->longest[i - 1].age_ns < live->age_ns)
		i--;
	if (i == HISTORY_LONGEST)
		return;
	if (history->longest_count < HISTORY_LONGEST)
		history->longest_count++;
	memmove(&history->longest[i + 1], &history->longest[i],
		(history->longest_count - i - 1) * sizeof(*live));
	history->longest[i] = *live;
}

static void take_free(struct history *history, const struct event *event)
{
	const struct history_buffer wanted = {
		.id = event->number[EVENT_ID],
	};
	struct history_buffer **node =
		tfind(&wanted, &history->live, history_compare_ids);
	struct history_buffer *live = node ? *node : NULL;
	struct history_owner *owner;

	if (!live)
		return;
	owner = &history->owners[live->owner];
	history_subtract(&owner->now, live->size);
	history_subtract(&history->now, live->size);
	owner->buffers--;
	owner->frees++;
	if (event->time_ns > live->begin_ns)
		live->age_ns = event->time_ns - live->begin_ns;
	note_age(history, live);
	tdelete(live, &history->live, history_compare_ids);
	history->live_count--;
	free(live);
}

static void set_buffer(struct history_buffer *live, const struct event *event)
{
	live->id = event->number[EVENT_ID];
	live->size = event->number[EVENT_SIZE];
	live->begin_ns = event->time_ns;
	memcpy(live->heap, event->text[EVENT_HEAP], sizeof(live->heap));
	memcpy(live->name, event->text[EVENT_NAME], sizeof(live->name));
}

static bool take_alloc(struct history *history, const struct event *event,
		       bool before)
{
	struct history_buffer *live = memory_new(1, sizeof(*live));
	struct history_buffer **node;
	struct history_owner *owner;

	set_buffer(live, event);
	node = tsearch(live, &history->live, history_compare_ids);
	/* One that was there before may have its event too. */
	if (!node || *node != live) {
		free(live);
		return node;
	}
	if (++history->live_count > HISTORY_LIVE) {
		complain("more than %d buffers live at one time: the recording "
			 "is too large for a report",
			 HISTORY_LIVE);
		return false;
	}
	live->owner = history_owner_of(history, event);
	owner = &history->owners[live->owner];
	history_add(&owner->now, live->size);
	history_add(&history->now, live->size);
	owner->buffers++;
	if (!before) {
		owner->allocations++;
		history_add(&owner->allocated, live->size);
	}
	if (owner->now > owner->peak)
		owner->peak = owner->now;
	if (history->now > history->peak) {
		history->peak = history->now;
		history->peak_ns = before ? history->begin_ns : history->end_ns;
	}
	return true;
}

static void take_failure(struct history *history, const struct event *event)
{
	struct history_failure *failure;
	size_t i;

	history->failed++;
	for (i = 0; i < history->failure_count; i++) {
		failure = &history->failures[i];
		if (failure->call == event->number[EVENT_CALL] &&
		    failure->error == event_signed(event, EVENT_ERROR) &&
		    failure->reason == event->number[EVENT_REASON] &&
		    !strcmp(failure->heap, event->text[EVENT_HEAP]))
			break;
	}
	if (i == HISTORY_FAILURES)
		return;
	failure = &history->failures[i];
	if (i == history->failure_count) {
		history->failure_count++;
		failure->call = event->number[EVENT_CALL];
		failure->error = event_signed(event, EVENT_ERROR);
		failure->reason = event->number[EVENT_REASON];
		memcpy(failure->heap, event->text[EVENT_HEAP],
		       sizeof(failure->heap));
	}
	failure->count++;
	failure->limit = event->number[EVENT_LIMIT];
	if (event->number[EVENT_SIZE] > failure->size)
		failure->size = event->number[EVENT_SIZE];
}

static bool history_take_event(void *context, const struct event *event,
			       bool before)
{
	struct history *history = context;
	uint64_t bytes = event->number[EVENT_BYTES];
	struct history_step *step =
		step_at(history, before ? history->begin_ns : event->time_ns);
	bool fine = true;

	history->events += !before;
	switch (event->kind) {
	case EVENT_ALLOC:
		fine = take_alloc(history, event, before);
		note_memory(history, step);
		break;
	case EVENT_FREE:
		take_free(history, event);
		break;
	case EVENT_FAIL:
		take_failure(history, event);
		break;
	case EVENT_SYNC:
		history->syncs++;
		history_add(&history->synced, bytes);
		history_add(&step->synced, bytes);
		break;
	case EVENT_COMPLETE:
	case EVENT_FRAME_COMPLETE:
		history->transfers++;
		history->transfers_failed += event->number[EVENT_ERROR] != 0;
		history_add(&history->moved, bytes);
		history_add(&step->moved, bytes);
		break;
	default:
		break;
	}
	return fine;
}

static void take_begin(void *context, uint64_t time_ns)
{
	struct history *history = context;

	history->begin_ns = time_ns;
	history->end_ns = time_ns;
	history->peak_ns = time_ns;
}

static void history_take_sample(void *context, const struct heap_sample *sample)
{
	struct history *history = context;
	struct history_step *step = step_at(history, sample->time_ns);
	size_t i = 0;

	while (i < history->heap_count &&
	       strcmp(history->heaps[i], sample->heap) != 0)
		i++;
	if (i == HISTORY_HEAPS)
		return;
	if (i == history->heap_count)
		memcpy(history->heaps[history->heap_count++], sample->heap,
		       sizeof(history->heaps[0]));
	step->free[i] = sample->free;
	step->largest[i] = sample->largest_free;
}

static void take_end(void *context, uint64_t time_ns, uint64_t lost)
{
	struct history *history = context;

	step_at(history, time_ns);
	history->lost = lost;
}

static int history_compare_sizes(const void *a, const void *b)
{
	const struct history_buffer *first = a, *second = b;

	if (first->size != second->size)
		return first->size < second->size ? 1 : -1;
	return history_compare_ids(a, b);
}

/* Moves the buffers that live at the end to the list of them. */
static void collect_left(struct history *history)
{
	size_t i;

	history->left =
		memory_new(history->live_count + 1, sizeof(*history->left));
	while (history->live) {
		struct history_buffer *live =
			*(struct history_buffer **)history->live;

		live->alive = true;
		if (history->end_ns > live->begin_ns)
			live->age_ns = history->end_ns - live->begin_ns;
		history->left[history->left_count++] = *live;
		tdelete(live, &history->live, history_compare_ids);
		free(live);
	}
	qsort(history->left, history->left_count, sizeof(*history->left),
	      history_compare_sizes);
	for (i = 0; i < history->left_count; i++)
		note_age(history, &history->left[i]);
}

enum recording_state history_read(const char *path, struct history *history)
{
	const struct recording_reader reader = {
		.begin = take_begin,
		.event = history_take_event,
		.sample = history_take_sample,
		.end = take_end,
		.context = history,
	};
	enum recording_state state;

	memset(history, 0, sizeof(*history));
	history->steps = memory_new(HISTORY_STEPS, sizeof(*history->steps));
	history->width_ns = FIRST_WIDTH;
	state = recording_read(path, &reader);
	collect_left(history);
	return state;
}

void history_free(struct history *history)
{
	free(history->steps);
	free(history->left);
}

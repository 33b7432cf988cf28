// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Events from the kernel, by libtracefs.  The instance's clock is CLOCK_MONOTONIC,
 * so that times of day can be computed.  Processors are read in turn: an event
 * from after the beginning of a pass is kept for the next pass, since an earlier
 * event of another processor may still follow.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tracefs.h>

#include "cli.h"
#include "follow.h"
#include "base/interrupt.h"
#include "tracing.h"

#define BATCH_MS 20 /* that events may gather before they are read */

struct follow {
	struct tracefs_instance *instance;
	struct tep_handle *tep;
	int pipe; /* for poll() only */
	uint32_t kinds;
	uint64_t offset; /* of the time of day to CLOCK_MONOTONIC, ns */
	uint64_t lost;
	struct event *events; /* that were read, in the order of times */
	size_t count;
	size_t room;
};

static struct follow *active;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Looks a process up while it probably lives; its name is kept. */
static const char *comm_of(struct tep_handle *tep, int pid)
{
	char *path = text_format("/proc/%d/comm", pid);
	char comm[EVENT_TEXT_ROOM] = "";
	FILE *file;

	if (!tep_is_pid_registered(tep, pid)) {
		file = fopen(path, "re");
		if (file && fgets(comm, sizeof(comm), file))
			comm[strcspn(comm, "\n")] = '\0';
		if (file)
			fclose(file);
		if (*comm)
			tep_register_comm(tep, comm, pid);
		else /* it ended: the kernel remembers some */
			tracefs_load_cmdlines(NULL, tep);
	}
	free(path);
	return tep_is_pid_registered(tep, pid)
		       ? tep_data_comm_from_pid(tep, pid)
		       : "?";
}

static void follow_read_fields(const struct tep_event *from,
			       struct tep_record *record, struct event *event)
{
	uint32_t bit = EVENT_BIT(event->kind);
	int i;

	for (i = 0; i < EVENT_NUMBERS; i++) {
		struct tep_format_field *field = NULL;
		unsigned long long value = 0;

		if (event_numbers[i].kinds & bit)
			field = tep_find_field((struct tep_event *)from,
					       event_numbers[i].kernel);
		if (!field ||
		    tep_read_number_field(field, record->data, &value))
			continue;
		/* 32 bits arrive without their sign */
		if (field->flags & TEP_FIELD_IS_SIGNED && field->size == 4)
			value = (unsigned long long)(int32_t)value;
		event->number[i] = value;
	}
	for (i = 0; i < EVENT_TEXTS; i++) {
		struct tep_format_field *field = NULL;

		if (event_texts[i].kinds & bit)
			field = tep_find_field((struct tep_event *)from,
					       event_texts[i].kernel);
		if (field && field->offset + field->size <= record->size)
			snprintf(event->text[i], EVENT_TEXT_ROOM, "%.*s",
				 field->size,
				 (char *)record->data + field->offset);
	}
}

static struct event *follow_add_event(struct follow *follow)
{
	if (follow->count == follow->room) {
		follow->room = follow->room ? 2 * follow->room : 256;
		follow->events = memory_resize(follow->events, follow->room,
					       sizeof(*follow->events));
	}
	return memset(&follow->events[follow->count++], 0,
		      sizeof(*follow->events));
}

static int take_record(struct tep_event *from, struct tep_record *record,
		       int cpu, void *context)
{
	struct follow *follow = context;
	struct event *event;
	enum event_kind kind;
	int pid;

	(void)cpu;
	if (strncmp(from->name, TRACING_PREFIX, strlen(TRACING_PREFIX)) != 0)
		return 0;
	kind = event_kind_of(from->name + strlen(TRACING_PREFIX));
	if (kind == EVENT_KINDS)
		return 0;
	event = follow_add_event(follow);
	event->kind = kind;
	event->time_ns = record->ts + follow->offset;
	event->thread = tep_data_pid(follow->tep, record);
	follow_read_fields(from, record, event);
	pid = (int)event_signed(event, EVENT_PID);
	if (!(event_numbers[EVENT_PID].kinds & EVENT_BIT(kind)))
		pid = event->thread;
	if (*event->text[EVENT_COMM])
		tep_override_comm(follow->tep, event->text[EVENT_COMM], pid);
	else
		snprintf(event->text[EVENT_COMM], EVENT_TEXT_ROOM, "%s",
			 comm_of(follow->tep, pid));
	return 0;
}

static int take_missed(struct tep_event *event, struct tep_record *record,
		       int cpu, void *context)
{
	struct follow *follow = context;

	(void)event;
	(void)cpu;
	/* the kernel does not always know the number */
	follow->lost +=
		record->missed_events > 0 ? (uint64_t)record->missed_events : 1;
	return 0;
}

static void remove_instance(void)
{
	if (active && active->instance) {
		tracefs_trace_off(active->instance);
		tracefs_event_disable(active->instance, TRACING_SYSTEM, NULL);
		tracefs_instance_destroy(active->instance);
		tracefs_instance_free(active->instance);
		active->instance = NULL;
	}
}

static bool follow_enable(struct follow *follow, uint32_t kinds,
			  uint64_t buffer)
{
	int kind;

	if (tracefs_instance_file_write(follow->instance, "trace_clock",
					"mono") < 0)
		return tracing_failed("set the clock of its events");
	if (buffer && tracefs_instance_set_buffer_size(
			      follow->instance, (size_t)(buffer >> 10), -1))
		return tracing_failed("take buffers of that size");
	for (kind = 0; kind < EVENT_KINDS; kind++) {
		char *name;
		int ret;

		if (!(kinds & EVENT_BIT(kind)))
			continue;
		name = text_format(TRACING_PREFIX "%s", event_names[kind]);
		ret = tracefs_event_enable(follow->instance, TRACING_SYSTEM,
					   name);
		free(name);
		if (ret)
			return tracing_failed("enable an event");
	}
	return true;
}

struct follow *follow_open(uint32_t kinds, uint64_t buffer)
{
	struct follow *follow;
	char *name;

	if (!tracing_check(kinds))
		return NULL;
	follow = memory_new(1, sizeof(*follow));
	follow->pipe = -1;
	follow->kinds = kinds;
	tracing_remove_left();
	name = text_format(TRACING_INSTANCE "%d", (int)getpid());
	follow->instance = tracefs_instance_create(name);
	if (!follow->instance)
		tracing_failed("make an instance of the kernel's tracing");
	free(name);
	follow->tep = tracing_events(kinds);
	follow->offset = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
	if (!follow->instance || !follow->tep) {
		follow_close(follow);
		return NULL;
	}
	active = follow;
	atexit(remove_instance);
	tracefs_follow_missed_events(follow->instance, take_missed, follow);
	follow->pipe = tracefs_instance_file_open(
		follow->instance, "trace_pipe", O_RDONLY | O_NONBLOCK);
	if (follow->pipe < 0)
		tracing_failed("open its events");
	if (follow->pipe < 0 || !follow_enable(follow, kinds, buffer)) {
		follow_close(follow);
		return NULL;
	}
	return follow;
}

static int follow_compare_times(const void *a, const void *b)
{
	const struct event *first = a, *second = b;

	return (first->time_ns > second->time_ns) -
	       (first->time_ns < second->time_ns);
}

/* Reads all processors, and hands over events up to @limit. */
static bool read_pass(struct follow *follow, uint64_t limit,
		      void (*take)(void *context, const struct event *event),
		      void *context)
{
	size_t done = 0;

	/* Without any event it fails with EAGAIN or the like. */
	errno = 0;
	if (tracefs_iterate_raw_events(follow->tep, follow->instance, NULL, 0,
				       take_record, follow) < 0 &&
	    errno && errno != EAGAIN && errno != EINTR)
		return tracing_failed("read events");
	qsort(follow->events, follow->count, sizeof(*follow->events),
	      follow_compare_times);
	while (done < follow->count && follow->events[done].time_ns <= limit)
		take(context, &follow->events[done++]);
	follow->count -= done;
	if (done)
		memmove(follow->events, follow->events + done,
			follow->count * sizeof(*follow->events));
	return true;
}

/* The events of a module that was loaded anew are disabled. */
static bool has_events(const struct follow *follow)
{
	char *name = text_format(TRACING_PREFIX "%s",
				 event_names[__builtin_ctz(follow->kinds)]);
	char *text = tracefs_event_file_read(follow->instance, TRACING_SYSTEM,
					     name, "enable", NULL);
	bool enabled = text && *text == '1';

	free(text);
	free(name);
	if (!enabled)
		complain("the dray module was unloaded: its events have ended");
	return enabled;
}

bool follow_wait(struct follow *follow, int milliseconds,
		 void (*take)(void *context, const struct event *event),
		 void *context)
{
	struct pollfd file = { .fd = follow->pipe, .events = POLLIN };

	if (follow->count)
		milliseconds = BATCH_MS;
	if (interrupt_wait(&file, 1, milliseconds) < 0)
		return tracing_failed("wait for events");
	if (file.revents)
		interrupt_wait(NULL, 0, BATCH_MS);
	else if (!follow->count)
		return has_events(follow);
	return read_pass(follow, clock_ns(CLOCK_MONOTONIC) + follow->offset,
			 take, context);
}

bool follow_drain(struct follow *follow,
		  void (*take)(void *context, const struct event *event),
		  void *context)
{
	tracefs_trace_off(follow->instance);
	return read_pass(follow, UINT64_MAX, take, context);
}

uint64_t follow_lost(const struct follow *follow)
{
	return follow->lost;
}

void follow_close(struct follow *follow)
{
	if (follow->pipe >= 0)
		close(follow->pipe);
	active = follow;
	remove_instance();
	active = NULL;
	if (follow->tep)
		tep_free(follow->tep);
	free(follow->events);
	free(follow);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl record: writes the module's events, the buffers that exist and samples
 * of the heaps to a file, for dmactl report.  The file is written as it goes on:
 * after a crash the rest is readable.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/document.h"
#include "follow.h"
#include "base/gather.h"
#include "base/interrupt.h"
#include "base/output.h"
#include "base/quantity.h"
#include "recording.h"
#include "span.h"

static const struct command_option file_option = {
	.name = "output",
	.letter = 'o',
	.value = "FILE",
	.offers = "file",
	.text = "write the recording to FILE; '-' is standard\n"
		"output",
};

static const struct command_option interval_option = {
	.name = "interval",
	.value = "TIME",
	.text = "look at the heaps that often, 10ms to 1h; usually 1s",
};

struct recorder {
	const struct request *request;
	struct output output;
	struct span span;
	uint64_t interval_ns;
	uint64_t next_ns; /* of the span, when the heaps are due */
	uint64_t events;
	pid_t child; /* 0: there is none, or it has ended */
	int status; /* of the child, as of waitpid() */
};

static uint64_t time_of_day(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void record_take_event(void *context, const struct event *event)
{
	struct recorder *recorder = context;

	document_line(event_document(event), recorder->output.stream);
	recorder->events++;
}

static void record_set_text(char to[EVENT_TEXT_ROOM], const char *from,
			    size_t room)
{
	snprintf(to, EVENT_TEXT_ROOM, "%.*s", (int)strnlen(from, room), from);
}

/* Writes the buffers that are there, as if they were allocated now. */
static bool record_buffers(struct recorder *recorder)
{
	struct buffer_list list;
	size_t i;

	if (!buffers_gather(recorder->request, &list))
		return false;
	for (i = 0; i < list.count; i++) {
		const struct dray_buffer_info *info = &list.entries[i].info;
		struct event event = {
			.kind = EVENT_ALLOC,
			.time_ns = time_of_day() - info->age_ns,
			.thread = info->pid,
		};

		if (!is_buffer(info))
			continue;
		event.number[EVENT_ID] = info->id;
		event.number[EVENT_SIZE] = info->size;
		event.number[EVENT_OFFSET] = (uint64_t)-1;
		event.number[EVENT_PID] = (uint64_t)info->pid;
		record_set_text(event.text[EVENT_COMM], info->comm,
				sizeof(info->comm));
		record_set_text(event.text[EVENT_HEAP], info->heap_name,
				sizeof(info->heap_name));
		record_set_text(event.text[EVENT_NAME], info->name,
				sizeof(info->name));
		recording_buffer(recorder->output.stream, &event);
	}
	buffers_free(&list);
	return true;
}

static bool record_heaps_of(struct recorder *recorder,
			    const struct open_nodes *nodes, size_t which)
{
	const struct open_node *node = &nodes->entries[which];
	struct heap_sample sample = { .time_ns = time_of_day() };
	struct dray_heap_info info;
	uint32_t i;

	for (i = 0; i < node->info.heap_count; i++) {
		if (!node_heap(node, i, &info))
			return false;
		record_set_text(sample.heap, info.name, sizeof(info.name));
		sample.total = info.total;
		sample.used = info.used;
		sample.free = info.free;
		sample.largest_free = info.largest_free;
		recording_sample(recorder->output.stream, &sample);
	}
	return true;
}

/* Nodes are open only meanwhile: an open one keeps the module. */
static bool record_heaps(struct recorder *recorder)
{
	struct open_nodes nodes;
	bool fine = true;
	size_t i;

	if (!nodes_open(recorder->request, &nodes))
		return false;
	for (i = 0; i < nodes.count && fine; i++)
		fine = record_heaps_of(recorder, &nodes, i);
	nodes_close(&nodes);
	recorder->next_ns =
		span_passed(&recorder->span) + recorder->interval_ns;
	return fine;
}

static void clear_line(void)
{
	fputs("\r\033[K", stderr);
}

static void show_progress(const struct recorder *recorder,
			  const struct follow *follow)
{
	char time[QUANTITY_ROOM];

	if (!cli_clear_line)
		return;
	fprintf(stderr, "\r\033[Krecording: %s, %" PRIu64 " events",
		quantity_time(time, span_passed(&recorder->span)),
		recorder->events);
	if (follow_lost(follow))
		fprintf(stderr, ", %" PRIu64 " lost", follow_lost(follow));
	fflush(stderr);
}

/* Ends the command if it still runs, and waits for it. */
static void end_child(struct recorder *recorder)
{
	if (!recorder->child)
		return;
	kill(recorder->child, SIGTERM);
	while (waitpid(recorder->child, &recorder->status, 0) < 0 &&
	       errno == EINTR)
		continue;
	recorder->child = 0;
	recorder->status = 0;
}

static bool start_child(struct recorder *recorder)
{
	const struct request *request = recorder->request;
	int error;

	if (!request->operand_count)
		return true;
	error = interrupt_spawn(request->operands, &recorder->child);
	if (!error)
		return true;
	recorder->child = 0;
	complain("cannot run %s: %s", *request->operands, strerror(error));
	return false;
}

/* Tells whether the command has ended. */
static bool child_has_ended(struct recorder *recorder)
{
	if (!recorder->child ||
	    waitpid(recorder->child, &recorder->status, WNOHANG) <= 0)
		return false;
	recorder->child = 0;
	return true;
}

static bool record_until_the_end(struct recorder *recorder,
				 struct follow *follow)
{
	/* the first time that the file can be seen */
	bool fine = output_flush(&recorder->output), ended = false;
	int left;

	while (fine && !ended && (left = span_left(&recorder->span, 200))) {
		fine = follow_wait(follow, left, record_take_event, recorder);
		ended = child_has_ended(recorder);
		if (fine && span_passed(&recorder->span) >= recorder->next_ns)
			fine = record_heaps(recorder);
		fine = fine && output_flush(&recorder->output);
		show_progress(recorder, follow);
	}
	end_child(recorder);
	fine = fine && follow_drain(follow, record_take_event, recorder);
	return fine && record_heaps(recorder);
}

static bool record_all(struct recorder *recorder, struct follow *follow)
{
	bool fine;

	recording_begin(recorder->output.stream, time_of_day());
	fine = record_buffers(recorder) && record_heaps(recorder) &&
	       start_child(recorder);
	if (fine)
		fine = record_until_the_end(recorder, follow);
	recording_end(recorder->output.stream, time_of_day(),
		      follow_lost(follow));
	return fine;
}

static enum exit_code say_result(const struct recorder *recorder, uint64_t lost)
{
	const char *command = operand_at(recorder->request, 0);

	if (lost)
		complain("%" PRIu64 " events or more were lost, since the "
			 "kernel's buffer was full: --buffer-size makes it "
			 "larger",
			 lost);
	if (WIFSIGNALED(recorder->status))
		complain("%s was ended by signal %d", command,
			 WTERMSIG(recorder->status));
	else if (WEXITSTATUS(recorder->status))
		complain("%s failed with status %d", command,
			 WEXITSTATUS(recorder->status));
	return lost || recorder->status ? EXIT_FAILED : EXIT_FINE;
}

static enum exit_code record_to(struct recorder *recorder, const char *name)
{
	enum exit_code status = EXIT_FAILED;
	struct follow *follow;
	bool fine;

	interrupt_begin();
	follow = follow_open(EVENT_ALL, recorder->span.buffer);
	if (!follow)
		return EXIT_FAILED;
	if (!output_open(&recorder->output, name)) {
		follow_close(follow);
		return EXIT_FAILED;
	}
	if (isatty(STDERR_FILENO))
		cli_clear_line = clear_line;
	fine = record_all(recorder, follow);
	if (output_end(&recorder->output, fine) && fine)
		status = say_result(recorder, follow_lost(follow));
	if (cli_clear_line)
		clear_line();
	cli_clear_line = NULL;
	follow_close(follow);
	return status;
}

static enum exit_code record_run(const struct request *request)
{
	const char *name = option_value(request, &file_option);
	struct recorder recorder = { .request = request };
	enum exit_code status;

	if (!name || !*name) {
		complain("record: give a file: -o FILE");
		return EXIT_USAGE;
	}
	if (!span_begin(request, &recorder.span) ||
	    !parse_interval(option_value(request, &interval_option),
			    &recorder.interval_ns))
		return EXIT_USAGE;
	status = record_to(&recorder, name);
	interrupt_end();
	return status;
}

static const char description[] =
	"Writes all events of the module, the buffers that exist and the state\n"
	"of the heaps to a file, until a signal comes, the time is over or the\n"
	"command ends.  A command that still runs then gets SIGTERM.  Needs\n"
	"root, as trace does; 'dmactl report FILE' needs neither root nor the\n"
	"module.\n";

static const struct command_option *const options[] = {
	&file_option, &for_option, &interval_option, &buffer_option, NULL,
};

const struct command record_command = {
	.name = "record",
	.operands = "[COMMAND [ARGUMENT]...]",
	.operands_most = 1000,
	.options = options,
	.summary = "records events for a report",
	.description = description,
	.run = record_run,
};

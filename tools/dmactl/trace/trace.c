// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl trace: follows the module's tracepoints, as a log for people, as JSON, or
 * as a log of allocations in the columns of RMM's, which dray-replay plays.
 */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/dray.h>

#include "base/document.h"
#include "escape.h"
#include "base/filter.h"
#include "follow.h"
#include "interest.h"
#include "base/interrupt.h"
#include "latency.h"
#include "base/quantity.h"
#include "span.h"
#include "base/table.h"

#define SECOND UINT64_C(1000000000)

static const struct command_option csv_option = {
	.name = "csv",
	.text = "print allocations in the columns of RMM's log,\n"
		"for dray-replay",
};

static const struct command_option count_option = {
	.name = "count",
	.value = "N",
	.text = "end after that many events",
};

static const struct command_option latency_option = {
	.name = "latency",
	.text = "print histograms of the times from submit to\n"
		"complete instead, made by the kernel",
};

struct log {
	const struct request *request;
	struct interest interest;
	void (*print)(const struct log *log, const struct event *event);
	uint64_t left; /* events to print */
};

/* In RMM's log the time is UTC's, as in the library's. */
static void print_csv(const struct log *log, const struct event *event)
{
	uint64_t second = event->time_ns / SECOND % 86400;
	const char *action = "allocate failure";
	uint64_t size = event->number[EVENT_SIZE];
	char pointer[24] = "(nil)";

	(void)log;
	if (event->kind != EVENT_FAIL) {
		action = event->kind == EVENT_ALLOC ? "allocate" : "free";
		snprintf(pointer, sizeof(pointer), "0x%" PRIx64,
			 event->number[EVENT_ID]);
	}
	/* no reader takes more for a size */
	if (size > INT64_MAX)
		size = INT64_MAX;
	printf("%" PRId32 ",%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64
	       ".%06" PRIu64 ",%s,%s,%" PRIu64 ",0\n",
	       event->thread, second / 3600, second / 60 % 60, second % 60,
	       event->time_ns % SECOND / 1000, action, pointer, size);
}

static void trace_print_json(const struct log *log, const struct event *event)
{
	(void)log;
	document_line(event_document(event), stdout);
}

static enum table_colour trace_colour_of(const struct event *event)
{
	if (event->number[EVENT_ERROR] || event->number[EVENT_CONDEMNED])
		return TABLE_BAD;
	if (event->kind == EVENT_ALLOC)
		return TABLE_WARNING;
	return event->kind == EVENT_FREE ? TABLE_GOOD : TABLE_PLAIN;
}

static void trace_print_text(const struct log *log, const struct event *event)
{
	const struct request *request = log->request;
	enum table_colour colour = trace_colour_of(event);
	time_t second = (time_t)(event->time_ns / SECOND);
	char *said = event_sentence(event, request->bytes);
	char *comm = escape(event->text[EVENT_COMM],
			    strlen(event->text[EVENT_COMM]), ESCAPE_WORD);
	int64_t pid = event_signed(event, EVENT_PID);
	char *process =
		text_format("%s:%" PRId64, comm, pid > 0 ? pid : event->thread);
	struct tm when = { 0 };
	char clock[16] = "";

	localtime_r(&second, &when);
	strftime(clock, sizeof(clock), "%H:%M:%S", &when);
	printf("%s.%06" PRIu64 "  %-20s  %s%-14s%s  %s\n", clock,
	       event->time_ns % SECOND / 1000, process,
	       colour_on(request, colour), event_names[event->kind],
	       colour_off(request, colour), said);
	free(process);
	free(comm);
	free(said);
}

static void trace_take_event(void *context, const struct event *event)
{
	struct log *log = context;

	if (!interest_wants(&log->interest, event) || !log->left)
		return;
	/* other calls than ALLOC are none of RMM's business */
	if (log->print == print_csv && event->kind == EVENT_FAIL &&
	    event->number[EVENT_CALL] != _IOC_NR(DRAY_IOC_ALLOC))
		return;
	log->print(log, event);
	log->left--;
}

static enum exit_code report_lost(const struct follow *follow)
{
	uint64_t lost = follow_lost(follow);

	if (!lost)
		return EXIT_FINE;
	complain("%" PRIu64 " events or more were lost, since the kernel's "
		 "buffer was full: --buffer-size makes it larger",
		 lost);
	return EXIT_FAILED;
}

static void print_header(const struct log *log)
{
	if (log->print == print_csv)
		puts("Thread,Time,Action,Pointer,Size,Stream");
	else if (log->print == trace_print_text && log->request->header)
		printf("%-15s  %-20s  %-14s  %s\n", "TIME", "PROCESS", "EVENT",
		       "DETAILS");
	cli_flush();
}

/* A reader that has ended is noticed by a write, or here if there is no event. */
static void look_at_reader(void)
{
	struct pollfd output = { .fd = STDOUT_FILENO };

	if (poll(&output, 1, 0) == 1 && output.revents & POLLERR)
		raise(SIGPIPE);
}

static enum exit_code follow_log(struct log *log, const struct span *span)
{
	struct follow *follow =
		follow_open(interest_kinds(&log->interest), span->buffer);
	enum exit_code status = EXIT_FAILED;
	bool fine;
	int left;

	if (!follow)
		return EXIT_FAILED;
	print_header(log);
	fine = interest_begin(&log->interest);
	while (fine && log->left && (left = span_left(span, 1000))) {
		fine = follow_wait(follow, left, trace_take_event, log) &&
		       cli_flush();
		look_at_reader();
	}
	if (fine && log->left)
		fine = follow_drain(follow, trace_take_event, log);
	if (fine)
		status = report_lost(follow);
	follow_close(follow);
	return status;
}

/* Histograms are of all events, and have one form for people. */
static bool check_latency(const struct request *request)
{
	size_t i;

	if (!option_value(request, &latency_option))
		return true;
	for (i = 0; i < request->given_count; i++) {
		const struct command_option *option = request->given[i].option;

		if (option == &latency_option || option == &json_option ||
		    option == &for_option)
			continue;
		complain("trace: --latency takes only --json and --for");
		return false;
	}
	return true;
}

static bool read_form(struct log *log)
{
	const struct request *request = log->request;
	const char *count = option_value(request, &count_option);
	const char *end;

	log->print = trace_print_text;
	if (request->json)
		log->print = trace_print_json;
	if (option_value(request, &csv_option))
		log->print = print_csv;
	if (request->json && log->print == print_csv) {
		complain("trace: give --csv or --json, not both");
		return false;
	}
	log->left = UINT64_MAX;
	end = count ? parse_number(count, 10, &log->left) : "";
	if (!end || *end || !log->left) {
		complain("'%s' is not a number of events, from 1 on", count);
		return false;
	}
	return true;
}

static enum exit_code trace_run(const struct request *request)
{
	struct log log = { .request = request };
	uint32_t possible = EVENT_ALL;
	enum exit_code status;
	struct span span;

	if (!check_latency(request) || !read_form(&log))
		return EXIT_USAGE;
	if (log.print == print_csv)
		possible = EVENT_BIT(EVENT_ALLOC) | EVENT_BIT(EVENT_FREE) |
			   EVENT_BIT(EVENT_FAIL);
	if (!interest_make(request, possible, &log.interest) ||
	    !span_begin(request, &span))
		return EXIT_USAGE;
	interrupt_begin();
	if (option_value(request, &latency_option))
		status = latency_print(request, &span);
	else
		status = follow_log(&log, &span);
	interest_drop(&log.interest);
	interrupt_end();
	return status;
}

static const char description[] =
	"A line for each event in the life of a buffer, an attachment or a\n"
	"transfer, and for each failed call, while it goes on.  It uses an\n"
	"instance of the kernel's tracing of its own, which is removed at the\n"
	"end; needs root.\n"
	"\n"
	"  TIME      of the day\n"
	"  PROCESS   name and pid: the owner of a buffer, the caller, or the\n"
	"            opener of the node that the transfer came by; of map,\n"
	"            attach and detach the thread\n"
	"  EVENT     as dray(4) names it, without 'dray_'\n"
	"  DETAILS   the event in words\n";

static const struct command_option *const options[] = {
	&event_option,	&pid_option,	   &heap_filter_option, &csv_option,
	&json_option,	&latency_option,   &count_option,	&for_option,
	&buffer_option, &no_header_option, &bytes_option,	NULL,
};

const struct command trace_command = {
	.name = "trace",
	.options = options,
	.summary = "follows allocations, syncs and transfers",
	.description = description,
	.run = trace_run,
};

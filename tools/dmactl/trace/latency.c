// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Latencies, measured by the kernel alone: a synthetic event joins the events of
 * a begin and its end, and a histogram of that event counts.  Both are the
 * kernel's, by libtracefs.  Its synthetic events work in the main instance only.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tracefs.h>

#include "base/access.h"
#include "event.h"
#include "histogram.h"
#include "base/interrupt.h"
#include "latency.h"
#include "tracing.h"

#define SYNTHETIC "synthetic" /* their system */
#define NAME "dmactl_" /* of the events, and the number of the process */

/*
 * The kernel forgets no key of a join: jobs of a queue share as many slots as
 * can be in flight, so that a program's keys are few.
 */
static const struct join {
	const char *kind;
	const char *begins; /* its keys may be too many */
	const char *ends;
	const char *sql;
} joins[] = {
	{ "transfer", "dray_submit", "dray_complete",
	  "SELECT end.channel AS channel, "
	  "(end.TIMESTAMP - start.TIMESTAMP) AS latency "
	  "FROM dray_submit AS start JOIN dray_complete AS end "
	  "ON start.queue = end.queue, start.slot = end.slot" },
	{ "frame", "dray_frame_submit", "dray_frame_complete",
	  "SELECT end.channel AS channel, "
	  "(end.TIMESTAMP - start.TIMESTAMP) AS latency "
	  "FROM dray_frame_submit AS start JOIN dray_frame_complete AS end "
	  "ON start.queue = end.queue, start.frame = end.frame" },
};

#define KINDS                                                  \
	(EVENT_BIT(EVENT_SUBMIT) | EVENT_BIT(EVENT_COMPLETE) | \
	 EVENT_BIT(EVENT_FRAME_SUBMIT) | EVENT_BIT(EVENT_FRAME_COMPLETE))

#define JOINS (sizeof(joins) / sizeof(joins[0]))

struct meter {
	struct tracefs_synth *synth;
	struct tracefs_hist *hist;
	char *name;
	bool created;
	bool started;
};

static struct tep_handle *tep;
static struct meter meters[JOINS];
static char *clock_before;

/* Complains with the reason of the kernel or libtracefs. */
static bool latency_failed(const char *task, char *said)
{
	int error = errno;

	if (!said)
		said = tracefs_error_last(NULL);
	complain("the kernel's tracing cannot %s: %s", task,
		 said ? said : strerror(error));
	free(said);
	return false;
}

static bool meter_make(struct meter *meter, const struct join *join, long pid)
{
	char *error = NULL;

	meter->name = text_format(NAME "%ld_%s", pid, join->kind);
	meter->synth = tracefs_sql(tep, meter->name, join->sql, &error);
	if (!meter->synth)
		return latency_failed("join events", error);
	free(error);
	return true;
}

static bool meter_start(struct meter *meter)
{
	if (tracefs_synth_create(meter->synth))
		return latency_failed("make a synthetic event", NULL);
	meter->created = true;
	if (!tracefs_synth_get_event(tep, meter->synth))
		return latency_failed("find its synthetic event", NULL);
	meter->hist = tracefs_hist_alloc_2d(tep, SYNTHETIC, meter->name,
					    "channel", TRACEFS_HIST_KEY_NORMAL,
					    "latency", TRACEFS_HIST_KEY_LOG);
	if (!meter->hist || tracefs_hist_start(NULL, meter->hist))
		return latency_failed("make a histogram", NULL);
	meter->started = true;
	return true;
}

static void meter_drop(struct meter *meter)
{
	if (meter->started)
		tracefs_hist_destroy(NULL, meter->hist);
	if (meter->hist)
		tracefs_hist_free(meter->hist);
	if (meter->created)
		tracefs_synth_destroy(meter->synth);
	if (meter->synth)
		tracefs_synth_free(meter->synth);
	free(meter->name);
	*meter = (struct meter){ 0 };
}

/* Undoes all; runs again at the end of the program, with nothing to do. */
static void latency_drop_all(void)
{
	size_t i;

	for (i = 0; i < JOINS; i++)
		meter_drop(&meters[i]);
	if (clock_before)
		tracefs_instance_file_write(NULL, "trace_clock", clock_before);
	free(clock_before);
	clock_before = NULL;
	if (tep)
		tep_free(tep);
	tep = NULL;
}

/*
 * Removes the first trigger of an event with @word in it.  Returns the command that
 * did so, or NULL; the caller frees it.
 */
static char *remove_trigger(const char *system, const char *event,
			    const char *word)
{
	char *text =
		tracefs_event_file_read(NULL, system, event, "trigger", NULL);
	char *rest = NULL, *command = NULL;
	char *line = text ? strtok_r(text, "\n", &rest) : NULL;

	while (line && (*line == '#' || !strstr(line, word)))
		line = strtok_r(NULL, "\n", &rest);
	if (line) {
		/* " [active]" */
		command = text_format("!%.*s", (int)strcspn(line, " "), line);
		tracefs_event_file_append(NULL, system, event, "trigger",
					  command);
	}
	free(text);
	return command;
}

/* Their variables are named at random, so that the kernel is asked for them. */
static void remove_join(const struct join *join, const char *name)
{
	static const char title[] = "=common_timestamp-$";
	char *word = text_format("(%s,", name);
	char *command = remove_trigger(TRACING_SYSTEM, join->ends, word);
	const char *variable = command ? strstr(command, title) : NULL;

	free(word);
	if (variable) {
		variable += sizeof(title) - 1;
		word = text_format("%.*s=", (int)strcspn(variable, ":,"),
				   variable);
		free(remove_trigger(TRACING_SYSTEM, join->begins, word));
		free(word);
	}
	free(command);
	free(remove_trigger(SYNTHETIC, name, "hist:"));
}

/* Removes a synthetic event of a process that was killed. */
static void remove_left(struct tracefs_dynevent *event, const char *name)
{
	long pid = strtol(name + strlen(NAME), NULL, 10);
	const char *kind = strchr(name + strlen(NAME), '_');
	size_t i;

	if (pid <= 0 || !kind || !kill((pid_t)pid, 0) || errno != ESRCH)
		return;
	for (i = 0; i < JOINS; i++)
		if (!strcmp(kind + 1, joins[i].kind)) {
			remove_join(&joins[i], name);
			tracefs_dynevent_destroy(event, true);
		}
}

static void remove_all_left(void)
{
	struct tracefs_dynevent **events =
		tracefs_dynevent_get_all(TRACEFS_DYNEVENT_SYNTH, NULL);
	size_t i;

	for (i = 0; events && events[i]; i++) {
		char *name = NULL;

		tracefs_dynevent_info(events[i], NULL, &name, NULL, NULL, NULL);
		if (name && !strncmp(name, NAME, strlen(NAME)))
			remove_left(events[i], name);
		free(name);
	}
	tracefs_dynevent_list_free(events);
}

/* Looks for the files of CONFIG_SYNTH_EVENTS and CONFIG_HIST_TRIGGERS. */
static bool kernel_can(void)
{
	if (tracefs_file_exists(NULL, "synthetic_events") &&
	    tracefs_event_file_exists(NULL, TRACING_SYSTEM, "dray_submit",
				      "hist"))
		return true;
	complain("this kernel makes no histograms of latencies: it lacks "
		 "CONFIG_SYNTH_EVENTS or CONFIG_HIST_TRIGGERS; without "
		 "--latency, trace shows the events");
	return false;
}

static bool start_all(void)
{
	size_t i;

	atexit(latency_drop_all);
	tep = tracing_events(KINDS);
	if (!tep)
		return false;
	remove_all_left();
	/* joining times changes the clock */
	clock_before = tracefs_get_clock(NULL);
	for (i = 0; i < JOINS; i++)
		if (!meter_make(&meters[i], &joins[i], getpid()) ||
		    !meter_start(&meters[i]))
			return false;
	return true;
}

static bool read_all(struct histograms *all)
{
	size_t i;

	for (i = 0; i < JOINS; i++) {
		char *text = tracefs_event_file_read(
			NULL, SYNTHETIC, meters[i].name, "hist", NULL);
		char *begins = tracefs_event_file_read(
			NULL, TRACING_SYSTEM, joins[i].begins, "hist", NULL);

		if (text)
			histograms_read(all, joins[i].kind, text);
		if (begins)
			histograms_read_lost(all, begins);
		free(begins);
		free(text);
		if (!text)
			return tracing_failed("tell its histogram");
	}
	return true;
}

enum exit_code latency_print(const struct request *request,
			     const struct span *span)
{
	enum exit_code status = EXIT_FAILED;
	struct histograms all = { 0 };
	struct open_nodes nodes;
	bool fine;
	int left;

	/*
	 * Open nodes keep the module: the kernel leaves probes in a module that
	 * goes while histograms count its events.
	 */
	if (!tracing_check(KINDS) || !kernel_can() ||
	    !nodes_open(request, &nodes))
		return EXIT_FAILED;
	fine = start_all();
	if (fine && request->terminal)
		complain("measuring; Ctrl-C ends it");
	while (fine && (left = span_left(span, 60000)))
		interrupt_wait(NULL, 0, left);
	fine = fine && read_all(&all);
	latency_drop_all();
	nodes_close(&nodes);
	if (fine)
		status = histograms_print(&all, request);
	histograms_free(&all);
	return status;
}

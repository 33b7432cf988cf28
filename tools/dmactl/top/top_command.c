// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl top: the use of memory and engines as it changes.  On a terminal a live
 * screen; with --once, --batch or --json samples one below the other.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/quantity.h"
#include "top.h"
#include "top_live.h"

static const struct command_option once_option = {
	.name = "once",
	.text = "print a single sample and end; needs no terminal",
};

static const struct command_option batch_option = {
	.name = "batch",
	.text = "print sample after sample; needs no terminal",
};

static const struct command_option count_option = {
	.name = "count",
	.value = "N",
	.text = "end after N samples",
};

static const struct command_option interval_option = {
	.name = "interval",
	.value = "TIME",
	.text = "time between samples, as 500ms or 5s; usually 1s",
};

static bool command_parse_count(const char *text, uint64_t *count)
{
	const char *end;

	*count = 0;
	if (!text)
		return true;
	end = parse_number(text, 10, count);
	if (end && !*end && *count)
		return true;
	complain("'%s' is not a count of samples: a number from 1 on", text);
	return false;
}

static void command_sleep_for(uint64_t nanoseconds)
{
	struct timespec time = {
		.tv_sec = (time_t)(nanoseconds / 1000000000),
		.tv_nsec = (long)(nanoseconds % 1000000000),
	};

	while (nanosleep(&time, &time))
		;
}

static void print_part(const struct request *request, struct table *table)
{
	if (table_rows(table)) {
		table_print(table, request);
		putchar('\n');
	}
	table_destroy(table);
}

static void print_tables(const struct request *request,
			 const struct row_view *view,
			 const struct top_sample *sample)
{
	size_t count;
	const void **rows = top_rows(view, sample, "", &count);
	struct table *table = row_view_table(view, request, rows, count);

	free(rows);
	print_part(request, top_heaps(request, sample, false));
	print_part(request, top_streams(request, sample));
	table_print(table, request);
	table_destroy(table);
	if (sample->clients.hidden && request->header)
		printf("hidden: %zu %s that you may not inspect\n",
		       sample->clients.hidden,
		       sample->clients.hidden == 1 ? "process" : "processes");
}

static void print_sample(const struct request *request,
			 const struct row_view *view,
			 const struct top_sample *sample)
{
	if (sample->trouble)
		complain("%s", sample->trouble);
	if (request->json)
		document_line(top_document(view, sample), stdout);
	else if (sample->nodes)
		print_tables(request, view, sample);
	cli_flush();
}

/* Prints samples; a first one, that is not printed, lets all have rates. */
static enum exit_code print_samples(const struct request *request,
				    const struct row_view *view,
				    uint64_t interval, uint64_t count)
{
	struct top_sample before;
	struct top_sample sample;
	enum exit_code status;
	uint64_t taken = 0;

	top_take(request, NULL, &before);
	do {
		command_sleep_for(interval);
		top_take(request, &before, &sample);
		if (taken && !request->json)
			putchar('\n');
		print_sample(request, view, &sample);
		status = sample.trouble ? EXIT_FAILED : EXIT_FINE;
		top_drop(&before);
		before = sample;
	} while (!ferror(stdout) && ++taken != count);
	top_drop(&before);
	return status;
}

static enum exit_code top_run(const struct request *request)
{
	bool once = option_value(request, &once_option);
	bool batch = option_value(request, &batch_option);
	uint64_t interval, count;
	struct row_view view;

	if (once && option_value(request, &count_option)) {
		complain("top: give --once or --count, not both");
		return EXIT_USAGE;
	}
	if (!parse_interval(option_value(request, &interval_option),
			    &interval) ||
	    !command_parse_count(option_value(request, &count_option),
				 &count) ||
	    !top_view_make(request, &view))
		return EXIT_USAGE;
	if (once || batch || request->json)
		return print_samples(request, &view, interval,
				     once ? 1 : count);
	if (!request->terminal || !isatty(STDIN_FILENO)) {
		complain("top needs a terminal; use --once");
		return EXIT_FAILED;
	}
	return top_live(request, &view, interval, count);
}

static const char description[] =
	"Three tables: the heaps, the DMA channels, and the processes with\n"
	"memory or an open node.  Rates are per second.  Key h explains the\n"
	"keys; q quits.  Nodes are open only while a sample is taken, so the\n"
	"module can be removed.\n"
	"\n"
	"  BUFFERS      of the process\n"
	"  MEMORY       bytes of its buffers and attachments\n"
	"  ALLOC/s      bytes that it allocated\n"
	"  SYNC/s       bytes of cache maintenance\n"
	"  TRANSFERS/s  of engines; '-': its files may not be looked into\n"
	"  MOVED/s      bytes of these transfers\n"
	"  BUSY         transfers in flight\n"
	"\n"
	"--columns and --sort know pid, user, buffers, memory, alloc, sync,\n"
	"transfers, moved, busy and comm.\n";

static const struct command_option *const options[] = {
	&once_option,	  &batch_option, &count_option,
	&interval_option, &node_option,	 &sort_option,
	&columns_option,  &json_option,	 &no_header_option,
	&bytes_option,	  NULL,
};

const struct command top_command = {
	.name = "top",
	.options = options,
	.columns = top_columns,
	.summary = "watches memory, transfers and streams",
	.description = description,
	.run = top_run,
};

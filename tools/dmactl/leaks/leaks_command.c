// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dmactl leaks: memory that seems to be unused. */
#include "leaks.h"
#include "base/quantity.h"

#define WATCH_NS 1000000000ull /* if --for is not given */

static const struct command_option idle_option = {
	.name = "idle",
	.value = "TIME",
	.text = "also buffers at least so old that nothing happens\n"
		"to while dmactl watches, as 10m",
};

static const struct command_option for_option = {
	.name = "for",
	.value = "TIME",
	.text = "with --idle: how long it watches; otherwise 1s",
};

static const struct command_option check_option = {
	.name = "check",
	.text = "exit with 3 if there is a leak",
};

static bool leaks_command_parse(const struct request *request,
				struct leak_options *options)
{
	const char *idle = option_value(request, &idle_option);
	const char *watch = option_value(request, &for_option);

	*options = (struct leak_options){ .watch = WATCH_NS };
	if (watch && !idle) {
		complain("leaks: --for needs --idle");
		return false;
	}
	if (idle && !parse_time(idle, &options->idle))
		return false;
	/* All buffers are at least 0 old. */
	if (idle && !options->idle)
		options->idle = 1;
	return !watch || parse_time(watch, &options->watch);
}

static enum exit_code leaks_run(const struct request *request)
{
	struct leak_options options;
	enum exit_code status;
	struct leak_list list;

	if (!leaks_command_parse(request, &options))
		return EXIT_USAGE;
	if (!leaks_find(request, &options, &list))
		return EXIT_FAILED;
	if (request->json)
		leaks_print_json(&list);
	else
		leaks_print(request, &list);
	status = list.status;
	if (list.count && option_value(request, &check_option))
		status = EXIT_NO;
	leaks_free(&list);
	return status;
}

static const char description[] =
	"A row for each leak, the largest first:\n"
	"\n"
	"  held        freed, but a device may still write it: see reclaim\n"
	"  orphan      the process that made it has ended, and something else\n"
	"              keeps it: the last column names the processes\n"
	"  idle        with --idle: no cache maintenance, no transfer, and no\n"
	"              mapping or device that came or went; accesses by the\n"
	"              CPU cannot be seen\n"
	"  quarantine  bytes of a heap that are freed, but still in use as\n"
	"              pages, by a pipe or an I/O in flight\n"
	"  condemned   bytes of a heap that are never released\n"
	"\n"
	"The last column says how the memory is freed.  Users without\n"
	"CAP_SYS_ADMIN see their own memory, and the totals of heaps.\n";

static const struct command_option *const options[] = {
	&idle_option, &for_option,	 &check_option, &node_option,
	&json_option, &no_header_option, &bytes_option, NULL,
};

const struct command leaks_command = {
	.name = "leaks",
	.options = options,
	.summary = "lists memory that seems to be unused",
	.description = description,
	.run = leaks_run,
};

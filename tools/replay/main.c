// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dray-replay: measures how an allocator serves a program's allocations.  This
 * file turns the command line into settings.
 */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dray/base.h>

#include "replay.h"

#define MOST_ROUNDS 1000

const char cli_program[] = "dray-replay";

enum {
	OPTION_JSON = 256,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	{ "resource", required_argument, NULL, 'r' },
	{ "node", required_argument, NULL, 'n' },
	{ "limit", required_argument, NULL, 'l' },
	{ "rounds", required_argument, NULL, 'c' },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
	"Usage: dray-replay [OPTION]... LOG\n"
	"Plays a log of allocations, as RMM and dray write it, on dray's pool\n"
	"and on malloc, and prints the time and memory of each.\n"
	"\n"
	"LOG is a file with the columns Thread,Time,Action,Pointer,Size,Stream,\n"
	"or - for standard input.\n"
	"\n"
	"Options:\n"
	"  -r, --resource NAME  only pool or malloc; may be repeated\n"
	"  -n, --node SPEC      memory source of pools, as host or kernel\n"
	"  -l, --limit BYTES    most bytes of a pool, also with K, M, G or T\n"
	"  -c, --rounds N       play it N times (5), and print the median\n"
	"      --json           print JSON\n"
	"  -h, --help           print this\n"
	"      --version        print the version\n"
	"\n"
	"Exit status: 0 success, 1 failure, 2 wrong command line.  See\n"
	"dray-replay(1).\n";

static bool parse_bytes(const char *text, uint64_t *out)
{
	static const char units[] = "KMGT";
	const char *end = parse_number(text, 10, out);
	const char *unit;
	int shift;

	if (!end)
		return false;
	if (!*end)
		return *out;
	unit = strchr(units, toupper((unsigned char)*end));
	if (!unit || end[1])
		return false;
	shift = 10 * (int)(unit - units + 1);
	if (*out > UINT64_MAX >> shift)
		return false;
	*out <<= shift;
	return *out;
}

static bool parse_rounds(const char *text, unsigned int *out)
{
	uint64_t number;
	const char *end = parse_number(text, 10, &number);

	if (!end || *end || !number || number > MOST_ROUNDS)
		return false;
	*out = (unsigned int)number;
	return true;
}

static bool choose_resource(const char *name, struct settings *settings)
{
	unsigned int i;

	for (i = 0; run_resources[i]; i++) {
		if (!strcmp(name, run_resources[i])) {
			settings->resources |= 1u << i;
			return true;
		}
	}
	complain("no resource '%s': pool or malloc", name);
	return false;
}

/* Takes one option with its value; returns false after a complaint. */
static bool replay_main_take_option(int option, struct settings *settings)
{
	switch (option) {
	case 'r':
		return choose_resource(optarg, settings);
	case 'n':
		settings->node = optarg;
		return true;
	case 'l':
		if (parse_bytes(optarg, &settings->limit))
			return true;
		complain("'%s' is not a number of bytes", optarg);
		return false;
	case 'c':
		if (parse_rounds(optarg, &settings->rounds))
			return true;
		complain("'%s' is not a number of rounds from 1 to %d", optarg,
			 MOST_ROUNDS);
		return false;
	case OPTION_JSON:
		settings->json = true;
		return true;
	default:
		return false;
	}
}

static enum exit_code main_replay(int argc, char **argv)
{
	struct settings settings = { .rounds = 5 };
	struct replay_log log = { .count = 0 };
	int option;
	bool fine;

	while ((option = cli_option(argc, argv, ":r:n:l:c:h", long_options)) !=
	       -1) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_FINE;
		}
		if (option == OPTION_VERSION)
			return cli_version(dray_version());
		if (!replay_main_take_option(option, &settings))
			return cli_usage("--help");
	}
	if (argc - optind != 1) {
		if (optind == argc)
			complain("the log to play is missing");
		else
			complain("unexpected operand '%s'", argv[optind + 1]);
		return cli_usage("--help");
	}
	if (!settings.resources)
		settings.resources = UINT_MAX;
	fine = log_read(argv[optind], &log) && run(&log, &settings);
	free(log.events);
	return fine ? EXIT_FINE : EXIT_FAILED;
}

int main(int argc, char **argv)
{
	cli_begin();
	return cli_end(main_replay(argc, argv));
}

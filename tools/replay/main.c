// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dray-replay: what an allocator would have made of a program's allocations.
 * Here the command line becomes settings.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dray/base.h>

#include "replay.h"

#define MOST_ROUNDS 1000

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
	"Plays a log of allocations, as RMM and dray write them, on dray's\n"
	"pool, on bins over it, and on malloc, and prints what each took.\n"
	"\n"
	"LOG is a file with the columns Thread,Time,Action,Pointer,Size,Stream,\n"
	"or -, standard input.\n"
	"\n"
	"Options:\n"
	"  -r, --resource NAME  only pool, binning or malloc; may be repeated\n"
	"  -n, --node SPEC      where pools take memory from, as host or kernel\n"
	"  -l, --limit BYTES    that a pool may take, also with K, M, G or T\n"
	"  -c, --rounds N       play it N times (5), and print the median\n"
	"      --json           print JSON\n"
	"  -h, --help           print this\n"
	"      --version        print the version\n"
	"\n"
	"Exit status: 0 all is well, 1 the log cannot be read or played, 2 the\n"
	"command line makes no sense.  See dray-replay(1).\n";

/* A number, and nothing in front of it; NULL where it is none. */
static char *parse_digits(const char *text, uint64_t *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return errno ? NULL : end;
}

static bool parse_bytes(const char *text, uint64_t *out)
{
	static const char units[] = "KMGT";
	char *end = parse_digits(text, out);
	const char *unit;
	int shift;

	if (!end)
		return false;
	if (!*end)
		return *out;
	unit = strchr(units, *end);
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
	char *end = parse_digits(text, &number);

	if (!end || *end || !number || number > MOST_ROUNDS)
		return false;
	*out = (unsigned int)number;
	return true;
}

static bool choose_resource(const char *name, struct settings *settings)
{
	if (!strcmp(name, "pool"))
		settings->pool = true;
	else if (!strcmp(name, "binning"))
		settings->binning = true;
	else if (!strcmp(name, "malloc"))
		settings->malloc = true;
	else
		return false;
	return true;
}

/* getopt() is kept quiet: its own messages quote what they were given. */
static void complain_option(int problem, char **argv, int index)
{
	const char *argument = argv[index - 1];

	if (problem == ':')
		complain("option '%s' needs a value", argument);
	else if (optopt && optopt < 256)
		complain("unknown option '-%c'", optopt);
	else if (optopt)
		complain("option '%s' takes no value", argument);
	else
		complain("unknown option '%s'", argument);
}

/* One option with its value; false after a complaint. */
static bool take_option(int option, struct settings *settings)
{
	switch (option) {
	case 'r':
		if (choose_resource(optarg, settings))
			return true;
		complain("no resource '%s': pool, binning or malloc", optarg);
		return false;
	case 'n':
		settings->node = optarg;
		return true;
	case 'l':
		if (parse_bytes(optarg, &settings->limit))
			return true;
		complain("'%s' is no number of bytes", optarg);
		return false;
	case 'c':
		if (parse_rounds(optarg, &settings->rounds))
			return true;
		complain("'%s' is no number of rounds from 1 to %d", optarg,
			 MOST_ROUNDS);
		return false;
	default:
		settings->json = true;
		return true;
	}
}

static enum exit_code usage(void)
{
	fputs("Try 'dray-replay --help'.\n", stderr);
	return EXIT_USAGE;
}

static enum exit_code replay(int argc, char **argv)
{
	struct settings settings = { .rounds = 5 };
	struct log log = { .count = 0 };
	int option;
	bool fine;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":r:n:l:c:h", long_options,
				     NULL)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_FINE;
		}
		if (option == OPTION_VERSION) {
			printf("dray-replay %s\nlibdray %s\n", DRAY_VERSION,
			       dray_version());
			return EXIT_FINE;
		}
		if (option == '?' || option == ':') {
			complain_option(option, argv, optind);
			return usage();
		}
		if (!take_option(option, &settings))
			return usage();
	}
	if (argc - optind != 1) {
		if (optind == argc)
			complain("the log to play is missing");
		else
			complain("'%s' is one too many", argv[optind + 1]);
		return usage();
	}
	if (!settings.pool && !settings.binning && !settings.malloc)
		settings.pool = settings.binning = settings.malloc = true;
	fine = log_read(argv[optind], &log) && run(&log, &settings);
	free(log.events);
	return fine ? EXIT_FINE : EXIT_FAILED;
}

int main(int argc, char **argv)
{
	enum exit_code status = replay(argc, argv);

	/* Output that did not arrive is no success. */
	if (fflush(stdout) || ferror(stdout)) {
		complain("cannot write all of the output");
		status = EXIT_FAILED;
	}
	return (int)status;
}

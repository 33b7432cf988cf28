// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl: who holds the DMA memory, and why there is no more of it.  Here the
 * command line becomes a request; a file named after each command does it.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <dray/base.h>

#include "command.h"
#include "document.h"
#include "message.h"

enum {
	OPTION_ALL = 256,
	OPTION_JSON,
	OPTION_NO_HEADER,
	OPTION_BYTES,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	{ "node", required_argument, NULL, 'n' },
	{ "all", no_argument, NULL, OPTION_ALL },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "no-header", no_argument, NULL, OPTION_NO_HEADER },
	{ "bytes", no_argument, NULL, OPTION_BYTES },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ NULL, 0, NULL, 0 },
};

/* A command line that asks for a command, help or the version. */
struct call {
	struct request request;
	const char *command;
	bool help;
	bool version;
};

static void look_at_terminal(struct request *request)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *kind = getenv("TERM");
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return;
	request->terminal = true;
	/* a serial line does not know: better wrapped than cut */
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		request->width = size.ws_col;
	request->colour =
		!(no_colour && *no_colour) && kind && strcmp(kind, "dumb") != 0;
}

static const char *node_name(const char *argument)
{
	static const char folder[] = "/dev/";

	if (!strncmp(argument, folder, sizeof(folder) - 1))
		return argument + sizeof(folder) - 1;
	return argument;
}

/* getopt() is kept quiet: its own messages do not escape what they quote. */
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

static bool parse_options(int argc, char **argv, struct call *call)
{
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":n:h", long_options, NULL)) !=
	       -1) {
		switch (option) {
		case 'n':
			call->request.node = node_name(optarg);
			break;
		case 'h':
			call->help = true;
			break;
		case OPTION_ALL:
			call->request.all = true;
			break;
		case OPTION_JSON:
			call->request.json = true;
			break;
		case OPTION_NO_HEADER:
			call->request.header = false;
			break;
		case OPTION_BYTES:
			call->request.bytes = true;
			break;
		case OPTION_VERSION:
			call->version = true;
			break;
		default:
			complain_option(option, argv, optind);
			return false;
		}
	}
	return true;
}

/* The command that the call names; NULL where it makes no sense. */
static const struct command *parse_operands(int count, char **operands,
					    struct call *call)
{
	const struct command *command;

	if (!count) {
		complain("what to show is missing");
		return NULL;
	}
	command = command_find(operands[0]);
	if (!command) {
		complain("no command '%s'", operands[0]);
		return NULL;
	}
	if (call->help)
		return command;
	if (count > 1 + !!command->operand) {
		complain("%s: '%s' is one too many", command->name,
			 operands[1 + !!command->operand]);
		return NULL;
	}
	if (command->operand && !command->operand_optional && count < 2) {
		complain("%s: %s is missing", command->name, command->operand);
		return NULL;
	}
	if (call->request.all && command != &reclaim_command) {
		complain("%s takes no option '--all'", command->name);
		return NULL;
	}
	call->request.operand = operands[1];
	return command;
}

static enum exit_code run(int argc, char **argv)
{
	struct call call = { .request.header = true };
	const struct command *command = NULL;

	if (!parse_options(argc, argv, &call))
		goto usage;
	if (call.version) {
		printf("dmactl %s\nlibdray %s\n", DRAY_VERSION, dray_version());
		return EXIT_FINE;
	}
	if (!call.help || optind < argc) {
		command = parse_operands(argc - optind, argv + optind, &call);
		if (!command)
			goto usage;
	}
	if (call.help) {
		help_print(command);
		return EXIT_FINE;
	}
	look_at_terminal(&call.request);
	return command->run(&call.request);

usage:
	fputs("Try 'dmactl --help'.\n", stderr);
	return EXIT_USAGE;
}

/* Output that did not arrive is no success. */
static bool output_arrived(void)
{
	bool failed = ferror(stdout);

	errno = 0;
	if (!fclose(stdout) && !failed)
		return true;
	complain("cannot write all of the output%s%s", errno ? ": " : "",
		 errno ? strerror(errno) : "");
	return false;
}

/*
 * Someone may have closed them: then the first node that is opened would be
 * standard output, and be written to.  What is read-only here cannot be.
 */
static void fill_standard_files(void)
{
	int file;

	do
		file = open("/dev/null", O_RDONLY);
	while (file >= 0 && file <= STDERR_FILENO);
	if (file >= 0)
		close(file);
}

int main(int argc, char **argv)
{
	enum exit_code status;

	fill_standard_files();
	/* which characters may be shown, and how wide they are */
	setlocale(LC_CTYPE, "");
	/* a reader that has seen enough ends this program, without a word */
	signal(SIGPIPE, SIG_DFL);
	document_begin();
	status = run(argc, argv);
	return (int)(output_arrived() ? status : EXIT_FAILED);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl: shows the holders of DMA memory and why no more can be allocated.
 * This file turns the command line into a request; each command has a file of
 * its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command.h"
#include "document.h"

const char cli_program[] = "dmactl";

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

static bool parse_options(int argc, char **argv, struct call *call)
{
	int option;

	while ((option = cli_option(argc, argv, ":n:h", long_options)) != -1) {
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
			return false;
		}
	}
	return true;
}

/* Returns the command that the call names; NULL after a complaint. */
static const struct command *parse_operands(int count, char **operands,
					    struct call *call)
{
	const struct command *command;

	if (!count) {
		complain("no command given");
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
		complain("%s: unexpected operand '%s'", command->name,
			 operands[1 + !!command->operand]);
		return NULL;
	}
	if (command->operand && !command->operand_optional && count < 2) {
		complain("%s: %s is missing", command->name, command->operand);
		return NULL;
	}
	if (call->request.all && !(command->options & TAKES_ALL)) {
		complain("%s does not take the option '--all'", command->name);
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
		return cli_usage();
	if (call.version)
		return cli_version();
	if (!call.help || optind < argc) {
		command = parse_operands(argc - optind, argv + optind, &call);
		if (!command)
			return cli_usage();
	}
	if (call.help) {
		help_print(command);
		return EXIT_FINE;
	}
	look_at_terminal(&call.request);
	return command->run(&call.request);
}

int main(int argc, char **argv)
{
	cli_begin();
	document_begin();
	return cli_end(run(argc, argv));
}

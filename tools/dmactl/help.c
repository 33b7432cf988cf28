// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The table of commands; dmactl help and --help print their descriptions. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static const struct command *const commands[] = {
	&list_command,	  &show_command, &heaps_command, &nodes_command,
	&reclaim_command, &help_command, NULL,
};

const struct command *command_find(const char *name)
{
	size_t i;

	for (i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

/* An option of all commands has no bit. */
static const struct {
	unsigned int bit;
	const char *text;
} options[] = {
	{ TAKES_NODE,
	  "  -n, --node NAME  only this node, as dray0; otherwise all\n" },
	{ TAKES_ALL, "      --all        reclaim: everything that is held\n" },
	{ TAKES_JSON,
	  "      --json       print JSON: exact numbers, unchanged names\n" },
	{ TAKES_NO_HEADER,
	  "      --no-header  leave out header and total line\n" },
	{ TAKES_BYTES,
	  "      --bytes      print sizes in bytes, not as 8.0M\n" },
	{ 0, "  -h, --help       print this, or the usage of a command\n" },
	{ 0, "      --version    print the version\n" },
};

static void print_options(unsigned int taken)
{
	size_t i;

	puts("Options:");
	for (i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (!options[i].bit || options[i].bit & taken)
			fputs(options[i].text, stdout);
}

static void print_all(void)
{
	size_t i;

	fputs("Usage: dmactl [OPTION]... COMMAND [OPERAND]\n"
	      "Shows the holders of DMA memory from the dray module.\n"
	      "\n"
	      "Commands:\n",
	      stdout);
	for (i = 0; commands[i]; i++) {
		const char *operand = commands[i]->operand;
		char *call =
			text_format("%s%s%s", commands[i]->name,
				    operand ? " " : "", operand ? operand : "");

		printf("  %-16s  %s\n", call, commands[i]->summary);
		free(call);
	}
	putchar('\n');
	print_options(~0u);
	fputs("\n"
	      "Exit status: 0 success, 1 failure, 2 wrong command line.  See\n"
	      "dmactl(1).\n",
	      stdout);
}

void help_print(const struct command *command)
{
	if (!command) {
		print_all();
		return;
	}
	printf("Usage: dmactl [OPTION]... %s%s%s\n", command->name,
	       command->operand ? " " : "",
	       command->operand ? command->operand : "");
	printf("%c%s.\n\n%s\n", toupper((unsigned char)*command->summary),
	       command->summary + 1, command->description);
	print_options(command->options);
}

static enum exit_code help_run(const struct request *request)
{
	const struct command *command = NULL;

	if (request->operand) {
		command = command_find(request->operand);
		if (!command) {
			complain("no command '%s': 'dmactl help' lists them",
				 request->operand);
			return EXIT_USAGE;
		}
	}
	help_print(command);
	return EXIT_FINE;
}

const struct command help_command = {
	.name = "help",
	.operand = "[COMMAND]",
	.operand_optional = true,
	.summary = "explains dmactl or one command",
	.description = "The same as --help.\n",
	.run = help_run,
};

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

static const char options[] =
	"Options:\n"
	"  -n, --node NAME  only this node, as dray0; otherwise all\n"
	"      --all        with reclaim: everything that is held\n"
	"      --json       print JSON: exact numbers, unchanged names\n"
	"      --no-header  leave out header and total line\n"
	"      --bytes      print sizes in bytes, not as 8.0M\n"
	"  -h, --help       print this, or the usage of a command\n"
	"      --version    print the version\n";

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
	printf("\n%s", options);
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
	printf("%c%s.\n\n%s\n%s", toupper((unsigned char)*command->summary),
	       command->summary + 1, command->description, options);
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The table of commands.  dmactl help and --help print it for people, and
 * help --complete for the completion of shells.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/columns.h"
#include "help.h"

#define OPTION_WIDTH 15 /* of "--no-header", for --help */

/* clang-format off */
const struct command *const commands[] = {
	&list_command,
	&show_command,
	&heaps_command,
	&cma_command,
	&map_command,
	&nodes_command,
	&arrays_command,
	&reclaim_command,
	&why_command,
	&leaks_command,
#ifdef DMACTL_HAS_TOP
	&top_command,
#endif
#ifdef DMACTL_HAS_DT
	&dt_check_command,
	&dt_show_command,
#endif
#ifdef DMACTL_HAS_TRACE
	&trace_command,
#endif
	&alloc_command,
	&free_command,
	&share_command,
	&dump_command,
	&fill_command,
	&copy_command,
	&sync_command,
	&registers_read_command,
	&registers_write_command,
	&test_command,
	&help_command,
	NULL,
};
/* clang-format on */

/* Commands that this build lacks, each with the library that it needs. */
static const struct {
	const char *word;
	const char *library;
} missing[] = {
#ifndef DMACTL_HAS_TOP
	{ "top", "ncurses" },
#endif
#ifndef DMACTL_HAS_DT
	{ "dt", "libfdt" },
#endif
#ifndef DMACTL_HAS_TRACE
	{ "trace", "libtracefs" },
#endif
	{ NULL, NULL },
};

static const struct command_option help_option = {
	.name = "help",
	.letter = 'h',
	.text = "print this, or the usage of a command",
};

static const struct command_option version_option = {
	.name = "version",
	.text = "print the version",
};

static const struct command_option complete_option = {
	.name = "complete",
	.text = "list commands, options and operands for the\n"
		"completion of a shell",
};

static const struct command_option *const of_all[] = {
	&help_option,
	&version_option,
	NULL,
};

const struct command *command_find(const char *name)
{
	size_t i;

	for (i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

const struct command *command_find_words(char **words, size_t count,
					 size_t *used)
{
	const struct command *command = NULL;

	*used = 1;
	if (!count)
		return NULL;
	if (count > 1) {
		char *name = text_format("%s %s", words[0], words[1]);

		command = command_find(name);
		free(name);
	}
	if (command)
		*used = 2;
	else
		command = command_find(words[0]);
	return command;
}

const struct command_option *command_find_option(const char *name)
{
	const struct command_option *option = NULL;
	size_t i;

	for (i = 0; commands[i] && !option; i++)
		option = option_find(commands[i], name);
	return option;
}

/* Whether a command consists of two words, and this is the first. */
static bool command_begins_with(const struct command *command, const char *word)
{
	size_t length = strlen(word);

	return !strncmp(command->name, word, length) &&
	       command->name[length] == ' ';
}

/* Returns "dt check, dt show" for "dt", or NULL; the caller frees it. */
static char *commands_of(const char *word)
{
	char *names = NULL;
	size_t i;

	for (i = 0; commands[i]; i++)
		if (command_begins_with(commands[i], word))
			text_append(&names, "%s%s", names ? ", " : "",
				    commands[i]->name);
	return names;
}

#define NEAR_MOST 2 /* letters that differ */
#define WORD_MOST 31

/* How many letters are to be changed, added or removed; many: NEAR_MOST + 1. */
static size_t help_distance(const char *a, const char *b)
{
	size_t row[WORD_MOST + 1], length = strlen(b), i, k;

	if (strlen(a) > WORD_MOST || length > WORD_MOST)
		return NEAR_MOST + 1;
	for (k = 0; k <= length; k++)
		row[k] = k;
	for (i = 0; a[i]; i++) {
		size_t before = row[0];

		row[0] = i + 1;
		for (k = 1; k <= length; k++) {
			size_t changed = before + (a[i] != b[k - 1]);

			before = row[k];
			if (row[k] > row[k - 1])
				row[k] = row[k - 1];
			row[k]++;
			if (row[k] > changed)
				row[k] = changed;
		}
	}
	return row[length];
}

/* The command that @word was probably to be, or NULL. */
static const char *help_nearest(const char *word)
{
	size_t least = NEAR_MOST + 1, i;
	const char *found = NULL;

	for (i = 0; commands[i]; i++) {
		size_t differ = help_distance(word, commands[i]->name);

		/* Two letters are most of a short word. */
		if (differ && differ < least && 2 * differ < strlen(word)) {
			least = differ;
			found = commands[i]->name;
		}
	}
	return found;
}

void command_unknown(char **words, size_t count, const char *advice)
{
	char *names = commands_of(words[0]);
	size_t i = 0;

	while (missing[i].word && strcmp(missing[i].word, words[0]) != 0)
		i++;
	if (missing[i].word)
		complain("no command '%s': this dmactl was built without %s",
			 words[0], missing[i].library);
	else if (names && count == 1)
		complain("'%s' needs a second word: %s", words[0], names);
	else if (names)
		complain("no command '%s %s': there are %s", words[0], words[1],
			 names);
	else if (help_nearest(words[0]))
		complain("no command '%s': did you mean '%s'?", words[0],
			 help_nearest(words[0]));
	else
		complain("no command '%s%s%s'%s", words[0],
			 *advice && count > 1 ? " " : "",
			 *advice && count > 1 ? words[1] : "", advice);
	free(names);
}

static void print_option(const struct command_option *option)
{
	const char *line = option->text;
	char *name =
		text_format("--%s%s%s", option->name, option->value ? " " : "",
			    option->value ? option->value : "");
	char letter[] = { '-', option->letter, ',', '\0' };

	printf("  %3s %-*s", option->letter ? letter : "", OPTION_WIDTH, name);
	/* A name that is too long gets a line of its own. */
	if (strlen(name) >= OPTION_WIDTH)
		printf("\n      %*s", OPTION_WIDTH, "");
	free(name);
	while (line) {
		size_t length = strcspn(line, "\n");

		printf("%.*s\n", (int)length, line);
		line = line[length] ? line + length + 1 : NULL;
		if (line)
			printf("      %*s", OPTION_WIDTH, "");
	}
}

static void print_options(const struct command_option *const *options)
{
	for (; options && *options; options++)
		print_option(*options);
}

/* Prints a row for each command, or only for those with this first word. */
static void print_commands(const char *word)
{
	size_t i;

	for (i = 0; commands[i]; i++) {
		const char *operands = commands[i]->operands;
		char *call = text_format("%s%s%s", commands[i]->name,
					 operands ? " " : "",
					 operands ? operands : "");

		if (!word || command_begins_with(commands[i], word))
			printf("  %-16s  %s\n", call, commands[i]->summary);
		free(call);
	}
}

static void print_all(void)
{
	fputs("Usage: dmactl [OPTION]... COMMAND [OPERAND]...\n"
	      "Shows the holders of DMA memory from the dray module.\n"
	      "\n"
	      "Commands:\n",
	      stdout);
	print_commands(NULL);
	fputs("\n"
	      "Options of all commands; 'dmactl help COMMAND' tells the others:\n",
	      stdout);
	print_options(of_all);
	fputs("\n"
	      "Exit status: 0 success, 1 failure, 2 wrong command line, 3 the answer\n"
	      "is no.  See dmactl(1).\n",
	      stdout);
}

void help_print(const struct command *command)
{
	if (!command) {
		print_all();
		return;
	}
	printf("Usage: dmactl [OPTION]... %s%s%s\n", command->name,
	       command->operands ? " " : "",
	       command->operands ? command->operands : "");
	printf("%c%s.\n\n%s\nOptions:\n",
	       toupper((unsigned char)*command->summary), command->summary + 1,
	       command->description);
	print_options(command->options);
	print_options(of_all);
}

bool help_print_group(const char *word)
{
	char *names = commands_of(word);

	if (!names)
		return false;
	printf("Usage: dmactl [OPTION]... %s COMMAND [OPERAND]...\n"
	       "\n"
	       "Commands; 'dmactl help %s COMMAND' tells the options:\n",
	       word, word);
	print_commands(word);
	free(names);
	return true;
}

/* Returns "id|size" for columns of these names, for free(). */
static char *columns_text(const struct row_column *column)
{
	char *names = text_format("%s", column->name);

	while ((++column)->name)
		text_append(&names, "|%s", column->name);
	return names;
}

/* Returns the words for the value of an option, for free(). */
static char *takes_text(const struct command *command,
			const struct command_option *option)
{
	const char *takes = option->offers ? option->offers : "text";

	if (command->columns &&
	    (option == &columns_option || option == &sort_option))
		return columns_text(command->columns);
	return text_format("%s", option->value ? takes : "nothing");
}

/* Prints a line for the name of each option, and a line for its letter. */
static void print_completion_of(const struct command *command,
				const struct command_option *const *options)
{
	for (; options && *options; options++) {
		char *takes = takes_text(command, *options);

		printf("option\t%s\t--%s\t%s\t%.*s\n", command->name,
		       (*options)->name, takes,
		       (int)strcspn((*options)->text, "\n"), (*options)->text);
		if ((*options)->letter)
			printf("option\t%s\t-%c\t%s\t%.*s\n", command->name,
			       (*options)->letter, takes,
			       (int)strcspn((*options)->text, "\n"),
			       (*options)->text);
		free(takes);
	}
}

static void print_completion(void)
{
	size_t i;

	for (i = 0; commands[i]; i++) {
		printf("command\t%s\t%zu\t%s\t%s\n", commands[i]->name,
		       commands[i]->operands_most,
		       commands[i]->offers ? commands[i]->offers : "nothing",
		       commands[i]->summary);
		print_completion_of(commands[i], commands[i]->options);
		print_completion_of(commands[i], of_all);
	}
}

static enum exit_code help_run(const struct request *request)
{
	const struct command *command = NULL;
	size_t used;

	if (option_value(request, &complete_option)) {
		print_completion();
		return EXIT_FINE;
	}
	if (request->operand_count == 1 &&
	    help_print_group(operand_at(request, 0)))
		return EXIT_FINE;
	if (request->operand_count) {
		command = command_find_words(request->operands,
					     request->operand_count, &used);
		if (!command || used < request->operand_count) {
			command_unknown(request->operands,
					request->operand_count,
					": 'dmactl help' lists them");
			return EXIT_USAGE;
		}
	}
	help_print(command);
	return EXIT_FINE;
}

static const struct command_option *const help_options[] = {
	&complete_option,
	NULL,
};

const struct command help_command = {
	.name = "help",
	.operands = "[COMMAND]",
	.operands_most = 2,
	.offers = "command",
	.options = help_options,
	.summary = "explains dmactl or one command",
	.description = "The same as --help.\n",
	.run = help_run,
};

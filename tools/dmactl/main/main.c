// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl: shows the holders of DMA memory and why no more can be allocated.
 * This file turns the command line into a request; each command is in a file of
 * its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <dray/base.h>

#include "base/command.h"
#include "base/document.h"
#include "base/words.h"
#include "help.h"

const char cli_program[] = "dmactl";

/* A command line that asks for a command, help or the version. */
struct call {
	struct request request;
	/* Options by their names; which command they belong to is known later. */
	struct given *given;
	size_t given_count;
	bool help;
	bool version;
};

/*
 * The options of all commands and their letters, for getopt_long().  A name
 * stands there once, even if several commands accept it.
 */
struct vocabulary {
	struct option *options; /* option i is returned as FIRST_NAME + i */
	char *letter; /* of each, or 0 */
	size_t count;
	char *letters; /* for getopt_long() */
};

#define FIRST_NAME 256 /* beyond all letters */

static void add_word(struct vocabulary *words, const char *name, bool value,
		     char letter)
{
	struct option *option;
	size_t i;

	for (i = 0; i < words->count; i++)
		if (!strcmp(words->options[i].name, name))
			return;
	words->options = memory_resize(words->options, words->count + 2,
				       sizeof(*words->options));
	words->letter = memory_resize(words->letter, words->count + 1, 1);
	words->letter[words->count] = letter;
	option = &words->options[words->count];
	option[0] = (struct option){
		.name = name,
		.has_arg = value ? required_argument : no_argument,
		.val = FIRST_NAME + (int)words->count,
	};
	option[1] = (struct option){ 0 };
	words->count++;
	if (letter)
		text_append(&words->letters, "%c%s", letter, value ? ":" : "");
}

static void vocabulary_make(struct vocabulary *words)
{
	const struct command_option *const *option;
	size_t i;

	*words = (struct vocabulary){ .letters = text_format(":") };
	add_word(words, "help", false, 'h');
	add_word(words, "version", false, 0);
	for (i = 0; commands[i]; i++)
		for (option = commands[i]->options; option && *option; option++)
			add_word(words, (*option)->name, (*option)->value,
				 (*option)->letter);
}

static void vocabulary_drop(struct vocabulary *words)
{
	free(words->options);
	free(words->letter);
	free(words->letters);
}

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

static void add_given(struct call *call, const char *name)
{
	call->given = memory_resize(call->given, call->given_count + 1,
				    sizeof(*call->given));
	/* Stands for the command's option of the same name. */
	call->given[call->given_count++] = (struct given){
		.option = command_find_option(name),
		.value = optarg ? optarg : "",
	};
}

/* Returns the long name of an option that getopt_long() returned. */
static const char *main_name_of(const struct vocabulary *words, int option)
{
	size_t i = 0;

	if (option >= FIRST_NAME)
		return words->options[option - FIRST_NAME].name;
	while (words->letter[i] != option)
		i++;
	return words->options[i].name;
}

static bool parse_options(int argc, char **argv, const struct vocabulary *words,
			  struct call *call)
{
	const char *name;
	int option;

	while ((option = cli_option(argc, argv, words->letters,
				    words->options)) != -1) {
		if (option == '?')
			return false;
		name = main_name_of(words, option);
		if (!strcmp(name, "help"))
			call->help = true;
		else if (!strcmp(name, "version"))
			call->version = true;
		else
			add_given(call, name);
	}
	return true;
}

/* Replaces options by the command's own options of the same name. */
static bool resolve_options(struct call *call)
{
	struct request *request = &call->request;
	const struct command_option *option;
	const char *node;
	size_t i;

	for (i = 0; i < call->given_count; i++) {
		const char *name = call->given[i].option->name;

		option = option_find(request->command, name);
		if (!option) {
			complain("%s does not take the option '--%s'",
				 request->command->name, name);
			return false;
		}
		call->given[i].option = option;
	}
	request->given = call->given;
	request->given_count = call->given_count;
	node = option_value(request, option_find(request->command, "node"));
	if (node)
		request->node = node_name(node);
	request->json = option_value(request, &json_option);
	request->header = !option_value(request, &no_header_option);
	request->bytes = option_value(request, &bytes_option);
	return true;
}

/* Reads the command and its operands; false after a complaint. */
static bool parse_operands(char **words, size_t count, struct call *call)
{
	const struct command *command;
	size_t used;

	if (!count) {
		complain("no command given");
		return false;
	}
	command = command_find_words(words, count, &used);
	if (!command) {
		command_unknown(words, count, "");
		return false;
	}
	call->request.command = command;
	call->request.operands = words + used;
	call->request.operand_count = count - used;
	if (call->help)
		return true;
	if (count - used > command->operands_most) {
		complain("%s: unexpected operand '%s'", command->name,
			 words[used + command->operands_most]);
		return false;
	}
	if (count - used < command->operands_least) {
		complain("%s: %s is missing", command->name, command->operands);
		return false;
	}
	return resolve_options(call);
}

/* Runs the command, or prints help. */
static enum exit_code main_answer(struct call *call, char **words, size_t count)
{
	if (call->version)
		return cli_version(dray_version());
	if (call->help && count == 1 && help_print_group(*words))
		return EXIT_FINE;
	if ((!call->help || count) && !parse_operands(words, count, call))
		return EXIT_USAGE;
	if (call->help) {
		help_print(call->request.command);
		return EXIT_FINE;
	}
	look_at_terminal(&call->request);
	return call->request.command->run(&call->request);
}

static void name_help(const struct call *call)
{
	const struct command *command = call->request.command;
	char *help = command ? text_format("help %s", command->name)
			     : text_format("--help");

	cli_usage(help);
	free(help);
}

/* A complaint as a line of JSON, for programs that read the output as such. */
static void complain_json(const char *sentence)
{
	json_t *line = json_object();

	document_text(line, "error", sentence, strlen(sentence));
	if (cli_error)
		document_word(line, "errno", errno_word(cli_error));
	document_line(line, stderr);
}

/* Also if the rest of the command line is wrong. */
static bool asks_json(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (!strcmp(argv[i], "--json"))
			return true;
	return false;
}

static enum exit_code main_run(int argc, char **argv)
{
	struct call call = { 0 };
	struct vocabulary words;
	enum exit_code status = EXIT_USAGE;

	vocabulary_make(&words);
	if (asks_json(argc, argv))
		cli_complain_to = complain_json;
	if (parse_options(argc, argv, &words, &call))
		status = main_answer(&call, argv + optind,
				     (size_t)(argc - optind));
	if (status == EXIT_USAGE && !cli_complain_to)
		name_help(&call);
	vocabulary_drop(&words);
	free(call.given);
	return status;
}

int main(int argc, char **argv)
{
	cli_begin();
	document_begin();
	return cli_end(main_run(argc, argv));
}

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What a command is and what it is asked for: main.c reads the options, which
 * are the same for all, into a request and hands it to one command.
 */
#ifndef DMACTL_COMMAND_H
#define DMACTL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* Exit codes, as dmactl(1) documents them. */
enum exit_code {
	EXIT_FINE = 0,
	EXIT_FAILED = 1, /* what was asked for is not there, or failed */
	EXIT_USAGE = 2, /* the command line makes no sense */
};

struct request {
	const char *node; /* -n, without "/dev/"; NULL: all of them */
	const char *operand; /* the command's, NULL where it takes none */
	bool all; /* --all, of reclaim */
	bool json;
	bool header; /* false: neither header nor total line */
	bool bytes; /* sizes in bytes rather than K, M, G, T */
	bool colour;
	bool terminal; /* a person looks */
	size_t width; /* columns of the terminal; 0: as many as it takes */
};

struct command {
	const char *name;
	const char *operand; /* what it is called in usage, NULL: takes none */
	bool operand_optional;
	const char *summary; /* one line */
	const char *description; /* lines for --help */
	enum exit_code (*run)(const struct request *request);
};

extern const struct command list_command;
extern const struct command show_command;
extern const struct command heaps_command;
extern const struct command nodes_command;
extern const struct command reclaim_command;
extern const struct command help_command;

/* All commands, ended by NULL, and the one called @name, or NULL. */
extern const struct command *const commands[];
const struct command *command_find(const char *name);

/* Prints how to use @command, or dmactl as a whole where it is NULL. */
void help_print(const struct command *command);

#endif /* DMACTL_COMMAND_H */

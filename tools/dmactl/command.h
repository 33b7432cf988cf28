/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Commands and their requests: main.c reads the options, which all commands
 * share, into a request and hands it to one command.
 */
#ifndef DMACTL_COMMAND_H
#define DMACTL_COMMAND_H

#include "cli.h"

/* Options that only some commands use, as bits. */
enum {
	TAKES_NODE = 1 << 0,
	TAKES_ALL = 1 << 1,
	TAKES_JSON = 1 << 2,
	TAKES_NO_HEADER = 1 << 3,
	TAKES_BYTES = 1 << 4,
};

struct request {
	const char *node; /* -n, without "/dev/"; NULL: all of them */
	const char *operand; /* NULL if the command takes none */
	bool all; /* --all, of reclaim */
	bool json;
	bool header; /* false: neither header nor total line */
	bool bytes; /* sizes in bytes rather than K, M, G, T */
	bool colour;
	bool terminal; /* a person looks */
	size_t width; /* columns of the terminal; 0: unlimited */
};

struct command {
	const char *name;
	const char *operand; /* its name in the usage, NULL: takes none */
	bool operand_optional;
	unsigned int options; /* TAKES_ bits: --help lists them */
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

/* Finds the command called @name; returns NULL if there is none. */
const struct command *command_find(const char *name);

/* Prints the usage of @command, or of dmactl if it is NULL. */
void help_print(const struct command *command);

#endif /* DMACTL_COMMAND_H */

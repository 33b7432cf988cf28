/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Commands, their options and their requests: main.c reads the command line into
 * a request and hands it to a command.
 */
#ifndef DMACTL_COMMAND_H
#define DMACTL_COMMAND_H

#include "cli.h"

/*
 * An option.  Commands that share a name share its letter, and whether it needs a
 * value; each command may describe it by a text of its own.
 */
struct command_option {
	const char *name; /* without the "--" */
	char letter; /* 0: none */
	const char
		*value; /* its name in the usage, as "FILE"; NULL: no value */
	/* For completion: "node", "heap", "id", "file", "a|b|file", or NULL. */
	const char *offers;
	const char *text; /* for --help; further lines after '\n' */
};

/* Options that several commands share: options.c. */
extern const struct command_option node_option;
extern const struct command_option first_node_option;
extern const struct command_option home_node_option;
extern const struct command_option json_option;
extern const struct command_option no_header_option;
extern const struct command_option bytes_option;

/* All options of commands that print tables of all nodes and no more. */
extern const struct command_option *const table_options[];

struct request;
struct row_column;

struct command {
	const char *name; /* a word, or two as "dt check" */
	const char *operands; /* in the usage, as "ID"; NULL: no operands */
	size_t operands_least;
	size_t operands_most;
	const char *offers; /* for operands, as of an option */
	const struct command_option *const *options; /* up to NULL */
	const struct row_column *columns; /* of --columns and --sort, or NULL */
	const char *summary; /* a single line */
	const char *description; /* lines for --help */
	enum exit_code (*run)(const struct request *request);
};

/* An option of the command line. */
struct given {
	const struct command_option *option;
	const char *value; /* "" if the option needs none */
};

struct request {
	const struct command *command;
	char **operands;
	size_t operand_count;
	struct given *given; /* in their order */
	size_t given_count;

	/* The values of the shared options, and the kind of standard output. */
	const char *node; /* without "/dev/"; NULL: the option is missing */
	bool json;
	bool header; /* false: neither header nor total line */
	bool bytes; /* sizes in bytes rather than K, M, G, T */
	bool colour;
	bool terminal; /* a person looks */
	size_t width; /* columns of the terminal; 0: unlimited */
};

/* Returns the last value; NULL: the option is missing. */
const char *option_value(const struct request *request,
			 const struct command_option *option);

/* Returns value @index, from 0, of an option that may be repeated, or NULL. */
const char *option_value_at(const struct request *request,
			    const struct command_option *option, size_t index);

/* Returns operand @index, or NULL. */
const char *operand_at(const struct request *request, size_t index);

extern const struct command list_command;
extern const struct command show_command;
extern const struct command heaps_command;
extern const struct command cma_command;
extern const struct command map_command;
extern const struct command nodes_command;
extern const struct command arrays_command;
extern const struct command reclaim_command;
extern const struct command why_command;
extern const struct command leaks_command;
extern const struct command top_command; /* only if DMACTL_HAS_TOP */
extern const struct command trace_command;
extern const struct command alloc_command;
extern const struct command free_command;
extern const struct command share_command;
extern const struct command dump_command;
extern const struct command fill_command;
extern const struct command copy_command;
extern const struct command sync_command;
extern const struct command registers_read_command;
extern const struct command registers_write_command;
extern const struct command test_command;
extern const struct command help_command;
#ifdef DMACTL_HAS_DT
extern const struct command dt_check_command;
extern const struct command dt_show_command;
#endif

/* Finds an option of @command by its name; returns NULL if there is none. */
const struct command_option *option_find(const struct command *command,
					 const char *name);

#endif /* DMACTL_COMMAND_H */

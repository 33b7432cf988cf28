/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The table of commands, and its texts for users. */
#ifndef DMACTL_HELP_H
#define DMACTL_HELP_H

#include "base/command.h"

/* All commands, up to NULL. */
extern const struct command *const commands[];

/* Finds the command called @name; returns NULL if there is none. */
const struct command *command_find(const char *name);

/*
 * The same for the words of a command line; sets @used to the count of words in its
 * name.
 */
const struct command *command_find_words(char **words, size_t count,
					 size_t *used);

/*
 * Complains that there is no command of these words, with @advice, the commands
 * that share the first word, or the library that this build lacks.
 */
void command_unknown(char **words, size_t count, const char *advice);

/* Finds an option by its name in all commands; returns NULL if there is none. */
const struct command_option *command_find_option(const char *name);

/* Prints the usage of @command, or of dmactl if it is NULL. */
void help_print(const struct command *command);

/* Prints the commands with this first word, as "dt"; false if there are none. */
bool help_print_group(const char *word);

#endif /* DMACTL_HELP_H */

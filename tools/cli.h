/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by dmactl and dray-replay: the frame of main(), complaints on standard
 * error, numbers from the command line, and memory that cannot fail.
 */
#ifndef DRAY_TOOLS_CLI_H
#define DRAY_TOOLS_CLI_H

#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes, as the man pages document them. */
enum exit_code {
	EXIT_FINE = 0,
	EXIT_FAILED = 1, /* the operation failed */
	EXIT_USAGE = 2, /* the command line is wrong */
	EXIT_NO = 3, /* a question answered by "no" */
};

/* Starts each complaint; each program defines it. */
extern const char cli_program[];

/* Called before a complaint if set: removes a progress bar. */
extern void (*cli_clear_line)(void);

/* Receives the sentence of each complaint, instead of standard error, if set. */
extern void (*cli_complain_to)(const char *sentence);

/* The errno behind the next complaint, for cli_complain_to(); 0: none. */
extern int cli_error;

/* Prepares standard files, locale and SIGPIPE; main() begins with it. */
void cli_begin(void);

/*
 * Returns the next option as getopt_long() does: -1 after the last option, '?'
 * after a complaint.
 */
int cli_option(int argc, char **argv, const char *letters,
	       const struct option *options);

/* Names a command that explains, as "--help", on standard error; EXIT_USAGE. */
enum exit_code cli_usage(const char *help);

/* Prints the versions of program and library; returns EXIT_FINE. */
enum exit_code cli_version(const char *library);

/*
 * Writes out the standard output so far.  Returns false if some of it is lost,
 * with the reason in errno; cli_end() then reports it.
 */
bool cli_flush(void);

/* Closes standard output; returns @status, or EXIT_FAILED if output was lost. */
int cli_end(enum exit_code status);

/*
 * Prints the program's name, the sentence and a newline to standard error.
 * Control characters in arguments and names are escaped.
 */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Reads an unsigned number without sign, space or prefix.  Returns the text
 * behind it, or NULL if there is no number or it exceeds 64 bits.
 */
const char *parse_number(const char *text, int base, uint64_t *out);

/* realloc() of @count * @size bytes; complains and exits if that fails. */
void *memory_resize(void *memory, size_t count, size_t size);

/* The same for new memory, zeroed. */
void *memory_new(size_t count, size_t size);

/* Returns a formatted string, for free(). */
char *text_format(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
char *text_format_list(const char *format, va_list args)
	__attribute__((format(printf, 1, 0)));

/* Appends to such a string, or to an empty string if it is NULL. */
void text_append(char **text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* DRAY_TOOLS_CLI_H */

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The frame of a command-line tool.  Complaints go through escape(), so that no
 * argument and no name from a file can control the terminal.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dray/base.h>

#include "cli.h"
#include "escape.h"

void (*cli_clear_line)(void);
void (*cli_complain_to)(const char *sentence);
int cli_error;

static int lost_reason; /* errno of output that cli_flush() could not write */

/*
 * Opens /dev/null in place of closed standard files: otherwise a node might be
 * opened as standard output and written to.  Opened read-only, it keeps writes
 * failing.
 */
static void fill_standard_files(void)
{
	int file;

	do
		file = open("/dev/null", O_RDONLY);
	while (file >= 0 && file <= STDERR_FILENO);
	if (file >= 0)
		close(file);
}

void cli_begin(void)
{
	fill_standard_files();
	/* tells escape() the printable characters and their width */
	setlocale(LC_CTYPE, "");
	/* a reader that closes the pipe ends the program silently */
	signal(SIGPIPE, SIG_DFL);
}

/* Replaces the messages of getopt(), which do not escape their arguments. */
static void complain_option(int problem, const char *argument)
{
	if (problem == ':')
		complain("option '%s' needs a value", argument);
	else if (optopt && optopt < 256)
		complain("unknown option '-%c'", optopt);
	else if (optopt)
		complain("option '%s' takes no value", argument);
	else
		complain("unknown option '%s'", argument);
}

int cli_option(int argc, char **argv, const char *letters,
	       const struct option *options)
{
	int option;

	opterr = 0;
	option = getopt_long(argc, argv, letters, options, NULL);
	if (option != '?' && option != ':')
		return option;
	complain_option(option, argv[optind - 1]);
	return '?';
}

enum exit_code cli_usage(const char *help)
{
	fprintf(stderr, "Try '%s %s'.\n", cli_program, help);
	return EXIT_USAGE;
}

enum exit_code cli_version(const char *library)
{
	printf("%s %s\nlibdray %s\n", cli_program, DRAY_VERSION_TEXT, library);
	return EXIT_FINE;
}

bool cli_flush(void)
{
	errno = 0;
	if (fflush(stdout) && !lost_reason)
		lost_reason = errno;
	errno = lost_reason;
	return !ferror(stdout);
}

int cli_end(enum exit_code status)
{
	bool failed = ferror(stdout);

	errno = 0;
	if (!fclose(stdout) && !failed)
		return (int)status;
	if (!lost_reason)
		lost_reason = errno;
	complain("cannot write all of the output%s%s", lost_reason ? ": " : "",
		 lost_reason ? strerror(lost_reason) : "");
	return EXIT_FAILED;
}

void complain(const char *format, ...)
{
	va_list args;
	char *safe;
	char *text;

	if (cli_clear_line)
		cli_clear_line();
	va_start(args, format);
	text = text_format_list(format, args);
	va_end(args);
	safe = escape(text, strlen(text), ESCAPE_CONTROL);
	if (cli_complain_to)
		cli_complain_to(safe);
	else
		fprintf(stderr, "%s: %s\n", cli_program, safe);
	cli_error = 0;
	free(safe);
	free(text);
}

const char *parse_number(const char *text, int base, uint64_t *out)
{
	unsigned char first = (unsigned char)*text;
	char *end;

	if (!(base == 16 ? isxdigit(first) : isdigit(first)))
		return NULL;
	errno = 0;
	*out = strtoull(text, &end, base);
	return errno ? NULL : end;
}

static _Noreturn void out_of_memory(void)
{
	if (cli_clear_line)
		cli_clear_line();
	fprintf(stderr, "%s: out of memory\n", cli_program);
	exit(EXIT_FAILED);
}

void *memory_resize(void *memory, size_t count, size_t size)
{
	void *resized = NULL;

	if (!size || count <= SIZE_MAX / size)
		resized = realloc(memory, count && size ? count * size : 1);
	if (!resized)
		out_of_memory();
	return resized;
}

void *memory_new(size_t count, size_t size)
{
	return memset(memory_resize(NULL, count, size), 0, count * size);
}

char *text_format_list(const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		out_of_memory();
	return text;
}

char *text_format(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = text_format_list(format, args);
	va_end(args);
	return text;
}

void text_append(char **text, const char *format, ...)
{
	va_list args;
	char *tail;
	char *whole;

	va_start(args, format);
	tail = text_format_list(format, args);
	va_end(args);
	whole = text_format("%s%s", *text ? *text : "", tail);
	free(tail);
	free(*text);
	*text = whole;
}

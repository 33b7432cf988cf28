// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Sentences for the person at the terminal.  Each goes through escape(), so
 * that no name or argument can play with the terminal it is shown on.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "escape.h"
#include "message.h"

static _Noreturn void out_of_memory(void)
{
	fputs("dmactl: out of memory\n", stderr);
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

void complain(const char *format, ...)
{
	va_list args;
	char *safe;
	char *text;

	va_start(args, format);
	text = text_format_list(format, args);
	va_end(args);
	safe = escape(text, strlen(text), ESCAPE_CONTROL);
	fprintf(stderr, "dmactl: %s\n", safe);
	free(safe);
	free(text);
}

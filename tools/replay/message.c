// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Sentences for the person at the terminal, in which no byte of a file or of
 * an argument can play with that terminal; and memory, without which there is
 * nothing else to say.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "replay.h"

void complain(const char *format, ...)
{
	char text[1024];
	va_list args;
	char *byte;

	progress_end();
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (byte = text; *byte; byte++)
		if (iscntrl((unsigned char)*byte))
			*byte = '?';
	fprintf(stderr, "dray-replay: %s\n", text);
}

static void *checked(void *memory)
{
	if (memory)
		return memory;
	complain("out of memory");
	exit(EXIT_FAILED);
}

void *memory_new(size_t count, size_t size)
{
	return checked(calloc(count ? count : 1, size));
}

void *memory_resize(void *memory, size_t count, size_t size)
{
	if (count > SIZE_MAX / size)
		return checked(NULL);
	return checked(realloc(memory, count * size));
}

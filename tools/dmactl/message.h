/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What goes to standard error, and memory that is there or ends the program. */
#ifndef DMACTL_MESSAGE_H
#define DMACTL_MESSAGE_H

#include <stdarg.h>
#include <stddef.h>

/*
 * Prints "dmactl: ", the sentence and a newline.  Whatever came from outside
 * (arguments, names) is shown with its control characters escaped.
 */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* realloc() of @count * @size bytes; says so and exits where that fails. */
void *memory_resize(void *memory, size_t count, size_t size);

/* A formatted string, to be given to free(). */
char *text_format(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
char *text_format_list(const char *format, va_list args)
	__attribute__((format(printf, 1, 0)));

#endif /* DMACTL_MESSAGE_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Makes hostile text harmless: a terminal shows it and does not obey it.  Users
 * choose the names of their buffers and tasks.
 */
#ifndef DRAY_TOOLS_ESCAPE_H
#define DRAY_TOOLS_ESCAPE_H

#include <stddef.h>

enum escape_kind {
	ESCAPE_CONTROL, /* only characters that a terminal obeys or hides */
	ESCAPE_NAME, /* also the backslash: reads back unambiguously */
	ESCAPE_WORD, /* also spaces: one column stays one word */
};

/*
 * Returns up to @length bytes of the text, with each byte of an unwanted
 * character as \xNN; for free().
 */
char *escape(const char *text, size_t length, enum escape_kind kind);

/* Counts the terminal columns of @length bytes from escape(). */
size_t escape_width(const char *safe, size_t length);

/* Returns how many bytes of text from escape() fit into @columns columns. */
size_t escape_cut(const char *safe, size_t columns);

#endif /* DRAY_TOOLS_ESCAPE_H */

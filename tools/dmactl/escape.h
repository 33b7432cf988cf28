/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Names of buffers and tasks are chosen by whoever made them: they are hostile
 * input.  Here they become text that a terminal shows and does not obey.
 */
#ifndef DMACTL_ESCAPE_H
#define DMACTL_ESCAPE_H

#include <stddef.h>

enum escape_kind {
	ESCAPE_CONTROL, /* only what a terminal would obey or not show */
	ESCAPE_NAME, /* that and the backslash: reads back unambiguously */
	ESCAPE_WORD, /* that and spaces, so that one column stays one word */
};

/*
 * The text up to @length bytes or its end, with what is not to be shown as it
 * is written \xNN, byte by byte.  To be given to free().
 */
char *escape(const char *text, size_t length, enum escape_kind kind);

/* Columns that a terminal takes for @length bytes that escape() returned. */
size_t escape_width(const char *safe, size_t length);

/*
 * The longest start of text that escape() returned that takes at most @columns
 * columns, in bytes.
 */
size_t escape_cut(const char *safe, size_t columns);

#endif /* DMACTL_ESCAPE_H */

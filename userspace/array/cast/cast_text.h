/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Text in elements: bytes (S) or UCS-4 characters (U) of either order. */
#ifndef DRAY_CAST_CAST_TEXT_H
#define DRAY_CAST_CAST_TEXT_H

#include <stddef.h>

#include <dray/dtype.h>

/* The longest text of a number or a date that is parsed. */
#define DRAY_TEXT_ROOM 512

/* Characters that an element of text has room for. */
size_t dray_text_room(dray_dtype dtype);

/* Writes ASCII, cut or filled up with zeros to the element's size. */
void dray_text_write(dray_dtype to, char *dst, const char *text, size_t length);

/*
 * Reads up to DRAY_TEXT_ROOM characters without zeros at the end, terminates
 * them, and returns the length, without a limit.  A character beyond ASCII is
 * read as '?'.
 */
size_t dray_text_read(dray_dtype from, const char *src,
		      char out[DRAY_TEXT_ROOM + 1]);

/* Leaves the sentence that @text is not a value of type @to.  -EINVAL. */
int dray_text_fail(const char *text, dray_dtype to);

#endif /* DRAY_CAST_CAST_TEXT_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files that read and write texts of types. */
#ifndef DRAY_DTYPE_DTYPE_TEXT_H
#define DRAY_DTYPE_DTYPE_TEXT_H

#include "dtype/dtype.h"
#include "dtype/literal.h"
#include "base/shared.h"

/* The names of the units of time, by enum dray_unit. */
extern const char *const dray_unit_names[DRAY_UNIT_ATTOSECOND + 1];

/*
 * Parses "s", "25s" or "D/24", and writes bits 16 to 31 of the type.  Returns NULL,
 * or the end of a sentence about the type.
 */
const char *dray_unit_parse(const char *text, size_t length, dray_dtype *bits);

/* Parses a typestr, a name, or a list of them with commas.  -EINVAL, ... */
int dray_dtype_parse_string(const char *text, dray_dtype *out);

/* Makes a type of a literal, as dray_dtype_parse() does of its text. */
DRAY_PRIVATE int dray_dtype_from_literal(const struct dray_literal *literal,
					 dray_dtype *out);

/*
 * Makes a sub-array, and drops the reference to @base in any case.
 * @ndim: -1: the shape is a number without parentheses, which is the size of
 *	texts and voids that have none
 */
int dray_dtype_wrap(dray_dtype base, int ndim, const int64_t *shape,
		    dray_dtype *out);

/* A growing list of fields, each with a reference.  All zero is empty. */
struct dray_field_list {
	struct dray_dtype_field *fields;
	size_t count, room;
};

/* Appends a field and takes over its reference, also on failure.  -ENOMEM. */
int dray_field_list_add(struct dray_field_list *list,
			const struct dray_dtype_field *field);
/* Drops all references and the memory. */
void dray_field_list_end(struct dray_field_list *list);

/* A text that is written as snprintf() writes. */
struct dray_text {
	char *to;
	size_t room;
	size_t length; /* of the whole text */
};

void dray_text_print(struct dray_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Writes the zero; returns the length or -EOVERFLOW. */
int dray_text_finish(struct dray_text *text);

/*
 * Writes @dtype as a NumPy header does: as dray_dtype_format(), but without the
 * alignment of a structure that a list describes.
 */
DRAY_PRIVATE int dray_dtype_describe(dray_dtype dtype, char *text, size_t room);

#endif /* DRAY_DTYPE_DTYPE_TEXT_H */

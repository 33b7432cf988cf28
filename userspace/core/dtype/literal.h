/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Literals of Python: texts of types and headers of .npy files.  Dictionaries,
 * lists, tuples, strings, integers, True, False and None; nothing is evaluated.
 */
#ifndef DRAY_DTYPE_LITERAL_H
#define DRAY_DTYPE_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/shared.h"

#define DRAY_LITERAL_DEPTH 128 /* of literals in literals */

enum dray_literal_kind {
	DRAY_LITERAL_NONE,
	DRAY_LITERAL_BOOL,
	DRAY_LITERAL_INTEGER,
	DRAY_LITERAL_STRING,
	DRAY_LITERAL_TUPLE,
	DRAY_LITERAL_LIST,
	DRAY_LITERAL_DICT, /* its items are keys and values in turn */
};

struct dray_literal {
	enum dray_literal_kind kind;
	uint32_t count; /* items of a tuple, a list or a dictionary */
	int64_t integer; /* also 0 and 1 of a bool */
	const char *text; /* of a string: UTF-8, without zeros, then a zero */
	const struct dray_literal *first; /* item */
	const struct dray_literal *next; /* item of the same parent */
};

/*
 * Parses the @size bytes at @text as a literal; reading needs some 50 times as
 * many, so the caller limits them.
 * @subject: begins each sentence about it
 * @out: the root, to be freed by free()
 *
 * -EINVAL for anything else, and deeper literals; -ENOMEM.
 */
DRAY_PRIVATE int dray_literal_parse(const char *text, size_t size,
				    const char *subject,
				    struct dray_literal **out);

/* The value of a key in a dictionary, NULL if it is not there. */
DRAY_PRIVATE const struct dray_literal *
dray_literal_find(const struct dray_literal *dict, const char *key);

static inline bool dray_literal_is(const struct dray_literal *literal,
				   enum dray_literal_kind kind)
{
	return literal && literal->kind == kind;
}

/* Whether it is a tuple or a list. */
static inline bool dray_literal_is_sequence(const struct dray_literal *literal)
{
	return dray_literal_is(literal, DRAY_LITERAL_TUPLE) ||
	       dray_literal_is(literal, DRAY_LITERAL_LIST);
}

#endif /* DRAY_DTYPE_LITERAL_H */

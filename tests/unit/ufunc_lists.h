/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Ufuncs with the types of NumPy's; a test learns the loop that is taken. */
#ifndef DRAY_TESTS_UFUNC_LISTS_H
#define DRAY_TESTS_UFUNC_LISTS_H

#include <dray/array.h>

#include "ufunc.h"

/* Ufuncs with the lists of NumPy's; types of a loop, inputs then outputs. */
static struct list {
	const char *name;
	int inputs, outputs;
	const char *loops[24];
	struct dray_ufunc *ufunc;
} lists[] = {
	{ "add",
	  2,
	  1,
	  { "? ? ?", "i1 i1 i1", "u1 u1 u1", "i2 i2 i2", "u2 u2 u2", "i4 i4 i4",
	    "u4 u4 u4", "i8 i8 i8", "u8 u8 u8", "f2 f2 f2", "f4 f4 f4",
	    "f8 f8 f8", "c8 c8 c8", "c16 c16 c16" },
	  NULL },
	{ "divide",
	  2,
	  1,
	  { "i1 i1 f8", "u1 u1 f8", "i2 i2 f8", "u2 u2 f8", "i4 i4 f8",
	    "u4 u4 f8", "i8 i8 f8", "u8 u8 f8", "f2 f2 f2", "f4 f4 f4",
	    "f8 f8 f8", "c8 c8 c8", "c16 c16 c16" },
	  NULL },
	{ "arctan2", 2, 1, { "f2 f2 f2", "f4 f4 f4", "f8 f8 f8" }, NULL },
	{ "ldexp",
	  2,
	  1,
	  { "f2 i4 f2", "f4 i4 f4", "f2 i8 f2", "f4 i8 f4", "f8 i4 f8",
	    "f8 i8 f8" },
	  NULL },
	{ "less",
	  2,
	  1,
	  { "? ? ?", "i1 i1 ?", "u1 u1 ?", "i2 i2 ?", "u2 u2 ?", "i4 i4 ?",
	    "u4 u4 ?", "i8 i8 ?", "u8 u8 ?", "i8 u8 ?", "u8 i8 ?", "f2 f2 ?",
	    "f4 f4 ?", "f8 f8 ?" },
	  NULL },
	{ "modf", 1, 2, { "f2 f2 f2", "f4 f4 f4", "f8 f8 f8" }, NULL },
};

static const char *taken; /* types of the loop that was called last */

/* Notes itself, and writes zeros of the types in its context, if they have sizes. */
static inline int note(char *const *data, const int64_t *strides, int64_t count,
		       void *context)
{
	const char *at = context;
	char word[8];
	int length, o;

	taken = context;
	for (o = 0; sscanf(at, "%7s%n", word, &length) == 1; o++) {
		memset(data[o], 0, (size_t)atoi(word + 1));
		at += length;
	}
	return 0;
}

/* Parses types with spaces between; "-" is none.  Returns their number. */
static inline int parse(const char *text, dray_dtype *types)
{
	char word[32];
	int count = 0, length;

	while (sscanf(text, "%31s%n", word, &length) == 1) {
		types[count] = 0;
		if (strcmp(word, "-"))
			assert_works(dray_dtype_parse(word, &types[count]));
		count++;
		text += length;
	}
	return count;
}

static inline int set_up_lists(void **state)
{
	dray_dtype types[8];
	size_t i, k;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct list *list = &lists[i];

		assert_works(dray_ufunc_create(
			list->name, list->inputs, list->outputs,
			DRAY_IDENTITY_NONE, &list->ufunc));
		for (k = 0; list->loops[k]; k++) {
			parse(list->loops[k], types);
			set_loop(list->ufunc, types, note,
				 (void *)(uintptr_t)list->loops[k], 0);
		}
	}
	return 0;
}

static inline int drop_lists(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		dray_ufunc_unref(lists[i].ufunc);
	return 0;
}

static inline struct list *list_of(const char *name)
{
	size_t i;

	for (i = 0; strcmp(lists[i].name, name); i++)
		;
	return &lists[i];
}

#endif /* DRAY_TESTS_UFUNC_LISTS_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * strings: arrays of strings of different lengths.
 *
 * Such an array is a block of type DRAY_BLOCK_ARRAY with a single axis.  Its
 * elements are pairs of pointers into an arena (DRAY_BLOCK_POD), and its
 * meta-data refers to the arena.  Strings are bytes of any value, also zero,
 * without a terminator.  (Source: the arrays of blockref elements of DyND's
 * low-level description.)
 *
 *	struct dray_block *names;
 *	const char *begin, *end;
 *
 *	ret = dray_strings_create(NULL, 2, &names);
 *	if (ret)
 *		return ret;
 *	ret = dray_strings_append(names, "tx0", 3);
 *	if (!ret)
 *		ret = dray_strings_get(names, 0, &begin, &end);
 *	if (!ret)
 *		printf("%.*s\n", (int)(end - begin), begin);
 *	dray_block_unref(names);
 *
 * A single thread fills an array, in order; the caller orders reads meanwhile.
 * A finished array may be read from any thread.  Functions with an argument
 * @strings return -EINVAL for any other block.
 */
#ifndef DRAY_STRINGS_H
#define DRAY_STRINGS_H

#include <dray/array/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The kind of their dtype, with order '|' and the item size of struct
 * dray_string.  No view has this kind: views copy elements as they are, and a
 * pair of pointers means nothing without the arena.
 */
#define DRAY_KIND_STRING 'T'

/** An element: [begin, end); both are NULL until it is filled in. */
struct dray_string {
	char *begin;
	char *end;
};

/** The meta-data behind the axis. */
struct dray_strings_meta {
	struct dray_block *bytes;	/* the arena, a reference */
	uint64_t capacity;	/* number of strings that fit */
};

/**
 * Makes an empty array with room for @capacity strings, and a reference to it.
 *
 * @pool: memory for their bytes; NULL: ordinary memory.  The pairs of pointers
 * are always in ordinary memory.
 *
 * Errors: -EINVAL (@out), -EOVERFLOW (more than the address space), -ENOMEM.
 */
DRAY_API int dray_strings_create(struct dray_pool *pool, size_t capacity,
				 struct dray_block **out);

/**
 * Makes a finished array of @count strings.  Each ends with a zero byte, which
 * is not copied.  Errors: as dray_strings_create(), -EINVAL if any is NULL.
 */
DRAY_API int dray_strings_from(struct dray_pool *pool, const char *const *texts,
			       size_t count, struct dray_block **out);

/**
 * Appends a copy of the @size bytes at @text as another string.
 *
 * Errors: -EINVAL (bytes at NULL), -ENOSPC (no room for another string), -EPERM
 * (the array is finished), -EOVERFLOW, -ENOMEM.  The array is unchanged then.
 */
DRAY_API int dray_strings_append(struct dray_block *strings, const char *text,
				 size_t size);

/**
 * Appends @size bytes at @text to the last string.  They may be bytes of that
 * string, which may move.
 *
 * Errors: -EINVAL (no string yet; bytes at NULL), else as
 * dray_strings_append().
 */
DRAY_API int dray_strings_extend(struct dray_block *strings, const char *text,
				 size_t size);

/** Makes the array immutable: strings can be neither added nor changed. */
DRAY_API int dray_strings_finish(struct dray_block *strings);

/** Returns the number of strings; 0 if @strings is not an array of strings. */
DRAY_API size_t dray_strings_count(const struct dray_block *strings);

/**
 * Writes the bounds of string @index, [*begin, *end).  The bounds hold while
 * the arena lives; the bounds of the last string of an unfinished array, until
 * it is extended.
 *
 * Errors: -ERANGE (beyond the last).
 */
DRAY_API int dray_strings_get(const struct dray_block *strings, size_t index,
			      const char **begin, const char **end);

/**
 * Returns the arena, borrowed; NULL if @strings is not an array of strings.  A
 * reference to the arena keeps the bytes alive without the array.
 */
DRAY_API struct dray_block *
dray_strings_bytes(const struct dray_block *strings);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_STRINGS_H */

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
 *
 * The functions behind dray_strings_bytes() need finished arrays, and return
 * -EPERM for others.  A string may be null there: its bounds are NULL.  In
 * order, bytes are unsigned, a string stands before all that it starts, and
 * nulls are last; a null equals a null.  <dray/array/arrow.h> has the functions
 * for text and bytes of Arrow.
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

/** An element: [begin, end); both are NULL for a null, and until it is filled in. */
struct dray_string {
	char *begin;
	char *end;
};

/** The meta-data behind the axis. */
struct dray_strings_meta {
	struct dray_block *bytes;	/* the block of the bytes, a reference */
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
 * Returns the block of the bytes, borrowed; NULL if @strings is not an array of
 * strings.  A reference to it keeps the bytes alive without the array.  It is an
 * arena, and of copies and imports a block of another type.
 */
DRAY_API struct dray_block *
dray_strings_bytes(const struct dray_block *strings);

/**
 * Makes a finished array with copies of @count strings.  Their bytes lie side by
 * side in memory of the handler that this thread allocates with,
 * dray_get_handler().
 *
 * @from: bounds of strings in any memory; NULL and NULL for a null
 *
 * Errors: -EINVAL (an end before its begin, strings at NULL), -EOVERFLOW,
 * -ENOMEM.
 */
DRAY_API int dray_strings_copy(const struct dray_string *from, size_t count,
			       struct dray_block **out);

/**
 * Makes a finished array of the strings at start, start + step, ..., up to
 * @stop, with the rules of Python and its negative numbers.  The strings are the
 * same, in the same memory.
 *
 * @start, @stop, @step: may be DRAY_OMIT of <dray/slice.h>
 *
 * Errors: -EINVAL (a step of 0), -ENOMEM.
 */
DRAY_API int dray_strings_slice(const struct dray_block *strings, int64_t start,
				int64_t stop, int64_t step,
				struct dray_block **out);

/**
 * Copies chosen strings, as dray_strings_copy() does.
 *
 * @indices: an axis of int64, each negative from the end; NULL: all strings
 *
 * Errors: -ERANGE (an index outside of the array), -EPERM also for indices that may
 * not be read, as dray_strings_copy().
 */
DRAY_API int dray_strings_take(const struct dray_block *strings,
			       const struct dray_view *indices,
			       struct dray_block **out);

/** A relation of two strings.  -EINVAL for an unknown value. */
enum dray_strings_relation {
	DRAY_STRINGS_LESS,
	DRAY_STRINGS_LESS_EQUAL,
	DRAY_STRINGS_EQUAL,
	DRAY_STRINGS_NOT_EQUAL,
	DRAY_STRINGS_GREATER,
	DRAY_STRINGS_GREATER_EQUAL,
};

/**
 * Writes whether each string of @a has a relation to that of @b.  An array of a single
 * string is compared with all of the other.
 *
 * @out: an axis of as many bools
 *
 * Errors: -EINVAL (lengths, the shape or the type of @out), -EPERM also if @out may
 * not be written.
 */
DRAY_API int dray_strings_compare(const struct dray_block *a,
				  const struct dray_block *b,
				  enum dray_strings_relation relation,
				  const struct dray_view *out);

/**
 * Writes the indices that would sort the array; equal strings stay in their order.
 *
 * @out: an axis of as many int64
 *
 * Errors: as dray_strings_compare(), -ENOMEM.
 */
DRAY_API int dray_strings_argsort(const struct dray_block *strings,
				  const struct dray_view *out);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_STRINGS_H */

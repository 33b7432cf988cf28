/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * strings: arrays of strings of different lengths.
 *
 * Such an array is a block of type DRAY_BLOCK_ARRAY with one axis.  Its
 * elements are pairs of pointers into an arena (DRAY_BLOCK_POD), of which the
 * array keeps a reference in its meta-data.  Strings are bytes of any value,
 * zero too, and have no terminator.  (Source: the arrays of blockref elements
 * of DyND's low-level description.)
 *
 * An array is filled in order, by one thread; who reads it meanwhile sees to
 * the order.  A finished one may be read from any thread.  What takes @strings
 * fails with -EINVAL for a block that is no such array.
 */
#ifndef DRAY_STRINGS_H
#define DRAY_STRINGS_H

#include <dray/array.h>
#include <dray/block.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The kind of their struct dray_dtype, order '|', the item size that of struct
 * dray_string.  No view has it: views copy elements as they are, and a pair
 * of pointers says nothing without the arena.
 */
#define DRAY_KIND_STRING	'T'

/** One element: [begin, end); both NULL in what is not filled in yet. */
struct dray_string {
	char *begin;
	char *end;
};

/** The meta-data behind the axis. */
struct dray_strings_meta {
	struct dray_block *bytes;	/* the arena, one reference */
	uint64_t capacity;		/* strings that there is room for */
};

/**
 * An array with room for @capacity strings and none yet, with one reference.
 *
 * @pool: where their bytes lie; NULL: in ordinary memory.  The pairs of
 *	pointers are in ordinary memory always.
 *
 * Errors: -EINVAL (@out), -EOVERFLOW (more than there are addresses), -ENOMEM.
 */
DRAY_API int dray_strings_create(struct dray_pool *pool, size_t capacity,
				 struct dray_block **out);

/**
 * The same, filled with @count strings that end with a zero byte, which is not
 * taken over, and finished.  -EINVAL also where one is NULL.
 */
DRAY_API int dray_strings_from(struct dray_pool *pool, const char *const *texts,
			       size_t count, struct dray_block **out);

/**
 * One string more: @size bytes at @text, which are copied.
 *
 * Errors: -EINVAL (bytes at NULL), -ENOSPC (no room for one more), -EPERM (it
 * is finished), -EOVERFLOW, -ENOMEM; the array is as it was.
 */
DRAY_API int dray_strings_append(struct dray_block *strings, const char *text,
				 size_t size);

/**
 * Makes the last string longer by @size bytes at @text, which may be bytes of
 * that string.  It may move.
 *
 * Errors: -EINVAL (there is none yet; bytes at NULL), else as
 * dray_strings_append().
 */
DRAY_API int dray_strings_extend(struct dray_block *strings, const char *text,
				 size_t size);

/** No string comes any more or changes: the array is immutable. */
DRAY_API int dray_strings_finish(struct dray_block *strings);

/** How many there are; 0 for what is no array of strings. */
DRAY_API size_t dray_strings_count(const struct dray_block *strings);

/**
 * String @index is [*begin, *end), for as long as the arena lives, and, of the
 * last one of an unfinished array, until it is extended.  -ERANGE beyond the
 * last.
 */
DRAY_API int dray_strings_get(const struct dray_block *strings, size_t index,
			      const char **begin, const char **end);

/**
 * The arena, borrowed; counted up it keeps the bytes alive without the array.
 * NULL for what is no array of strings.
 */
DRAY_API struct dray_block *
dray_strings_bytes(const struct dray_block *strings);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_STRINGS_H */

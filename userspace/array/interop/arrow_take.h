/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An import of Arrow's arrays, for the files that do it. */
#ifndef DRAY_INTEROP_ARROW_TAKE_H
#define DRAY_INTEROP_ARROW_TAKE_H

#include <stdatomic.h>

#include "interop/arrow.h"

#define DRAY_ARROW_MAX_DEPTH DRAY_MAX_NDIM /* levels of children */
#define DRAY_ARROW_MAX_BRANCHES 65536 /* in all: a branch may be named twice */

/* The producer's array, for all arrays over its memory. */
struct dray_arrow_keeper {
	atomic_size_t count;
	struct ArrowArray array; /* not released, once the import is done */
};

/* Starts a keeper that has no array yet.  -ENOMEM. */
int dray_arrow_keeper_make(struct dray_arrow_keeper **out);

/* Drops a reference; the last releases the producer's array. */
void dray_arrow_keeper_drop(void *owner);

struct dray_arrow_take {
	struct dray_arrow_keeper *keeper;
	uint32_t flags;
	int timeout_ms; /* for transfers that write the elements */
	bool masks; /* wanted; else nulls are refused */
	int branches; /* imported so far */
};

/* An array and its mask, a reference each; the mask NULL: no nulls. */
struct dray_arrow_taken {
	struct dray_array *array;
	struct dray_array *mask;
};

/* Checks that structures were not released, and flags.  -EINVAL. */
int dray_arrow_check_given(const struct ArrowSchema *schema,
			   const struct ArrowArray *from, uint32_t flags);

/*
 * Checks all of a branch but its format, and that it contains the elements of a
 * range; sets @start to the range's first, from the first in memory.
 */
int dray_arrow_check_node(const struct ArrowSchema *schema,
			  const struct ArrowArray *from, int64_t buffers,
			  int64_t children, int64_t first, int64_t count,
			  int64_t *start);

/*
 * Makes arrays of the elements [first, first + count) of a branch, not counting those
 * before its offset.  @depth: of the branch below the first.
 */
int dray_arrow_take(struct dray_arrow_take *take,
		    const struct ArrowSchema *schema,
		    const struct ArrowArray *from, int64_t first, int64_t count,
		    int depth, struct dray_arrow_taken *out);

/* Checks that a schema is a structure's with @count fields.  -EINVAL. */
int dray_arrow_check_fields(const struct ArrowSchema *schema, size_t count);

/*
 * Does the same for each child of a structure.  @out is zeroed; the caller drops
 * entries that were filled before a failure.
 */
int dray_arrow_take_fields(struct dray_arrow_take *take,
			   const struct ArrowSchema *schema,
			   const struct ArrowArray *from, int64_t first,
			   int64_t count, int depth,
			   struct dray_arrow_taken *out);

/* Copies the imported fields into a single array. */
int dray_arrow_join(const struct ArrowSchema *schema, int64_t length,
		    const struct dray_arrow_taken *fields,
		    struct dray_arrow_taken *out);

/*
 * Checks the validity of the elements that @out was made of, and adds their nulls
 * to its mask, which it makes if there is none.  @first: counts from the array's
 * first element in memory.  -EINVAL (nulls that are not wanted).
 */
int dray_arrow_add_nulls(struct dray_arrow_take *take,
			 const struct ArrowArray *from, int64_t first,
			 int64_t count, struct dray_arrow_taken *out);

/* Makes a mask like @array without nulls. */
int dray_arrow_make_mask(const struct dray_array *array,
			 struct dray_array **out);

#endif /* DRAY_INTEROP_ARROW_TAKE_H */

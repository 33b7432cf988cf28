/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Arrays over blocks. */
#ifndef DRAY_ARRAY_ARRAY_H
#define DRAY_ARRAY_ARRAY_H

#include <dray/array/array.h>

/*
 * Makes an array over @base of a checked view with its facts filled in; counts
 * @base up.  @flags: besides the view's.  -EINVAL, -EPERM, -ENOMEM.
 */
int dray_array_adopt(const struct dray_view *view, uint32_t flags,
		     struct dray_block *base, struct dray_array **out);

/* Bytes beside a block's object for an array of @ndim axes. */
size_t dray_array_room(int ndim);

/*
 * Makes an array in the room of @base, and adopts the caller's reference.  The
 * array keeps all of @base's memory; @view was checked, its facts are filled in.
 * @start, @bytes: of its elements
 * @flags: besides the view's
 */
struct dray_array *dray_array_place(const struct dray_view *view, void *start,
				    size_t bytes, uint32_t flags,
				    struct dray_block *base);

/*
 * Makes an array of the handler that this thread allocates with; @strides NULL is
 * C order, others leave no gap and start at the lowest byte.
 */
int dray_array_from_handler(dray_dtype dtype, int ndim, const int64_t *shape,
			    const int64_t *strides, bool zeroed,
			    struct dray_array **out);

/*
 * Notes a complete array for snapshots of pools, if it owns its memory.  Called if
 * dray_notes_are_wanted().
 */
void dray_array_note(struct dray_array *array);

/* The array that @array is copied back to, with a reference; NULL: none. */
struct dray_array **dray_array_target(struct dray_array *array);

#endif /* DRAY_ARRAY_ARRAY_H */

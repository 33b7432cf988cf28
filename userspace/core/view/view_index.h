/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The walk over the steps of an index. */
#ifndef DRAY_VIEW_VIEW_INDEX_H
#define DRAY_VIEW_VIEW_INDEX_H

#include <dray/slice.h>

#include "base/shared.h"

/* Where steps stand that count as arrays; see <dray/array/index.h>. */
enum dray_index_run {
	DRAY_INDEX_NO_ARRAY,
	DRAY_INDEX_IN_ARRAYS,
	DRAY_INDEX_BEHIND_ARRAYS,
	DRAY_INDEX_ARRAYS_APART,
};

/*
 * The state of a walk.  The caller sets the first four fields, and the fields of @rest
 * in front of its axes, but for data.
 */
struct dray_index_steps {
	const struct dray_view *view;
	struct dray_view *rest; /* the axes that steps leave */
	/*
	 * Checks an array, and adds the axes of the view that it uses to *used; then,
	 * in the walk, uses it.  Integers without axes come here, too.
	 */
	int (*check_array)(const struct dray_view *array, size_t *used);
	int (*use_array)(struct dray_index_steps *walk,
			 const struct dray_view *array);
	int axis; /* the next axis of view */
	int whole; /* axes that the ellipsis, or the end, adds */
	int at; /* the axis of rest where the arrays' axes belong */
	uint64_t offset; /* of the rest's data, modulo 2^64 */
	enum dray_index_run run;
};

/* Counts the axes that the steps use, and checks their arrays. */
DRAY_PRIVATE int dray_steps_begin(struct dray_index_steps *walk,
				  const struct dray_index *index, size_t count);

/* Walks over the steps, and completes the rest; not its facts. */
DRAY_PRIVATE int dray_steps_walk(struct dray_index_steps *walk,
				 const struct dray_index *index, size_t count);

/* Uses an integer as a step.  -ERANGE. */
DRAY_PRIVATE int dray_steps_integer(struct dray_index_steps *walk, int64_t at);

/* -ERANGE: a result of @ndim axes. */
DRAY_PRIVATE int dray_index_fail_axes(int ndim);

#endif /* DRAY_VIEW_VIEW_INDEX_H */

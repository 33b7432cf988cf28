/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * slice: parts of a view, by integers, slices and new axes.
 *
 * An index is an array of steps, view[index[0], index[1], ...], with the results of
 * NumPy's indexing: shape, strides, errors. <dray/array/index.h> declares
 * indices with arrays, which pick elements.
 *
 *	// view[1:, ::-1]
 *	const struct dray_index index[] = {
 *		DRAY_SLICE(1, DRAY_OMIT, DRAY_OMIT),
 *		DRAY_STEP(-1),
 *	};
 *	struct dray_view part;
 *
 *	ret = dray_view_index(&view, index, 2, &part);
 */
#ifndef DRAY_SLICE_H
#define DRAY_SLICE_H

#include <dray/view.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The kind of a step.  -EINVAL for an unknown value. */
enum dray_index_kind {
	DRAY_INDEX_INTEGER,	/* start: drops the axis; negative from its end */
	DRAY_INDEX_SLICE,	/* start:stop:step */
	DRAY_INDEX_NEWAXIS,	/* an axis of a single element */
	DRAY_INDEX_ELLIPSIS,	/* as many whole axes as fit; at most one */
	DRAY_INDEX_ARRAY,	/* array: integers or booleans */
};

#define DRAY_OMIT (-0x7fffffffffffffff - 1)	/* start, stop or step left out */

/** A step of an index; other fields than its kind's are not read. */
struct dray_index {
	enum dray_index_kind kind;
	int64_t start;
	int64_t stop;
	int64_t step;		/* never 0; negative runs backwards */
	/*
	 * Integers of any size and byte order, each negative from the end of an
	 * axis, or booleans for as many axes as the array's own; borrowed.
	 * Without axes it is an integer, or of a boolean an axis of 1 or 0
	 * elements.
	 */
	const struct dray_view *array;
};

/* A temporary: C++ allows its address only if it is a reference. */
#ifdef __cplusplus
#define DRAY_INDEX(kind, start, stop, step, array)                         \
	static_cast<const dray_index &>(dray_index{                        \
		kind, static_cast<int64_t>(start),                         \
		static_cast<int64_t>(stop), static_cast<int64_t>(step), array })
#else
#define DRAY_INDEX(kind, start, stop, step, array) \
	((struct dray_index){ kind, start, stop, step, array })
#endif

#define DRAY_AT(i) DRAY_INDEX(DRAY_INDEX_INTEGER, i, 0, 0, NULL)
#define DRAY_SLICE(start, stop, step) \
	DRAY_INDEX(DRAY_INDEX_SLICE, start, stop, step, NULL)
/* ::step, every step-th element; -1 reverses the axis */
#define DRAY_STEP(step) DRAY_SLICE(DRAY_OMIT, DRAY_OMIT, step)
#define DRAY_ALL DRAY_STEP(DRAY_OMIT)
#define DRAY_NEWAXIS DRAY_INDEX(DRAY_INDEX_NEWAXIS, 0, 0, 0, NULL)
#define DRAY_ELLIPSIS DRAY_INDEX(DRAY_INDEX_ELLIPSIS, 0, 0, 0, NULL)
#define DRAY_BY(array) DRAY_INDEX(DRAY_INDEX_ARRAY, 0, 0, 0, array)

/**
 * Makes the view that an index without arrays leads to; an array of integers
 * without axes is allowed, as an integer.  Never touches the elements of @view
 * and allocates nothing; @out may be @view.
 *
 * @index: @count steps; axes without a step are whole
 *
 * Errors: -ERANGE if NumPy raises an IndexError (an integer outside of its axis, more
 * indices than axes, more than DRAY_MAX_NDIM axes), -EINVAL if it raises a ValueError
 * or a TypeError (NULL, a step of 0), and for another array, as dray_view_init() for
 * a bad view.
 */
DRAY_API int dray_view_index(const struct dray_view *view,
			     const struct dray_index *index, size_t count,
			     struct dray_view *out);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_SLICE_H */

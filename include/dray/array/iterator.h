/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * iterator: every element of a view, or of several that are broadcast, in C
 * order: the last axis moves fastest.
 *
 *	struct dray_iterator it;
 *
 *	ret = dray_iterator_init(&it, &view);
 *	if (ret)
 *		return ret;
 *	for (; it.index < it.size; dray_iterator_next(&it))
 *		printf("%g ", *(const double *)(const void *)it.data);
 *
 * Iterators are plain structs of the caller, often on its stack: they allocate
 * nothing and need no end.  They borrow the memory of their views, but not the
 * views.  A single thread at a time uses an iterator; a copy by
 * dray_iterator_copy() moves independently.  If more is needed (another order,
 * buffers, conversions, reductions, ranges), see <dray/array/nditer.h>.
 * (Source: NumPy's PyArrayIterObject and PyArrayMultiIterObject.)
 */
#ifndef DRAY_ITERATOR_H
#define DRAY_ITERATOR_H

#include <dray/view.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An axis of an iterator. */
struct dray_iterator_axis {
	int64_t coordinate;	/* elements, 0 .. last */
	int64_t last;		/* extent less 1; 0 of an axis that is left out */
	int64_t stride;		/* bytes */
	int64_t backstride;	/* bytes: last * stride */
	int64_t factor;		/* elements of a step, in the flat index */
};

/**
 * An iterator over a view.  Callers read @data, @index and @size; coordinates
 * are found by dray_iterator_coordinates(), since a contiguous view is walked
 * without them.
 */
struct dray_iterator {
	char *data;		/* the current element; undefined past the end */
	int64_t index;		/* of it in C order; @size: past the end */
	int64_t size;		/* elements to visit */
	char *base;		/* the element [0, 0, ...] */
	int64_t step;		/* bytes to the next, if @contiguous */
	int32_t ndim_m1;	/* axes less 1; -1: a single element */
	/* a step leads from each to the next: C order without gaps */
	uint32_t contiguous;
	/* only the first ndim_m1 + 1 are ever read or copied */
	struct dray_iterator_axis axes[DRAY_MAX_NDIM];
};

/**
 * Starts at the first element of @view.
 * Errors: as dray_view_init() for a bad view.
 */
DRAY_API int dray_iterator_init(struct dray_iterator *it,
				const struct dray_view *view);

/**
 * Starts an iterator that stops once for each line along an axis, at its first
 * element.  The line itself is the caller's to walk: shape[*axis] elements,
 * strides[*axis] bytes apart.
 *
 * @axis: the axis left out, 0 to ndim - 1.  If it is below 0, the axis with the
 *	smallest stride above 0 is chosen and written here
 *
 * A view with no elements has no lines.
 * Errors: -EINVAL (a view without axes, an axis that does not exist), as
 * dray_view_init() for a bad view.  (Source: PyArray_IterAllButAxis().)
 */
DRAY_API int dray_iterator_init_lines(struct dray_iterator *it,
				      const struct dray_view *view, int *axis);

/** Copies an iterator, its own axes only. */
DRAY_API void dray_iterator_copy(struct dray_iterator *out,
				 const struct dray_iterator *it);

/** Moves to the first element. */
DRAY_API void dray_iterator_reset(struct dray_iterator *it);

/**
 * Moves to an element.
 *
 * @coordinates: a coordinate for each axis of the view, 0 to its extent - 1
 *
 * Errors: -ERANGE (a coordinate outside its axis).  Nothing is moved then.
 */
DRAY_API int dray_iterator_go(struct dray_iterator *it,
			      const int64_t *coordinates);

/**
 * Moves to an element by its number in C order, 0 to size - 1.
 * Errors: -ERANGE (no such element).  Nothing is moved then.
 */
DRAY_API int dray_iterator_go_flat(struct dray_iterator *it, int64_t index);

/** Writes the current coordinates, a number for each axis of the view. */
DRAY_API void dray_iterator_coordinates(const struct dray_iterator *it,
					int64_t *coordinates);

/** Returns whether there is an element at @data. */
DRAY_INLINED(bool dray_iterator_more(const struct dray_iterator *it))
{
	return it->index < it->size;
}

/** Moves to the next element, or past the end.  @it is not checked. */
DRAY_INLINED(void dray_iterator_next(struct dray_iterator *it))
{
	struct dray_iterator_axis *axis;
	int i = it->ndim_m1;

	it->index++;
	if (it->contiguous) {
		it->data += it->step;
		return;
	}
	axis = &it->axes[i];
	if (axis->coordinate < axis->last || i == 0) {
		axis->coordinate++;
		it->data += axis->stride;
		return;
	}
	if (i == 1) {
		axis->coordinate = 0;
		it->data += it->axes[0].stride - axis->backstride;
		it->axes[0].coordinate++;
		return;
	}
	for (; i >= 0; i--) {
		axis = &it->axes[i];
		if (axis->coordinate < axis->last) {
			axis->coordinate++;
			it->data += axis->stride;
			return;
		}
		axis->coordinate = 0;
		it->data -= axis->backstride;
	}
}

/* The next element, under the seed's name. */
#define DRAY_ITERATOR_NEXT(it) dray_iterator_next(it)

/** An axis of a multi-iterator. */
struct dray_multi_axis {
	int64_t coordinate;	/* elements, 0 .. last */
	int64_t last;		/* extent less 1 */
	/* bytes, of each operand; 0 along an axis that it is stretched over */
	int64_t strides[DRAY_MAX_OPERANDS];
	int64_t backstrides[DRAY_MAX_OPERANDS];	/* last * stride */
};

/**
 * An iterator over views that are broadcast to a common shape.  Callers read
 * @data, @index, @size, @ndim, @shape and coordinates of @axes.
 */
struct dray_multi {
	/* the current element of each operand */
	char *data[DRAY_MAX_OPERANDS];
	int64_t index;		/* of them in C order; @size: past the end */
	int64_t size;		/* elements of the broadcast */
	int32_t operands;
	int32_t ndim;		/* of the broadcast */
	char *base[DRAY_MAX_OPERANDS];	/* their elements [0, 0, ...] */
	/* only the first ndim of each are ever read or copied */
	int64_t shape[DRAY_MAX_NDIM];
	struct dray_multi_axis axes[DRAY_MAX_NDIM];
};

/**
 * Finds the shape of views that are broadcast together: shapes are aligned at
 * their last axes; missing axes and axes of a single element stretch.
 *
 * @views: @count of them, 1 to DRAY_MAX_OPERANDS; only shapes are used
 * @ndim: axes of the result
 * @shape: DRAY_MAX_NDIM extents, of which @ndim are written
 *
 * Errors: -EINVAL ("shape mismatch: ...", with both operands, the axis and the
 * sizes; too many operands; a bad number of axes or extent), -EOVERFLOW (more
 * elements than 63 bits count).
 */
DRAY_API int dray_broadcast_shape(const struct dray_view *const *views,
				  int count, int32_t *ndim, int64_t *shape);

/**
 * Starts at the first element of a broadcast.
 *
 * @views: @count of them, 1 to DRAY_MAX_OPERANDS
 *
 * Errors: as dray_broadcast_shape(), as dray_view_init() for a bad view.
 */
DRAY_API int dray_multi_init(struct dray_multi *it,
			     const struct dray_view *const *views, int count);

/** Moves to the first element. */
DRAY_API void dray_multi_reset(struct dray_multi *it);

/**
 * Moves to an element, as dray_iterator_go().
 * Errors: -ERANGE (no such element).  Nothing is moved then.
 */
DRAY_API int dray_multi_go(struct dray_multi *it, const int64_t *coordinates);
/**
 * Moves to an element by its number, as dray_iterator_go_flat().
 * Errors: -ERANGE (no such element).  Nothing is moved then.
 */
DRAY_API int dray_multi_go_flat(struct dray_multi *it, int64_t index);

/** Returns whether there are elements at @data. */
DRAY_INLINED(bool dray_multi_more(const struct dray_multi *it))
{
	return it->index < it->size;
}

/** Moves all operands on, or past the end.  @it is not checked. */
DRAY_INLINED(void dray_multi_next(struct dray_multi *it))
{
	int i, o;

	it->index++;
	for (i = it->ndim - 1; i >= 0; i--) {
		struct dray_multi_axis *axis = &it->axes[i];

		if (axis->coordinate < axis->last) {
			axis->coordinate++;
			for (o = 0; o < it->operands; o++)
				it->data[o] += axis->strides[o];
			return;
		}
		axis->coordinate = 0;
		for (o = 0; o < it->operands; o++)
			it->data[o] -= axis->backstrides[o];
	}
}

#ifdef __cplusplus
}
#endif

#endif /* DRAY_ITERATOR_H */

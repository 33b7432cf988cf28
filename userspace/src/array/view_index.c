// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Basic indexing: integers, slices with steps, new axes and an ellipsis, with
 * the results of NumPy's indexing to the last stride.  Addresses are moved as
 * numbers, because an empty view may have any address.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "array/view.h"
#include "base/error.h"
#include "base/number.h"

/* The state of one walk over the indices. */
struct walk {
	const struct dray_view *view;
	int axis; /* the next axis of view */
	int ndim; /* axes of the result so far */
	uint64_t offset; /* of the result's data, modulo 2^64 */
	int64_t shape[DRAY_MAX_NDIM];
	int64_t strides[DRAY_MAX_NDIM];
};

static int put_axis(struct walk *walk, int64_t extent, int64_t stride)
{
	if (walk->ndim == DRAY_MAX_NDIM)
		return dray_fail(-EINVAL, "the result has more than %d axes",
				 DRAY_MAX_NDIM);
	walk->shape[walk->ndim] = extent;
	walk->strides[walk->ndim] = stride;
	walk->ndim++;
	return 0;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
	return value < low ? low : value > high ? high : value;
}

/* Resolves a bound: negative ones count from the end, and all are clamped. */
static int64_t slice_bound(int64_t bound, int64_t omitted, int64_t extent,
			   int64_t step)
{
	if (bound == DRAY_OMIT)
		return omitted;
	if (bound < 0)
		bound += extent;
	return step < 0 ? clamp(bound, -1, extent - 1)
			: clamp(bound, 0, extent);
}

static int take_slice(struct walk *walk, const struct dray_index *index)
{
	int64_t extent = walk->view->shape[walk->axis];
	int64_t stride = walk->view->strides[walk->axis];
	int64_t step = index->step == DRAY_OMIT ? 1 : index->step;
	int64_t start, stop, count = 0;

	if (step == 0)
		return dray_fail(-EINVAL,
				 "the step of the slice of axis %d is 0",
				 walk->axis);
	start = slice_bound(index->start, step < 0 ? extent - 1 : 0, extent,
			    step);
	stop = slice_bound(index->stop, step < 0 ? -1 : extent, extent, step);
	if (step > 0 && start < stop)
		count = (stop - start - 1) / step + 1;
	else if (step < 0 && stop < start)
		count = (start - stop - 1) / -step + 1;
	if (count == 0) { /* As in NumPy, an empty slice does not move. */
		start = 0;
		step = 1;
	}
	walk->offset += (uint64_t)start * (uint64_t)stride;
	/* A stride that overflows belongs to an axis without a step. */
	if (dray_mul_overflow(stride, step, &stride))
		stride = walk->view->strides[walk->axis];
	walk->axis++;
	return put_axis(walk, count, stride);
}

static int take_integer(struct walk *walk, const struct dray_index *index)
{
	int64_t extent = walk->view->shape[walk->axis];
	int64_t at = index->start;

	if (at < -extent || at >= extent)
		return dray_fail(-ERANGE,
				 "index %" PRId64
				 " is outside axis %d of %" PRId64 " elements",
				 at, walk->axis, extent);
	if (at < 0)
		at += extent;
	walk->offset +=
		(uint64_t)at * (uint64_t)walk->view->strides[walk->axis];
	walk->axis++;
	return 0;
}

static int take_whole(struct walk *walk, int count)
{
	int ret = 0;

	while (!ret && count-- > 0) {
		ret = put_axis(walk, walk->view->shape[walk->axis],
			       walk->view->strides[walk->axis]);
		walk->axis++;
	}
	return ret;
}

/* Counts the axes that no index takes.  -EINVAL for impossible indices. */
static int count_axes(const struct dray_view *view,
		      const struct dray_index *index, size_t count, int *whole)
{
	size_t taken = 0, ellipses = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		switch (index[i].kind) {
		case DRAY_INDEX_INTEGER:
		case DRAY_INDEX_SLICE:
			taken++;
			break;
		case DRAY_INDEX_NEWAXIS:
			break;
		case DRAY_INDEX_ELLIPSIS:
			ellipses++;
			break;
		default:
			return dray_fail(-EINVAL, "index %zu is of kind %d", i,
					 (int)index[i].kind);
		}
	}
	if (ellipses > 1)
		return dray_fail(-EINVAL,
				 "%zu ellipses, at most one is possible",
				 ellipses);
	if (taken > (size_t)view->ndim)
		return dray_fail(-EINVAL, "%zu indices for %d axes", taken,
				 view->ndim);
	*whole = view->ndim - (int)taken;
	return 0;
}

static int take(struct walk *walk, const struct dray_index *index, int *whole)
{
	int rest;

	switch (index->kind) {
	case DRAY_INDEX_INTEGER:
		return take_integer(walk, index);
	case DRAY_INDEX_SLICE:
		return take_slice(walk, index);
	case DRAY_INDEX_NEWAXIS:
		return put_axis(walk, 1, 0);
	default: /* The ellipsis: count_axes() let no other kind pass. */
		rest = *whole;
		*whole = 0;
		return take_whole(walk, rest);
	}
}

int dray_view_index(const struct dray_view *view,
		    const struct dray_index *index, size_t count,
		    struct dray_view *out)
{
	struct walk walk;
	int whole = 0, ret;
	size_t i;

	if (!dray_given(out, __func__) ||
	    (count && !dray_given(index, __func__)))
		return -EINVAL;
	ret = dray_view_check(view, "the indexed view", NULL);
	if (!ret)
		ret = count_axes(view, index, count, &whole);
	if (ret)
		return ret;
	walk.view = view;
	walk.axis = 0;
	walk.ndim = 0;
	walk.offset = 0;
	for (i = 0; i < count; i++) {
		ret = take(&walk, &index[i], &whole);
		if (ret)
			return ret;
	}
	ret = take_whole(&walk, whole);
	if (ret)
		return ret;
	memmove(out, view, offsetof(struct dray_view, shape));
	out->data = dray_address_add(view->data, (int64_t)walk.offset);
	out->ndim = walk.ndim;
	memcpy(out->shape, walk.shape,
	       (size_t)walk.ndim * sizeof(walk.shape[0]));
	memcpy(out->strides, walk.strides,
	       (size_t)walk.ndim * sizeof(walk.strides[0]));
	dray_view_set_facts(out);
	return 0;
}

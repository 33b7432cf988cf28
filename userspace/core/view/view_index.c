// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Views by an index: at once by integers and slices, which most indices are, and by
 * a walk over the steps for all others and for errors.  Results are NumPy's, to the
 * last stride.  Addresses are moved as numbers, because the address of an empty view
 * may be anything.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include <dray/element.h>

#include "view/slice.h"
#include "view/view_index.h"
#include "view/view_check.h"
#include "view/view_result.h"
#include "base/error.h"
#include "base/number.h"

int dray_index_fail_axes(int ndim)
{
	return dray_fail(
		-ERANGE,
		"number of dimensions must be within [0, %d], indexing result would have %d",
		DRAY_MAX_NDIM, ndim);
}

static int step_axis(struct dray_index_steps *walk, int64_t extent,
		     int64_t stride)
{
	struct dray_view *rest = walk->rest;

	if (rest->ndim == DRAY_MAX_NDIM)
		return dray_index_fail_axes(DRAY_MAX_NDIM + 1);
	rest->shape[rest->ndim] = extent;
	rest->strides[rest->ndim] = stride;
	rest->ndim++;
	return 0;
}

static int step_slice(struct dray_index_steps *walk,
		      const struct dray_index *index)
{
	int64_t stride = walk->view->strides[walk->axis];
	struct dray_slice slice;

	if (index->step == 0)
		return dray_fail(-EINVAL,
				 "the step of the slice of axis %d is 0",
				 walk->axis);
	slice = dray_slice_of(index, walk->view->shape[walk->axis]);
	walk->offset += (uint64_t)slice.start * (uint64_t)stride;
	/* A stride that overflows belongs to an axis without a step. */
	if (dray_mul_overflow(stride, slice.step, &stride))
		stride = walk->view->strides[walk->axis];
	walk->axis++;
	return step_axis(walk, slice.count, stride);
}

int dray_steps_integer(struct dray_index_steps *walk, int64_t at)
{
	int64_t extent = walk->view->shape[walk->axis];

	if (at < -extent || at >= extent)
		return dray_fail(
			-ERANGE,
			"index %" PRId64
			" is out of bounds for axis %d with size %" PRId64,
			at, walk->axis, extent);
	if (at < 0)
		at += extent;
	walk->offset +=
		(uint64_t)at * (uint64_t)walk->view->strides[walk->axis];
	walk->axis++;
	return 0;
}

static int step_whole(struct dray_index_steps *walk, int count)
{
	int ret = 0;

	while (!ret && count-- > 0) {
		ret = step_axis(walk, walk->view->shape[walk->axis],
				walk->view->strides[walk->axis]);
		walk->axis++;
	}
	return ret;
}

/* Notes where arrays stand, and so the place of their axes in the result. */
static void place_arrays(struct dray_index_steps *walk,
			 enum dray_index_kind kind)
{
	bool array = kind == DRAY_INDEX_INTEGER || kind == DRAY_INDEX_ARRAY;

	if (array && walk->run == DRAY_INDEX_NO_ARRAY) {
		walk->at = walk->rest->ndim;
		walk->run = DRAY_INDEX_IN_ARRAYS;
	} else if (array && walk->run == DRAY_INDEX_BEHIND_ARRAYS) {
		walk->at = 0;
		walk->run = DRAY_INDEX_ARRAYS_APART;
	} else if (!array && walk->run == DRAY_INDEX_IN_ARRAYS) {
		walk->run = DRAY_INDEX_BEHIND_ARRAYS;
	}
}

static int step_once(struct dray_index_steps *walk,
		     const struct dray_index *index)
{
	int count;

	place_arrays(walk, index->kind);
	switch (index->kind) {
	case DRAY_INDEX_INTEGER:
		return dray_steps_integer(walk, index->start);
	case DRAY_INDEX_SLICE:
		return step_slice(walk, index);
	case DRAY_INDEX_NEWAXIS:
		return step_axis(walk, 1, 0);
	case DRAY_INDEX_ARRAY:
		return walk->use_array(walk, index->array);
	default: /* The ellipsis: dray_steps_begin() refuses other kinds. */
		count = walk->whole;
		walk->whole = 0;
		return step_whole(walk, count);
	}
}

int dray_steps_begin(struct dray_index_steps *walk,
		     const struct dray_index *index, size_t count)
{
	size_t used = 0, ellipses = 0;
	size_t i;
	int ret;

	for (i = 0; i < count; i++) {
		switch (index[i].kind) {
		case DRAY_INDEX_INTEGER:
		case DRAY_INDEX_SLICE:
			used++;
			break;
		case DRAY_INDEX_NEWAXIS:
			break;
		case DRAY_INDEX_ELLIPSIS:
			ellipses++;
			break;
		case DRAY_INDEX_ARRAY:
			ret = walk->check_array(index[i].array, &used);
			if (ret)
				return ret;
			break;
		default:
			return dray_fail(-EINVAL, "index %zu is of kind %d", i,
					 (int)index[i].kind);
		}
	}
	if (ellipses > 1)
		return dray_fail(
			-ERANGE,
			"an index can only have a single ellipsis, not %zu",
			ellipses);
	if (used > (size_t)walk->view->ndim)
		return dray_fail(
			-ERANGE,
			"too many indices for array: array is %d-dimensional, but %zu were indexed",
			walk->view->ndim, used);
	walk->whole = walk->view->ndim - (int)used;
	return 0;
}

int dray_steps_walk(struct dray_index_steps *walk,
		    const struct dray_index *index, size_t count)
{
	size_t i;
	int ret;

	for (i = 0; i < count; i++) {
		ret = step_once(walk, &index[i]);
		if (ret)
			return ret;
	}
	ret = step_whole(walk, walk->whole);
	walk->rest->data =
		dray_address_add(walk->view->data, (int64_t)walk->offset);
	return ret;
}

/*
 * Indexes a checked view by integers and slices alone, without a plan.  False if
 * there are other steps, or any is wrong.
 */
static inline bool index_at_once(const struct dray_view *view,
				 const struct dray_index *index, size_t count,
				 struct dray_view *made)
{
	struct dray_result result = dray_result_start(view, made, NULL);
	uint64_t offset = 0;
	size_t axis;

	if (count > (size_t)view->ndim || !index)
		return false;
	for (axis = 0; axis < count; axis++) {
		int64_t extent = view->shape[axis];
		int64_t stride = view->strides[axis], at = index[axis].start;

		if (index[axis].kind == DRAY_INDEX_SLICE && index[axis].step) {
			struct dray_slice slice =
				dray_slice_of(&index[axis], extent);

			at = slice.start;
			if (dray_mul_overflow(stride, slice.step, &stride))
				return false;
			dray_result_add(&result, slice.count, stride);
			stride = view->strides[axis];
		} else if (index[axis].kind == DRAY_INDEX_INTEGER) {
			at += at < 0 ? extent : 0;
			if (at < 0 || at >= extent)
				return false;
		} else {
			return false;
		}
		offset += (uint64_t)at * (uint64_t)stride;
	}
	for (; axis < (size_t)view->ndim; axis++)
		dray_result_add(&result, view->shape[axis],
				view->strides[axis]);
	made->data = dray_address_add(view->data, (int64_t)offset);
	dray_result_end(&result, view->flags);
	return true;
}

/* Lets an integer without axes pass. */
static int check_scalar(const struct dray_view *array, size_t *used)
{
	int ret = dray_view_check(array, "an indexing array", NULL);
	char kind;

	if (ret)
		return ret;
	kind = dray_dtype_kind(array->dtype);
	if (array->ndim || (kind != 'i' && kind != 'u'))
		return dray_fail(
			-EINVAL,
			"an array as an index makes a copy, not a view");
	if (!(array->flags & DRAY_READ))
		return dray_fail(-EPERM, "an indexing array may not be read");
	*used += 1;
	return 0;
}

static int step_scalar(struct dray_index_steps *walk,
		       const struct dray_view *array)
{
	struct dray_scalar scalar;
	int ret = dray_dtype_functions(array->dtype)
			  ->get(array->dtype, array->data, &scalar);

	if (ret)
		return ret;
	if (scalar.kind == DRAY_SCALAR_UNSIGNED && scalar.natural > INT64_MAX)
		return dray_fail(-ERANGE, "index %" PRIu64 " is out of bounds",
				 scalar.natural);
	return dray_steps_integer(walk, scalar.integer);
}

/* Out of line: its state is larger than of an index at once. */
static __attribute__((noinline)) int
index_by_steps(const struct dray_view *view, const struct dray_index *index,
	       size_t count, struct dray_view *out)
{
	struct dray_view made;
	struct dray_index_steps walk = { .view = view,
					 .rest = &made,
					 .check_array = check_scalar,
					 .use_array = step_scalar };
	int ret;

	if (count && !dray_given(index, "dray_view_index"))
		return -EINVAL;
	memcpy(&made, view, offsetof(struct dray_view, shape));
	made.ndim = 0;
	ret = dray_steps_begin(&walk, index, count);
	if (!ret)
		ret = dray_steps_walk(&walk, index, count);
	return ret ? ret : dray_view_finish(&made, out);
}

int dray_view_index(const struct dray_view *view,
		    const struct dray_index *index, size_t count,
		    struct dray_view *out)
{
	struct dray_extent extent;
	struct dray_view made;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = dray_view_check_inline(view, "the indexed view", &extent);
	if (ret)
		return ret;
	if (!index_at_once(view, index, count, &made))
		return index_by_steps(view, index, count, out);
	dray_view_write(out, &made);
	return 0;
}

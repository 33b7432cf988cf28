// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Prepares indices: integers, slices with steps, new axes and an ellipsis make a
 * view, the rest; arrays are listed and broadcast.  Results are NumPy's, to the
 * last stride.  Addresses are moved as numbers, because an empty view may have
 * any address.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "index/index.h"
#include "index/slice.h"
#include "view/view.h"
#include "base/error.h"
#include "base/number.h"

/* Where steps stand that count as arrays; see <dray/index.h>. */
enum run {
	NO_ARRAY,
	IN_ARRAYS,
	BEHIND_ARRAYS,
	APART,
};

/* The state of one walk over the steps of an index. */
struct walk {
	const struct dray_view *view;
	struct dray_index_plan *plan;
	int axis; /* the next axis of view */
	int whole; /* axes that the ellipsis takes */
	uint64_t offset; /* of the rest's data, modulo 2^64 */
	enum run run;
};

static int put_axis(struct walk *walk, int64_t extent, int64_t stride)
{
	struct dray_view *rest = &walk->plan->rest;

	if (rest->ndim == DRAY_MAX_NDIM)
		return dray_index_fail_axes(DRAY_MAX_NDIM + 1);
	rest->shape[rest->ndim] = extent;
	rest->strides[rest->ndim] = stride;
	rest->ndim++;
	return 0;
}

static int take_slice(struct walk *walk, const struct dray_index *index)
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
	return put_axis(walk, slice.count, stride);
}

static int take_integer(struct walk *walk, int64_t at)
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

static int take_integers(struct walk *walk, const struct dray_view *from)
{
	struct dray_index_array *array =
		dray_index_put_array(walk->plan, walk->axis, from);

	if (!array)
		return -ERANGE;
	dray_index_use_integers(array, from);
	array->extent = walk->view->shape[walk->axis];
	array->stride = walk->view->strides[walk->axis];
	walk->axis++;
	return 0;
}

/* An axis of 1 or 0 elements, which takes no axis of the view. */
static int take_boolean(struct walk *walk, const struct dray_view *from)
{
	static const int64_t zero;
	struct dray_index_array *array =
		dray_index_put_array(walk->plan, walk->axis, from);

	if (!array)
		return -ERANGE;
	dray_index_use_coordinates(array,
				   *(const unsigned char *)from->data != 0);
	array->data = (const unsigned char *)&zero;
	array->extent = 1;
	array->stride = 0;
	return 0;
}

static int check_mask(const struct walk *walk, const struct dray_view *from)
{
	int i;

	for (i = 0; i < from->ndim; i++) {
		int64_t extent = walk->view->shape[walk->axis + i];

		/* NumPy lets booleans without an element pass. */
		if (from->shape[i] && from->shape[i] != extent)
			return dray_fail(
				-ERANGE,
				"boolean index did not match indexed array along axis %d; size of axis is %" PRId64
				" but size of corresponding boolean axis is %" PRId64,
				walk->axis + i, extent, from->shape[i]);
	}
	return 0;
}

static int take_mask(struct walk *walk, const struct dray_view *from)
{
	int64_t trues;
	int ret, i;

	ret = check_mask(walk, from);
	if (ret)
		return ret;
	trues = dray_count_trues(from);
	for (i = 0; i < from->ndim; i++) {
		struct dray_index_array *array =
			dray_index_put_array(walk->plan, walk->axis, from);

		if (!array)
			return -ERANGE;
		dray_index_use_coordinates(array, trues);
		array->extent = walk->view->shape[walk->axis];
		array->stride = walk->view->strides[walk->axis];
		walk->axis++;
	}
	return 0;
}

static int integer_of(const struct dray_view *from, int64_t *out)
{
	dray_index_load_for(from->dtype)(from->data, 0, 1, out);
	if (*out < 0 && dray_dtype_kind(from->dtype) == 'u')
		return dray_fail(-ERANGE, "index %" PRIu64 " is out of bounds",
				 (uint64_t)*out);
	return 0;
}

static int take_array(struct walk *walk, const struct dray_view *from)
{
	int64_t at;
	int ret;

	if (dray_dtype_is_bool(from->dtype))
		return from->ndim ? take_mask(walk, from)
				  : take_boolean(walk, from);
	if (from->ndim)
		return take_integers(walk, from);
	ret = integer_of(from, &at);
	return ret ? ret : take_integer(walk, at);
}

/* Whether a step counts as an array; moves the result's axes accordingly. */
static void place(struct walk *walk, enum dray_index_kind kind)
{
	bool array = kind == DRAY_INDEX_INTEGER || kind == DRAY_INDEX_ARRAY;

	if (array && walk->run == NO_ARRAY) {
		walk->plan->at = walk->plan->rest.ndim;
		walk->run = IN_ARRAYS;
	} else if (array && walk->run == BEHIND_ARRAYS) {
		walk->plan->at = 0;
		walk->run = APART;
	} else if (!array && walk->run == IN_ARRAYS) {
		walk->run = BEHIND_ARRAYS;
	}
}

static int take(struct walk *walk, const struct dray_index *index)
{
	int count;

	place(walk, index->kind);
	switch (index->kind) {
	case DRAY_INDEX_INTEGER:
		return take_integer(walk, index->start);
	case DRAY_INDEX_SLICE:
		return take_slice(walk, index);
	case DRAY_INDEX_NEWAXIS:
		return put_axis(walk, 1, 0);
	case DRAY_INDEX_ARRAY:
		return take_array(walk, index->array);
	default: /* The ellipsis: count_axes() let no other kind pass. */
		count = walk->whole;
		walk->whole = 0;
		return take_whole(walk, count);
	}
}

/* Counts the axes that no step takes. */
static int count_axes(struct walk *walk, const struct dray_index *index,
		      size_t count)
{
	size_t taken = 0, ellipses = 0;
	size_t i;
	int ret;

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
		case DRAY_INDEX_ARRAY:
			ret = dray_index_check_array(index[i].array, &taken);
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
	if (taken > (size_t)walk->view->ndim)
		return dray_fail(
			-ERANGE,
			"too many indices for array: array is %d-dimensional, but %zu were indexed",
			walk->view->ndim, taken);
	walk->whole = walk->view->ndim - (int)taken;
	return 0;
}

/* Whether an index is one array of booleans, of all of the view's axes. */
static bool is_whole_mask(const struct dray_view *view,
			  const struct dray_index *index, size_t count)
{
	return count == 1 && index->kind == DRAY_INDEX_ARRAY &&
	       dray_dtype_is_bool(index->array->dtype) &&
	       index->array->ndim == view->ndim &&
	       !memcmp(index->array->shape, view->shape,
		       (size_t)view->ndim * sizeof(view->shape[0]));
}

int dray_index_prepare(struct dray_index_plan *plan,
		       const struct dray_view *view,
		       const struct dray_index *index, size_t count)
{
	struct walk walk = { .view = view, .plan = plan };
	size_t i;
	int ret;

	if (count && !dray_given(index, __func__))
		return -EINVAL;
	dray_index_start(plan, view);
	ret = count_axes(&walk, index, count);
	if (ret)
		return ret;
	if (is_whole_mask(view, index, count)) {
		plan->mask = index->array;
		plan->mask_trues = dray_count_trues(index->array);
		plan->broadcast_ndim = 1;
		plan->broadcast[0] = plan->mask_trues;
		return 0;
	}
	for (i = 0; i < count; i++) {
		ret = take(&walk, &index[i]);
		if (ret)
			return ret;
	}
	ret = take_whole(&walk, walk.whole);
	if (ret)
		return ret;
	plan->rest.data = dray_address_add(view->data, (int64_t)walk.offset);
	return plan->arrays_count ? dray_index_broadcast_arrays(plan) : 0;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The iterator over one view.  Its backstrides and factors are computed once, so
 * that a step only adds, and a contiguous view is walked by a pointer alone.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "iterator/iterator.h"
#include "private.h"

/*
 * Computes the axes of a checked view.  One without elements may have any extents
 * and strides, so nothing is multiplied then.  Elements at NULL have no bytes: the
 * iterator stays there.
 */
static void set_axes(struct dray_iterator *it, const struct dray_view *view)
{
	bool empty = it->size == 0;
	int64_t factor = 1;
	int i;

	it->contiguous = true;
	for (i = view->ndim - 1; i >= 0; i--) {
		struct dray_iterator_axis *axis = &it->axes[i];
		int64_t stride = empty || !view->data ? 0 : view->strides[i];

		axis->coordinate = 0;
		axis->last = view->shape[i] - 1;
		axis->stride = stride;
		axis->backstride = axis->last * stride;
		axis->factor = factor;
		if (axis->last && stride != factor * it->step)
			it->contiguous = false;
		if (!empty)
			factor *= view->shape[i];
	}
}

static void iterator_start(struct dray_iterator *it,
			   const struct dray_view *view,
			   const struct dray_extent *extent)
{
	it->data = view->data;
	it->index = 0;
	it->size = extent->elements;
	it->base = view->data;
	it->step = dray_dtype_itemsize(view->dtype);
	it->ndim_m1 = view->ndim - 1;
	set_axes(it, view);
}

int dray_iterator_init(struct dray_iterator *it, const struct dray_view *view)
{
	struct dray_extent extent;
	int ret;

	if (!dray_given(it, __func__) || !dray_given(view, __func__))
		return -EINVAL;
	ret = dray_view_check(view, "the view", &extent);
	if (ret)
		return ret;
	iterator_start(it, view, &extent);
	return 0;
}

/* Returns the axis with the smallest stride above 0. */
static int smallest_stride(const struct dray_view *view)
{
	int64_t least = 0;
	int found = 0;
	int i;

	for (i = 0; i < view->ndim && !least; i++)
		least = view->strides[i];
	for (i = 1; i < view->ndim; i++) {
		if (view->strides[i] > 0 && view->strides[i] < least) {
			found = i;
			least = view->strides[i];
		}
	}
	return found;
}

/* Takes an axis out: it has one coordinate, and others count without it. */
static void leave_out(struct dray_iterator *it, int left_out)
{
	struct dray_iterator_axis *axis = &it->axes[left_out];
	int i;

	if (it->size) {
		it->size /= axis->last + 1;
		for (i = 0; i < left_out; i++)
			it->axes[i].factor /= axis->last + 1;
	}
	axis->last = 0;
	axis->backstride = 0;
	it->contiguous = false;
}

int dray_iterator_init_lines(struct dray_iterator *it,
			     const struct dray_view *view, int *axis)
{
	struct dray_extent extent;
	int ret;

	if (!dray_given(it, __func__) || !dray_given(view, __func__) ||
	    !dray_given(axis, __func__))
		return -EINVAL;
	ret = dray_view_check(view, "the view", &extent);
	if (ret)
		return ret;
	if (*axis >= view->ndim || view->ndim == 0)
		return dray_fail(
			-EINVAL,
			"axis %d is out of bounds for a view of %d axes", *axis,
			view->ndim);
	if (*axis < 0)
		*axis = smallest_stride(view);
	iterator_start(it, view, &extent);
	leave_out(it, *axis);
	return 0;
}

void dray_iterator_copy(struct dray_iterator *out,
			const struct dray_iterator *it)
{
	if (out == it || !dray_given(out, __func__) ||
	    !dray_given(it, __func__))
		return;
	memcpy(out, it,
	       offsetof(struct dray_iterator, axes) +
		       (size_t)(it->ndim_m1 + 1) * sizeof(it->axes[0]));
}

void dray_iterator_reset(struct dray_iterator *it)
{
	int i;

	if (!dray_given(it, __func__))
		return;
	for (i = 0; i <= it->ndim_m1; i++)
		it->axes[i].coordinate = 0;
	it->index = 0;
	it->data = it->base;
}

int dray_iterator_fail_coordinate(int64_t coordinate, int axis, int64_t extent)
{
	return dray_fail(-ERANGE,
			 "index %" PRId64
			 " is out of bounds for axis %d with size %" PRId64,
			 coordinate, axis, extent);
}

int dray_iterator_fail_index(int64_t index, int64_t size)
{
	return dray_fail(-ERANGE,
			 "index %" PRId64 " is out of bounds for size %" PRId64,
			 index, size);
}

int dray_iterator_go(struct dray_iterator *it, const int64_t *coordinates)
{
	int i;

	if (!dray_given(it, __func__) ||
	    (it->ndim_m1 >= 0 && !dray_given(coordinates, __func__)))
		return -EINVAL;
	for (i = 0; i <= it->ndim_m1; i++) {
		if (coordinates[i] < 0 || coordinates[i] > it->axes[i].last)
			return dray_iterator_fail_coordinate(
				coordinates[i], i, it->axes[i].last + 1);
	}
	it->data = it->base;
	it->index = 0;
	for (i = 0; i <= it->ndim_m1; i++) {
		struct dray_iterator_axis *axis = &it->axes[i];

		axis->coordinate = coordinates[i];
		it->data += coordinates[i] * axis->stride;
		it->index += coordinates[i] * axis->factor;
	}
	return 0;
}

int dray_iterator_go_flat(struct dray_iterator *it, int64_t index)
{
	int64_t rest = index;
	int i;

	if (!dray_given(it, __func__))
		return -EINVAL;
	if (index < 0 || index >= it->size)
		return dray_iterator_fail_index(index, it->size);
	it->data = it->base;
	it->index = index;
	for (i = 0; i <= it->ndim_m1; i++) {
		struct dray_iterator_axis *axis = &it->axes[i];

		/* The axis that lines leave out has the next one's factor. */
		axis->coordinate = axis->last ? rest / axis->factor : 0;
		rest -= axis->coordinate * axis->factor;
		it->data += axis->coordinate * axis->stride;
	}
	return 0;
}

void dray_iterator_coordinates(const struct dray_iterator *it,
			       int64_t *coordinates)
{
	int64_t rest;
	int i;

	if (!dray_given(it, __func__) || !dray_given(coordinates, __func__))
		return;
	rest = it->index < it->size ? it->index : 0;
	for (i = 0; i <= it->ndim_m1; i++) {
		const struct dray_iterator_axis *axis = &it->axes[i];

		coordinates[i] = axis->last && rest ? rest / axis->factor : 0;
		rest -= coordinates[i] * axis->factor;
	}
}

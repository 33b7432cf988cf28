// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Views of the same elements with their axes reordered, dropped or reversed.
 * Each is complete before it is written, so it may replace its own input.
 */
#include <errno.h>
#include <inttypes.h>

#include "view/view_check.h"
#include "view/view_result.h"
#include "base/error.h"

int dray_axis_resolve(int axis, int ndim)
{
	if (axis < -ndim || axis >= ndim) {
		dray_fail(-EINVAL, "axis %d is not one of %d axes", axis, ndim);
		return -1;
	}
	return axis < 0 ? axis + ndim : axis;
}

int dray_axes_resolve(const char *name, const int *axes, int count, int ndim,
		      uint64_t *taken)
{
	int i, axis;

	*taken = 0;
	if (count < 0)
		return dray_fail(-EINVAL, "%s has %d axes", name, count);
	if (count && !axes)
		return dray_fail(-EINVAL, "%s has %d axes and no list", name,
				 count);
	for (i = 0; i < count; i++) {
		axis = dray_axis_resolve(axes[i], ndim);
		if (axis < 0)
			return -EINVAL; /* With its sentence. */
		if (*taken & (UINT64_C(1) << axis))
			return dray_fail(-EINVAL, "%s names axis %d twice",
					 name, axis);
		*taken |= UINT64_C(1) << axis;
	}
	return 0;
}

/* Checks the arguments of all functions here. */
static inline int view_axes_check(const struct dray_view *view,
				  const struct dray_view *out,
				  const char *function)
{
	if (!dray_given(view, function) || !dray_given(out, function))
		return -EINVAL;
	return dray_shape_check_inline("the view", view->ndim, view->shape);
}

/* Reorders by @axes, each of which is there once; NULL: from the last. */
static inline __attribute__((always_inline)) int
axes_reorder(const struct dray_view *view, const int *axes,
	     struct dray_view *out)
{
	struct dray_view room;
	struct dray_result result = dray_result_start(view, out, &room);
	int ndim = view->ndim, i, axis;
	uint32_t flags = view->flags;

	for (i = 0; i < ndim; i++) {
		axis = axes ? axes[i] : -1 - i;
		axis += axis < 0 ? ndim : 0;
		dray_result_add(&result, view->shape[axis],
				view->strides[axis]);
	}
	return dray_result_end(&result, flags);
}

int dray_view_transpose(const struct dray_view *view, const int *axes,
			struct dray_view *out)
{
	uint64_t taken;
	int ret;

	ret = view_axes_check(view, out, __func__);
	if (ret)
		return ret;
	if (!axes)
		return axes_reorder(view, NULL, out);
	ret = dray_axes_resolve("the order", axes, view->ndim, view->ndim,
				&taken);
	return ret ? ret : axes_reorder(view, axes, out);
}

int dray_view_swap_axes(const struct dray_view *view, int axis1, int axis2,
			struct dray_view *out)
{
	int order[DRAY_MAX_NDIM];
	int i, ret;

	ret = view_axes_check(view, out, __func__);
	if (ret)
		return ret;
	axis1 = dray_axis_resolve(axis1, view->ndim);
	if (axis1 >= 0)
		axis2 = dray_axis_resolve(axis2, view->ndim);
	if (axis1 < 0 || axis2 < 0)
		return -EINVAL; /* With its sentence. */
	for (i = 0; i < view->ndim; i++)
		order[i] = i;
	order[axis1] = axis2;
	order[axis2] = axis1;
	return axes_reorder(view, order, out);
}

int dray_view_move_axes(const struct dray_view *view, const int *from,
			const int *to, int count, struct dray_view *out)
{
	uint64_t moved, taken;
	int order[DRAY_MAX_NDIM] = { 0 };
	int i, axis, ndim, ret;

	ret = view_axes_check(view, out, __func__);
	if (ret)
		return ret;
	ndim = view->ndim;
	ret = dray_axes_resolve("the list of axes to move", from, count, ndim,
				&moved);
	if (!ret)
		ret = dray_axes_resolve("the list of destinations", to, count,
					ndim, &taken);
	if (ret)
		return ret;
	for (i = 0; i < count; i++)
		order[to[i] < 0 ? to[i] + ndim : to[i]] =
			from[i] < 0 ? from[i] + ndim : from[i];
	/* The others keep their order in the places that are left. */
	for (i = 0, axis = 0; i < ndim; i++) {
		if (taken & (UINT64_C(1) << i))
			continue;
		while (moved & (UINT64_C(1) << axis))
			axis++;
		order[i] = axis++;
	}
	return axes_reorder(view, order, out);
}

int dray_view_squeeze(const struct dray_view *view, const int *axes, int count,
		      struct dray_view *out)
{
	struct dray_view result;
	uint64_t taken = 0;
	int i, ret;

	ret = view_axes_check(view, out, __func__);
	if (!ret && axes)
		ret = dray_axes_resolve("the list of axes to drop", axes, count,
					view->ndim, &taken);
	if (ret)
		return ret;
	dray_view_begin(&result, view, 0);
	for (i = 0; i < view->ndim; i++) {
		bool asked = taken & (UINT64_C(1) << i);

		if (asked && view->shape[i] != 1)
			return dray_fail(
				-EINVAL,
				"axis %d has %" PRId64
				" elements: only an axis of one can be dropped",
				i, view->shape[i]);
		if (asked || (!axes && view->shape[i] == 1))
			continue;
		result.shape[result.ndim] = view->shape[i];
		result.strides[result.ndim++] = view->strides[i];
	}
	return dray_view_finish(&result, out);
}

/* @count steps from the data; as a number: an empty view may be anywhere. */
static void *axes_address_of(const struct dray_view *view, int64_t stride,
			     int64_t count)
{
	return dray_address_add(view->data,
				(int64_t)((uint64_t)count * (uint64_t)stride));
}

int dray_view_flip(const struct dray_view *view, const int *axes, int count,
		   struct dray_view *out)
{
	uint64_t taken = UINT64_MAX;
	struct dray_view result;
	int i, ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = dray_view_check(view, "the view", NULL);
	if (!ret && axes)
		ret = dray_axes_resolve("the list of axes to reverse", axes,
					count, view->ndim, &taken);
	if (ret)
		return ret;
	dray_view_begin(&result, view, view->ndim);
	for (i = 0; i < view->ndim; i++) {
		int64_t stride = view->strides[i], extent = view->shape[i];

		/* As in NumPy, an empty axis is not reversed. */
		if (extent && taken & (UINT64_C(1) << i)) {
			result.data =
				axes_address_of(&result, stride, extent - 1);
			stride = (int64_t) - (uint64_t)stride;
		}
		result.shape[i] = extent;
		result.strides[i] = stride;
	}
	return dray_view_finish(&result, out);
}

int dray_view_diagonal(const struct dray_view *view, int64_t offset, int axis1,
		       int axis2, struct dray_view *out)
{
	int64_t rows, columns, stride;
	struct dray_result result;
	struct dray_extent extent;
	struct dray_view room;
	uint32_t flags;
	int i, ndim, ret;
	void *data;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = dray_view_check_inline(view, "the view", &extent);
	if (ret)
		return ret;
	ndim = view->ndim;
	flags = view->flags & ~DRAY_WRITE;
	if (ndim < 2)
		return dray_fail(
			-EINVAL,
			"a diagonal needs two axes or more, the view has %d",
			view->ndim);
	axis1 = dray_axis_resolve(axis1, view->ndim);
	if (axis1 >= 0)
		axis2 = dray_axis_resolve(axis2, view->ndim);
	if (axis1 < 0 || axis2 < 0)
		return -EINVAL; /* With its sentence. */
	if (axis1 == axis2)
		return dray_fail(-EINVAL, "axis %d is named twice", axis1);
	rows = view->shape[axis1];
	columns = view->shape[axis2];
	data = view->data;
	if (offset > columns || offset < -rows) {
		rows = 0;
	} else if (offset >= 0) {
		columns -= offset;
		data = axes_address_of(view, view->strides[axis2], offset);
	} else {
		rows += offset;
		data = axes_address_of(view, view->strides[axis1], -offset);
	}
	stride = (int64_t)((uint64_t)view->strides[axis1] +
			   (uint64_t)view->strides[axis2]);
	result = dray_result_start(view, out, &room);
	for (i = 0; i < ndim; i++) {
		if (i != axis1 && i != axis2)
			dray_result_add(&result, view->shape[i],
					view->strides[i]);
	}
	dray_result_add(&result, rows < columns ? rows : columns, stride);
	result.view->data = data;
	return dray_result_end(&result, flags);
}

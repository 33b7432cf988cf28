// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Views with strides of the caller's choice, and windows that slide over a view.
 * Elements may share bytes here.
 */
#include <errno.h>
#include <inttypes.h>

#include "view/view_result.h"
#include "base/error.h"
#include "base/number.h"

/* Whether the bytes that @view covers lie in @size bytes at @memory. */
static int check_bounds(const struct dray_view *view,
			const struct dray_extent *extent, const void *memory,
			uint64_t size)
{
	uint64_t offset = (uintptr_t)view->data - (uintptr_t)memory;
	bool inside;

	if (extent->low == extent->high)
		return 0;
	inside = (uintptr_t)view->data >= (uintptr_t)memory && offset <= size &&
		 (uint64_t)-extent->low <= offset &&
		 (uint64_t)extent->high <= size - offset;
	return inside ? 0
		      : dray_fail(-EINVAL,
				  "the strides cover bytes %" PRId64
				  " to %" PRId64 " around offset %" PRId64
				  " in memory of %" PRIu64 " bytes",
				  extent->low, extent->high, (int64_t)offset,
				  size);
}

int dray_view_as_strided(const struct dray_view *view, int ndim,
			 const int64_t *shape, const int64_t *strides,
			 const void *memory, uint64_t size,
			 struct dray_view *out)
{
	struct dray_extent own, extent;
	struct dray_view result;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = dray_view_check(view, "the view", &own);
	if (!ret)
		ret = dray_shape_check("the new view", ndim, shape);
	if (ret)
		return ret;
	dray_view_begin(&result, view, ndim);
	dray_axes_copy(result.shape, shape, ndim);
	if (strides)
		dray_axes_copy(result.strides, strides, ndim);
	else
		ret = dray_strides_fill(ndim, shape,
					dray_dtype_itemsize(view->dtype), true,
					result.strides);
	if (!ret)
		ret = dray_view_check(&result, "the new view", &extent);
	if (ret)
		return ret;
	if (!memory) {
		memory = dray_address_add(view->data, own.low);
		size = (uint64_t)(own.high - own.low);
	}
	ret = check_bounds(&result, &extent, memory, size);
	return ret ? ret : dray_view_finish(&result, out);
}

int dray_view_windows(const struct dray_view *view, int count,
		      const int64_t *window, const int *axes,
		      struct dray_view *out)
{
	struct dray_view result;
	int64_t extent;
	int i, axis, ret;

	if (!dray_given(out, __func__) ||
	    (count > 0 && !dray_given(window, __func__)))
		return -EINVAL;
	ret = dray_view_check(view, "the view", NULL);
	if (ret)
		return ret;
	if (!axes && count != view->ndim)
		return dray_fail(-EINVAL,
				 "a window of %d axes over all %d axes", count,
				 view->ndim);
	if (count < 0 || count > DRAY_MAX_NDIM - view->ndim)
		return dray_fail(-EINVAL,
				 "a window of %d axes over %d, %d are possible",
				 count, view->ndim, DRAY_MAX_NDIM);
	dray_view_begin(&result, view, view->ndim + count);
	dray_axes_copy(result.shape, view->shape, view->ndim);
	dray_axes_copy(result.strides, view->strides, view->ndim);
	for (i = 0; i < count; i++) {
		axis = axes ? dray_axis_resolve(axes[i], view->ndim) : i;
		if (axis < 0)
			return -EINVAL; /* With its sentence. */
		if (window[i] < 0 || window[i] > result.shape[axis] ||
		    dray_sub_overflow(result.shape[axis], window[i] - 1,
				      &extent))
			return dray_fail(
				-EINVAL,
				"a window of %" PRId64
				" elements over axis %d, which has %" PRId64,
				window[i], axis, result.shape[axis]);
		result.shape[axis] = extent;
		result.shape[view->ndim + i] = window[i];
		result.strides[view->ndim + i] = view->strides[axis];
	}
	result.flags &= ~DRAY_WRITE;
	ret = dray_view_check(&result, "the windows", NULL);
	return ret ? ret : dray_view_finish(&result, out);
}

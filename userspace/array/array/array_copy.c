// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * New arrays after the model of a view: like it, or with its elements, in any
 * order of memory.
 */
#include <errno.h>
#include <string.h>

#include "array/array.h"
#include "private.h"

/*
 * Fills in strides that keep the order of the view's axes, without gaps.  The
 * caller knows that the elements' bytes fit 63 bits, or that there are none.
 */
static void keep_order(const struct dray_view *view, int64_t itemsize,
		       int64_t *strides)
{
	uint64_t stride = (uint64_t)itemsize;
	int axes[DRAY_MAX_NDIM];
	int i;

	dray_strides_sort(view->ndim, view->strides, axes);
	for (i = view->ndim - 1; i >= 0; i--) {
		strides[axes[i]] = (int64_t)stride;
		stride *= (uint64_t)view->shape[axes[i]];
	}
}

/*
 * Gives a copy of a checked view another type and the strides of a new array, of
 * axes that include those of a sub-array.  -EINVAL, -EOVERFLOW.
 */
static int copy_find_strides(const struct dray_view *view,
			     enum dray_order order, struct dray_view *like)
{
	bool c = dray_view_is_contiguous(view);
	bool f = dray_view_is_contiguous_in(view, DRAY_ORDER_F);
	int ret;

	if (order == DRAY_ORDER_K && !c && !f && view->ndim > 1) {
		keep_order(view, dray_dtype_itemsize(like->dtype),
			   like->strides);
		return dray_view_unfold(like);
	}
	if (order == DRAY_ORDER_A || order == DRAY_ORDER_K)
		order = f && !c ? DRAY_ORDER_F : DRAY_ORDER_C;
	ret = dray_view_unfold(like);
	return ret ? ret
		   : dray_strides_fill(like->ndim, like->shape,
				       dray_dtype_itemsize(like->dtype),
				       order == DRAY_ORDER_C, like->strides);
}

int dray_array_like(const struct dray_view *view, dray_dtype dtype,
		    enum dray_order order, struct dray_array **out)
{
	struct dray_view like;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = dray_view_check(view, "the view", NULL);
	if (ret)
		return ret;
	if (order < DRAY_ORDER_A || order > DRAY_ORDER_K)
		return dray_fail(-EINVAL, "%d is not an order", (int)order);
	dray_view_copy(&like, view);
	if (dtype)
		ret = dray_dtype_normalize(dtype, &like.dtype);
	if (!ret)
		ret = copy_find_strides(view, order, &like);
	return ret ? ret
		   : dray_array_from_handler(like.dtype, like.ndim, like.shape,
					     like.strides, false, out);
}

/* Whether a view's bytes lie in the order of its copy's, without other gaps. */
static bool lies_as(const struct dray_view *view, const struct dray_view *copy)
{
	int i;

	if (!dray_dtype_is_builtin(view->dtype) || !view->data ||
	    !(view->flags & DRAY_READ))
		return false;
	for (i = 0; i < view->ndim; i++) {
		if (view->strides[i] != copy->strides[i] && view->shape[i] > 1)
			return false;
	}
	return true;
}

int dray_array_copy(const struct dray_view *view, enum dray_order order,
		    struct dray_array **out)
{
	struct dray_view copy, opened;
	struct dray_array *array;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = dray_array_like(view, 0, order, &array);
	if (ret)
		return ret;
	if (lies_as(view, dray_array_view(array, &copy))) {
		memcpy(copy.data, view->data,
		       (size_t)dray_view_size(view) *
			       dray_dtype_itemsize(view->dtype));
	} else {
		dray_view_copy(&opened, view);
		ret = dray_view_unfold(&opened);
		if (!ret)
			ret = dray_view_assign(&copy, &opened);
	}
	if (ret)
		dray_array_unref(array);
	else
		*out = array;
	return ret;
}

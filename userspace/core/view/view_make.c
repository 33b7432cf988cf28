// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Makes views of memory and copies views.  A result is complete before it is
 * written, so it may replace its own input.
 */
#include <errno.h>
#include <inttypes.h>

#include "dtype/dtype.h"
#include "view/view_result.h"
#include "base/error.h"
#include "base/number.h"

int dray_strides_fill(int ndim, const int64_t *shape, int64_t itemsize,
		      bool c_order, int64_t *strides)
{
	int64_t stride = itemsize;
	int i;

	for (i = 0; i < ndim; i++) {
		int axis = c_order ? ndim - 1 - i : i;

		strides[axis] = stride;
		if (shape[axis] &&
		    dray_mul_overflow(stride, shape[axis], &stride))
			return dray_fail(
				-EOVERFLOW,
				"axes %d to %d have more bytes than 63 bits count",
				c_order ? axis : 0, c_order ? ndim - 1 : axis);
	}
	return 0;
}

/* Fills a view; checks shape and type only. */
static int view_make_describe(struct dray_view *view, void *data,
			      dray_dtype dtype, int ndim, const int64_t *shape,
			      const int64_t *strides)
{
	int ret;

	ret = dray_shape_check("a view", ndim, shape);
	if (!ret)
		ret = dray_dtype_check(dtype, &view->dtype);
	if (ret)
		return ret;
	view->data = data;
	view->ndim = ndim;
	view->flags = DRAY_READ | DRAY_WRITE;
	dray_axes_copy(view->shape, shape, ndim);
	if (!strides)
		return dray_strides_fill(ndim, shape,
					 dray_dtype_itemsize(dtype), true,
					 view->strides);
	dray_axes_copy(view->strides, strides, ndim);
	return 0;
}

int dray_view_unfold(struct dray_view *view)
{
	const int64_t *shape = NULL;
	int ndim, ret = 0;

	while (!ret && (ndim = dray_dtype_shape(view->dtype, &shape))) {
		if (ndim > DRAY_MAX_NDIM - view->ndim)
			return dray_fail(
				-EINVAL,
				"%d axes and %d of its elements, %d are possible",
				view->ndim, ndim, DRAY_MAX_NDIM);
		view->dtype = dray_dtype_base(view->dtype);
		dray_axes_copy(view->shape + view->ndim, shape, ndim);
		view->ndim += ndim;
		ret = dray_strides_fill(ndim, shape,
					dray_dtype_itemsize(view->dtype), true,
					view->strides + view->ndim - ndim);
	}
	return ret;
}

/* Checks a described view and writes it. */
static int view_make_finish(struct dray_view *view, struct dray_view *out)
{
	int ret = dray_view_check(view, "a view", NULL);

	return ret ? ret : dray_view_finish(view, out);
}

int dray_view_init(struct dray_view *out, void *data, dray_dtype dtype,
		   int ndim, const int64_t *shape, const int64_t *strides)
{
	struct dray_view view;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = view_make_describe(&view, data, dtype, ndim, shape, strides);
	if (!ret)
		ret = dray_view_unfold(&view);
	return ret ? ret : view_make_finish(&view, out);
}

int dray_view_init_closed(struct dray_view *out, void *data, dray_dtype dtype,
			  int ndim, const int64_t *shape,
			  const int64_t *strides)
{
	struct dray_view view;
	int ret = view_make_describe(&view, data, dtype, ndim, shape, strides);

	return ret ? ret : view_make_finish(&view, out);
}

int dray_view_plan(struct dray_view *view, dray_dtype dtype, int ndim,
		   const int64_t *shape, const int64_t *strides, size_t *bytes)
{
	struct dray_extent extent;
	int ret;

	ret = view_make_describe(view, NULL, dtype, ndim, shape, strides);
	if (!ret)
		ret = dray_view_unfold(view);
	if (ret)
		return ret;
	if (dray_view_measure_overflow(view->ndim, view->shape, view->strides,
				       dray_dtype_itemsize(view->dtype),
				       &extent))
		return dray_fail(-EOVERFLOW,
				 "a view covers more bytes than 63 bits count");
	if ((uint64_t)extent.bytes > SIZE_MAX)
		return dray_fail(-EOVERFLOW,
				 "a view of %" PRId64
				 " bytes exceeds the limit of %zu",
				 extent.bytes, SIZE_MAX);
	*bytes = (size_t)extent.bytes;
	return 0;
}

int dray_view_bytes(dray_dtype dtype, int ndim, const int64_t *shape,
		    size_t *bytes)
{
	struct dray_view view;

	if (!dray_given(bytes, __func__))
		return -EINVAL;
	return dray_view_plan(&view, dtype, ndim, shape, NULL, bytes);
}

void dray_view_copy(struct dray_view *out, const struct dray_view *view)
{
	if (out == view || !dray_given(out, __func__) ||
	    !dray_given(view, __func__))
		return;
	dray_view_write(out, view);
}

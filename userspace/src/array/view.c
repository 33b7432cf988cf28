// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Views and questions about them.  All functions are arithmetic on shape and
 * strides: they never touch the data and allocate nothing.  A result is
 * complete before it is written, so it may replace its own input.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "array/dtype.h"
#include "array/view.h"
#include "base/error.h"
#include "base/number.h"

/* Computes span and size; true if they do not fit. */
static bool measure_overflow(int ndim, const int64_t *shape,
			     const int64_t *strides, int64_t itemsize,
			     struct dray_extent *out)
{
	int64_t low = 0, high = itemsize, elements = 1, reach;
	bool overflow = false;
	int i;

	for (i = 0; i < ndim; i++) {
		if (shape[i] == 0) {
			*out = (struct dray_extent){ 0 };
			return false;
		}
	}
	for (i = 0; i < ndim; i++) {
		overflow |= dray_mul_overflow(elements, shape[i], &elements);
		overflow |= dray_mul_overflow(strides[i], shape[i] - 1, &reach);
		if (reach < 0)
			overflow |= dray_add_overflow(low, reach, &low);
		else
			overflow |= dray_add_overflow(high, reach, &high);
		if (overflow)
			return true;
	}
	if (dray_sub_overflow(high, low, &reach) ||
	    dray_mul_overflow(elements, itemsize, &out->bytes))
		return true;
	out->elements = elements;
	out->low = itemsize ? low : 0;
	out->high = itemsize ? high : 0;
	return false;
}

static bool leaves_address_space(const void *data, int64_t low, int64_t high)
{
	uintptr_t start, end;

	/* low is at most 0 and high at least 0, for any strides. */
	return dray_sub_overflow((uintptr_t)data, (uint64_t)-low, &start) ||
	       dray_add_overflow((uintptr_t)data, (uint64_t)high, &end);
}

static int check_shape(const char *name, int ndim, const int64_t *shape)
{
	int i;

	if (ndim < 0 || ndim > DRAY_MAX_NDIM)
		return dray_fail(-EINVAL,
				 "%s has %d axes, 0 to %d are possible", name,
				 ndim, DRAY_MAX_NDIM);
	if (ndim && !shape)
		return dray_fail(-EINVAL, "%s has %d axes and no shape", name,
				 ndim);
	for (i = 0; i < ndim; i++) {
		if (shape[i] < 0)
			return dray_fail(-EINVAL,
					 "axis %d of %s has %" PRId64
					 " elements",
					 i, name, shape[i]);
	}
	return 0;
}

/* Checks and measures a view, except for its data. */
static int measure(const struct dray_view *view, const char *name,
		   struct dray_extent *extent)
{
	dray_dtype normal;
	int ret;

	ret = check_shape(name, view->ndim, view->shape);
	if (!ret)
		ret = dray_dtype_normalize(view->dtype, &normal);
	if (ret)
		return ret;
	if (view->flags & ~DRAY_VIEW_FLAGS)
		return dray_fail(-EINVAL, "%s has unknown flags 0x%x", name,
				 view->flags & ~DRAY_VIEW_FLAGS);
	if ((view->flags & DRAY_WRITE) && (view->flags & DRAY_IMMUTABLE))
		return dray_fail(-EINVAL, "%s is writable and immutable", name);
	if (measure_overflow(view->ndim, view->shape, view->strides,
			     dray_dtype_itemsize(view->dtype), extent))
		return dray_fail(-EOVERFLOW,
				 "%s covers more bytes than 63 bits count",
				 name);
	return 0;
}

int dray_view_check(const struct dray_view *view, const char *name,
		    struct dray_extent *extent)
{
	struct dray_extent unused;
	int ret;

	if (!view)
		return dray_fail(-EINVAL, "%s is NULL", name);
	if (!extent)
		extent = &unused;
	ret = measure(view, name, extent);
	if (ret || extent->low == extent->high)
		return ret;
	if (!view->data)
		return dray_fail(-EINVAL,
				 "%s has %" PRId64 " elements and no data",
				 name, extent->elements);
	if (leaves_address_space(view->data, extent->low, extent->high))
		return dray_fail(-EOVERFLOW,
				 "%s covers bytes %" PRId64 " to %" PRId64
				 " around %p, which leaves the address space",
				 name, extent->low, extent->high, view->data);
	return 0;
}

/* @from may be NULL without axes. */
static void copy_axes(int64_t *to, const int64_t *from, int ndim)
{
	if (ndim)
		memcpy(to, from, (size_t)ndim * sizeof(*to));
}

/*
 * Computes strides in C order; fails if the product of the extents overflows.
 */
static int c_order(int ndim, const int64_t *shape, int64_t itemsize,
		   int64_t *strides)
{
	int64_t stride = itemsize;
	int i;

	for (i = ndim - 1; i >= 0; i--) {
		strides[i] = stride;
		if (shape[i] && dray_mul_overflow(stride, shape[i], &stride))
			return dray_fail(
				-EOVERFLOW,
				"axes %d to %d have more bytes than 63 bits count",
				i, ndim - 1);
	}
	return 0;
}

/* Fills a view; checks shape and type only. */
static int describe(struct dray_view *view, void *data, dray_dtype dtype,
		    int ndim, const int64_t *shape, const int64_t *strides)
{
	int ret;

	ret = check_shape("a view", ndim, shape);
	if (!ret)
		ret = dray_dtype_normalize(dtype, &view->dtype);
	if (ret)
		return ret;
	view->data = data;
	view->ndim = ndim;
	view->flags = DRAY_READ | DRAY_WRITE;
	copy_axes(view->shape, shape, ndim);
	if (!strides)
		return c_order(ndim, shape, dray_dtype_itemsize(dtype),
			       view->strides);
	copy_axes(view->strides, strides, ndim);
	return 0;
}

int dray_view_init(struct dray_view *out, void *data, dray_dtype dtype,
		   int ndim, const int64_t *shape, const int64_t *strides)
{
	struct dray_view view;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = describe(&view, data, dtype, ndim, shape, strides);
	if (!ret)
		ret = dray_view_check(&view, "a view", NULL);
	if (ret)
		return ret;
	dray_view_set_facts(&view);
	dray_view_copy(out, &view);
	return 0;
}

int dray_view_bytes(dray_dtype dtype, int ndim, const int64_t *shape,
		    size_t *bytes)
{
	struct dray_extent extent = { 0 };
	struct dray_view view;
	int ret;

	if (!dray_given(bytes, __func__))
		return -EINVAL;
	ret = describe(&view, NULL, dtype, ndim, shape, NULL);
	if (!ret)
		ret = measure(&view, "a view", &extent);
	if (ret)
		return ret;
	if ((uint64_t)extent.bytes > SIZE_MAX)
		return dray_fail(-EOVERFLOW,
				 "a view of %" PRId64
				 " bytes exceeds the limit of %zu",
				 extent.bytes, SIZE_MAX);
	*bytes = (size_t)extent.bytes;
	return 0;
}

void dray_view_copy(struct dray_view *out, const struct dray_view *view)
{
	if (out == view || !dray_given(out, __func__) ||
	    !dray_given(view, __func__))
		return;
	memcpy(out, view, offsetof(struct dray_view, shape));
	copy_axes(out->shape, view->shape, view->ndim);
	copy_axes(out->strides, view->strides, view->ndim);
}

int dray_view_transpose(const struct dray_view *view, const int *axes,
			struct dray_view *out)
{
	int64_t shape[DRAY_MAX_NDIM], strides[DRAY_MAX_NDIM];
	uint64_t taken = 0;
	int ndim, ret;
	int i;

	if (!dray_given(view, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ndim = view->ndim;
	ret = check_shape("the view", ndim, view->shape);
	if (ret)
		return ret;
	for (i = 0; i < ndim; i++) {
		int axis = axes ? axes[i] : ndim - 1 - i;

		if (axis < -ndim || axis >= ndim)
			return dray_fail(-EINVAL,
					 "axis %d is not one of %d axes", axis,
					 ndim);
		if (axis < 0)
			axis += ndim;
		if (taken & (UINT64_C(1) << axis))
			return dray_fail(-EINVAL, "axis %d is named twice",
					 axis);
		taken |= UINT64_C(1) << axis;
		shape[i] = view->shape[axis];
		strides[i] = view->strides[axis];
	}
	dray_view_copy(out, view);
	copy_axes(out->shape, shape, ndim);
	copy_axes(out->strides, strides, ndim);
	dray_view_set_facts(out);
	return 0;
}

int dray_view_broadcast(const struct dray_view *view, int ndim,
			const int64_t *shape, struct dray_view *out)
{
	struct dray_view result;
	int added, ret;
	int i;

	if (!dray_given(view, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = check_shape("the view", view->ndim, view->shape);
	if (!ret)
		ret = check_shape("a broadcast", ndim, shape);
	if (ret)
		return ret;
	added = ndim - view->ndim;
	if (added < 0)
		return dray_fail(-EINVAL, "%d axes cannot be broadcast to %d",
				 view->ndim, ndim);
	memcpy(&result, view, offsetof(struct dray_view, shape));
	result.ndim = ndim;
	for (i = 0; i < ndim; i++) {
		bool whole = i >= added && view->shape[i - added] == shape[i];

		if (i >= added && !whole && view->shape[i - added] != 1)
			return dray_fail(
				-EINVAL,
				"axis %d of %" PRId64
				" elements cannot be broadcast to %" PRId64,
				i - added, view->shape[i - added], shape[i]);
		result.shape[i] = shape[i];
		result.strides[i] = whole ? view->strides[i - added] : 0;
	}
	ret = dray_view_check(&result, "a broadcast", NULL);
	if (ret)
		return ret;
	dray_view_set_facts(&result);
	dray_view_copy(out, &result);
	return 0;
}

int64_t dray_view_size(const struct dray_view *view)
{
	int64_t size = 1;
	bool overflow = false;
	int i;

	if (!dray_given(view, __func__))
		return 0;
	for (i = 0; i < view->ndim; i++) {
		if (view->shape[i] == 0)
			return 0;
		overflow |= dray_mul_overflow(size, view->shape[i], &size);
	}
	return overflow ? INT64_MAX : size;
}

void dray_view_span(const struct dray_view *view, int64_t *low, int64_t *high)
{
	struct dray_extent extent;

	if (!dray_given(view, __func__) || !dray_given(low, __func__) ||
	    !dray_given(high, __func__))
		return;
	if (measure_overflow(view->ndim, view->shape, view->strides,
			     dray_dtype_itemsize(view->dtype), &extent)) {
		extent.low = INT64_MIN;
		extent.high = INT64_MAX;
	}
	*low = extent.low;
	*high = extent.high;
}

/* Whether the elements lie without gaps, from the last axis or the first. */
static bool is_packed(const struct dray_view *view, bool c_order)
{
	int64_t stride = dray_dtype_itemsize(view->dtype);
	int i;

	for (i = 0; i < view->ndim; i++) {
		int axis = c_order ? view->ndim - 1 - i : i;

		if (view->shape[axis] == 1)
			continue;
		if (view->strides[axis] != stride ||
		    dray_mul_overflow(stride, view->shape[axis], &stride))
			return false;
	}
	return true;
}

static bool is_empty(const struct dray_view *view)
{
	int i;

	for (i = 0; i < view->ndim; i++) {
		if (!view->shape[i])
			return true;
	}
	return false;
}

void dray_view_set_facts(struct dray_view *view)
{
	uint32_t alignment = dray_dtype_alignment(view->dtype);
	uint64_t address = (uintptr_t)view->data;
	int i;

	view->flags &= ~(uint32_t)DRAY_VIEW_FACTS;
	if (is_empty(view)) {
		view->flags |= DRAY_VIEW_FACTS;
		return;
	}
	for (i = 0; i < view->ndim; i++) {
		if (view->shape[i] > 1)
			address |= (uint64_t)view->strides[i];
	}
	if (!(address & (alignment - 1)))
		view->flags |= DRAY_ALIGNED;
	if (is_packed(view, true))
		view->flags |= DRAY_C_CONTIGUOUS;
	if (is_packed(view, false))
		view->flags |= DRAY_F_CONTIGUOUS;
}

bool dray_view_is_contiguous(const struct dray_view *view)
{
	if (!dray_given(view, __func__))
		return false;
	return is_empty(view) || is_packed(view, true);
}

bool dray_view_spans_overlap(const struct dray_view *a,
			     const struct dray_view *b)
{
	struct dray_extent ea, eb;
	uintptr_t a_start, b_start;

	if (!dray_given(a, __func__) || !dray_given(b, __func__))
		return false;
	/* A view too wide to measure may be anywhere. */
	if (measure_overflow(a->ndim, a->shape, a->strides,
			     dray_dtype_itemsize(a->dtype), &ea) ||
	    measure_overflow(b->ndim, b->shape, b->strides,
			     dray_dtype_itemsize(b->dtype), &eb))
		return true;
	if (ea.low == ea.high || eb.low == eb.high)
		return false;
	a_start = (uintptr_t)a->data + (uintptr_t)ea.low;
	b_start = (uintptr_t)b->data + (uintptr_t)eb.low;
	return a_start < b_start + (uintptr_t)(eb.high - eb.low) &&
	       b_start < a_start + (uintptr_t)(ea.high - ea.low);
}

int dray_view_place(struct dray_view *view, void *memory, uint64_t size,
		    uint64_t offset)
{
	struct dray_extent extent;

	if (offset > size)
		return dray_fail(-EBADMSG,
				 "the array begins at %" PRIu64
				 " in memory of %" PRIu64 " bytes",
				 offset, size);
	view->data = memory;
	if (dray_dtype_normalize(view->dtype, &view->dtype) ||
	    dray_view_check(view, "the array of the record", &extent))
		return -EBADMSG; /* With their sentence. */
	if (extent.low < -(int64_t)offset ||
	    extent.high > (int64_t)(size - offset))
		return dray_fail(-EBADMSG,
				 "the array covers bytes %" PRId64
				 " to %" PRId64 " around offset %" PRIu64
				 " in memory of %" PRIu64 " bytes",
				 extent.low, extent.high, offset, size);
	view->data = (char *)memory + offset;
	dray_view_set_facts(view);
	return 0;
}

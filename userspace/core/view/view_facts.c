// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Answers questions about a view, and sets the flags that tell how it lies.
 */
#include "dtype/dtype.h"
#include "view/view.h"
#include "base/error.h"
#include "base/number.h"

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

bool dray_view_measure_overflow(int ndim, const int64_t *shape,
				const int64_t *strides, int64_t itemsize,
				struct dray_extent *out)
{
	int64_t low = 0, high = itemsize, elements = 1, reach;
	bool overflow = false, empty = false;
	int i;

	for (i = 0; i < ndim; i++) {
		empty |= !shape[i];
		overflow |= dray_mul_overflow(elements, shape[i], &elements);
		overflow |= dray_mul_overflow(strides[i], shape[i] - 1, &reach);
		if (reach < 0)
			overflow |= dray_add_overflow(low, reach, &low);
		else
			overflow |= dray_add_overflow(high, reach, &high);
	}
	if (empty) {
		*out = (struct dray_extent){ 0 };
		return false;
	}
	if (overflow || dray_sub_overflow(high, low, &reach) ||
	    dray_mul_overflow(elements, itemsize, &out->bytes))
		return true;
	out->elements = elements;
	out->low = itemsize ? low : 0;
	out->high = itemsize ? high : 0;
	return false;
}

void dray_view_span(const struct dray_view *view, int64_t *low, int64_t *high)
{
	struct dray_extent extent;

	if (!dray_given(view, __func__) || !dray_given(low, __func__) ||
	    !dray_given(high, __func__))
		return;
	if (dray_view_measure_overflow(view->ndim, view->shape, view->strides,
				       dray_dtype_itemsize(view->dtype),
				       &extent)) {
		extent.low = INT64_MIN;
		extent.high = INT64_MAX;
	}
	*low = extent.low;
	*high = extent.high;
}

/* Every address of an element, as far as its low bits tell; not empty. */
static uint64_t low_bits(const struct dray_view *view)
{
	uint64_t bits = (uintptr_t)view->data;
	int i;

	for (i = 0; i < view->ndim; i++) {
		if (view->shape[i] > 1)
			bits |= (uint64_t)view->strides[i];
	}
	return bits;
}

void dray_view_set_facts(struct dray_view *view)
{
	view->flags &= ~(uint32_t)DRAY_VIEW_FACTS;
	view->flags |= dray_view_facts(view);
}

void dray_strides_sort(int ndim, const int64_t *strides, int *axes)
{
	int i, at;

	for (i = 0; i < ndim; i++) {
		uint64_t size = dray_magnitude(strides[i]);

		for (at = i;
		     at > 0 && dray_magnitude(strides[axes[at - 1]]) < size;
		     at--)
			axes[at] = axes[at - 1];
		axes[at] = i;
	}
}

/* Whether there are no gaps if the axes are taken in order of their strides. */
static bool is_packed_in_any_order(const struct dray_view *view)
{
	int64_t stride = dray_dtype_itemsize(view->dtype);
	int axes[DRAY_MAX_NDIM];
	int i;

	dray_strides_sort(view->ndim, view->strides, axes);
	for (i = view->ndim; i-- > 0;) {
		if (view->shape[axes[i]] == 1)
			continue;
		if (view->strides[axes[i]] != stride ||
		    dray_mul_overflow(stride, view->shape[axes[i]], &stride))
			return false;
	}
	return true;
}

bool dray_view_is_contiguous(const struct dray_view *view)
{
	return dray_view_is_contiguous_in(view, DRAY_ORDER_C);
}

bool dray_view_is_contiguous_in(const struct dray_view *view,
				enum dray_order order)
{
	if (!dray_given(view, __func__))
		return false;
	if (dray_view_is_empty(view))
		return true;
	if (order != DRAY_ORDER_F && dray_view_is_packed(view, true))
		return true;
	if (order != DRAY_ORDER_C && dray_view_is_packed(view, false))
		return true;
	return order == DRAY_ORDER_K && is_packed_in_any_order(view);
}

bool dray_view_spans_overlap(const struct dray_view *a,
			     const struct dray_view *b)
{
	struct dray_extent ea, eb;
	uintptr_t a_start, b_start;

	if (!dray_given(a, __func__) || !dray_given(b, __func__))
		return false;
	/* A view too wide to measure may be anywhere. */
	if (dray_view_measure_overflow(a->ndim, a->shape, a->strides,
				       dray_dtype_itemsize(a->dtype), &ea) ||
	    dray_view_measure_overflow(b->ndim, b->shape, b->strides,
				       dray_dtype_itemsize(b->dtype), &eb))
		return true;
	if (ea.low == ea.high || eb.low == eb.high)
		return false;
	a_start = (uintptr_t)a->data + (uintptr_t)ea.low;
	b_start = (uintptr_t)b->data + (uintptr_t)eb.low;
	return a_start < b_start + (uintptr_t)(eb.high - eb.low) &&
	       b_start < a_start + (uintptr_t)(ea.high - ea.low);
}

uint64_t dray_view_alignment(const struct dray_view *view)
{
	const uint64_t most = UINT64_C(1) << 63;
	uint64_t bits;

	if (!dray_given(view, __func__))
		return 1;
	bits = dray_view_is_empty(view) ? 0 : low_bits(view);
	return (bits | most) & -(bits | most);
}

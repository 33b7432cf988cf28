/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Usual views: numbers or booleans, at least one, with bytes far from the limits.
 * They are checked in one pass over their axes, without a call, because the
 * check takes most of the time of a small call.  dray_view_check() decides on all
 * others, and finds the sentence.
 */
#ifndef DRAY_VIEW_VIEW_USUAL_H
#define DRAY_VIEW_VIEW_USUAL_H

#include "dtype/dtype.h"
#include "view/view.h"
#include "base/number.h"

/* Whether flags are known, and do not contradict each other. */
static inline bool dray_view_flags_fit(uint32_t flags)
{
	return !(flags & ~(uint32_t)DRAY_VIEW_FLAGS) &&
	       (flags & (DRAY_WRITE | DRAY_IMMUTABLE)) !=
		       (DRAY_WRITE | DRAY_IMMUTABLE);
}

/* Begins to measure a view, without its axes; false if it is not usual. */
static inline bool dray_extent_start(struct dray_extent *extent,
				     const struct dray_view *view)
{
	if (!view->data || !dray_view_flags_fit(view->flags) ||
	    !(dray_dtype_is_number(view->dtype) || view->dtype == DRAY_BOOL))
		return false;
	extent->elements = 1;
	extent->low = 0;
	extent->high = (int64_t)(view->dtype >> 32);
	return true;
}

/* Adds an axis to the bytes; false if they are not usual. */
static inline bool dray_extent_add(struct dray_extent *extent, int64_t count,
				   int64_t stride)
{
	int64_t reach;

	if (count <= 0 ||
	    dray_mul_overflow(extent->elements, count, &extent->elements) ||
	    dray_mul_overflow(stride, count - 1, &reach))
		return false;
	return reach < 0
		       ? !dray_add_overflow(extent->low, reach, &extent->low)
		       : !dray_add_overflow(extent->high, reach, &extent->high);
}

/* Ends it; false if the bytes do not fit 63 bits or the address space. */
static inline bool dray_extent_end(struct dray_extent *extent,
				   const struct dray_view *view)
{
	uintptr_t data = (uintptr_t)view->data, unused;
	int64_t span;

	return !dray_sub_overflow(extent->high, extent->low, &span) &&
	       !dray_mul_overflow(extent->elements,
				  (int64_t)(view->dtype >> 32),
				  &extent->bytes) &&
	       !dray_sub_overflow(data, (uint64_t)-extent->low, &unused) &&
	       !dray_add_overflow(data, (uint64_t)extent->high, &unused);
}

/* Checks and measures a view; false leaves @out as it is. */
static inline bool dray_view_is_usual(const struct dray_view *view,
				      struct dray_extent *out)
{
	struct dray_extent extent;
	int i;

	if (!view || (uint32_t)view->ndim > DRAY_MAX_NDIM ||
	    !dray_extent_start(&extent, view))
		return false;
	for (i = 0; i < view->ndim; i++) {
		if (!dray_extent_add(&extent, view->shape[i], view->strides[i]))
			return false;
	}
	if (!dray_extent_end(&extent, view))
		return false;
	*out = extent;
	return true;
}

/* Whether addresses with these bits fit a type, in most cases without a call. */
static inline bool dray_dtype_fits_address(dray_dtype dtype, uint64_t bits)
{
	uint64_t size = dtype >> 32;

	/* The alignment of a builtin type of such a size is not larger. */
	if (dray_dtype_is_builtin(dtype) && !((bits | size) & (size - 1)))
		return true;
	return !(bits & (dray_dtype_alignment(dtype) - 1));
}

/* Whether no gaps lie between elements, with the last axis fastest, or the first. */
static inline bool dray_view_is_packed(const struct dray_view *view,
				       bool c_order)
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

/* The facts that axes add one by one: bits of addresses; no elements. */
struct dray_facts {
	uint64_t bits;
	bool empty;
};

static inline void dray_facts_add(struct dray_facts *facts, int64_t count,
				  int64_t stride)
{
	if (count > 1)
		facts->bits |= (uint64_t)stride;
	else if (!count)
		facts->empty = true;
}

/* Returns the facts of a view that has all but its flags. */
static inline uint32_t dray_facts_end(const struct dray_facts *facts,
				      const struct dray_view *view)
{
	uint32_t flags = 0;

	if (facts->empty)
		return DRAY_VIEW_FACTS;
	if (dray_dtype_fits_address(view->dtype,
				    facts->bits | (uintptr_t)view->data))
		flags |= DRAY_ALIGNED;
	if (dray_view_is_packed(view, true))
		flags |= DRAY_C_CONTIGUOUS;
	if (dray_view_is_packed(view, false))
		flags |= DRAY_F_CONTIGUOUS;
	return flags;
}

/* Tells how the elements of a checked view lie. */
static inline uint32_t dray_view_facts(const struct dray_view *view)
{
	struct dray_facts facts = { 0 };
	int i;

	for (i = 0; i < view->ndim; i++)
		dray_facts_add(&facts, view->shape[i], view->strides[i]);
	return dray_facts_end(&facts, view);
}

/*
 * A result on its way: filled in place, or in @room if it replaces its own input.
 * It is begun when nothing can fail any more.
 */
struct dray_result {
	struct dray_view *view, *out;
	int ndim;
	struct dray_facts facts;
};

/* Begins a result without axes, with data and type of @view. */
static inline struct dray_result dray_result_start(const struct dray_view *view,
						   struct dray_view *out,
						   struct dray_view *room)
{
	struct dray_result result = {
		.view = out == view ? room : out,
		.out = out,
	};

	result.view->data = view->data;
	result.view->dtype = view->dtype;
	return result;
}

static inline void dray_result_add(struct dray_result *result, int64_t count,
				   int64_t stride)
{
	int at = result->ndim++;

	dray_facts_add(&result->facts, count, stride);
	result->view->shape[at] = count;
	result->view->strides[at] = stride;
}

/* Ends a result; @flags has its permissions. */
static inline int dray_result_end(struct dray_result *result, uint32_t flags)
{
	struct dray_view *view = result->view;

	view->ndim = result->ndim;
	view->flags = (flags & ~(uint32_t)DRAY_VIEW_FACTS) |
		      dray_facts_end(&result->facts, view);
	if (view != result->out)
		dray_view_write(result->out, view);
	return 0;
}

/* Sets the facts of a view, and writes it, maybe over its own input. */
static inline int dray_view_finish(struct dray_view *result,
				   struct dray_view *out)
{
	uint32_t facts = dray_view_facts(result);

	result->flags = (result->flags & ~(uint32_t)DRAY_VIEW_FACTS) | facts;
	dray_view_write(out, result);
	return 0;
}

#endif /* DRAY_VIEW_VIEW_USUAL_H */

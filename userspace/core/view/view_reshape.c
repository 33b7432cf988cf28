// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Other shapes over the same elements, without a copy.  (Source: NumPy's
 * PyArray_Newshape(), _attempt_nocopy_reshape() and PyArray_Ravel(), to the
 * strides of axes of a single element.)
 */
#include <errno.h>
#include <inttypes.h>

#include "view/view_check.h"
#include "view/view_result.h"
#include "base/error.h"
#include "base/holds.h"
#include "base/number.h"

static int64_t view_reshape_times(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* Axes [old, old_end) and [fresh, fresh_end) cover the same elements. */
struct group {
	int old, old_end;
	int fresh, fresh_end;
};

/* Extends a group until both sides are of as many elements, as all axes are. */
static void close_group(struct group *group, const struct dray_view *old,
			const struct dray_view *fresh)
{
	int64_t a = old->shape[group->old], b = fresh->shape[group->fresh];

	group->old_end = group->old + 1;
	group->fresh_end = group->fresh + 1;
	while (a != b) {
		DRAY_HOLDS(b < a ? group->fresh_end < fresh->ndim
				 : group->old_end < old->ndim);
		if (b < a)
			b *= fresh->shape[group->fresh_end++];
		else
			a *= old->shape[group->old_end++];
	}
}

/* Whether the old axes of a group are like a single axis. */
static bool is_one_axis(const struct group *group, const struct dray_view *old,
			bool c_order)
{
	int i;

	for (i = group->old; i < group->old_end - 1; i++) {
		int outer = c_order ? i : i + 1;
		int inner = c_order ? i + 1 : i;

		if (old->strides[outer] !=
		    view_reshape_times(old->shape[inner], old->strides[inner]))
			return false;
	}
	return true;
}

static void reshape_set_strides(const struct group *group,
				const struct dray_view *old, bool c_order,
				struct dray_view *fresh)
{
	int i;

	if (c_order) {
		i = group->fresh_end - 1;
		fresh->strides[i] = old->strides[group->old_end - 1];
		for (; i > group->fresh; i--)
			fresh->strides[i - 1] = view_reshape_times(
				fresh->strides[i], fresh->shape[i]);
		return;
	}
	i = group->fresh;
	fresh->strides[i] = old->strides[group->old];
	for (; i < group->fresh_end - 1; i++)
		fresh->strides[i + 1] =
			view_reshape_times(fresh->strides[i], fresh->shape[i]);
}

/*
 * Finds strides of @fresh, of as many elements as @view, 1 or more.  False if a copy
 * is needed.
 */
static bool reshape_find_strides(const struct dray_view *view, bool c_order,
				 struct dray_view *fresh)
{
	struct group group = { 0 };
	struct dray_view old;
	int64_t last;
	int i;

	/* Strides of axes of a single element mean nothing. */
	for (i = 0, old.ndim = 0; i < view->ndim; i++) {
		if (view->shape[i] == 1)
			continue;
		old.shape[old.ndim] = view->shape[i];
		old.strides[old.ndim++] = view->strides[i];
	}
	while (group.fresh < fresh->ndim && group.old < old.ndim) {
		close_group(&group, &old, fresh);
		if (!is_one_axis(&group, &old, c_order))
			return false;
		reshape_set_strides(&group, &old, c_order, fresh);
		group.fresh = group.fresh_end;
		group.old = group.old_end;
	}
	/* Axes of a single element behind the last group. */
	last = group.fresh ? fresh->strides[group.fresh - 1]
			   : dray_dtype_itemsize(view->dtype);
	if (!c_order && group.fresh)
		last = view_reshape_times(last, fresh->shape[group.fresh - 1]);
	for (i = group.fresh; i < fresh->ndim; i++)
		fresh->strides[i] = last;
	return true;
}

static int size_mismatch(int64_t elements, int ndim, const int64_t *shape)
{
	char text[DRAY_SHAPE_TEXT];

	return dray_fail(-EINVAL,
			 "cannot reshape array of size %" PRId64
			 " into shape %s",
			 elements, dray_shape_format(text, ndim, shape));
}

/* Fills in an extent below 0; the product must be @elements. */
static int view_reshape_complete(struct dray_view *fresh, int64_t elements,
				 const int64_t *shape)
{
	int64_t known = 1;
	int unknown = -1;
	int i;

	for (i = 0; i < fresh->ndim; i++) {
		if (shape[i] < 0) {
			if (unknown >= 0)
				return dray_fail(
					-EINVAL,
					"axes %d and %d are both unknown, only one may be",
					unknown, i);
			unknown = i;
		} else if (dray_mul_overflow(known, shape[i], &known)) {
			return size_mismatch(elements, fresh->ndim, shape);
		}
		fresh->shape[i] = shape[i];
	}
	if (unknown >= 0 && known && elements % known == 0) {
		fresh->shape[unknown] = elements / known;
		return 0;
	}
	return unknown < 0 && known == elements
		       ? 0
		       : size_mismatch(elements, fresh->ndim, shape);
}

static bool reshape_has_shape(const struct dray_view *view, int ndim,
			      const int64_t *shape)
{
	int i = 0;

	while (i < ndim && view->shape[i] == shape[i])
		i++;
	return i == ndim;
}

/* Whether @order is C's; A depends on how the view lies. */
static bool reshape_is_c_order(uint32_t facts, enum dray_order order)
{
	if (order == DRAY_ORDER_A)
		return facts & DRAY_C_CONTIGUOUS ||
		       !(facts & DRAY_F_CONTIGUOUS);
	return order == DRAY_ORDER_C;
}

static bool is_contiguous(uint32_t facts, bool c_order)
{
	return facts & (c_order ? DRAY_C_CONTIGUOUS : DRAY_F_CONTIGUOUS);
}

static int needs_copy(const struct dray_view *view, int ndim,
		      const int64_t *shape)
{
	char from[DRAY_SHAPE_TEXT], to[DRAY_SHAPE_TEXT];

	return dray_fail(-EAGAIN,
			 "a view of shape %s cannot become %s without a copy",
			 dray_shape_format(from, view->ndim, view->shape),
			 dray_shape_format(to, ndim, shape));
}

/* Reshapes a checked view of @elements with @facts. */
static int view_reshape(const struct dray_view *view, uint32_t facts,
			int64_t elements, int ndim, const int64_t *shape,
			bool c_order, struct dray_view *out)
{
	struct dray_view result;
	int ret;

	dray_view_begin(&result, view, ndim);
	ret = view_reshape_complete(&result, elements, shape);
	if (ret)
		return ret;
	if (is_contiguous(facts, c_order)) {
		ret = dray_strides_fill(ndim, result.shape,
					dray_dtype_itemsize(view->dtype),
					c_order, result.strides);
		if (ret)
			return ret;
	} else if (!reshape_find_strides(view, c_order, &result)) {
		return needs_copy(view, ndim, result.shape);
	}
	return dray_view_finish(&result, out);
}

/*
 * Reshapes a usual view without gaps, in C order, the case of most calls.  False
 * if it is another, or an extent is wrong.
 */
static inline bool reshape_at_once(const struct dray_view *view,
				   int64_t elements, int ndim,
				   const int64_t *shape, struct dray_view *out)
{
	int64_t stride = (int64_t)(view->dtype >> 32), count = 1;
	uint32_t flags = view->flags & ~(uint32_t)DRAY_VIEW_FACTS;
	int i, long_axes = 0;

	if ((uint32_t)ndim > DRAY_MAX_NDIM)
		return false;
	for (i = 0; i < ndim; i++) {
		if (shape[i] <= 0 || dray_mul_overflow(count, shape[i], &count))
			return false;
		long_axes += shape[i] > 1;
	}
	/* The same shape keeps its strides. */
	if (count != elements || !dray_view_is_packed(view, true) ||
	    (ndim == view->ndim && reshape_has_shape(view, ndim, shape)))
		return false;
	flags |= DRAY_C_CONTIGUOUS;
	if (long_axes <= 1)
		flags |= DRAY_F_CONTIGUOUS;
	if (dray_dtype_fits_address(view->dtype, (uintptr_t)view->data))
		flags |= DRAY_ALIGNED;
	dray_view_begin(out, view, ndim);
	out->flags = flags;
	for (i = ndim - 1; i >= 0; i--) {
		count = shape[i];
		out->shape[i] = count;
		out->strides[i] = stride;
		stride *= count;
	}
	return true;
}

int dray_view_reshape(const struct dray_view *view, int ndim,
		      const int64_t *shape, enum dray_order order,
		      struct dray_view *out)
{
	struct dray_extent extent;
	uint32_t facts;
	int ret;

	if (!dray_given(out, __func__) ||
	    (ndim && !dray_given(shape, __func__)))
		return -EINVAL;
	if (dray_view_is_usual(view, &extent) && order == DRAY_ORDER_C &&
	    reshape_at_once(view, extent.elements, ndim, shape, out))
		return 0;
	ret = dray_view_check(view, "the view", &extent);
	if (ret)
		return ret;
	if (order < DRAY_ORDER_A || order > DRAY_ORDER_F)
		return dray_fail(-EINVAL,
				 "order %d is not permitted for reshaping",
				 (int)order);
	if (ndim < 0 || ndim > DRAY_MAX_NDIM)
		return dray_fail(-EINVAL,
				 "the shape has %d axes, 0 to %d are possible",
				 ndim, DRAY_MAX_NDIM);
	if (view->ndim == ndim && reshape_has_shape(view, ndim, shape)) {
		dray_view_copy(out, view);
		dray_view_set_facts(out);
		return 0;
	}
	facts = dray_view_facts(view);
	return view_reshape(view, facts, extent.elements, ndim, shape,
			    reshape_is_c_order(facts, order), out);
}

int dray_view_ravel(const struct dray_view *view, enum dray_order order,
		    struct dray_view *out)
{
	const int64_t any[] = { -1 };
	struct dray_extent extent;
	struct dray_view result;
	uint32_t facts;
	bool c_order;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = dray_view_check_inline(view, "the view", &extent);
	if (ret)
		return ret;
	if (order < DRAY_ORDER_A || order > DRAY_ORDER_K)
		return dray_fail(-EINVAL, "%d is not an order", (int)order);
	facts = dray_view_facts(view);
	c_order = reshape_is_c_order(facts, order == DRAY_ORDER_K ? DRAY_ORDER_A
								  : order);
	if (is_contiguous(facts, c_order))
		return view_reshape(view, facts, extent.elements, 1, any,
				    c_order, out);
	if (order != DRAY_ORDER_K ||
	    !dray_view_is_contiguous_in(view, DRAY_ORDER_K))
		return needs_copy(view, 1, &extent.elements);
	dray_view_begin(&result, view, 1);
	result.shape[0] = extent.elements;
	result.strides[0] = dray_dtype_itemsize(view->dtype);
	return dray_view_finish(&result, out);
}

int dray_view_expand(const struct dray_view *view, const int *axes, int count,
		     struct dray_view *out)
{
	int64_t shape[DRAY_MAX_NDIM];
	uint64_t taken;
	int ndim, ret;
	int i, axis = 0;

	if (!dray_given(view, __func__))
		return -EINVAL;
	ret = dray_shape_check("the view", view->ndim, view->shape);
	if (ret)
		return ret;
	if (count < 0 || count > DRAY_MAX_NDIM - view->ndim)
		return dray_fail(
			-EINVAL,
			"%d axes cannot be added to %d, %d are possible", count,
			view->ndim, DRAY_MAX_NDIM);
	ndim = view->ndim + count;
	ret = dray_axes_resolve("the list of new axes", axes, count, ndim,
				&taken);
	if (ret)
		return ret;
	for (i = 0; i < ndim; i++)
		shape[i] = taken & (UINT64_C(1) << i) ? 1 : view->shape[axis++];
	return dray_view_reshape(view, ndim, shape, DRAY_ORDER_C, out);
}

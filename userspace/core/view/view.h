/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Checks of views.  A view is a plain struct that a caller may fill by hand, so
 * nothing in it is trusted before dray_view_check().
 *
 * Usual views are numbers or booleans, 1 or more, with bytes far from the limits.  They
 * are checked in a single pass over their axes, without a call, because the check is most
 * of the time of a small call.  dray_view_check() decides on all others, and finds the
 * sentence.
 */
#ifndef DRAY_VIEW_VIEW_H
#define DRAY_VIEW_VIEW_H

#include <dray/view.h>

#include "base/number.h"
#include "base/shared.h"
#include "dtype/dtype.h"

#define DRAY_VIEW_FACTS (DRAY_ALIGNED | DRAY_C_CONTIGUOUS | DRAY_F_CONTIGUOUS)
#define DRAY_VIEW_FLAGS \
	(DRAY_READ | DRAY_WRITE | DRAY_IMMUTABLE | DRAY_VIEW_FACTS)

/* Bytes that a view covers; low == high if it covers none. */
struct dray_extent {
	int64_t elements;
	int64_t bytes; /* elements times item size */
	int64_t low; /* relative to data */
	int64_t high;
};

/* Computes span and size; true if they do not fit 63 bits. */
bool dray_view_measure_overflow(int ndim, const int64_t *shape,
				const int64_t *strides, int64_t itemsize,
				struct dray_extent *out);

/* Checks the number of axes and the extents.  -EINVAL. */
DRAY_PRIVATE int dray_shape_check(const char *name, int ndim,
				  const int64_t *shape);

/*
 * Checks a whole view and measures it.  @name begins the sentence.
 * -EINVAL (ndim, an extent below 0, a type, flags, no data), -EOVERFLOW (its
 * bytes do not fit 63 bits or leave the address space).
 */
DRAY_PRIVATE int dray_view_check(const struct dray_view *view, const char *name,
				 struct dray_extent *extent);

/*
 * Describes a view before its memory exists, and counts its bytes.
 * @strides: NULL: C order; others leave no gap.  @ndim of them: the axes of a
 *	sub-array follow
 * Errors are as of dray_view_bytes().
 */
DRAY_PRIVATE int dray_view_plan(struct dray_view *view, dray_dtype dtype,
				int ndim, const int64_t *shape,
				const int64_t *strides, size_t *bytes);

/*
 * Makes the axes of a sub-array the last axes of a view with shape and strides, as
 * NumPy does.  -EINVAL.
 */
DRAY_PRIVATE int dray_view_unfold(struct dray_view *view);

/* Describes memory as dray_view_init() does, but keeps sub-arrays as elements. */
DRAY_PRIVATE int dray_view_init_closed(struct dray_view *out, void *data,
				       dray_dtype dtype, int ndim,
				       const int64_t *shape,
				       const int64_t *strides);

/* Sets the flags that say how a checked view lies in memory. */
DRAY_PRIVATE void dray_view_set_facts(struct dray_view *view);

/* Copies extents or strides; @from may be NULL without axes. */
static inline void dray_axes_copy(int64_t *to, const int64_t *from, int ndim)
{
	int i;

	for (i = 0; i < ndim; i++)
		to[i] = from[i];
}

/* Starts a result: all of @view but its axes. */
static inline void dray_view_begin(struct dray_view *result,
				   const struct dray_view *view, int ndim)
{
	result->data = view->data;
	result->dtype = view->dtype;
	result->ndim = ndim;
	result->flags = view->flags;
}

/* Copies a view to another object. */
static inline void dray_view_write(struct dray_view *out,
				   const struct dray_view *view)
{
	int i;

	dray_view_begin(out, view, view->ndim);
	for (i = 0; i < view->ndim; i++) {
		out->shape[i] = view->shape[i];
		out->strides[i] = view->strides[i];
	}
}

/*
 * Computes strides in C order, or with the first axis fastest; fails if the
 * product of the extents, but for extents of 0, overflows.  -EOVERFLOW.
 */
DRAY_PRIVATE int dray_strides_fill(int ndim, const int64_t *shape,
				   int64_t itemsize, bool c_order,
				   int64_t *strides);

/*
 * Sorts axes as NumPy does for order K: axes of the largest strides first, in
 * either direction, and else in C order.
 */
DRAY_PRIVATE void dray_strides_sort(int ndim, const int64_t *strides,
				    int *axes);

/* Resolves an axis, negative from the last; -1 with a sentence if none. */
DRAY_PRIVATE int dray_axis_resolve(int axis, int ndim);

/*
 * Resolves axes that must differ, and returns them as a set in @taken.
 * @name: of the list, in sentences
 * -EINVAL.
 */
int dray_axes_resolve(const char *name, const int *axes, int count, int ndim,
		      uint64_t *taken);

/* Whether any of its extents is 0. */
static inline bool dray_view_is_empty(const struct dray_view *view)
{
	int i;

	for (i = 0; i < view->ndim; i++) {
		if (!view->shape[i])
			return true;
	}
	return false;
}

/* Whether the address of each element is a multiple of its type's alignment. */
static inline bool dray_view_is_aligned(const struct dray_view *view)
{
	uint64_t bits = (uintptr_t)view->data;
	int i;

	for (i = 0; i < view->ndim; i++) {
		if (view->shape[i] > 1)
			bits |= (uint64_t)view->strides[i];
		if (!view->shape[i])
			return true;
	}
	return !(bits & (dray_dtype_alignment(view->dtype) - 1));
}

static inline bool dray_view_has_bytes(const struct dray_view *view)
{
	return dray_dtype_itemsize(view->dtype) && !dray_view_is_empty(view);
}

/* Writes a shape as NumPy does, "(2,3)"; cut short if there is no room. */
#define DRAY_SHAPE_TEXT 128
DRAY_PRIVATE const char *dray_shape_format(char text[DRAY_SHAPE_TEXT], int ndim,
					   const int64_t *shape);

/*
 * Places a view that another process described over the @size bytes at @memory.
 * Its ndim, shape, strides, flags and type are in it, and are not trusted, but
 * for the address of a type object.
 * @offset: bytes, of the element [0, 0, ...]
 * -EBADMSG if any of it is wrong or leads out of the memory.
 */
int dray_view_place(struct dray_view *view, void *memory, uint64_t size,
		    uint64_t offset);

/* Adds to an address that need not belong to an object; may wrap. */
static inline void *dray_address_add(const void *address, int64_t offset)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	return (void *)((uintptr_t)address + (uintptr_t)offset);
}

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

/* The facts that axes add singly: bits of addresses; no elements. */
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

/* Returns the facts of a view that is complete but for its flags. */
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

/* Finds how the elements of a checked view lie. */
static inline uint32_t dray_view_facts(const struct dray_view *view)
{
	struct dray_facts facts = { 0 };
	int i;

	for (i = 0; i < view->ndim; i++)
		dray_facts_add(&facts, view->shape[i], view->strides[i]);
	return dray_facts_end(&facts, view);
}

#endif /* DRAY_VIEW_VIEW_H */

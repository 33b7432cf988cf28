/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * view: shape, strides, a data type and a borrowed address.
 *
 * A view owns nothing: its memory and its type must outlive it.  A caller may
 * fill one by hand; it needs no flags but permissions.  Functions that make a
 * view from another never touch the data and allocate nothing, and @out may be
 * the same object as the input.
 *
 * Every function may be called from any thread.  The caller orders writes to a
 * view, or to elements, that other threads read.
 */
#ifndef DRAY_VIEW_H
#define DRAY_VIEW_H

#include <dray/dtype.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DRAY_MAX_NDIM 64

struct dray_view {
	/* the element [0, 0, ...]; may be NULL if empty */
	void *data __attribute__((aligned(8)));
	dray_dtype dtype;	/* borrowed */
	int32_t ndim;		/* 0 .. DRAY_MAX_NDIM; 0 is one element */
	uint32_t flags;		/* DRAY_READ, ... */
	/* only the first ndim entries of each are ever read or copied */
	int64_t shape[DRAY_MAX_NDIM];	/* elements, >= 0 */
	int64_t strides[DRAY_MAX_NDIM];	/* bytes, may be negative or 0 */
};

/**
 * Describes memory at @data.
 *
 * @shape: @ndim extents, each >= 0
 * @strides: @ndim strides in bytes; NULL: C order
 *
 * Errors: -EINVAL (ndim, an extent below 0, a type, elements without data),
 * -EOVERFLOW (the bytes it covers do not fit 63 bits or the address space).
 * dray_view_index() and dray_view_assign() check their views the same way.
 */
DRAY_API int dray_view_init(struct dray_view *out, void *data, dray_dtype dtype,
			    int ndim, const int64_t *shape,
			    const int64_t *strides);

/**
 * Writes to @bytes the size of the memory that a view in C order needs.
 *
 * @shape: @ndim extents, each >= 0
 *
 * Errors: -EINVAL (ndim, an extent below 0, a type), -EOVERFLOW (more than
 * SIZE_MAX or 63 bits).
 */
DRAY_API int dray_view_bytes(dray_dtype dtype, int ndim, const int64_t *shape,
			     size_t *bytes);

/**
 * Copies one view, ndim axes only.  This function and the questions about a
 * view (dray_view_size(), _span(), _is_contiguous(), _spans_overlap()) return
 * no error.  They trust ndim to be 0 .. DRAY_MAX_NDIM and extents to be 0 or
 * more, as in any view that a function here has made.
 */
DRAY_API void dray_view_copy(struct dray_view *out,
			     const struct dray_view *view);

/**
 * Reorders axes: axis i of the result is axis axes[i] of @view, negative from
 * the last.  NULL reverses the order.
 *
 * Errors: -EINVAL (an axis that does not exist or is named twice; @view has a
 * number of axes or an extent that dray_view_init() would refuse).
 */
DRAY_API int dray_view_transpose(const struct dray_view *view, const int *axes,
				 struct dray_view *out);

/**
 * Repeats axes of one element (stride 0) and adds axes in front.
 *
 * Errors: -EINVAL (fewer axes than @view has, an extent that differs from one
 * above 1; else as dray_view_transpose()), -EOVERFLOW as dray_view_init().
 */
DRAY_API int dray_view_broadcast(const struct dray_view *view, int ndim,
				 const int64_t *shape, struct dray_view *out);

/** Returns the number of elements; 1 without axes, INT64_MAX on overflow. */
DRAY_API int64_t dray_view_size(const struct dray_view *view);

/**
 * Returns the bytes that the elements cover, relative to data: [low, high). low
 * is below 0 if strides are negative; low == high if the view is empty.
 */
DRAY_API void dray_view_span(const struct dray_view *view, int64_t *low,
			     int64_t *high);

/** Whether elements follow each other without gaps, the last axis fastest. */
DRAY_API bool dray_view_is_contiguous(const struct dray_view *view);

/** Whether the spans of two views have a byte in common. */
DRAY_API bool dray_view_spans_overlap(const struct dray_view *a,
				      const struct dray_view *b);

/**
 * Copies elements with the CPU, between views of the same shape and type.
 * Nothing is converted: to copy bits to another type of the same size, give one
 * view the other's dtype.
 *
 * If the views overlap, the result is that of a source copied aside first; the
 * copy aside is made only if it makes a difference.
 *
 * Errors: -EINVAL (shapes or types differ; the destination has a stride of 0),
 * -EPERM (read-only), -ENOMEM (for the copy aside).
 */
DRAY_API int dray_view_assign(const struct dray_view *dst,
			      const struct dray_view *src);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_VIEW_H */

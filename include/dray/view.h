/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * view: shape, strides, a data type and a borrowed address.
 *
 * A view owns nothing: its memory and its type must outlive it.  A caller may
 * fill a view by hand; it needs no flags but permissions.  Functions that make
 * a view from another never touch the data and allocate nothing, and @out may
 * be the same object as the input.
 *
 *	int32_t numbers[3][4] = { { 0, 1, 2, 3 } };
 *	const int64_t shape[] = { 3, 4 };
 *	struct dray_view rows, columns;
 *
 *	ret = dray_view_init(&rows, numbers, DRAY_INT32, 2, shape, NULL);
 *	if (!ret)
 *		ret = dray_view_transpose(&rows, NULL, &columns);
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
#define DRAY_MAX_OPERANDS 8	/* views that are iterated, or copied, together */

/**
 * An order of elements in memory.  -EINVAL for an unknown value.  (Source: NPY_ORDER, with
 * its numbers.)
 */
enum dray_order {
	DRAY_ORDER_A = -1,	/* F if contiguous in F and not in C, else C */
	DRAY_ORDER_C = 0,	/* the last axis fastest */
	DRAY_ORDER_F = 1,	/* the first axis fastest */
	DRAY_ORDER_K = 2,	/* as near as possible to the source's */
};

struct dray_view {
	/* the element [0, 0, ...]; may be NULL if empty */
	void *data __attribute__((aligned(8)));
	dray_dtype dtype;	/* borrowed */
	int32_t ndim;		/* 0 .. DRAY_MAX_NDIM; 0 is a single element */
	uint32_t flags;		/* DRAY_READ, ... */
	/* only the first ndim entries of each are ever read or copied */
	int64_t shape[DRAY_MAX_NDIM];	/* elements, >= 0 */
	int64_t strides[DRAY_MAX_NDIM];	/* bytes, may be negative or 0 */
};

/**
 * Describes memory at @data, which may be read and written: clear DRAY_READ or
 * DRAY_WRITE among the flags of @out to forbid it.
 *
 * @dtype: the axes of a sub-array become the last axes of the view, whose type
 *	is then the base, as in NumPy; this holds for all functions with a shape
 *	and a type
 * @shape: @ndim extents, each >= 0
 * @strides: @ndim strides in bytes; NULL: C order
 *
 * Errors: -EINVAL (ndim, also with the axes of a sub-array, an extent below 0, a
 * type, elements without data), -EOVERFLOW (the bytes it covers do not fit 63
 * bits or the address space).
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
 * Copies a view, ndim axes only.  This function and the questions about a view
 * (dray_view_size(), _span(), _is_contiguous(), _spans_overlap()) return no
 * error.  They trust ndim to be 0 .. DRAY_MAX_NDIM and extents to be 0 or more,
 * as in any view that a function here made.
 */
DRAY_API void dray_view_copy(struct dray_view *out,
			     const struct dray_view *view);

/*
 * Views with other axes, shapes or types, with the results of the named
 * functions of NumPy 2: shape, data, and each stride, also of an axis of a
 * single element.  Permissions stay, except where it is said.  Axes are named
 * from 0, or negative from the last.
 *
 * Besides their own errors, all fail with -EINVAL and -EOVERFLOW as
 * dray_view_init(), for a view that it would refuse, and with -EINVAL for an
 * axis that does not exist, or is named twice in a list, and for more than
 * DRAY_MAX_NDIM axes.
 */

/**
 * Reorders axes: axis i of the result is axis axes[i] of @view.  NULL reverses
 * the order.  (Source: numpy.transpose(), permute_dims().)
 */
DRAY_API int dray_view_transpose(const struct dray_view *view, const int *axes,
				 struct dray_view *out);

/** Exchanges two axes.  (Source: numpy.swapaxes().) */
DRAY_API int dray_view_swap_axes(const struct dray_view *view, int axis1,
				 int axis2, struct dray_view *out);

/**
 * Moves axis from[i] to place to[i]; the others keep their order.  (Source:
 * numpy.moveaxis().)
 *
 * @from, @to: @count axes each
 */
DRAY_API int dray_view_move_axes(const struct dray_view *view, const int *from,
				 const int *to, int count,
				 struct dray_view *out);

/**
 * Drops axes of a single element.  (Source: numpy.squeeze().)
 *
 * @axes: @count axes; NULL drops all of a single element
 *
 * Errors: -EINVAL (an axis of another number of elements).
 */
DRAY_API int dray_view_squeeze(const struct dray_view *view, const int *axes,
			       int count, struct dray_view *out);

/**
 * Adds axes of a single element.  (Source: numpy.expand_dims().)
 *
 * @axes: their @count places in the result
 */
DRAY_API int dray_view_expand(const struct dray_view *view, const int *axes,
			      int count, struct dray_view *out);

/**
 * Reverses axes.  (Source: numpy.flip().)
 *
 * @axes: @count axes; NULL reverses all
 */
DRAY_API int dray_view_flip(const struct dray_view *view, const int *axes,
			    int count, struct dray_view *out);

/**
 * Makes the diagonal of two axes the last axis of the result, which may not be
 * written.  (Source: numpy.diagonal().)
 *
 * @offset: elements right of the main diagonal, or below it if negative; out of
 *	range, the result is empty
 *
 * Errors: -EINVAL (fewer than two axes; the same axis twice).
 */
DRAY_API int dray_view_diagonal(const struct dray_view *view, int64_t offset,
				int axis1, int axis2, struct dray_view *out);

/**
 * Arranges the elements in another shape, without a copy.  (Source:
 * numpy.reshape() with copy=False.)
 *
 * @shape: @ndim extents, of which one may be negative: the rest of the elements
 * @order: the order in which elements are read and placed: A, C or F
 *
 * Errors: -EINVAL (another number of elements, two negative extents, order K),
 * -EAGAIN (the strides do not allow it: make a copy first).
 */
DRAY_API int dray_view_reshape(const struct dray_view *view, int ndim,
			       const int64_t *shape, enum dray_order order,
			       struct dray_view *out);

/**
 * Arranges the elements along a single axis, without a copy.  (Source:
 * numpy.ravel(), in the cases in which it does not copy.)
 *
 * @order: A, C, F, or K, the order in memory
 *
 * Errors: -EAGAIN (the elements lie apart, or in another order).
 */
DRAY_API int dray_view_ravel(const struct dray_view *view,
			     enum dray_order order, struct dray_view *out);

/**
 * Repeats axes of a single element (stride 0) and adds axes in front.  The
 * result may not be written.  (Source: numpy.broadcast_to().)
 *
 * Errors: -EINVAL (fewer axes than @view's, an extent that differs from an
 * extent other than 1).
 */
DRAY_API int dray_view_broadcast(const struct dray_view *view, int ndim,
				 const int64_t *shape, struct dray_view *out);

/**
 * Finds the shape that @count shapes are broadcast to together.  (Source:
 * numpy.broadcast_shapes().)
 *
 * @ndims, @shapes: the number of axes and the extents of each
 * @ndim, @shape: the result; @shape with room for the most axes of any shape
 *
 * Errors: -EINVAL (two extents that differ, none of which is 1).
 */
DRAY_API int dray_broadcast_shapes(int count, const int *ndims,
				   const int64_t *const *shapes, int *ndim,
				   int64_t *shape);

/**
 * Views the real parts of complex numbers; of other types, all of @view.
 * (Source: numpy.real().)
 */
DRAY_API int dray_view_real(const struct dray_view *view,
			    struct dray_view *out);

/**
 * Views the imaginary parts of complex numbers.  (Source: numpy.imag(), which
 * makes an array of zeros for other types.)
 *
 * Errors: -EINVAL (a type that is not complex).
 */
DRAY_API int dray_view_imag(const struct dray_view *view,
			    struct dray_view *out);

/**
 * Reads the same bytes as elements of another type.  If its size differs, the
 * last axis, without gaps, gets more elements, or fewer.  Raw data of no size,
 * DRAY_VOID(0), gets the size of @view's.  The axes of a sub-array become the
 * last axes.  (Source: numpy.ndarray.view().)
 *
 * Errors: -EINVAL (sizes differ, and there is no axis, the last is not dense,
 * or its bytes are not a multiple of the new size; a smaller size that does not
 * divide the old size).
 */
DRAY_API int dray_view_as_type(const struct dray_view *view, dray_dtype dtype,
			       struct dray_view *out);

/**
 * Views a field of each element; the axes of a sub-array become the last axes.
 * (Source: numpy.ndarray.__getitem__() with a name.)
 *
 * @name: a name or a title
 * @out: its type is borrowed from @view's
 *
 * Errors: -ENOENT (no such field, or a type without).
 */
DRAY_API int dray_view_field(const struct dray_view *view, const char *name,
			     struct dray_view *out);

/**
 * Views every window of @window elements as new axes behind @view's, each of
 * which gets an element for each place of the window.  The result may not be
 * written.  (Source: numpy.lib.stride_tricks.sliding_window_view().)
 *
 * @window: @count extents
 * @axes: the axis of each, which may be named more than once; NULL: all axes
 *
 * Errors: -EINVAL (a window that is larger than its axis).
 */
DRAY_API int dray_view_windows(const struct dray_view *view, int count,
			       const int64_t *window, const int *axes,
			       struct dray_view *out);

/**
 * Arranges the data of @view by any shape and strides within a range of memory.
 * (Source: numpy.lib.stride_tricks.as_strided(), which checks nothing.)
 *
 * @shape: @ndim extents
 * @strides: @ndim strides in bytes; NULL: C order
 * @memory: @size bytes, such as a block's; NULL: the bytes that @view covers
 *
 * Errors: -EINVAL (strides that leave the memory).
 */
DRAY_API int dray_view_as_strided(const struct dray_view *view, int ndim,
				  const int64_t *shape, const int64_t *strides,
				  const void *memory, uint64_t size,
				  struct dray_view *out);

/** Returns the number of elements; 1 without axes, INT64_MAX on overflow. */
DRAY_API int64_t dray_view_size(const struct dray_view *view);

/**
 * Writes the bytes that the elements cover, relative to data: [low, high). low
 * is below 0 if strides are negative; low == high if the view is empty.  (Source:
 * numpy.lib.array_utils.byte_bounds().)
 */
DRAY_API void dray_view_span(const struct dray_view *view, int64_t *low,
			     int64_t *high);

/**
 * Returns the largest power of two that all addresses of elements are multiples
 * of; 1 << 63 if there are none.
 */
DRAY_API uint64_t dray_view_alignment(const struct dray_view *view);

/**
 * Returns whether elements follow each other without gaps, the last axis
 * fastest.
 */
DRAY_API bool dray_view_is_contiguous(const struct dray_view *view);

/**
 * Returns whether elements follow each other without gaps in an order: C, F, A
 * (either of the two), or K (any order of the axes, none of them backwards).
 */
DRAY_API bool dray_view_is_contiguous_in(const struct dray_view *view,
					 enum dray_order order);

/**
 * Returns whether the spans of two views share a byte.  (Source:
 * numpy.may_share_memory().)
 */
DRAY_API bool dray_view_spans_overlap(const struct dray_view *a,
				      const struct dray_view *b);

/* Limits of the two questions below; any number above 0 counts steps. */
#define DRAY_SHARE_BOUNDS 0	/* compares bounds only */
#define DRAY_SHARE_EXACT (-1)	/* no limit; may last for ever */

/**
 * Finds whether an element of @a and an element of @b share a byte, exactly.
 * Slices and transposes of the same array need few steps.  For contrived
 * strides the number is exponential, so it may be limited.  (Source:
 * numpy.shares_memory(), whose steps are others.)
 *
 * @max_work: steps, DRAY_SHARE_BOUNDS or DRAY_SHARE_EXACT
 * @shared: with DRAY_SHARE_BOUNDS, as dray_view_spans_overlap()
 *
 * Errors: -EINVAL (a limit below -1), -E2BIG (not known after so many steps),
 * -EOVERFLOW (a view that covers more than 59 bits count), as dray_view_init().
 */
DRAY_API int dray_view_shares_memory(const struct dray_view *a,
				     const struct dray_view *b,
				     int64_t max_work, bool *shared);

/**
 * Finds whether no two elements of @view share a byte.
 *
 * @max_work: as above; with DRAY_SHARE_BOUNDS, @unique is true if no axis
 *	reaches back into the bytes that those with smaller strides cover
 *
 * Errors: as dray_view_shares_memory().
 */
DRAY_API int dray_view_is_unique(const struct dray_view *view,
				 int64_t max_work, bool *unique);

/**
 * Copies elements with the CPU, between views of the same shape and type.
 * Nothing is converted: to copy bits to another type of the same size, set the
 * dtype of either view to the other's.
 *
 * If the views overlap, the result is as if the source were copied aside first;
 * the copy aside is made only if it makes a difference.
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

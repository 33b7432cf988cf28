/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * reduce: the methods of ufuncs of two inputs and an output: reductions along
 * axes, running results, reductions of segments, all pairs, and results put in
 * place by index.
 *
 *	const int axes[] = { 0 };
 *	const struct dray_reduce_options options = {
 *		.axes = axes,
 *		.axes_count = 1,
 *	};
 *	struct dray_array *sums;
 *
 *	ret = dray_ufunc_reduce(dray_ufunc_find("add"), &x, NULL, &options, &sums);
 *
 * The results are those of NumPy 2, their shapes, types and errors, too.  Sums of
 * floating-point numbers along a line are added in pairs, as NumPy does.
 *
 * A loop of a user is called with elements of the output as its first input: a
 * row of them that lie apart, or a single element.
 *
 * All functions fail with -EINVAL (NULL, a ufunc of other operands, a conversion
 * that is not allowed, an output of another shape or with a stride of 0),
 * -EOPNOTSUPP (no loop for the types, or none that takes its output as an
 * input; masks and indices of other types), -ERANGE (an axis that does not exist),
 * -EPERM (a read-only output, an input that may not be read), -EDOM (a
 * floating-point error, if it is to be raised), -EOVERFLOW (an initial integer that
 * does not fit the type), -ENOMEM, as dray_view_init() for a bad view, with errors
 * of the loop, and those named below.  After -EDOM, -ENOMEM and errors of a loop,
 * elements of an output that was given are undefined.
 *
 * @to: the output; NULL: it is made.  It may share memory with the inputs: the
 *	result is as if inputs were copied aside first.  Of another type, it is
 *	converted to at the end, by any cast
 * @out: a reference to the output that is made, or NULL for an output that was
 *	given; may be NULL then
 *
 * All functions may be called from any thread.  Nothing here waits.
 */
#ifndef DRAY_REDUCE_H
#define DRAY_REDUCE_H

#include <dray/array/index.h>
#include <dray/array/ufunc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of a reduction. */
/* Axes that are reduced stay, with a single element. */
#define DRAY_REDUCE_KEEPDIMS (1u << 0)
/* All axes are reduced; excludes a list. */
#define DRAY_REDUCE_ALL_AXES (1u << 1)
/* Starts with the first elements, and not with the identity. */
#define DRAY_REDUCE_NO_INITIAL (1u << 2)

/** Options of a reduction; all zero is the default. */
struct dray_reduce_options {
	size_t size;		/* of this structure; 0: the first version's */
	/*
	 * Of the loop and of an output that is made; borrowed; 0: the type of the
	 * output that is given, else of the input; add and multiply make
	 * DRAY_INT64 of bools and smaller signed integers, and DRAY_UINT64 of
	 * smaller unsigned types
	 */
	dray_dtype dtype;
	/* axes, negative from the last; NULL: the first axis */
	const int *axes;
	int32_t axes_count;	/* 0 with a list: elements stay as they are */
	uint32_t flags;		/* DRAY_REDUCE_* */
	/* an element to start with; NULL: the identity, if there is any */
	const struct dray_view *initial;
	/*
	 * Bools, broadcast to the input: elements that count.  Without an
	 * identity it needs an initial element
	 */
	const struct dray_view *where;
};

/**
 * Reduces along axes: out = ((in[0] op in[1]) op in[2]) op ...
 *
 * Errors: -EINVAL (an axis twice, several axes of a ufunc whose order counts, no
 * elements and nothing to start with, a mask that does not broadcast, an initial
 * that is not a single element, or a NaN for integers, unknown flags), -EOVERFLOW (an
 * initial number out of the range of the integers), -EOPNOTSUPP (an initial of another
 * kind).
 */
DRAY_API int dray_ufunc_reduce(struct dray_ufunc *ufunc,
			       const struct dray_view *in,
			       const struct dray_view *to,
			       const struct dray_reduce_options *options,
			       struct dray_array **out);

/**
 * Writes all steps of a reduction: out[i] = out[i - 1] op in[i].
 *
 * @axis: negative from the last
 * @dtype: as of a reduction
 */
DRAY_API int dray_ufunc_accumulate(struct dray_ufunc *ufunc,
				   const struct dray_view *in, int axis,
				   dray_dtype dtype, const struct dray_view *to,
				   struct dray_array **out);

/**
 * Reduces segments of an axis: out[k] of in[indices[k]] up to, but without,
 * in[indices[k + 1]]; the last to the end of the axis.  Of an index that is not
 * below the next, out[k] = in[indices[k]].
 *
 * @indices: integers, of a single axis
 *
 * Errors: -EINVAL (indices not of a single axis), -ERANGE (an index that is
 * negative or not below the axis' extent).
 */
DRAY_API int dray_ufunc_reduceat(struct dray_ufunc *ufunc,
				 const struct dray_view *in,
				 const struct dray_view *indices, int axis,
				 dray_dtype dtype, const struct dray_view *to,
				 struct dray_array **out);

/**
 * Computes all pairs of elements: out[i, ..., j, ...] = a[i, ...] op b[j, ...].
 *
 * A ufunc may have several outputs here, if all are made.
 *
 * @a, @b: of any shapes
 * @to: of the axes of @a, then of @b; NULL: made
 *
 * @options: as of dray_ufunc_call()
 *
 * Errors: as dray_ufunc_call(); -EINVAL (more than DRAY_MAX_NDIM axes).
 */
DRAY_API int dray_ufunc_outer(struct dray_ufunc *ufunc,
			      const struct dray_view *a,
			      const struct dray_view *b,
			      const struct dray_view *to,
			      const struct dray_ufunc_options *options,
			      struct dray_array **out);

/**
 * Computes in place: target[i] = target[i] op value, for each index i in C
 * order; an index that stands several times counts as often.  Of a ufunc of one
 * input, target[i] = op target[i].
 *
 * @indices: integers, negative from the end of the first axis, or bools, one for
 *	each element of as many first axes as it has
 * @values: broadcast to the elements that are named; NULL for a single input
 *
 * Inputs are as they were before the call.  Results are converted to the type
 * of @target by any cast.
 *
 * Errors: -ERANGE (an index out of range, indices that are neither integers nor
 * bools, bools of another shape), -EINVAL (values that do not broadcast).
 */
DRAY_API int dray_ufunc_at(struct dray_ufunc *ufunc,
			   const struct dray_view *target,
			   const struct dray_view *indices,
			   const struct dray_view *values);

/**
 * Does the same with an index of any kind, as dray_index_set() takes it.
 *
 * @index: @count steps
 */
DRAY_API int dray_ufunc_at_index(struct dray_ufunc *ufunc,
				 const struct dray_view *target,
				 const struct dray_index *index, size_t count,
				 const struct dray_view *values);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_REDUCE_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * statistics: sums, products, extremes, means and deviations along axes, with
 * the results of NumPy 2's functions of the same names.
 *
 *	const int axes[] = { 0 };
 *	const struct dray_reduce_options options = {
 *		.axes = axes,
 *		.axes_count = 1,
 *	};
 *	struct dray_array *means;
 *
 *	ret = dray_mean(&x, NULL, &options, &means);
 *
 * The options name the axes; without a list, all axes.  In other respects
 * options, outputs and errors are as in <dray/array/reduce.h>.
 *
 * @options: NULL: all zero
 *
 * All functions may be called from any thread.  Nothing here waits.
 */
#ifndef DRAY_STATISTICS_H
#define DRAY_STATISTICS_H

#include <dray/array/reduce.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Sums; of no elements 0. */
DRAY_API int dray_sum(const struct dray_view *in, const struct dray_view *to,
		      const struct dray_reduce_options *options,
		      struct dray_array **out);
/** Products; of no elements 1. */
DRAY_API int dray_prod(const struct dray_view *in, const struct dray_view *to,
		       const struct dray_reduce_options *options,
		       struct dray_array **out);
/**
 * The smallest elements, or a NaN.
 * Errors: -EINVAL (no elements, and no initial).
 */
DRAY_API int dray_min(const struct dray_view *in, const struct dray_view *to,
		      const struct dray_reduce_options *options,
		      struct dray_array **out);
/**
 * The largest elements, or a NaN.
 * Errors: -EINVAL (no elements, and no initial).
 */
DRAY_API int dray_max(const struct dray_view *in, const struct dray_view *to,
		      const struct dray_reduce_options *options,
		      struct dray_array **out);
/**
 * The largest minus the smallest; no dtype, initial or mask.  Errors: as
 * dray_min(); -EINVAL (any of these is set).
 */
DRAY_API int dray_ptp(const struct dray_view *in, const struct dray_view *to,
		      const struct dray_reduce_options *options,
		      struct dray_array **out);
/** Whether all elements are true, as bools; of no elements true. */
DRAY_API int dray_all(const struct dray_view *in, const struct dray_view *to,
		      const struct dray_reduce_options *options,
		      struct dray_array **out);
/** Whether an element is true, as bools; of no elements false. */
DRAY_API int dray_any(const struct dray_view *in, const struct dray_view *to,
		      const struct dray_reduce_options *options,
		      struct dray_array **out);
/** Numbers of elements that dray_count_nonzero() counts, as DRAY_INT64. */
DRAY_API int dray_count_true(const struct dray_view *in,
			     const struct dray_view *to,
			     const struct dray_reduce_options *options,
			     struct dray_array **out);

/**
 * Means: of integers and bools as DRAY_FLOAT64; of DRAY_FLOAT16 computed as
 * DRAY_FLOAT32; of no elements NaN.  No initial.
 */
DRAY_API int dray_mean(const struct dray_view *in, const struct dray_view *to,
		       const struct dray_reduce_options *options,
		       struct dray_array **out);
/**
 * Variances: means of squared distances from the mean, with the divisor
 * n - @ddof, or 0 if that is below 0.  Variances of complex numbers are real.
 */
DRAY_API int dray_var(const struct dray_view *in, const struct dray_view *to,
		      double ddof, const struct dray_reduce_options *options,
		      struct dray_array **out);
/** Standard deviations: square roots of variances. */
DRAY_API int dray_std(const struct dray_view *in, const struct dray_view *to,
		      double ddof, const struct dray_reduce_options *options,
		      struct dray_array **out);

/**
 * Running sums along an axis.
 *
 * @axis: negative from the last; DRAY_FLAT of <dray/array/index.h>: of all elements in
 *	C order
 * @dtype: as of a reduction
 */
DRAY_API int dray_cumsum(const struct dray_view *in, int axis, dray_dtype dtype,
			 const struct dray_view *to, struct dray_array **out);
/** Running products along an axis. */
DRAY_API int dray_cumprod(const struct dray_view *in, int axis,
			  dray_dtype dtype, const struct dray_view *to,
			  struct dray_array **out);

/**
 * Puts elements between bounds: minimum(maximum(in, low), high).
 *
 * @low, @high: broadcast together with @in; either may be NULL
 *
 * Errors: as dray_ufunc_call(); -EINVAL (both are NULL).
 */
DRAY_API int dray_clip(const struct dray_view *in, const struct dray_view *low,
		       const struct dray_view *high, const struct dray_view *to,
		       const struct dray_ufunc_options *options,
		       struct dray_array **out);

/* Decimals of dray_round() at most. */
#define DRAY_ROUND_MOST 300

/**
 * Rounds floats to decimals: scales them by a power of ten, rounds halves to even,
 * and scales them back.  (Source: numpy.round().)
 *
 * @decimals: digits behind the point, up to DRAY_ROUND_MOST; below 0 before it
 * @out: an array of the same type, with a reference
 *
 * Errors: -EINVAL (more decimals), -EOPNOTSUPP (no floats), -EDOM (an error of
 * numbers that the thread's state raises), -ENOMEM, as dray_view_init() for a bad
 * view.
 */
DRAY_API int dray_round(const struct dray_view *in, int decimals,
			struct dray_array **out);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_STATISTICS_H */

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Means, variances and standard deviations.  A variance is the mean of squared
 * distances from the mean, found in a second pass, so that a large mean takes no
 * digits from it.
 */
#include <errno.h>

#include "private.h"
#include "statistics/statistics.h"

/* A call, and the numbers that are divided by. */
struct averaging {
	struct dray_reduce_options options;
	dray_dtype delivered; /* type of the result, or 0: that of the sum */
	int64_t count; /* of elements to one of the result */
	struct dray_array *counts; /* with a mask, else NULL */
};

static int mean_begin(struct averaging *averaging, const struct dray_view *in,
		      const struct dray_reduce_options *options)
{
	uint64_t reduced = 0;
	int i, axis, ret;
	char kind;

	averaging->delivered = 0;
	averaging->counts = NULL;
	ret = dray_view_check(in, "the input", NULL);
	if (!ret)
		ret = dray_all_axes(options, &averaging->options, "dray_mean");
	if (ret)
		return ret;
	if (averaging->options.initial)
		return dray_fail(-EINVAL, "a mean has no initial element");
	kind = dray_dtype_kind(in->dtype);
	if (!averaging->options.dtype) {
		if (in->dtype == DRAY_BOOL || kind == 'i' || kind == 'u')
			averaging->options.dtype = DRAY_FLOAT64;
		else if (kind == 'f' && dray_dtype_itemsize(in->dtype) == 2) {
			averaging->options.dtype = DRAY_FLOAT32;
			averaging->delivered = DRAY_FLOAT16;
		}
	}
	averaging->count = 1;
	for (i = 0; i < averaging->options.axes_count; i++) {
		axis = averaging->options.axes[i];
		axis += axis < 0 ? in->ndim : 0;
		if (axis >= 0 && axis < in->ndim && axis < 64)
			reduced |= UINT64_C(1) << axis;
	}
	if (averaging->options.flags & DRAY_REDUCE_ALL_AXES)
		reduced = UINT64_MAX;
	for (i = 0; i < in->ndim; i++)
		averaging->count *= reduced >> i & 1 ? in->shape[i] : 1;
	return 0;
}

/* Counts the elements that a mask is true for. */
static int count_where(struct averaging *averaging, const struct dray_view *in)
{
	struct dray_reduce_options options = averaging->options;
	struct dray_view mask;
	int ret;

	if (!options.where || averaging->counts)
		return 0;
	options.where = NULL;
	options.dtype = DRAY_INT64;
	ret = dray_view_broadcast(averaging->options.where, in->ndim, in->shape,
				  &mask);
	return ret ? ret : dray_sum(&mask, NULL, &options, &averaging->counts);
}

/* Divides sums by the number of elements, less @ddof, but not less than 0. */
static int mean_divide(struct averaging *averaging, const struct dray_view *in,
		       struct dray_array *sums, double ddof)
{
	double divisor = (double)averaging->count - ddof;
	const struct dray_view *inputs[2], *to;
	struct dray_ufunc_options options = {
		.size = sizeof(options),
		.casting = 1 + DRAY_CASTING_UNSAFE,
	};
	struct dray_ufunc *ufunc = dray_ufunc_find("divide");
	struct dray_array *divisors = NULL;
	struct dray_view view, by, zero;
	const bool whole = dray_dtype_kind(sums->dtype) == 'm';
	double none = 0;
	int ret = ufunc ? count_where(averaging, in) : -ENOENT;

	if (ret)
		return ret;
	to = inputs[0] = dray_array_view(sums, &view);
	inputs[1] = &by;
	if (!averaging->counts) {
		if (divisor < 0)
			divisor = 0;
		options.weak = whole ? 0 : 1u << 1;
		/* A float would round durations beyond 2^53. */
		ret = dray_view_init(
			&by, whole ? (void *)&averaging->count : &divisor,
			whole ? DRAY_INT64 : DRAY_FLOAT64, 0, NULL, NULL);
	} else if (ddof != 0) {
		ret = dray_view_init(&by, &ddof, DRAY_FLOAT64, 0, NULL, NULL);
		if (!ret)
			ret = dray_call_builtin(
				"subtract",
				dray_array_view(averaging->counts, &zero), &by,
				NULL, &divisors);
		if (!ret)
			ret = dray_view_init(&zero, &none, DRAY_FLOAT64, 0,
					     NULL, NULL);
		if (!ret)
			ret = dray_call_builtin("maximum",
						dray_array_view(divisors, &by),
						&zero, &by, NULL);
	} else {
		dray_array_view(averaging->counts, &by);
	}
	if (!ret)
		ret = dray_ufunc_call(ufunc, inputs, &to, &options, NULL);
	dray_array_unref(divisors);
	return ret;
}

/* Ends with a result, which is delivered, or dropped after a failure. */
static int mean_finish(const struct averaging *averaging, int ret,
		       struct dray_array *result, const struct dray_view *to,
		       struct dray_array **out)
{
	dray_array_unref(averaging->counts);
	if (!ret)
		return dray_deliver(result, to, averaging->delivered, out);
	dray_array_unref(result);
	return ret;
}

int dray_mean(const struct dray_view *in, const struct dray_view *to,
	      const struct dray_reduce_options *options,
	      struct dray_array **out)
{
	struct averaging averaging;
	struct dray_array *sums = NULL;
	int ret;

	if (!dray_given(in, __func__) || (!to && !dray_given(out, __func__)))
		return -EINVAL;
	ret = mean_begin(&averaging, in, options);
	if (!ret)
		ret = dray_sum(in, NULL, &averaging.options, &sums);
	if (!ret)
		ret = mean_divide(&averaging, in, sums, 0);
	return mean_finish(&averaging, ret, sums, to, out);
}

/* Squares distances where they are; of complex ones, their absolute values. */
static int mean_square(const struct dray_view *distances, struct dray_view *out)
{
	struct dray_view re, im;
	int ret;

	if (dray_dtype_kind(distances->dtype) != 'c') {
		dray_view_write(out, distances);
		return dray_call_builtin("multiply", out, out, out, NULL);
	}
	ret = dray_view_real(distances, &re);
	if (!ret)
		ret = dray_view_imag(distances, &im);
	if (!ret)
		ret = dray_call_builtin("multiply", &re, &re, &re, NULL);
	if (!ret)
		ret = dray_call_builtin("multiply", &im, &im, &im, NULL);
	if (!ret)
		ret = dray_call_builtin("add", &re, &im, &re, NULL);
	dray_view_write(out, &re);
	return ret;
}

static int find_variance(struct averaging *averaging,
			 const struct dray_view *in, double ddof,
			 struct dray_array **out)
{
	struct dray_reduce_options *options = &averaging->options;
	const uint32_t flags = options->flags;
	struct dray_array *means = NULL, *distances = NULL;
	struct dray_view mean, distance, squares;
	int ret;

	*out = NULL;
	options->flags |= DRAY_REDUCE_KEEPDIMS;
	ret = dray_sum(in, NULL, options, &means);
	if (!ret)
		ret = mean_divide(averaging, in, means, 0);
	options->flags = flags;
	dray_array_unref(averaging->counts);
	averaging->counts = NULL;
	if (!ret)
		ret = dray_call_builtin("subtract", in,
					dray_array_view(means, &mean), NULL,
					&distances);
	dray_array_unref(means);
	if (!ret)
		ret = mean_square(dray_array_view(distances, &distance),
				  &squares);
	if (!ret)
		ret = dray_sum(&squares, NULL, options, out);
	if (!ret)
		ret = mean_divide(averaging, in, *out, ddof);
	dray_array_unref(distances);
	return ret;
}

int dray_var(const struct dray_view *in, const struct dray_view *to,
	     double ddof, const struct dray_reduce_options *options,
	     struct dray_array **out)
{
	struct averaging averaging;
	struct dray_array *result = NULL;
	int ret;

	if (!dray_given(in, __func__) || (!to && !dray_given(out, __func__)))
		return -EINVAL;
	ret = mean_begin(&averaging, in, options);
	if (!ret)
		ret = find_variance(&averaging, in, ddof, &result);
	return mean_finish(&averaging, ret, result, to, out);
}

int dray_std(const struct dray_view *in, const struct dray_view *to,
	     double ddof, const struct dray_reduce_options *options,
	     struct dray_array **out)
{
	struct averaging averaging;
	struct dray_array *result = NULL;
	struct dray_view view;
	int ret;

	if (!dray_given(in, __func__) || (!to && !dray_given(out, __func__)))
		return -EINVAL;
	ret = mean_begin(&averaging, in, options);
	if (!ret)
		ret = find_variance(&averaging, in, ddof, &result);
	if (!ret) {
		dray_array_view(result, &view);
		ret = dray_call_builtin("sqrt", &view, NULL, &view, NULL);
	}
	return mean_finish(&averaging, ret, result, to, out);
}

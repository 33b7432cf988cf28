// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Sums, products, extremes and truth along axes, running sums, and bounds. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"
#include "cast/fp_state.h"
#include "cast/options.h"
#include "index/truth.h"
#include "statistics/statistics.h"
#include "ufunc/ufunc.h"

int dray_all_axes(const struct dray_reduce_options *options,
		  struct dray_reduce_options *out, const char *function)
{
	int ret = dray_options_read(out, sizeof(*out), options,
				    DRAY_REDUCE_OPTIONS_SIZE_FIRST, function);

	if (!ret && !out->axes && !out->axes_count)
		out->flags |= DRAY_REDUCE_ALL_AXES;
	return ret;
}

/* Calls a builtin ufunc of an input or two. */
static int statistics_call(const char *name, const struct dray_view *a,
			   const struct dray_view *b,
			   const struct dray_view *to,
			   const struct dray_ufunc_options *options,
			   struct dray_array **out)
{
	const struct dray_view *const inputs[] = { a, b };
	struct dray_ufunc *ufunc = dray_ufunc_find(name);

	return ufunc ? dray_ufunc_call(ufunc, inputs, to ? &to : NULL, options,
				       out)
		     : -ENOENT; /* With its sentence. */
}

int dray_call_builtin(const char *name, const struct dray_view *a,
		      const struct dray_view *b, const struct dray_view *to,
		      struct dray_array **out)
{
	const struct dray_ufunc_options options = {
		.size = sizeof(options),
		.casting = 1 + DRAY_CASTING_UNSAFE,
	};

	return statistics_call(name, a, b, to, &options, out);
}

int dray_deliver(struct dray_array *result, const struct dray_view *to,
		 dray_dtype dtype, struct dray_array **out)
{
	char has[DRAY_SHAPE_TEXT], wanted[DRAY_SHAPE_TEXT];
	struct dray_array *made = NULL;
	struct dray_view view, converted;
	int ret = 0;

	dray_array_view(result, &view);
	if (!to && (!dtype || dray_dtype_equal(dtype, view.dtype))) {
		*out = result;
		return 0;
	}
	if (!to) {
		ret = dray_array_like(&view, dtype, DRAY_ORDER_K, &made);
		if (!ret)
			to = dray_array_view(made, &converted);
	} else if (to->ndim != view.ndim ||
		   memcmp(to->shape, view.shape,
			  (size_t)to->ndim * sizeof(to->shape[0]))) {
		ret = dray_fail(
			-EINVAL, "the output has the shape %s, the result %s",
			dray_shape_format(has, to->ndim, to->shape),
			dray_shape_format(wanted, view.ndim, view.shape));
	}
	if (!ret)
		ret = dray_view_convert(to, &view, DRAY_CASTING_UNSAFE);
	dray_array_unref(result);
	if (ret) {
		dray_array_unref(made);
		made = NULL;
	}
	if (out)
		*out = made;
	return ret;
}

static int statistics_reduce(const char *name, const struct dray_view *in,
			     const struct dray_view *to,
			     const struct dray_reduce_options *options,
			     struct dray_array **out)
{
	struct dray_ufunc *ufunc = dray_ufunc_find(name);
	struct dray_reduce_options all;
	int ret;

	if (!ufunc)
		return -ENOENT; /* With its sentence. */
	ret = dray_all_axes(options, &all, "dray_ufunc_reduce");
	return ret ? ret : dray_ufunc_reduce(ufunc, in, to, &all, out);
}

int dray_sum(const struct dray_view *in, const struct dray_view *to,
	     const struct dray_reduce_options *options, struct dray_array **out)
{
	return statistics_reduce("add", in, to, options, out);
}

int dray_prod(const struct dray_view *in, const struct dray_view *to,
	      const struct dray_reduce_options *options,
	      struct dray_array **out)
{
	return statistics_reduce("multiply", in, to, options, out);
}

int dray_min(const struct dray_view *in, const struct dray_view *to,
	     const struct dray_reduce_options *options, struct dray_array **out)
{
	return statistics_reduce("minimum", in, to, options, out);
}

int dray_max(const struct dray_view *in, const struct dray_view *to,
	     const struct dray_reduce_options *options, struct dray_array **out)
{
	return statistics_reduce("maximum", in, to, options, out);
}

int dray_all(const struct dray_view *in, const struct dray_view *to,
	     const struct dray_reduce_options *options, struct dray_array **out)
{
	return statistics_reduce("logical_and", in, to, options, out);
}

int dray_any(const struct dray_view *in, const struct dray_view *to,
	     const struct dray_reduce_options *options, struct dray_array **out)
{
	return statistics_reduce("logical_or", in, to, options, out);
}

int dray_ptp(const struct dray_view *in, const struct dray_view *to,
	     const struct dray_reduce_options *options, struct dray_array **out)
{
	struct dray_array *largest = NULL, *smallest = NULL, *result = NULL;
	struct dray_reduce_options all;
	struct dray_view a, b;
	int ret;

	if (!dray_given(in, __func__) || (!to && !dray_given(out, __func__)))
		return -EINVAL;
	ret = dray_all_axes(options, &all, __func__);
	if (ret)
		return ret;
	if (all.dtype || all.initial || all.where)
		return dray_fail(
			-EINVAL,
			"the distance of extremes has no dtype, initial or mask");
	ret = dray_max(in, NULL, &all, &largest);
	if (!ret)
		ret = dray_min(in, NULL, &all, &smallest);
	if (!ret)
		ret = dray_call_builtin("subtract",
					dray_array_view(largest, &a),
					dray_array_view(smallest, &b), NULL,
					&result);
	dray_array_unref(largest);
	dray_array_unref(smallest);
	return ret ? ret : dray_deliver(result, to, 0, out);
}

int dray_count_true(const struct dray_view *in, const struct dray_view *to,
		    const struct dray_reduce_options *options,
		    struct dray_array **out)
{
	struct dray_reduce_options all;
	struct dray_view truth;
	int64_t count;
	int ret;

	if (!dray_given(in, __func__) || (!to && !dray_given(out, __func__)))
		return -EINVAL;
	ret = dray_all_axes(options, &all, __func__);
	if (ret)
		return ret;
	all.dtype = DRAY_INT64;
	if (in->dtype == DRAY_BOOL)
		return statistics_reduce("add", in, to, &all, out);
	ret = dray_view_check(in, "the view", NULL);
	if (!ret && !(in->flags & DRAY_READ))
		ret = dray_fail(-EPERM, "the view may not be read");
	if (!ret && !to && !all.initial && !all.where &&
	    all.flags == DRAY_REDUCE_ALL_AXES) {
		count = dray_count_nonzero(in);
		return count < 0 ? (int)count
				 : dray_array_full(DRAY_INT64, 0, NULL, &count,
						   out);
	}
	if (!ret)
		ret = dray_truth_view(in, &truth);
	if (ret)
		return ret;
	ret = statistics_reduce("add", &truth, to, &all, out);
	free(truth.data);
	return ret;
}

static int statistics_run(const char *name, const struct dray_view *in,
			  int axis, dray_dtype dtype,
			  const struct dray_view *to, struct dray_array **out)
{
	struct dray_ufunc *ufunc = dray_ufunc_find(name);
	struct dray_array *copy = NULL;
	struct dray_view flat, copied;
	int ret;

	if (!ufunc)
		return -ENOENT; /* With its sentence. */
	if (!dray_given(in, __func__) || axis != DRAY_FLAT)
		return dray_ufunc_accumulate(ufunc, in, axis, dtype, to, out);
	ret = dray_view_ravel(in, DRAY_ORDER_C, &flat);
	if (ret == -EAGAIN) {
		ret = dray_array_copy(in, DRAY_ORDER_C, &copy);
		if (!ret)
			ret = dray_view_ravel(dray_array_view(copy, &copied),
					      DRAY_ORDER_C, &flat);
	}
	if (!ret)
		ret = dray_ufunc_accumulate(ufunc, &flat, 0, dtype, to, out);
	dray_array_unref(copy);
	return ret;
}

int dray_cumsum(const struct dray_view *in, int axis, dray_dtype dtype,
		const struct dray_view *to, struct dray_array **out)
{
	return statistics_run("add", in, axis, dtype, to, out);
}

int dray_cumprod(const struct dray_view *in, int axis, dray_dtype dtype,
		 const struct dray_view *to, struct dray_array **out)
{
	return statistics_run("multiply", in, axis, dtype, to, out);
}

/* Whether both bounds are elements of the type of @in, or numbers of the program. */
static bool clip_is_alike(const struct dray_view *in,
			  const struct dray_view *low,
			  const struct dray_view *high,
			  const struct dray_ufunc_options *options)
{
	if (options && (options->signature || options->wraps || options->dtype))
		return false;
	if (options && options->weak & 2)
		return !(options->weak & 1);
	return low->dtype == in->dtype && high->dtype == in->dtype;
}

/* Calls the loop that does it in a pass; -EOPNOTSUPP: there is none for the type. */
static int clip_at_once(const struct dray_view *in, const struct dray_view *low,
			const struct dray_view *high,
			const struct dray_view *to,
			const struct dray_ufunc_options *options,
			struct dray_array **out)
{
	const struct dray_view *const inputs[] = { in, low, high };
	struct dray_ufunc *clip = dray_ufunc_joined("clip");
	struct dray_ufunc_options own;
	int ret;

	if (!clip)
		return -ENOMEM; /* With its sentence. */
	ret = dray_options_read(&own, sizeof(own), options,
				DRAY_UFUNC_OPTIONS_SIZE_FIRST,
				"dray_ufunc_call");
	if (ret)
		return ret;
	if (own.weak & 2)
		own.weak |= 4;
	return dray_ufunc_call(clip, inputs, to ? &to : NULL, &own, out);
}

int dray_clip(const struct dray_view *in, const struct dray_view *low,
	      const struct dray_view *high, const struct dray_view *to,
	      const struct dray_ufunc_options *options, struct dray_array **out)
{
	struct dray_array *above = NULL;
	struct dray_view view;
	int ret;

	if (!dray_given(in, __func__) || (!to && !dray_given(out, __func__)))
		return -EINVAL;
	if (!low && !high)
		return dray_fail(-EINVAL, "a clip has no bound");
	if (!high)
		return statistics_call("maximum", in, low, to, options, out);
	if (!low)
		return statistics_call("minimum", in, high, to, options, out);
	if (clip_is_alike(in, low, high, options)) {
		ret = clip_at_once(in, low, high, to, options, out);
		/* Others are told with the names of the two calls. */
		if (!ret || ret == -ENOMEM)
			return ret;
	}
	ret = statistics_call("maximum", in, low, NULL, options, &above);
	if (!ret)
		ret = statistics_call("minimum", dray_array_view(above, &view),
				      high, to, options, out);
	dray_array_unref(above);
	return ret;
}

/* Most decimals that the powers of ten of a type have exactly; 0: another type. */
static int round_most(dray_dtype dtype)
{
	return dtype == DRAY_FLOAT32 ? 10 : dtype == DRAY_FLOAT64 ? 22 : 0;
}

/*
 * Scales, rounds and scales back in a pass.  -EDOM without a sentence: errors of
 * numbers are to be noted, as the three calls do it.
 */
static int round_at_once(const struct dray_view *in,
			 const struct dray_view *power, int decimals,
			 struct dray_array **out)
{
	const struct dray_view *const inputs[] = { in, power };
	struct dray_ufunc *ufunc =
		dray_ufunc_joined(decimals > 0 ? "decimals" : "tens");
	const struct dray_ufunc_options options = {
		.size = sizeof(options),
		.weak = 2,
	};
	int ret;

	if (!ufunc)
		return -ENOMEM; /* With its sentence. */
	dray_fp_clear();
	ret = dray_ufunc_call(ufunc, inputs, NULL, &options, out);
	if (ret || !dray_fp_take())
		return ret;
	dray_array_unref(*out);
	*out = NULL;
	return -EDOM;
}

static int round_in_steps(const struct dray_view *in,
			  const struct dray_view *power, int decimals,
			  struct dray_array **out)
{
	const char *const first = decimals > 0 ? "multiply" : "divide";
	const char *const last = decimals > 0 ? "divide" : "multiply";
	const struct dray_ufunc_options options = {
		.size = sizeof(options),
		.weak = 2,
	};
	const struct dray_ufunc_options plain = { .size = sizeof(plain) };
	struct dray_array *scaled = NULL;
	struct dray_view view;
	int ret;

	ret = statistics_call(first, in, power, NULL, &options, &scaled);
	if (!ret)
		ret = statistics_call("rint", dray_array_view(scaled, &view),
				      NULL, &view, &plain, NULL);
	if (!ret)
		ret = statistics_call(last, &view, power, NULL, &options, out);
	dray_array_unref(scaled);
	return ret;
}

int dray_round(const struct dray_view *in, int decimals,
	       struct dray_array **out)
{
	const int count = decimals < 0 ? -decimals : decimals;
	char text[DRAY_DTYPE_TYPESTR_SIZE];
	struct dray_view power;
	double ten;
	int ret;

	if (!dray_given(in, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	if (decimals < -DRAY_ROUND_MOST || decimals > DRAY_ROUND_MOST)
		return dray_fail(-EINVAL,
				 "%d decimals: they are from -%d to %d",
				 decimals, DRAY_ROUND_MOST, DRAY_ROUND_MOST);
	ret = dray_view_check(in, "the view", NULL);
	if (ret)
		return ret;
	if (dray_dtype_kind(in->dtype) != 'f')
		return dray_fail(-EOPNOTSUPP,
				 "decimals are of floats, not of %s",
				 dray_dtype_text(in->dtype, text));
	if (!decimals)
		return statistics_call("rint", in, NULL, NULL, NULL, out);
	ten = pow(10, count);
	ret = dray_view_init(&power, &ten, DRAY_FLOAT64, 0, NULL, NULL);
	if (!ret && count <= round_most(in->dtype)) {
		ret = round_at_once(in, &power, decimals, out);
		if (ret != -EDOM)
			return ret;
		ret = 0;
	}
	return ret ? ret : round_in_steps(in, &power, decimals, out);
}

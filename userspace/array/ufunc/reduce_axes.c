// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reductions: axes, the element to start with, the mask, and the shape of the
 * result.  reduce_walk.c has the way through the elements.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "private.h"
#include "cast/options.h"
#include "cast/cast.h"
#include "ufunc/reduce.h"

#define FLAGS \
	(DRAY_REDUCE_KEEPDIMS | DRAY_REDUCE_ALL_AXES | DRAY_REDUCE_NO_INITIAL)

static const int64_t identities[] = {
	[DRAY_IDENTITY_ZERO] = 0,
	[DRAY_IDENTITY_ONE] = 1,
	[DRAY_IDENTITY_MINUS_ONE] = -1,
};

/* Whether results of a type begin with the identity. */
static bool has_identity(const struct dray_ufunc *ufunc, dray_dtype dtype)
{
	const char kind = dray_dtype_kind(dtype);

	if (ufunc->identity < DRAY_IDENTITY_ZERO ||
	    !dray_dtype_is_builtin(dtype))
		return false;
	return ufunc->identity != DRAY_IDENTITY_MINUS_INFINITY || kind == 'f' ||
	       kind == 'c';
}

/* Sets the result to the identity. */
static int set_identity(struct dray_method *method)
{
	static const double infinity = -INFINITY;
	const enum dray_identity identity = method->ufunc->identity;

	if (dray_view_is_empty(&method->result))
		return 0;
	if (identity == DRAY_IDENTITY_MINUS_INFINITY)
		return dray_view_fill(&method->result, DRAY_FLOAT64, &infinity);
	if (identity == DRAY_IDENTITY_ZERO && method->made) {
		memset(method->result.data, 0,
		       (size_t)dray_view_size(&method->result) *
			       (size_t)method->result_item);
		return 0;
	}
	return dray_view_fill(&method->result, DRAY_INT64,
			      &identities[identity]);
}

static int find_axes(const struct dray_ufunc *ufunc, int ndim,
		     const struct dray_reduce_options *options,
		     uint64_t *reduced)
{
	const int count = options->axes_count;
	int i, axis, ret;

	*reduced = 0;
	if (options->flags & ~FLAGS)
		return dray_fail(-EINVAL, "unknown flags of a reduction: %#x",
				 options->flags & ~FLAGS);
	if (count < 0 || (count && !options->axes))
		return dray_fail(-EINVAL, "%d axes and %s list", count,
				 options->axes ? "a" : "no");
	if (options->axes && (options->flags & DRAY_REDUCE_ALL_AXES))
		return dray_fail(-EINVAL,
				 "all axes are to be reduced, and a list of %d",
				 count);
	if (options->flags & DRAY_REDUCE_ALL_AXES)
		*reduced = ndim == 64 ? UINT64_MAX : (UINT64_C(1) << ndim) - 1;
	else if (!options->axes)
		*reduced = ndim > 0;
	for (i = 0; i < count; i++) {
		/* An element without axes is taken as an axis of one. */
		if (!ndim && count == 1 &&
		    (options->axes[i] == 0 || options->axes[i] == -1))
			continue;
		ret = dray_method_axis(options->axes[i], ndim, &axis);
		if (ret)
			return ret;
		if (*reduced >> axis & 1)
			return dray_fail(-EINVAL, "axis %d is named twice",
					 axis);
		*reduced |= UINT64_C(1) << axis;
	}
	if (ufunc->identity == DRAY_IDENTITY_NONE &&
	    __builtin_popcountll(*reduced) > 1)
		return dray_fail(
			-EINVAL,
			"the order of elements counts for %s: only one axis is reduced at a time, not %d",
			ufunc->name, __builtin_popcountll(*reduced));
	return 0;
}

/* Describes the result: of the axes that stay, with the input's strides. */
static void reduce_axes_describe(const struct dray_view *in, uint64_t reduced,
				 bool keeps, struct dray_view *like)
{
	int i;

	dray_view_begin(like, in, 0);
	for (i = 0; i < in->ndim; i++) {
		const bool gone = reduced >> i & 1;

		if (gone && !keeps)
			continue;
		like->shape[like->ndim] = gone ? 1 : in->shape[i];
		like->strides[like->ndim++] = in->strides[i];
	}
	if (dray_view_is_empty(like))
		like->data = NULL;
}

/* Gives the result the axes of the input. */
static void reduce_axes_spread(const struct dray_view *in, uint64_t reduced,
			       bool keeps, const struct dray_view *result,
			       struct dray_view *out)
{
	int i, at = 0;

	dray_view_begin(out, result, in->ndim);
	for (i = 0; i < in->ndim; i++) {
		const bool gone = reduced >> i & 1;

		out->shape[i] = in->shape[i];
		out->strides[i] = gone ? 0 : result->strides[at];
		at += !gone || keeps;
	}
}

static int axes_check_mask(const struct dray_view *in,
			   const struct dray_view *where,
			   struct dray_view *mask)
{
	int ret = dray_view_check(where, "the mask", NULL);

	if (ret)
		return ret;
	if (where->dtype != DRAY_BOOL)
		return dray_fail(-EOPNOTSUPP, "a mask has to be of bools");
	if (!(where->flags & DRAY_READ))
		return dray_fail(-EPERM, "the mask may not be read");
	return dray_view_broadcast(where, in->ndim, in->shape, mask);
}

/* Refuses a number that has no integer, or one that does not fit @dtype. */
static int axes_check_number(const struct dray_view *initial, dray_dtype dtype)
{
	const int bits = (int)dray_dtype_itemsize(dtype) * 8;
	const bool has_sign = dray_dtype_kind(dtype) == 'i';
	const double limit = ldexp(1, has_sign ? bits - 1 : bits);
	char text[DRAY_DTYPE_TYPESTR_SIZE];
	struct dray_view view;
	double number;
	int ret = dray_view_init(&view, &number, DRAY_FLOAT64, initial->ndim,
				 initial->shape, NULL);

	if (!ret)
		ret = dray_view_cast(&view, initial, DRAY_CASTING_UNSAFE);
	if (ret)
		return ret;
	if (isnan(number))
		return dray_fail(-EINVAL, "NaN is not an initial integer");
	number = trunc(number);
	if (number >= limit || number < (has_sign ? -limit : 0))
		return dray_fail_as(
			-EOVERFLOW, DRAY_FAILURE_BOUNDS,
			"an initial element of %g is out of bounds for %s",
			number, dray_dtype_text(dtype, text));
	return 0;
}

/* Refuses an initial element that would be another number. */
static int axes_check_kind(const struct dray_view *initial, dray_dtype dtype)
{
	char from[DRAY_DTYPE_TYPESTR_SIZE], to[DRAY_DTYPE_TYPESTR_SIZE];
	const char kind = dray_dtype_kind(initial->dtype);
	const char wanted = dray_dtype_kind(dtype);
	const bool times = wanted == 'm' || wanted == 'M';

	if (kind != wanted &&
	    ((kind == 'c' && strchr("iuf", wanted)) || kind == 'm' ||
	     kind == 'M' || (times && strchr("fc", kind))))
		return dray_fail(
			times ? -EINVAL : -EOPNOTSUPP,
			"an initial element of type %s does not fit type %s",
			dray_dtype_text(initial->dtype, from),
			dray_dtype_text(dtype, to));
	if (kind == 'f' && strchr("iu", wanted))
		return axes_check_number(initial, dtype);
	return dray_check_integer(initial, dtype);
}

/* Sets the result to an initial element, or to the identity. */
static int reduce_axes_begin(struct dray_reduction *reduction,
			     struct dray_method *method,
			     const struct dray_reduce_options *options)
{
	const struct dray_view *in = method->in;
	int i, ret;

	if (options->initial) {
		ret = axes_check_kind(options->initial, method->result.dtype);
		return ret ? ret
			   : dray_view_cast(&method->result, options->initial,
					    DRAY_CASTING_UNSAFE);
	}
	if (has_identity(method->ufunc, method->result.dtype) &&
	    !(options->flags & DRAY_REDUCE_NO_INITIAL))
		return set_identity(method);
	for (i = 0; i < in->ndim; i++)
		if (reduction->reduced >> i & 1 && !in->shape[i])
			return dray_fail(
				-EINVAL,
				"%s of no elements needs an initial one: it has no identity",
				method->ufunc->name);
	if (options->where)
		return dray_fail(
			-EINVAL,
			"%s with a mask needs an initial element: it has no identity",
			method->ufunc->name);
	reduction->starts = true;
	return 0;
}

static int check_initial(const struct dray_view *initial)
{
	int ret = dray_view_check(initial, "the initial element", NULL);

	if (!ret && dray_view_size(initial) != 1)
		ret = dray_fail(-EINVAL,
				"%" PRId64
				" elements instead of an initial one",
				dray_view_size(initial));
	return ret;
}

static int reduce_axes_run(struct dray_method *method,
			   const struct dray_reduce_options *options)
{
	const bool keeps = options->flags & DRAY_REDUCE_KEEPDIMS;
	const struct dray_view *in = method->in;
	struct dray_reduction reduction = { .method = method };
	struct dray_view like, mask, result;
	int ret;

	ret = find_axes(method->ufunc, in->ndim, options, &reduction.reduced);
	if (!ret)
		ret = dray_method_resolve(method, options->dtype, false);
	if (!ret && options->initial)
		ret = check_initial(options->initial);
	if (!ret && options->where)
		ret = axes_check_mask(in, options->where, &mask);
	if (ret)
		return ret;
	reduce_axes_describe(in, reduction.reduced, keeps, &like);
	ret = dray_method_prepare(method, &like, &options->where, 1, false);
	if (!ret)
		ret = reduce_axes_begin(&reduction, method, options);
	if (ret || !method->operand.extent.elements)
		return ret;
	reduce_axes_spread(in, reduction.reduced, keeps, &method->result,
			   &result);
	reduction.mask = options->where ? &mask : NULL;
	reduction.reorders = method->ufunc->identity != DRAY_IDENTITY_NONE;
	reduction.line = dray_method_line(method, &reduction.converts);
	return dray_reduce_walk(&reduction, &result);
}

int dray_ufunc_reduce(struct dray_ufunc *ufunc, const struct dray_view *in,
		      const struct dray_view *to,
		      const struct dray_reduce_options *options,
		      struct dray_array **out)
{
	struct dray_reduce_options known;
	struct dray_method method;
	int ret;

	if (!dray_given(ufunc, __func__) || !dray_given(in, __func__) ||
	    (!to && !dray_given(out, __func__)))
		return -EINVAL;
	ret = DRAY_READ_OPTIONS(&known, options,
				DRAY_REDUCE_OPTIONS_SIZE_FIRST);
	if (ret)
		return ret;
	ret = dray_method_start(&method, "reduce", ufunc, in, to);
	if (!ret)
		ret = reduce_axes_run(&method, &known);
	return dray_method_end(&method, ret, out);
}

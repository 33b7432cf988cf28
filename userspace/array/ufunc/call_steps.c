// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Calls: checks the operands, chooses the loop, and the way through the elements:
 * one loop, loops along the best axis, or loops over buffers.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "private.h"
#include "cast/options.h"
#include "iterator/iterator.h"
#include "ufunc/call.h"

/* Options that change nothing about a call of one type, but for weak numbers. */
static bool is_ordinary(const struct dray_ufunc_options *options)
{
	return !options->dtype && !options->signature && !options->where &&
	       (!options->order || options->order == 'K') &&
	       !(options->flags & ~DRAY_UFUNC_FAST) &&
	       options->casting <= 1 + DRAY_CASTING_UNSAFE &&
	       options->threads <= 1 && !options->wraps;
}

int dray_ufunc_check_options(const struct dray_ufunc_options *options)
{
	if (options->flags & ~DRAY_UFUNC_FAST)
		return dray_fail(-EINVAL, "unknown flags of a call: %#x",
				 options->flags);
	if (options->casting > 1 + DRAY_CASTING_UNSAFE)
		return dray_fail(-EINVAL,
				 "casting rule %d does not exist, 0 to %d do",
				 options->casting - 1, DRAY_CASTING_UNSAFE);
	if (options->order && !strchr("CFAK", options->order))
		return dray_fail(
			-EINVAL,
			"order '%c' does not exist: it is C, F, A or K",
			options->order);
	return 0;
}

static int call_steps_collect(struct dray_ufunc_call *call,
			      struct dray_ufunc *ufunc,
			      const struct dray_view *const *inputs,
			      const struct dray_view *const *outputs,
			      const struct dray_ufunc_options *options,
			      struct dray_array **out)
{
	int o;

	call->ufunc = ufunc;
	call->options = options;
	call->count = dray_ufunc_operands(ufunc);
	call->operands = call->count;
	call->errors = 0;
	for (o = 0; o < DRAY_MAX_OPERANDS; o++)
		call->made[o] = NULL;
	for (o = 0; o < call->count; o++) {
		if (o < ufunc->inputs)
			call->views[o] = inputs[o];
		else
			call->views[o] =
				outputs ? outputs[o - ufunc->inputs] : NULL;
		if (!call->views[o] &&
		    !dray_given(o < ufunc->inputs ? NULL : out,
				"dray_ufunc_call"))
			return -EINVAL;
	}
	if (options->where)
		call->views[call->operands++] = options->where;
	return 0;
}

int dray_ufunc_check_mask(const struct dray_ufunc *ufunc, dray_dtype dtype)
{
	char text[DRAY_DTYPE_TYPESTR_SIZE];

	if (dtype == DRAY_BOOL ||
	    dray_can_cast(dtype, DRAY_BOOL, DRAY_CASTING_NO))
		return 0;
	return dray_fail_as(
		-EOPNOTSUPP, DRAY_FAILURE_CASTING,
		"Cannot cast the mask of ufunc '%.64s' from %s to bool according to the rule 'safe'",
		ufunc->name, dray_dtype_text(dtype, text));
}

/* Checks that a view may be used as it is to be. */
static int steps_check_view(struct dray_ufunc_call *call, int o)
{
	const struct dray_view *view = call->views[o];
	int ret = dray_operand_init(&call->checked[o], view,
				    dray_operand_names[o]);

	if (ret)
		return ret;
	if (dray_call_is_output(call, o)) {
		if (view->flags & DRAY_WRITE)
			return 0;
		return dray_fail(-EPERM, "output %d of ufunc '%.64s' is %s",
				 o - call->ufunc->inputs, call->ufunc->name,
				 view->flags & DRAY_IMMUTABLE ? "immutable"
							      : "read-only");
	}
	if (!(view->flags & DRAY_READ))
		return dray_fail(-EPERM, "%s of ufunc '%.64s' may not be read",
				 dray_operand_names[o], call->ufunc->name);
	return o == call->count
		       ? dray_ufunc_check_mask(call->ufunc, view->dtype)
		       : 0;
}

static int check_views(struct dray_ufunc_call *call)
{
	int o, ret = 0;

	for (o = 0; o < call->operands && !ret; o++)
		if (call->views[o])
			ret = steps_check_view(call, o);
	return ret;
}

int dray_ufunc_resolve_types(struct dray_ufunc *ufunc, const dray_dtype *given,
			     const struct dray_ufunc_options *options,
			     dray_dtype *dtypes)
{
	struct dray_ufunc_options known;
	struct dray_resolved resolved;
	int o, ret;

	if (!dray_given(ufunc, __func__) || !dray_given(given, __func__) ||
	    !dray_given(dtypes, __func__))
		return -EINVAL;
	ret = DRAY_READ_OPTIONS(&known, options, DRAY_UFUNC_OPTIONS_SIZE_FIRST);
	options = &known;
	if (!ret)
		ret = dray_ufunc_check_options(options);
	for (o = 0; !ret && o < dray_ufunc_operands(ufunc); o++)
		if (given[o] || o < ufunc->inputs)
			ret = dray_dtype_check(given[o], &dtypes[o]);
	if (!ret)
		ret = dray_ufunc_resolve(ufunc, given, options, &resolved);
	if (!ret)
		ret = dray_ufunc_check_casts(ufunc, given, options, &resolved);
	for (o = 0; !ret && o < dray_ufunc_operands(ufunc); o++)
		dtypes[o] = dray_dtype_ref(resolved.dtypes[o]);
	return ret;
}

static int steps_choose_loop(struct dray_ufunc_call *call)
{
	dray_dtype given[DRAY_UFUNC_MAX_OPERANDS];
	int o, ret;

	for (o = 0; o < call->count; o++)
		given[o] = call->views[o] ? call->views[o]->dtype : 0;
	ret = dray_ufunc_resolve(call->ufunc, given, call->options,
				 &call->resolved);
	if (ret)
		return ret;
	dray_ufunc_choose_fast(call->options, &call->resolved);
	return dray_ufunc_check_casts(call->ufunc, given, call->options,
				      &call->resolved);
}

/* Finds the shape, which outputs that are given have to have. */
static int call_steps_broadcast(struct dray_ufunc_call *call)
{
	const int64_t *shapes[DRAY_MAX_OPERANDS];
	int ndims[DRAY_MAX_OPERANDS];
	char has[DRAY_SHAPE_TEXT], needs[DRAY_SHAPE_TEXT];
	int o, count = 0, ret;

	for (o = 0; o < call->operands; o++) {
		if (!call->views[o])
			continue;
		ndims[count] = call->views[o]->ndim;
		shapes[count++] = call->views[o]->shape;
	}
	ret = dray_broadcast_shapes(count, ndims, shapes, &call->ndim,
				    call->shape);
	if (ret)
		return ret;
	call->elements = 1;
	for (o = 0; o < call->ndim; o++)
		call->elements *= call->shape[o];
	for (o = call->ufunc->inputs; o < call->count; o++) {
		const struct dray_view *view = call->views[o];

		if (!view || (view->ndim == call->ndim &&
			      !memcmp(view->shape, call->shape,
				      (size_t)call->ndim * sizeof(int64_t))))
			continue;
		return dray_fail(
			-EINVAL,
			"non-broadcastable output operand with shape %s doesn't match the broadcast shape %s",
			dray_shape_format(has, view->ndim, view->shape),
			dray_shape_format(needs, call->ndim, call->shape));
	}
	return 0;
}

/* Whether operands are as the loop wants them. */
static bool call_is_plain(const struct dray_ufunc_call *call)
{
	int o;

	for (o = 0; o < call->count; o++) {
		const struct dray_view *view = call->views[o];

		if (!dray_view_is_ready(view, call->resolved.dtypes[o]) ||
		    !dray_dtype_itemsize(view->dtype))
			return false;
	}
	return true;
}

/* Computes all elements, and keeps the errors that are met. */
static int call_steps_compute(struct dray_ufunc_call *call)
{
	bool plain;
	int ret;

	if (!call->elements)
		return 0;
	plain = call_is_plain(call);
	if (plain || !dray_call_small(call, &ret)) {
		ret = dray_call_put_aside(call);
		if (ret)
			return ret;
		plain = plain || call_is_plain(call);
		if (plain)
			ret = dray_call_strided(call);
		else if (!dray_call_pieces(call, &ret))
			ret = dray_call_buffered(call);
	}
	/* Flags that a loop without errors leaves mean nothing. */
	if (!plain || !(call->resolved.loop.flags & DRAY_LOOP_NO_FP_ERRORS))
		call->errors |= dray_fp_take();
	return ret < 0 ? ret : 0;
}

static int call_steps_run(struct dray_ufunc_call *call)
{
	unsigned int overflown;
	int ret;

	ret = dray_ufunc_check_options(call->options);
	if (!ret)
		ret = check_views(call);
	if (!ret)
		ret = steps_choose_loop(call);
	if (!ret)
		ret = call_steps_broadcast(call);
	if (!ret && dray_call_lacks_output(call))
		ret = dray_call_make(call);
	dray_fp_clear();
	if (!ret && call->options->weak) {
		ret = dray_call_convert_weak(call);
		/* As NumPy says it. */
		overflown = dray_fp_take() & DRAY_FP_OVER;
		if (!ret && overflown)
			ret = dray_fp_report("cast", overflown);
	}
	if (!ret)
		ret = call_steps_compute(call);
	if (!ret && call->errors)
		ret = dray_fp_report(call->ufunc->name, call->errors);
	if (!ret && call->options->wraps)
		ret = dray_call_wrap(call);
	return ret;
}

int dray_ufunc_call(struct dray_ufunc *ufunc,
		    const struct dray_view *const *inputs,
		    const struct dray_view *const *outputs,
		    const struct dray_ufunc_options *options,
		    struct dray_array **out)
{
	static const struct dray_ufunc_options none = { .size = sizeof(none) };
	struct dray_ufunc_options known;
	struct dray_ufunc_call call;
	int o, ret;

	if (!dray_given(ufunc, __func__) || !dray_given(inputs, __func__))
		return -EINVAL;
	if (!options)
		options = &none;
	if (!DRAY_OPTIONS_ARE_KNOWN(options)) {
		ret = DRAY_READ_OPTIONS(&known, options,
					DRAY_UFUNC_OPTIONS_SIZE_FIRST);
		if (ret)
			return ret;
		options = &known;
	}
	if (is_ordinary(options) &&
	    dray_call_quick(ufunc, inputs, outputs, options, out, &ret))
		return ret;
	ret = call_steps_collect(&call, ufunc, inputs, outputs, options, out);
	if (ret)
		return ret;
	ret = call_steps_run(&call);
	for (o = 0; o < call.operands; o++) {
		if (ret || !dray_call_is_output(&call, o))
			dray_array_unref(call.made[o]);
		else if (out)
			out[o - ufunc->inputs] = call.made[o];
	}
	return ret;
}

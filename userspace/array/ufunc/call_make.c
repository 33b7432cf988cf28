// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Outputs that were not given: arrays in the order that the call wants, which a
 * class of the inputs may wrap.
 */
#include <errno.h>
#include <string.h>

#include "array/array.h"
#include "private.h"
#include "ufunc/call.h"
#include "ufunc/users_loop.h"

/* Whether axes lie in C order, in any direction; repeated ones lie anywhere. */
static bool make_is_c_order(const struct dray_view *view)
{
	uint64_t inner = 0, stride;
	int i;

	for (i = view->ndim - 1; i >= 0; i--) {
		stride = dray_magnitude(view->strides[i]);
		if (view->shape[i] == 1 || !stride)
			continue;
		if (stride < inner)
			return false;
		inner = stride;
	}
	return true;
}

static bool lie_in_c_order(const struct dray_ufunc_call *call)
{
	int o;

	for (o = 0; o < call->operands; o++)
		if (call->views[o] && !make_is_c_order(call->views[o]))
			return false;
	return true;
}

static int make_one(struct dray_ufunc_call *call, int o, bool c_order)
{
	const dray_dtype dtype = call->resolved.dtypes[o];
	int64_t strides[DRAY_MAX_NDIM];

	/* Too many bytes are refused by the next call. */
	if (!c_order)
		(void)dray_strides_fill(call->ndim, call->shape,
					dray_dtype_itemsize(dtype), false,
					strides);
	return dray_array_from_handler(dtype, call->ndim, call->shape,
				       c_order ? NULL : strides, false,
				       &call->made[o]);
}

/* Lets an iterator find the order that the operands have in common. */
static int make_by_iterator(struct dray_ufunc_call *call)
{
	uint32_t flags[DRAY_MAX_OPERANDS];
	dray_dtype dtypes[DRAY_MAX_OPERANDS] = { 0 };
	const struct dray_nditer_options options = {
		.size = sizeof(options),
		.flags = DRAY_NDITER_ZEROSIZE_OK | DRAY_NDITER_MULTI_INDEX,
		.order = call->options->order,
		.operand_flags = flags,
		.dtypes = dtypes,
	};
	struct dray_nditer *iter;
	int o, ret;

	for (o = 0; o < call->operands; o++) {
		flags[o] = DRAY_OPERAND_READ;
		if (!dray_call_is_output(call, o))
			continue;
		flags[o] = DRAY_OPERAND_WRITE | DRAY_OPERAND_NO_BROADCAST;
		if (call->views[o])
			continue;
		flags[o] |= DRAY_OPERAND_ALLOCATE;
		dtypes[o] = call->resolved.dtypes[o];
	}
	ret = dray_nditer_create(call->views, call->operands, &options, &iter);
	if (ret)
		return ret;
	for (o = call->ufunc->inputs; o < call->count; o++)
		if (!call->views[o])
			call->made[o] =
				dray_array_ref(dray_nditer_array(iter, o));
	return dray_nditer_destroy(iter);
}

int dray_call_make(struct dray_ufunc_call *call)
{
	const char order = call->options->order;
	const bool c_order = order == 'C' || (order != 'F' && order != 'A' &&
					      lie_in_c_order(call));
	int o, ret = 0;

	if (!c_order && order != 'F')
		ret = make_by_iterator(call);
	for (o = call->ufunc->inputs; o < call->count && !ret; o++) {
		if (call->views[o])
			continue;
		if (!call->made[o])
			ret = make_one(call, o, c_order);
		if (!ret)
			call->views[o] =
				dray_array_view(call->made[o], &call->own[o]);
	}
	return ret;
}

int dray_ufunc_make(struct dray_ufunc *ufunc,
		    const struct dray_ufunc_options *options,
		    const struct dray_view *const *views, int operands,
		    const dray_dtype *dtypes, int ndim, const int64_t *shape,
		    struct dray_array **made)
{
	struct dray_ufunc_call call = {
		.ufunc = ufunc,
		.options = options,
		.count = dray_ufunc_operands(ufunc),
		.operands = operands,
		.ndim = ndim,
	};
	int o, ret;

	for (o = 0; o < operands; o++)
		call.views[o] = views[o];
	memcpy(call.resolved.dtypes, dtypes,
	       (size_t)call.count * sizeof(*dtypes));
	memcpy(call.shape, shape, (size_t)ndim * sizeof(*shape));
	ret = dray_call_lacks_output(&call) ? dray_call_make(&call) : 0;
	for (o = ufunc->inputs; o < call.count; o++)
		if (ret)
			dray_array_unref(call.made[o]);
		else if (call.made[o])
			made[o] = call.made[o];
	return ret;
}

int dray_call_wrap(struct dray_ufunc_call *call)
{
	const struct dray_ufunc_wrap *best = NULL;
	int o, ret = 0;

	for (o = 0; o < call->ufunc->inputs; o++) {
		const struct dray_ufunc_wrap *wrap = call->options->wraps[o];

		if (wrap && (!best || wrap->priority > best->priority))
			best = wrap;
	}
	if (best &&
	    !dray_given((const void *)(uintptr_t)best->wrap, "dray_ufunc_call"))
		return -EINVAL;
	for (o = call->ufunc->inputs; best && o < call->count && !ret; o++) {
		struct dray_array *wrapped = NULL;

		if (!call->made[o])
			continue;
		dray_forget_failure();
		ret = dray_users_result(best->wrap(best->context, call->ufunc,
						   o - call->ufunc->inputs,
						   call->made[o], &wrapped),
					"a function that wraps");
		if (ret)
			break;
		dray_array_unref(call->made[o]);
		call->made[o] = wrapped;
	}
	return ret;
}

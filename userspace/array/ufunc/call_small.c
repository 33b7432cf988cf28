// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Few elements, of which some convert.  Operands that convert, that share bytes with an
 * output or are without a single stride pass through buffers on the stack, and the loop is
 * called once.  All inputs are read before an output is written.  An iterator, or an array
 * for a copy, would take longer to make.  call_steps.c calls it.
 */
#include "private.h"
#include "ufunc/call.h"
#include "ufunc/users_loop.h"

#define BUFFERS 4 /* operands, at most */
#define BYTES 8192 /* of a buffer */
#define ITEM 16 /* bytes of an element, at most */

/* An operand as the loop sees it. */
struct small_operand {
	char *data;
	int64_t stride;
	bool carried; /* in a buffer, by cast */
	struct dray_cast cast;
};

/* The axes between an operand and its buffer. */
struct small_walk {
	const struct dray_cast *cast;
	const int64_t *shape;
	int ndim;
	int longest; /* axis */
	int64_t to[DRAY_MAX_NDIM]; /* strides */
	int64_t from[DRAY_MAX_NDIM];
};

bool dray_call_find_line(const struct dray_ufunc_call *call,
			 const struct dray_view *view, int64_t *stride)
{
	bool number = true, line = view->ndim == call->ndim;
	int i;

	for (i = 0; i < view->ndim; i++) {
		number = number && view->shape[i] == 1;
		line = line && view->shape[i] == call->shape[i];
	}
	*stride = 0;
	if (number)
		return true;
	if (!line || (view->ndim > 1 && !dray_view_is_packed(view, true)))
		return false;
	*stride = view->ndim > 1 ? dray_dtype_itemsize(view->dtype)
				 : view->strides[0];
	return true;
}

/*
 * Whether elements of input @o share memory with an output.
 * @in_place: elements of both at the same index may
 */
static bool small_meets_output(const struct dray_ufunc_call *call, int o,
			       bool in_place)
{
	int w;

	for (w = call->ufunc->inputs; w < call->count; w++)
		if (!call->made[w] &&
		    dray_addresses_meet(call->checked[w].span,
					call->checked[o].span) &&
		    !(in_place &&
		      dray_views_are_alike(call->views[w], call->views[o])))
			return true;
	return false;
}

static bool small_applies(const struct dray_ufunc_call *call)
{
	int o;

	if (dray_call_has_mask(call) || call->count > BUFFERS ||
	    call->elements > BYTES / ITEM ||
	    call->elements > dray_fp_buffer_size())
		return false;
	for (o = 0; o < call->count; o++)
		if (dray_dtype_itemsize(call->resolved.dtypes[o]) - 1u >= ITEM)
			return false;
	return true;
}

static int small_prepare(const struct dray_ufunc_call *call, int o,
			 struct small_operand *operand, char *buffer)
{
	const struct dray_view *view = call->views[o];
	const dray_dtype dtype = call->resolved.dtypes[o];
	const bool output = dray_call_is_output(call, o);
	const bool line = dray_call_find_line(call, view, &operand->stride);

	operand->data = view->data;
	operand->carried =
		!line || !dray_view_is_ready(view, dtype) ||
		(!output &&
		 small_meets_output(call, o,
				    dray_magnitude(operand->stride) >=
					    dray_dtype_itemsize(dtype)));
	if (!operand->carried)
		return 0;
	operand->data = buffer;
	if (output || !line || operand->stride)
		operand->stride = dray_dtype_itemsize(dtype);
	return output ? dray_cast_find(view->dtype, dtype, &operand->cast)
		      : dray_cast_find(dtype, view->dtype, &operand->cast);
}

/* Converts the elements of all axes from @axis on and of the longest. */
static int walk_axes(const struct small_walk *walk, int axis, char *to,
		     char *from)
{
	const int longest = walk->longest;
	int64_t i;
	int ret = 0;

	if (axis == walk->ndim)
		return dray_cast_run(walk->cast, to, walk->to[longest], from,
				     walk->from[longest], walk->shape[longest]);
	for (i = 0; !ret && i < (axis == longest ? 1 : walk->shape[axis]); i++)
		ret = walk_axes(walk, axis + 1, to + i * walk->to[axis],
				from + i * walk->from[axis]);
	return ret;
}

/* Converts an operand to its buffer, or from it. */
static int small_carry(const struct dray_ufunc_call *call, int o,
		       const struct small_operand *operand)
{
	const struct dray_view *view = call->views[o];
	const bool output = dray_call_is_output(call, o);
	char *const to = output ? view->data : operand->data;
	char *const from = output ? operand->data : view->data;
	struct small_walk walk = {
		.cast = &operand->cast,
		.shape = call->shape,
		.ndim = call->ndim,
		.longest = call->ndim - 1,
	};
	int64_t *const strides = output ? walk.to : walk.from;
	int64_t *const steps = output ? walk.from : walk.to;
	int64_t step = operand->stride;
	int i, own = view->ndim - 1;

	if (!step || call->elements == 1)
		return dray_cast_run(walk.cast, to, 0, from, 0, 1);
	for (i = call->ndim - 1; i >= 0; i--, own--) {
		strides[i] = own < 0 || view->shape[own] == 1
				     ? 0
				     : view->strides[own];
		steps[i] = step;
		step *= call->shape[i];
		if (call->shape[i] > call->shape[walk.longest])
			walk.longest = i;
	}
	return walk_axes(&walk, 0, to, from);
}

bool dray_call_small(struct dray_ufunc_call *call, int *ret)
{
	const struct dray_ufunc_loop *loop = &call->resolved.loop;
	const bool quiet = loop->flags & DRAY_LOOP_NO_FP_ERRORS;
	char buffers[BUFFERS][BYTES] __attribute__((aligned(64)));
	struct small_operand operands[BUFFERS];
	int64_t strides[BUFFERS];
	char *data[BUFFERS];
	int o;

	if (!small_applies(call))
		return false;
	*ret = 0;
	for (o = 0; o < call->count && !*ret; o++) {
		*ret = small_prepare(call, o, &operands[o], buffers[o]);
		if (!*ret && operands[o].carried && o < call->ufunc->inputs)
			*ret = small_carry(call, o, &operands[o]);
		data[o] = operands[o].data;
		strides[o] = operands[o].stride;
	}
	/* Flags that a loop without errors leaves mean nothing. */
	if (quiet)
		call->errors |= dray_fp_take();
	if (!*ret)
		*ret = dray_loop_run(loop, data, strides, call->elements);
	if (quiet)
		dray_fp_clear();
	for (o = call->ufunc->inputs; o < call->count && !*ret; o++)
		if (operands[o].carried)
			*ret = small_carry(call, o, &operands[o]);
	return true;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A call made of its arguments: the loop, a common shape of all operands, outputs,
 * and blocks that are held until the end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dray/array/iterator.h>

#include "private.h"
#include "cast/options.h"
#include "cast/fp_state.h"
#include "executor/executor.h"
#include "iterator/iterator.h"

/* Checks that a view may be read. */
static int check_read(const struct dray_ufunc *ufunc, int o,
		      const struct dray_view *view)
{
	int ret = dray_view_check(view, dray_operand_names[o], NULL);

	if (ret || view->flags & DRAY_READ)
		return ret;
	return dray_fail(-EPERM, "%s of ufunc '%.64s' may not be read",
			 dray_operand_names[o], ufunc->name);
}

/* Checks all that a call of the CPU checks before its loops. */
static int queued_check(const struct dray_ufunc *ufunc,
			const struct dray_view *const *inputs,
			const struct dray_view *const *outputs,
			const struct dray_ufunc_options *options)
{
	const int count = dray_ufunc_operands(ufunc);
	const struct dray_view *where = options ? options->where : NULL;
	int o, ret = options ? dray_ufunc_check_options(options) : 0;

	for (o = 0; !ret && o < ufunc->inputs; o++) {
		ret = check_read(ufunc, o, inputs[o]);
		if (!ret && options && options->weak >> o & 1)
			ret = dray_ufunc_check_weak(o,
						    dray_view_size(inputs[o]));
	}
	for (; !ret && outputs && o < count; o++)
		if (outputs[o - ufunc->inputs])
			ret = dray_view_check(outputs[o - ufunc->inputs],
					      dray_operand_names[o], NULL);
	if (!ret && where)
		ret = check_read(ufunc, count, where);
	if (!ret && where)
		ret = dray_ufunc_check_mask(ufunc, where->dtype);
	return ret;
}

/* Copies options; types and the mask become the call's own. */
static int queued_take_options(struct dray_queued *queued,
			       const struct dray_ufunc_options *options)
{
	const struct dray_ufunc *ufunc = queued->call.ufunc;
	dray_dtype *signature = queued->dtypes + DRAY_UFUNC_MAX_OPERANDS;
	int o;

	if (!options)
		return 0;
	if (options->wraps)
		return dray_fail(
			-EINVAL,
			"calls on a queue take no functions that wrap");
	queued->options = *options;
	dray_dtype_ref(options->dtype);
	if (options->signature) {
		for (o = 0; o < dray_ufunc_operands(ufunc); o++)
			signature[o] = dray_dtype_ref(options->signature[o]);
		queued->options.signature = signature;
	}
	return 0;
}

/* Makes the arrays of missing outputs, in the order of calls. */
static int make_outputs(struct dray_queued *queued,
			const struct dray_view *const *inputs,
			const struct dray_view *const *outputs, int ndim,
			const int64_t *shape)
{
	const struct dray_view *views[DRAY_CALL_OPERANDS];
	const struct dray_call *call = &queued->call;
	const int count = call->inputs + call->outputs;
	int o;

	for (o = 0; o < count; o++)
		views[o] = o < call->inputs ? inputs[o]
			   : outputs	    ? outputs[o - call->inputs]
					    : NULL;
	views[count] = queued->options.where;
	return dray_ufunc_make(call->ufunc, &queued->options, views,
			       count + !!queued->options.where, queued->dtypes,
			       ndim, shape, queued->arrays);
}

/* Stretches an input or a mask; a number of the program gets the loop's type. */
static int take_input(struct dray_queued *queued, int o,
		      const struct dray_view *given, bool weak, int ndim,
		      const int64_t *shape)
{
	unsigned int overflown;
	struct dray_view view;
	int ret;

	if (weak && !dray_dtype_equal(given->dtype, queued->dtypes[o])) {
		dray_fp_clear();
		ret = dray_scalar_create(queued->dtypes[o], given->dtype,
					 given->data, &queued->arrays[o]);
		overflown = dray_fp_take() & DRAY_FP_OVER;
		if (!ret && overflown)
			ret = dray_fp_report("cast", overflown);
		if (ret)
			return ret;
		given = dray_array_view(queued->arrays[o], &view);
	}
	ret = dray_view_broadcast(given, ndim, shape, &queued->views[o]);
	if (!ret)
		dray_dtype_ref(queued->views[o].dtype);
	return ret;
}

static int take_output(struct dray_queued *queued, int o,
		       const struct dray_view *given, int ndim,
		       const int64_t *shape)
{
	if (!given) {
		dray_array_view(queued->arrays[o], &queued->views[o]);
		return 0;
	}
	if (given->ndim != ndim ||
	    memcmp(given->shape, shape, (size_t)ndim * sizeof(*shape)))
		return dray_fail(
			-EINVAL,
			"output %d of %s has another shape than its inputs together",
			o - queued->call.inputs, queued->call.ufunc->name);
	if (!(given->flags & DRAY_WRITE))
		return dray_fail(-EPERM, "output %d of %s is read-only",
				 o - queued->call.inputs,
				 queued->call.ufunc->name);
	dray_view_copy(&queued->views[o], given);
	dray_dtype_ref(given->dtype);
	return 0;
}

/* Finds the shape of all operands together. */
static int find_shape(const struct dray_ufunc *ufunc,
		      const struct dray_view *const *inputs,
		      const struct dray_view *const *outputs,
		      const struct dray_view *where, int *ndim, int64_t *shape)
{
	const struct dray_view *views[DRAY_CALL_OPERANDS];
	int32_t axes;
	int o, count = 0, ret;

	for (o = 0; o < ufunc->inputs; o++)
		views[count++] = inputs[o];
	for (o = 0; o < ufunc->outputs && outputs; o++)
		if (outputs[o])
			views[count++] = outputs[o];
	if (where)
		views[count++] = where;
	ret = dray_broadcast_shape(views, count, &axes, shape);
	*ndim = axes;
	return ret;
}

static int queued_choose_loop(struct dray_queued *queued,
			      const struct dray_view *const *inputs,
			      const struct dray_view *const *outputs)
{
	struct dray_ufunc *ufunc = queued->call.ufunc;
	dray_dtype given[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_resolved resolved;
	int o, ret;

	for (o = 0; o < dray_ufunc_operands(ufunc); o++) {
		const struct dray_view *view =
			o < ufunc->inputs ? inputs[o]
			: outputs	  ? outputs[o - ufunc->inputs]
					  : NULL;

		given[o] = view ? view->dtype : 0;
	}
	ret = dray_ufunc_resolve(ufunc, given, &queued->options, &resolved);
	if (!ret)
		ret = dray_ufunc_check_casts(ufunc, given, &queued->options,
					     &resolved);
	if (ret)
		return ret;
	queued->loop = resolved.loop;
	for (o = 0; o < dray_ufunc_operands(ufunc); o++)
		queued->dtypes[o] = dray_dtype_ref(resolved.dtypes[o]);
	return 0;
}

/*
 * Checks that integers of the program fit the loop.  A comparison accepts others:
 * no element equals them.
 */
static int check_integers(struct dray_queued *queued,
			  const struct dray_view *const *inputs,
			  const struct dray_view *const *outputs)
{
	const struct dray_ufunc *ufunc = queued->call.ufunc;
	int o, ret = 0;

	for (o = 0; !ret && o < ufunc->inputs; o++)
		if (queued->options.weak >> o & 1)
			ret = dray_check_integer(inputs[o], queued->dtypes[o]);
	if (ret != -EOVERFLOW || !dray_ufunc_compares(ufunc, queued->dtypes))
		return ret;
	for (o = 0; o < dray_ufunc_operands(ufunc); o++) {
		dray_dtype_unref(queued->dtypes[o]);
		queued->dtypes[o] = 0;
	}
	queued->options.weak = 0;
	return queued_choose_loop(queued, inputs, outputs);
}

static int take_operands(struct dray_queued *queued,
			 const struct dray_view *const *inputs,
			 const struct dray_view *const *outputs)
{
	struct dray_call *call = &queued->call;
	const struct dray_view *where = queued->options.where;
	int count = dray_ufunc_operands(call->ufunc);
	int64_t shape[DRAY_MAX_NDIM];
	int o, ndim, ret;

	ret = find_shape(call->ufunc, inputs, outputs, where, &ndim, shape);
	if (!ret)
		ret = make_outputs(queued, inputs, outputs, ndim, shape);
	for (o = 0; !ret && o < count; o++)
		ret = o < call->inputs
			      ? take_input(queued, o, inputs[o],
					   queued->options.weak >> o & 1, ndim,
					   shape)
			      : take_output(queued, o,
					    outputs ? outputs[o - call->inputs]
						    : NULL,
					    ndim, shape);
	if (!ret && where) {
		ret = take_input(queued, count, where, false, ndim, shape);
		call->where = queued->options.where = &queued->views[count++];
	}
	if (ret)
		return ret;
	/* The CPU gets the types as they are now. */
	queued->options.weak = 0;
	queued->operands = count;
	call->elements = 1;
	for (o = 0; o < ndim; o++)
		call->elements *= shape[o];
	return 0;
}

/* Measures the operands, and holds their blocks until the event ends. */
static int hold_memory(struct dray_queued *queued)
{
	struct dray_operand operand;
	int o, ret;

	ret = dray_event_create_call(queued->call.ufunc->name,
				     (uint32_t)queued->operands,
				     &queued->event);
	for (o = 0; !ret && o < queued->operands; o++) {
		queued->pointers[o] = &queued->views[o];
		ret = dray_operand_init(&operand, &queued->views[o],
					"an operand");
		if (ret || !operand.extent.elements)
			continue;
		dray_operand_locate(&operand, true);
		dray_event_keep(queued->event, &operand,
				dray_queued_is_output(queued, o));
		queued->spans[o] = operand.span;
	}
	return ret;
}

int dray_queued_create(struct dray_ufunc *ufunc,
		       const struct dray_view *const *inputs,
		       const struct dray_view *const *outputs,
		       const struct dray_ufunc_options *options,
		       struct dray_queued **out)
{
	struct dray_ufunc_options known;
	struct dray_queued *queued;
	int o, count, ret;

	if (!dray_given(ufunc, __func__) || !dray_given(inputs, __func__))
		return -EINVAL;
	if (options && !DRAY_OPTIONS_ARE_KNOWN(options)) {
		ret = DRAY_READ_OPTIONS(&known, options,
					DRAY_UFUNC_OPTIONS_SIZE_FIRST);
		if (ret)
			return ret;
		options = &known;
	}
	for (o = 0; o < ufunc->inputs; o++)
		if (!dray_given(inputs[o], __func__))
			return -EINVAL;
	ret = queued_check(ufunc, inputs, outputs, options);
	if (ret)
		return ret;
	count = dray_ufunc_operands(ufunc) + (options && options->where);
	queued = calloc(1, sizeof(*queued) +
				   (size_t)count * sizeof(queued->views[0]));
	if (!queued)
		return dray_fail(-ENOMEM, "no memory for a call");
	queued->views_count = count;
	queued->call.ufunc = dray_ufunc_ref(ufunc);
	queued->call.loop = &queued->loop;
	queued->call.dtypes = queued->dtypes;
	queued->call.views = queued->pointers;
	queued->call.inputs = ufunc->inputs;
	queued->call.outputs = ufunc->outputs;
	dray_get_fp_state(&queued->state);
	ret = queued_take_options(queued, options);
	if (!ret)
		ret = queued_choose_loop(queued, inputs, outputs);
	if (!ret)
		ret = check_integers(queued, inputs, outputs);
	if (!ret)
		ret = take_operands(queued, inputs, outputs);
	if (!ret)
		ret = hold_memory(queued);
	if (ret) {
		dray_queued_free(queued);
		return ret;
	}
	*out = queued;
	return 0;
}

void dray_queued_free(struct dray_queued *queued)
{
	int o;

	if (queued->task.run)
		queued->task.release(queued->task.context);
	if (queued->event)
		dray_event_abandon(queued->event);
	for (o = 0; o < queued->views_count; o++) {
		if (!queued->arrays[o])
			dray_dtype_unref(queued->views[o].dtype);
		dray_array_unref(queued->arrays[o]);
	}
	for (o = 0; o < 2 * DRAY_UFUNC_MAX_OPERANDS; o++)
		dray_dtype_unref(queued->dtypes[o]);
	dray_dtype_unref(queued->options.dtype);
	dray_executor_unref(queued->executor);
	dray_ufunc_unref(queued->call.ufunc);
	free(queued);
}

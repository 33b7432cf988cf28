// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Recording of calls and conversions: they are checked as the run would check them,
 * and so mistakes are met where they are made.
 */
#include <errno.h>
#include <string.h>

#include "private.h"
#include "cast/options.h"
#include "cast/fp_state.h"
#include "sequence/sequence.h"

/* Finds the values of a call: its inputs, the mask, and the other elements. */
static int find_values(const struct dray_sequence *sequence,
		       struct dray_sequence_step *step,
		       const dray_value *inputs,
		       const struct dray_sequence_options *options)
{
	int o, number;

	for (o = 0; o < step->inputs; o++) {
		number = dray_sequence_find(sequence, inputs[o]);
		if (number < 0)
			return number;
		step->values[o] = number;
	}
	if (options->where) {
		step->where = dray_sequence_find(sequence, options->where);
		if (step->where < 0)
			return step->where;
	}
	if (!options->otherwise)
		return 0;
	if (!options->where || step->operands != step->inputs + 1)
		return dray_fail(
			-EINVAL,
			"values for other elements need a mask, and a ufunc of one output");
	step->otherwise = dray_sequence_find(sequence, options->otherwise);
	return step->otherwise < 0 ? step->otherwise : 0;
}

static int step_choose_loop(const struct dray_sequence *sequence,
			    struct dray_sequence_step *step)
{
	dray_dtype given[DRAY_UFUNC_MAX_OPERANDS] = { 0 };
	int o, ret;

	ret = dray_ufunc_check_options(&step->options);
	if (ret)
		return ret;
	for (o = 0; o < step->inputs; o++) {
		const struct dray_sequence_value *value =
			&sequence->values[step->values[o]];
		int64_t elements = 1;
		int i;

		given[o] = value->dtype;
		if (!(step->options.weak >> o & 1))
			continue;
		for (i = 0; i < value->ndim; i++)
			elements *= value->shape[i];
		ret = dray_ufunc_check_weak(o, elements);
		if (ret)
			return ret;
	}
	ret = dray_ufunc_resolve(step->ufunc, given, &step->options,
				 &step->resolved);
	if (ret)
		return ret;
	dray_ufunc_choose_fast(&step->options, &step->resolved);
	return dray_ufunc_check_casts(step->ufunc, given, &step->options,
				      &step->resolved);
}

/* Checks a mask, and the values of elements that it leaves out. */
static int step_check_mask(const struct dray_sequence *sequence,
			   const struct dray_sequence_step *step, int ndim,
			   const int64_t *shape)
{
	const dray_dtype result = step->resolved.dtypes[step->inputs];
	const struct dray_sequence_value *value;
	const int64_t *shapes[2];
	int64_t together[DRAY_MAX_NDIM];
	int axes, ret;

	if (step->where == DRAY_NO_VALUE)
		return 0;
	ret = dray_ufunc_check_mask(step->ufunc,
				    sequence->values[step->where].dtype);
	if (ret || step->otherwise == DRAY_NO_VALUE)
		return ret;
	value = &sequence->values[step->otherwise];
	if (!dray_can_cast(value->dtype, result, DRAY_CASTING_SAME_KIND))
		return dray_fail(
			-EOPNOTSUPP,
			"values for other elements do not convert to the type of the result");
	shapes[0] = shape;
	shapes[1] = value->shape;
	ret = dray_broadcast_shapes(2, (const int[]){ ndim, value->ndim },
				    shapes, &axes, together);
	if (ret)
		return ret;
	if (axes != ndim ||
	    memcmp(together, shape, (size_t)ndim * sizeof(*shape)))
		return dray_fail(
			-EINVAL,
			"values for other elements have more elements than the result");
	return 0;
}

/* Finds the shape of a call's results. */
static int step_broadcast(const struct dray_sequence *sequence,
			  const struct dray_sequence_step *step, int *ndim,
			  int64_t *shape)
{
	const int64_t *shapes[DRAY_MAX_OPERANDS];
	int ndims[DRAY_MAX_OPERANDS];
	int o, count = 0;

	for (o = 0; o <= step->inputs; o++) {
		const int v = o < step->inputs ? step->values[o] : step->where;

		if (v == DRAY_NO_VALUE)
			continue;
		ndims[count] = sequence->values[v].ndim;
		shapes[count++] = sequence->values[v].shape;
	}
	return dray_broadcast_shapes(count, ndims, shapes, ndim, shape);
}

int dray_sequence_add_step(struct dray_sequence *sequence,
			   struct dray_sequence_step *step, int ndim,
			   const int64_t *shape, dray_value *results)
{
	const int before = sequence->values_count;
	int o, number;

	number = dray_sequence_grow((void **)&sequence->steps,
				    sequence->steps_count,
				    &sequence->steps_room, sizeof(*step));
	for (o = step->inputs; o < step->operands && number >= 0; o++) {
		number = dray_sequence_add(sequence, step->resolved.dtypes[o],
					   ndim, shape);
		step->values[o] = number;
		if (number >= 0 && sequence->values[number].ndim != ndim)
			number = dray_fail(
				-EINVAL,
				"a value of a sequence cannot have a sub-array for its type");
	}
	if (number < 0) {
		dray_sequence_drop(sequence, before);
		return number;
	}
	for (o = step->inputs; o < step->operands; o++) {
		sequence->values[step->values[o]].step = sequence->steps_count;
		results[o - step->inputs] =
			dray_sequence_handle(sequence, step->values[o]);
	}
	dray_ufunc_ref(step->ufunc);
	if (step->queue)
		dray_queue_ref(step->queue);
	dray_dtype_ref(step->options.dtype);
	for (o = 0; o < DRAY_UFUNC_MAX_OPERANDS; o++)
		dray_dtype_ref(step->signature[o]);
	step->group = -1;
	sequence->steps[sequence->steps_count++] = *step;
	return 0;
}

/*
 * Gives constants that are numbers of the program the loop's type, so that the call
 * may be in a chain.  One that does not fit stays as it is, for the run to judge.
 */
static int fit_constants(struct dray_sequence *sequence,
			 struct dray_sequence_step *step)
{
	int o, number;

	for (o = 0; o < step->inputs; o++) {
		const dray_dtype dtype = step->resolved.dtypes[o];
		const struct dray_sequence_value *value =
			&sequence->values[step->values[o]];
		struct dray_array *constant;
		struct dray_view view;

		if (!(step->options.weak >> o & 1) || !value->constant)
			continue;
		dray_array_view(value->constant, &view);
		dray_fp_clear();
		if (dray_check_integer(&view, dtype) ||
		    dray_scalar_create(dtype, view.dtype, view.data, &constant))
			continue;
		if (dray_fp_take() & DRAY_FP_OVER) {
			dray_array_unref(constant);
			continue;
		}
		number = dray_sequence_add(sequence, dtype, 0, NULL);
		if (number < 0) {
			dray_array_unref(constant);
			return number;
		}
		sequence->values[number].constant = constant;
		step->values[o] = number;
		step->options.weak &= (uint16_t) ~(1u << o);
	}
	return 0;
}

int dray_sequence_call(struct dray_sequence *sequence, struct dray_ufunc *ufunc,
		       const dray_value *inputs,
		       const struct dray_sequence_options *options,
		       dray_value *results)
{
	struct dray_sequence_options known;
	struct dray_sequence_step step = {
		.ufunc = ufunc,
		.where = DRAY_NO_VALUE,
		.otherwise = DRAY_NO_VALUE,
	};
	int64_t shape[DRAY_MAX_NDIM];
	int ndim, o, ret;

	if (!dray_given(sequence, __func__) || !dray_given(ufunc, __func__) ||
	    !dray_given(inputs, __func__) || !dray_given(results, __func__))
		return -EINVAL;
	ret = DRAY_READ_OPTIONS(&known, options,
				DRAY_SEQUENCE_OPTIONS_SIZE_FIRST);
	if (ret)
		return ret;
	options = &known;
	step.inputs = ufunc->inputs;
	step.operands = dray_ufunc_operands(ufunc);
	step.options.dtype = options->dtype;
	step.options.signature = options->signature;
	step.options.casting = options->casting;
	step.options.weak = options->weak;
	step.options.flags = options->flags;
	ret = dray_sequence_check_open(sequence);
	if (!ret)
		ret = find_values(sequence, &step, inputs, options);
	if (!ret)
		ret = step_choose_loop(sequence, &step);
	if (!ret)
		ret = fit_constants(sequence, &step);
	if (!ret)
		ret = step_broadcast(sequence, &step, &ndim, shape);
	if (!ret)
		ret = step_check_mask(sequence, &step, ndim, shape);
	if (ret)
		return ret;
	for (o = 0; options->signature && o < step.operands; o++)
		step.signature[o] = options->signature[o];
	return dray_sequence_add_step(sequence, &step, ndim, shape, results);
}

int dray_sequence_convert(struct dray_sequence *sequence, dray_value value,
			  dray_dtype dtype, enum dray_casting casting,
			  dray_value *out)
{
	struct dray_sequence_step step = {
		.inputs = 1,
		.operands = 2,
		.where = DRAY_NO_VALUE,
		.otherwise = DRAY_NO_VALUE,
		.casting = casting,
	};
	const struct dray_sequence_value *from;
	char from_text[DRAY_DTYPE_TYPESTR_SIZE];
	char to_text[DRAY_DTYPE_TYPESTR_SIZE];
	struct dray_cast cast;
	int ret;

	if (!dray_given(sequence, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_sequence_check_open(sequence);
	if (!ret)
		ret = dray_dtype_check(dtype, &dtype);
	if (ret)
		return ret;
	step.values[0] = dray_sequence_find(sequence, value);
	if (step.values[0] < 0)
		return step.values[0];
	if ((unsigned int)casting > DRAY_CASTING_UNSAFE)
		return dray_fail(-EINVAL,
				 "casting rule %d does not exist, 0 to %d do",
				 (int)casting, DRAY_CASTING_UNSAFE);
	from = &sequence->values[step.values[0]];
	if (!dray_can_cast(from->dtype, dtype, casting))
		return dray_fail_as(
			-EINVAL, DRAY_FAILURE_CASTING,
			"Cannot cast from %s to %s by the rule '%s'",
			dray_dtype_text(from->dtype, from_text),
			dray_dtype_text(dtype, to_text),
			dray_casting_name(casting));
	ret = dray_cast_find(dtype, from->dtype, &cast);
	if (ret)
		return ret;
	step.resolved.dtypes[0] = from->dtype;
	step.resolved.dtypes[1] = dtype;
	return dray_sequence_add_step(sequence, &step, from->ndim, from->shape,
				      out);
}

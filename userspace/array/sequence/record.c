// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Recording: sequences and their values. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"
#include "sequence/sequence.h"

int dray_sequence_create(struct dray_sequence **out)
{
	static _Atomic uint32_t last;
	struct dray_sequence *sequence;

	if (!dray_given(out, __func__))
		return -EINVAL;
	sequence = calloc(1, sizeof(*sequence));
	if (!sequence)
		return dray_fail(-ENOMEM, "no memory for a sequence");
	atomic_init(&sequence->references, 1);
	sequence->id = ++last;
	*out = sequence;
	return 0;
}

static void free_step(struct dray_sequence_step *step)
{
	int o;

	for (o = 0; o < DRAY_UFUNC_MAX_OPERANDS; o++)
		dray_dtype_unref(step->signature[o]);
	dray_dtype_unref(step->options.dtype);
	dray_queue_unref(step->queue);
	dray_ufunc_unref(step->ufunc);
}

void dray_sequence_destroy(struct dray_sequence *sequence)
{
	int i;

	if (!sequence || atomic_fetch_sub(&sequence->references, 1) != 1)
		return;
	dray_workspace_free(sequence, sequence->spare);
	dray_sequence_free_groups(sequence);
	for (i = 0; i < sequence->steps_count; i++)
		free_step(&sequence->steps[i]);
	for (i = 0; i < sequence->values_count; i++) {
		dray_dtype_unref(sequence->values[i].dtype);
		dray_array_unref(sequence->values[i].constant);
		free(sequence->values[i].shape);
	}
	free(sequence->steps);
	free(sequence->values);
	free(sequence->inputs);
	free(sequence->outputs);
	free(sequence);
}

int dray_sequence_check_open(const struct dray_sequence *sequence)
{
	return sequence->ended
		       ? dray_fail(-EBUSY,
				   "the sequence has ended: record another one")
		       : 0;
}

int dray_sequence_find(const struct dray_sequence *sequence, dray_value value)
{
	const uint64_t number = value & 0xffff;

	if (value >> 16 != sequence->id || !number ||
	    number > (uint64_t)sequence->values_count)
		return dray_fail(-EINVAL,
				 value ? "a value is not of this sequence"
				       : "a value is none");
	return (int)number - 1;
}

dray_value dray_sequence_handle(const struct dray_sequence *sequence,
				int number)
{
	return (uint64_t)sequence->id << 16 | ((uint64_t)number + 1);
}

int dray_sequence_add(struct dray_sequence *sequence, dray_dtype dtype,
		      int ndim, const int64_t *shape)
{
	struct dray_sequence_value *value;
	struct dray_view view;
	size_t bytes;
	int ret;

	ret = dray_view_plan(&view, dtype, ndim, shape, NULL, &bytes);
	if (ret)
		return ret;
	ret = dray_sequence_grow((void **)&sequence->values,
				 sequence->values_count, &sequence->values_room,
				 sizeof(*value));
	if (ret)
		return ret;
	value = &sequence->values[sequence->values_count];
	*value = (struct dray_sequence_value){
		.dtype = view.dtype,
		.ndim = view.ndim,
		.input = -1,
		.output = -1,
		.step = -1,
		.written_in = -1,
		.read_in = -1,
		.written_at = -1,
		.read_at = -1,
	};
	if (view.ndim) {
		value->shape = malloc((size_t)view.ndim * sizeof(int64_t));
		if (!value->shape)
			return dray_fail(-ENOMEM,
					 "no memory to record a sequence");
		dray_axes_copy(value->shape, view.shape, view.ndim);
	}
	dray_dtype_ref(value->dtype);
	return sequence->values_count++;
}

void dray_sequence_drop(struct dray_sequence *sequence, int count)
{
	while (sequence->values_count > count) {
		struct dray_sequence_value *value =
			&sequence->values[--sequence->values_count];

		dray_dtype_unref(value->dtype);
		free(value->shape);
	}
}

int dray_sequence_input(struct dray_sequence *sequence, dray_dtype dtype,
			int ndim, const int64_t *shape, dray_value *out)
{
	int ret, value;

	if (!dray_given(sequence, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_sequence_check_open(sequence);
	if (!ret)
		ret = dray_sequence_grow((void **)&sequence->inputs,
					 sequence->inputs_count,
					 &sequence->inputs_room, sizeof(int));
	if (ret)
		return ret;
	value = dray_sequence_add(sequence, dtype, ndim, shape);
	if (value < 0)
		return value;
	sequence->values[value].input = sequence->inputs_count;
	sequence->inputs[sequence->inputs_count++] = value;
	*out = dray_sequence_handle(sequence, value);
	return 0;
}

int dray_sequence_constant(struct dray_sequence *sequence, dray_dtype dtype,
			   const void *value, dray_value *out)
{
	struct dray_array *constant;
	struct dray_view view;
	int ret, number;

	if (!dray_given(sequence, __func__) || !dray_given(value, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_sequence_check_open(sequence);
	if (!ret)
		ret = dray_scalar_create(dtype, dtype, value, &constant);
	if (ret)
		return ret;
	dray_array_view(constant, &view);
	number = dray_sequence_add(sequence, view.dtype, view.ndim, view.shape);
	if (number < 0) {
		dray_array_unref(constant);
		return number;
	}
	sequence->values[number].constant = constant;
	*out = dray_sequence_handle(sequence, number);
	return 0;
}

int dray_sequence_output(struct dray_sequence *sequence, dray_value value)
{
	int ret, number;

	if (!dray_given(sequence, __func__))
		return -EINVAL;
	ret = dray_sequence_check_open(sequence);
	if (ret)
		return ret;
	number = dray_sequence_find(sequence, value);
	if (number < 0)
		return number;
	ret = dray_sequence_grow((void **)&sequence->outputs,
				 sequence->outputs_count,
				 &sequence->outputs_room, sizeof(int));
	if (ret)
		return ret;
	if (sequence->values[number].output < 0)
		sequence->values[number].output = sequence->outputs_count;
	sequence->outputs[sequence->outputs_count++] = number;
	return 0;
}

int dray_sequence_describe(const struct dray_sequence *sequence,
			   dray_value value, dray_dtype *dtype, int *ndim,
			   int64_t *shape)
{
	const struct dray_sequence_value *found;
	int number;

	if (!dray_given(sequence, __func__) || !dray_given(dtype, __func__) ||
	    !dray_given(ndim, __func__) || !dray_given(shape, __func__))
		return -EINVAL;
	number = dray_sequence_find(sequence, value);
	if (number < 0)
		return number;
	found = &sequence->values[number];
	*dtype = found->dtype;
	*ndim = found->ndim;
	dray_axes_copy(shape, found->shape, found->ndim);
	return 0;
}

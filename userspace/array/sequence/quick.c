// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The quick way of a run: the sequence is a single chain, and all arrays are of its
 * shape without gaps, or numbers without axes.  It needs no memory of the heap, and
 * checks the views in a single pass, since this is most of the time of a small run.
 * All others run the long way, which also finds the sentences of mistakes.
 */
#include <string.h>

#include "array/array.h"
#include "private.h"
#include "sequence/run.h"
#include "ufunc/users_loop.h"

#define SCRATCH 16384 /* bytes */
#define MOST_SLOTS 32
#define MOST_OPERATIONS 32
#define MOST_OUTPUTS 4

static bool quick_fits(const struct dray_sequence *sequence,
		       const struct dray_sequence_value *value)
{
	const struct dray_sequence_value *shape =
		&sequence->values[sequence->groups[0].shape_of];

	return (dray_dtype_is_number(value->dtype) ||
		value->dtype == DRAY_BOOL) &&
	       (dray_values_alike(value, shape) ||
		(!value->ndim && value->step < 0));
}

void dray_quick_plan(struct dray_sequence *sequence)
{
	const struct dray_sequence_group *chain = &sequence->groups[0];
	const struct dray_sequence_value *shape;
	int64_t elements = 1;
	int i;

	if (sequence->groups_count != 1 || chain->step >= 0 ||
	    chain->slots_count > MOST_SLOTS || chain->scratch > SCRATCH ||
	    chain->operations_count > MOST_OPERATIONS ||
	    sequence->outputs_count > MOST_OUTPUTS)
		return;
	for (i = 0; i < sequence->inputs_count; i++)
		if (!quick_fits(sequence,
				&sequence->values[sequence->inputs[i]]))
			return;
	for (i = 0; i < sequence->outputs_count; i++) {
		const struct dray_sequence_value *value =
			&sequence->values[sequence->outputs[i]];

		if (value->step < 0 || value->output != i ||
		    !quick_fits(sequence, value))
			return;
	}
	shape = &sequence->values[chain->shape_of];
	for (i = 0; i < shape->ndim; i++)
		elements *= shape->shape[i];
	sequence->quick_elements = elements;
}

/* Whether a view is as recorded, and without gaps. */
static inline bool is_as_recorded(const struct dray_sequence_value *value,
				  const struct dray_view *view,
				  uint32_t permission)
{
	int64_t stride = (int64_t)(value->dtype >> 32);
	int i;

	if (!view || view->dtype != value->dtype || view->ndim != value->ndim ||
	    !view->data || !(view->flags & permission) ||
	    !dray_view_flags_fit(view->flags) ||
	    !dray_dtype_fits_address(value->dtype, (uintptr_t)view->data))
		return false;
	for (i = value->ndim - 1; i >= 0; i--) {
		if (view->shape[i] != value->shape[i] ||
		    (view->strides[i] != stride && value->shape[i] != 1))
			return false;
		stride *= value->shape[i];
	}
	return (uintptr_t)view->data + (uintptr_t)stride >=
	       (uintptr_t)view->data;
}

static inline uintptr_t quick_bytes_of(const struct dray_sequence *sequence,
				       const struct dray_sequence_value *value)
{
	return (uintptr_t)(value->dtype >> 32) *
	       (value->ndim ? (uintptr_t)sequence->quick_elements : 1);
}

/* Whether writing output @o changes no element that is still to be read. */
static bool quick_is_apart(const struct dray_sequence *sequence,
			   const struct dray_view *const *inputs,
			   const struct dray_view *const *outputs, int o)
{
	const struct dray_sequence_value *written =
		&sequence->values[sequence->outputs[o]];
	const struct dray_addresses span = {
		(uintptr_t)outputs[o]->data,
		(uintptr_t)outputs[o]->data + quick_bytes_of(sequence, written),
	};
	struct dray_addresses other;
	int i;

	for (i = 0; i < o; i++) {
		if (!outputs[i])
			continue;
		other.low = (uintptr_t)outputs[i]->data;
		other.high =
			other.low +
			quick_bytes_of(sequence,
				       &sequence->values[sequence->outputs[i]]);
		if (dray_addresses_meet(span, other))
			return false;
	}
	for (i = 0; i < sequence->inputs_count; i++) {
		const struct dray_sequence_value *read =
			&sequence->values[sequence->inputs[i]];

		other.low = (uintptr_t)inputs[i]->data;
		other.high = other.low + quick_bytes_of(sequence, read);
		if (!dray_addresses_meet(span, other))
			continue;
		/* The very elements of an input that was read before. */
		if (other.low != span.low || other.high != span.high ||
		    read->ndim != written->ndim ||
		    read->dtype >> 32 != written->dtype >> 32 ||
		    read->read_at > written->written_at ||
		    (read->read_at == written->written_at && written->apart))
			return false;
	}
	return true;
}

/* The operands of all slots, at the place of a block. */
struct quick_place {
	char *data[MOST_SLOTS];
	int64_t strides[MOST_SLOTS];
};

static inline int
quick_run_operation(const struct dray_chain_operation *operation,
		    const struct quick_place *place, int64_t count,
		    unsigned int *errors)
{
	char *data[DRAY_UFUNC_MAX_OPERANDS];
	int64_t strides[DRAY_UFUNC_MAX_OPERANDS];
	int o, ret;

	for (o = 0; o < operation->operands; o++) {
		data[o] = place->data[operation->slots[o]];
		strides[o] = place->strides[operation->slots[o]];
	}
	DRAY_HOLDS(o >= (operation->is_cast ? 2 : 1));
	ret = operation->is_cast
		      ? dray_cast_run(&operation->cast, data[1], strides[1],
				      data[0], strides[0], count)
		      : dray_loop_run(&operation->loop, data, strides, count);
	if (fetestexcept(DRAY_FP_FLAGS)) {
		const unsigned int met = dray_fp_take();

		if (operation->watches)
			*errors |= met;
	}
	return ret;
}

/* Reports the errors of steps, in the order of the recording. */
static int quick_report(const struct dray_sequence *sequence,
			const unsigned int *errors)
{
	const struct dray_sequence_group *chain = &sequence->groups[0];
	int i, ret = 0;

	for (i = 0; i < chain->operations_count && !ret;) {
		const int step = chain->operations[i].step;
		unsigned int all = 0;

		for (; i < chain->operations_count &&
		       chain->operations[i].step == step;
		     i++)
			all |= errors[i];
		if (all)
			ret = dray_fp_report(
				dray_step_name(&sequence->steps[step]), all);
	}
	return ret;
}

static int run_blocks(const struct dray_sequence *sequence,
		      struct quick_place *place)
{
	const struct dray_sequence_group *chain = &sequence->groups[0];
	const int operations = chain->operations_count;
	unsigned int errors[MOST_OPERATIONS], any = 0;
	int64_t left = sequence->quick_elements;
	int i, ret = 0;

	for (i = 0; i < operations; i++)
		errors[i] = 0;
	dray_fp_clear();
	for (;;) {
		const int64_t count = left < chain->block ? left : chain->block;

		for (i = 0; i < operations && !ret; i++)
			ret = quick_run_operation(&chain->operations[i], place,
						  count, &errors[i]);
		left -= count;
		if (ret || !left)
			break;
		for (i = 0; i < chain->slots_count; i++)
			if (chain->slots[i].value >= 0)
				place->data[i] += count * place->strides[i];
	}
	for (i = 0; i < operations; i++)
		any |= errors[i];
	return ret || !any ? ret : quick_report(sequence, errors);
}

/* Finds the memory of each slot, and runs the chain. */
static int quick_run(const struct dray_sequence *sequence,
		     const struct dray_view *const *inputs,
		     char *const *outputs)
{
	const struct dray_sequence_group *chain = &sequence->groups[0];
	_Alignas(64) char scratch[SCRATCH];
	struct quick_place place;
	int i;

	for (i = 0; i < chain->slots_count; i++) {
		const struct dray_chain_slot *slot = &chain->slots[i];
		const struct dray_sequence_value *value =
			&sequence->values[slot->value < 0 ? 0 : slot->value];

		place.strides[i] =
			slot->value >= 0 && !value->ndim ? 0 : slot->size;
		if (slot->value < 0)
			place.data[i] = scratch + chain->offsets[slot->buffer];
		else if (value->input >= 0)
			place.data[i] = inputs[value->input]->data;
		else if (value->constant)
			place.data[i] = value->constant->data;
		else
			place.data[i] = outputs[value->output];
	}
	return run_blocks(sequence, &place);
}

bool dray_run_quick(const struct dray_sequence *sequence,
		    const struct dray_view *const *inputs,
		    const struct dray_view *const *outputs,
		    struct dray_array **out, int *ret)
{
	struct dray_array *made[MOST_OUTPUTS] = { NULL };
	char *data[MOST_OUTPUTS];
	int i;

	if (sequence->inputs_count && !inputs)
		return false;
	for (i = 0; i < sequence->inputs_count; i++)
		if (!is_as_recorded(&sequence->values[sequence->inputs[i]],
				    inputs[i], DRAY_READ))
			return false;
	for (i = 0; i < sequence->outputs_count; i++) {
		const struct dray_view *view = outputs ? outputs[i] : NULL;

		if (!view && !out)
			return false;
		if (!view)
			continue;
		if (!is_as_recorded(&sequence->values[sequence->outputs[i]],
				    view, DRAY_WRITE) ||
		    !quick_is_apart(sequence, inputs, outputs, i))
			return false;
		data[i] = view->data;
	}
	*ret = 0;
	for (i = 0; i < sequence->outputs_count && !*ret; i++) {
		const struct dray_sequence_value *value =
			&sequence->values[sequence->outputs[i]];

		if (outputs && outputs[i])
			continue;
		*ret = dray_array_from_handler(value->dtype, value->ndim,
					       value->shape, NULL, false,
					       &made[i]);
		data[i] = *ret ? NULL : made[i]->data;
	}
	if (!*ret)
		*ret = quick_run(sequence, inputs, data);
	for (i = 0; i < sequence->outputs_count; i++) {
		if (*ret)
			dray_array_unref(made[i]);
		if (out)
			out[i] = *ret ? NULL : made[i];
	}
	return true;
}

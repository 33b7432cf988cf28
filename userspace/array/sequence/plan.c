// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The plan of a sequence.  The first step that is not yet in a group begins a group;
 * if it may be part of a chain, all later steps of its shape join that need nothing
 * of a later group.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"
#include "cast/options.h"
#include "sequence/sequence.h"
#include "ufunc/ufunc.h"

/* Of an element in a chain: blocks contain many. */
#define MOST_BYTES 64

/* Whether a type is a number of any byte order, which converts to all others. */
static bool plan_is_number(dray_dtype dtype)
{
	return dray_dtype_is_builtin(dtype) &&
	       dray_loop_class(dray_dtype_native(dtype)) != DRAY_LOOP_NO_CLASS;
}

static bool plan_is_small(dray_dtype dtype)
{
	return dray_dtype_is_builtin(dtype) && dray_dtype_itemsize(dtype) &&
	       dray_dtype_itemsize(dtype) <= MOST_BYTES;
}

/* Whether a step may be part of a chain. */
static bool is_elementwise(const struct dray_sequence *sequence,
			   const struct dray_sequence_step *step)
{
	int o;

	if (sequence->chainless || step->where != DRAY_NO_VALUE ||
	    step->options.weak || step->queue)
		return false;
	for (o = 0; o < step->operands; o++) {
		const dray_dtype dtype =
			sequence->values[step->values[o]].dtype;
		const dray_dtype loop = step->resolved.dtypes[o];

		if (!plan_is_small(dtype) || !plan_is_small(loop))
			return false;
		if (!step->ufunc ? !plan_is_number(dtype)
				 : dtype != loop && (!plan_is_number(dtype) ||
						     !plan_is_number(loop)))
			return false;
	}
	return true;
}

/* Marks steps that an output needs, backwards. */
static void mark_needed(struct dray_sequence *sequence)
{
	int s, o;

	for (s = sequence->steps_count - 1; s >= 0; s--) {
		struct dray_sequence_step *step = &sequence->steps[s];

		for (o = step->inputs; o < step->operands; o++) {
			const struct dray_sequence_value *value =
				&sequence->values[step->values[o]];

			step->needed |= value->output >= 0 || value->in_memory;
		}
		if (!step->needed) {
			sequence->plan.left_out++;
			continue;
		}
		/* in_memory stands for "needed" until groups are made. */
		for (o = 0; o < step->inputs; o++)
			sequence->values[step->values[o]].in_memory = true;
		if (step->where != DRAY_NO_VALUE)
			sequence->values[step->where].in_memory = true;
		if (step->otherwise != DRAY_NO_VALUE)
			sequence->values[step->otherwise].in_memory = true;
	}
	for (o = 0; o < sequence->values_count; o++)
		sequence->values[o].in_memory = false;
}

/* Whether a step needs only values of groups before @group, or in it. */
static bool plan_is_ready(const struct dray_sequence *sequence,
			  const struct dray_sequence_step *step)
{
	int o;

	for (o = 0; o < step->inputs; o++) {
		const int made = sequence->values[step->values[o]].step;

		if (made >= 0 && sequence->steps[made].group < 0)
			return false;
	}
	return true;
}

/* A value of the shape of a step's results. */
static const struct dray_sequence_value *
shape_of(const struct dray_sequence *sequence,
	 const struct dray_sequence_step *step)
{
	return &sequence->values[step->values[step->inputs]];
}

/* Makes a chain from step @first on. */
static void make_chain(struct dray_sequence *sequence, int first, int number)
{
	const struct dray_sequence_value *shape =
		shape_of(sequence, &sequence->steps[first]);
	int s;

	sequence->groups[number].step = -1;
	sequence->groups[number].shape_of =
		sequence->steps[first].values[sequence->steps[first].inputs];
	sequence->plan.chains++;
	for (s = first; s < sequence->steps_count; s++) {
		struct dray_sequence_step *step = &sequence->steps[s];

		if (!step->needed || step->group >= 0 ||
		    !is_elementwise(sequence, step) ||
		    !dray_values_alike(shape, shape_of(sequence, step)) ||
		    !plan_is_ready(sequence, step))
			continue;
		step->group = number;
		sequence->plan.chained++;
	}
}

static int make_groups(struct dray_sequence *sequence)
{
	int s, count = 0;

	sequence->groups = calloc((size_t)sequence->steps_count + 1,
				  sizeof(sequence->groups[0]));
	if (!sequence->groups)
		return dray_fail(-ENOMEM,
				 "no memory for the plan of a sequence");
	for (s = 0; s < sequence->steps_count; s++) {
		struct dray_sequence_step *step = &sequence->steps[s];

		if (!step->needed || step->group >= 0)
			continue;
		if (is_elementwise(sequence, step)) {
			make_chain(sequence, s, count++);
			continue;
		}
		step->group = count;
		if (step->queue)
			sequence->plan.transfers++;
		else
			sequence->plan.single++;
		sequence->groups[count++].step = s;
	}
	sequence->groups_count = count;
	return 0;
}

/* Values that lie in memory: all but the values of a single chain. */
static void place_values(struct dray_sequence *sequence)
{
	int v, s, o;

	for (v = 0; v < sequence->values_count; v++) {
		struct dray_sequence_value *value = &sequence->values[v];
		const int made = value->step;

		value->written_in = made < 0 ? -1 : sequence->steps[made].group;
		value->in_memory = made < 0 || value->output >= 0;
		if (made >= 0 && value->written_in >= 0 &&
		    sequence->groups[value->written_in].step >= 0)
			value->in_memory = true;
	}
	for (s = 0; s < sequence->steps_count; s++) {
		const struct dray_sequence_step *step = &sequence->steps[s];

		for (o = 0; step->needed && o < step->inputs; o++) {
			struct dray_sequence_value *value =
				&sequence->values[step->values[o]];

			if (value->written_in != step->group)
				value->in_memory = true;
		}
		if (step->needed && step->where >= 0)
			sequence->values[step->where].in_memory = true;
		if (step->needed && step->otherwise >= 0)
			sequence->values[step->otherwise].in_memory = true;
	}
	for (v = 0; v < sequence->values_count; v++)
		sequence->plan.arrays += sequence->values[v].in_memory &&
					 sequence->values[v].step >= 0 &&
					 sequence->values[v].output < 0 &&
					 sequence->values[v].written_in >= 0;
}

static void plan_read_at(struct dray_sequence *sequence, int v, int group,
			 int time)
{
	if (v == DRAY_NO_VALUE)
		return;
	sequence->values[v].read_in = group;
	sequence->values[v].read_at = time;
}

/* Notes the times at which a single step uses its values. */
static void plan_single(struct dray_sequence *sequence, int number, int time)
{
	const struct dray_sequence_step *step =
		&sequence->steps[sequence->groups[number].step];
	int o;

	for (o = 0; o < step->inputs; o++)
		plan_read_at(sequence, step->values[o], number, time);
	plan_read_at(sequence, step->where, number, time);
	plan_read_at(sequence, step->otherwise, number, time);
	for (; o < step->operands; o++) {
		sequence->values[step->values[o]].written_at = time;
		sequence->values[step->values[o]].apart =
			step->otherwise != DRAY_NO_VALUE || step->queue;
	}
}

/* Outputs that are inputs, or named twice, are copied after all groups. */
static void plan_copies(struct dray_sequence *sequence)
{
	int i;

	for (i = 0; i < sequence->outputs_count; i++) {
		const int v = sequence->outputs[i];

		if (sequence->values[v].step < 0 ||
		    sequence->values[v].output != i)
			plan_read_at(sequence, v, DRAY_AT_END, DRAY_AT_END);
	}
}

static int sequence_plan(struct dray_sequence *sequence)
{
	int g, s, time = 0, ret;

	for (s = 0; s < sequence->steps_count; s++)
		if (sequence->steps[s].options.signature)
			sequence->steps[s].options.signature =
				sequence->steps[s].signature;
	mark_needed(sequence);
	ret = make_groups(sequence);
	if (ret)
		return ret;
	place_values(sequence);
	for (g = 0; g < sequence->groups_count; g++) {
		struct dray_sequence_group *group = &sequence->groups[g];

		if (group->step >= 0) {
			plan_single(sequence, g, time++);
			continue;
		}
		ret = dray_chain_plan(sequence, g, &time);
		if (ret)
			return ret;
		if (dray_chain_scratch(group) > sequence->scratch)
			sequence->scratch = dray_chain_scratch(group);
		if (!sequence->plan.block ||
		    group->block < sequence->plan.block)
			sequence->plan.block = (uint32_t)group->block;
	}
	plan_copies(sequence);
	dray_quick_plan(sequence);
	return 0;
}

/* Removes a plan that could not be completed. */
static void plan_forget(struct dray_sequence *sequence)
{
	int i;

	dray_sequence_free_groups(sequence);
	sequence->scratch = 0;
	sequence->quick_elements = 0;
	sequence->plan = (struct dray_sequence_plan){ 0 };
	for (i = 0; i < sequence->steps_count; i++) {
		sequence->steps[i].needed = false;
		sequence->steps[i].group = -1;
	}
}

int dray_sequence_end(struct dray_sequence *sequence)
{
	struct dray_workspace *workspace;
	int ret;

	if (!dray_given(sequence, __func__))
		return -EINVAL;
	if (sequence->ended)
		return dray_fail(-EBUSY, "the sequence has ended already");
	if (!sequence->outputs_count)
		return dray_fail(
			-EINVAL,
			"the sequence has no output: no call is needed");
	ret = sequence_plan(sequence);
	if (!ret) {
		workspace = dray_workspace_create(sequence);
		sequence->spare = workspace;
		ret = workspace ? 0 : -ENOMEM;
	}
	if (ret) {
		plan_forget(sequence);
		return ret;
	}
	sequence->ended = true;
	return 0;
}

int dray_sequence_get_plan(const struct dray_sequence *sequence,
			   struct dray_sequence_plan *out)
{
	if (!dray_given(sequence, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	if (!sequence->ended)
		return dray_fail(-EINVAL,
				 "the sequence has no plan before its end");
	return DRAY_WRITE_RESULT(out, &sequence->plan,
				 DRAY_SEQUENCE_PLAN_SIZE_FIRST);
}

int dray_sequence_without_chains(struct dray_sequence *sequence)
{
	int ret;

	if (!dray_given(sequence, __func__))
		return -EINVAL;
	ret = dray_sequence_check_open(sequence);
	if (!ret)
		sequence->chainless = true;
	return ret;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The operations of a chain: loops, and the conversions in front of them.  Each
 * value that is not in memory uses a buffer, which is used again after its last
 * operation, also by the results of that operation.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"
#include "sequence/sequence.h"

/* Bytes of all operands of a block: so many stay in the nearest caches. */
#define BLOCK_BYTES 24576
#define LEAST_BLOCK 64 /* elements */
#define MOST_BLOCK 8192
/* Between buffers, so that they do not lie at equal distances in the cache. */
#define GAP 192

struct planner {
	struct dray_sequence *sequence;
	int number; /* of the group */
	struct dray_sequence_group *chain;
	int slots_room;
	int operations_room;
	int *slot_of; /* of each value; -1: none yet */
	/* A value, and the type to which it is converted in a slot. */
	struct conversion {
		int value;
		dray_dtype dtype;
		int slot;
	} * conversions;
	int conversions_count;
	int conversions_room;
	int time;
};

static int add_slot(struct planner *planner, int value, uint32_t size)
{
	struct dray_sequence_group *chain = planner->chain;
	int ret = dray_sequence_grow((void **)&chain->slots, chain->slots_count,
				     &planner->slots_room,
				     sizeof(chain->slots[0]));

	if (ret)
		return ret;
	chain->slots[chain->slots_count] = (struct dray_chain_slot){
		.value = value,
		.size = size,
		.last = -1,
		.buffer = -1,
	};
	return chain->slots_count++;
}

/* The slot of a value; a negative errno. */
static int plan_find_slot(struct planner *planner, int v)
{
	struct dray_sequence_value *value = &planner->sequence->values[v];

	if (planner->slot_of[v] < 0) {
		planner->slot_of[v] =
			add_slot(planner, value->in_memory ? v : -1,
				 dray_dtype_itemsize(value->dtype));
		value->chained |= value->in_memory;
	}
	return planner->slot_of[v];
}

/* Adds an operation and notes the times of its values. */
static int add_operation(struct planner *planner,
			 const struct dray_chain_operation *operation)
{
	struct dray_sequence_group *chain = planner->chain;
	int o, ret;

	ret = dray_sequence_grow((void **)&chain->operations,
				 chain->operations_count,
				 &planner->operations_room, sizeof(*operation));
	if (ret)
		return ret;
	for (o = 0; o < operation->operands; o++) {
		struct dray_chain_slot *slot =
			&chain->slots[operation->slots[o]];
		struct dray_sequence_value *value;

		slot->last = chain->operations_count;
		if (slot->value < 0)
			continue;
		value = &planner->sequence->values[slot->value];
		if (o < operation->inputs) {
			value->read_in = planner->number;
			value->read_at = planner->time;
			continue;
		}
		value->written_at = planner->time;
		value->apart = operation->is_cast;
		chain->leader = operation->slots[o];
	}
	planner->time++;
	chain->operations[chain->operations_count++] = *operation;
	return 0;
}

static int add_cast(struct planner *planner, int step, dray_dtype to,
		    dray_dtype from, int to_slot, int from_slot)
{
	const struct dray_ufunc *ufunc = planner->sequence->steps[step].ufunc;
	struct dray_chain_operation operation = {
		.is_cast = true,
		.step = step,
		.inputs = 1,
		.operands = 2,
		.slots = { from_slot, to_slot },
	};
	int ret = dray_cast_find(to, from, &operation.cast);

	/* As of dray_view_convert(), flags of text mean nothing. */
	operation.watches =
		ufunc ? !(planner->sequence->steps[step].resolved.loop.flags &
			  DRAY_LOOP_NO_FP_ERRORS)
		      : !strchr("SU", dray_dtype_kind(to)) &&
				!strchr("SU", dray_dtype_kind(from));
	return ret ? ret : add_operation(planner, &operation);
}

/* Whether a conversion from a type raises no floating-point exception. */
static bool plan_is_quiet(dray_dtype from)
{
	const char kind = dray_dtype_kind(from);

	return kind == 'i' || kind == 'u' || kind == 'b' || kind == '?';
}

/* Finds or adds the slot of input @o of a step in the type of its loop. */
static int chain_plan_convert(struct planner *planner, int s, int o)
{
	const struct dray_sequence_step *step = &planner->sequence->steps[s];
	const int v = step->values[o];
	const dray_dtype from = planner->sequence->values[v].dtype;
	const dray_dtype to = step->resolved.dtypes[o];
	const int slot = plan_find_slot(planner, v);
	int i, ret, made;

	if (from == to || slot < 0)
		return slot;
	/* Conversions that raise errors are not shared between steps. */
	for (i = 0; i < planner->conversions_count; i++) {
		const struct conversion *had = &planner->conversions[i];

		if (had->value == v && had->dtype == to &&
		    (plan_is_quiet(from) ||
		     step->resolved.loop.flags & DRAY_LOOP_NO_FP_ERRORS))
			return had->slot;
	}
	made = add_slot(planner, -1, dray_dtype_itemsize(to));
	if (made < 0)
		return made;
	ret = dray_sequence_grow((void **)&planner->conversions,
				 planner->conversions_count,
				 &planner->conversions_room,
				 sizeof(planner->conversions[0]));
	if (!ret)
		ret = add_cast(planner, s, to, from, made, slot);
	if (ret)
		return ret;
	planner->conversions[planner->conversions_count++] =
		(struct conversion){ v, to, made };
	return made;
}

static int plan_step(struct planner *planner, int s)
{
	const struct dray_sequence_step *step = &planner->sequence->steps[s];
	struct dray_chain_operation operation = {
		.loop = step->resolved.loop,
		.watches =
			!(step->resolved.loop.flags & DRAY_LOOP_NO_FP_ERRORS),
		.step = s,
		.inputs = step->inputs,
		.operands = step->operands,
	};
	int o, slot;

	for (o = 0; o < step->operands; o++) {
		slot = step->ufunc && o < step->inputs
			       ? chain_plan_convert(planner, s, o)
			       : plan_find_slot(planner, step->values[o]);
		if (slot < 0)
			return slot;
		operation.slots[o] = slot;
	}
	if (!step->ufunc)
		return add_cast(planner, s, step->resolved.dtypes[1],
				step->resolved.dtypes[0], operation.slots[1],
				operation.slots[0]);
	if (step->resolved.loop.flags & DRAY_LOOP_SINGLE_THREAD)
		planner->chain->single_thread = true;
	return add_operation(planner, &operation);
}

/* Buffers by number: their sizes, and whether a slot uses them now. */
struct buffers {
	uint32_t *sizes;
	bool *taken;
	int count;
};

static int take_buffer(struct buffers *buffers, uint32_t size)
{
	int b;

	for (b = 0; b < buffers->count; b++)
		if (!buffers->taken[b] && buffers->sizes[b] == size)
			break;
	if (b == buffers->count)
		buffers->sizes[buffers->count++] = size;
	buffers->taken[b] = true;
	return b;
}

/* Assigns buffers to the results of operation @at, and frees unneeded buffers. */
static void place_results(struct dray_sequence_group *chain,
			  struct buffers *buffers, int at)
{
	const struct dray_chain_operation *operation = &chain->operations[at];
	struct dray_chain_slot *slot;
	int o, pass;

	/* A loop may write over its inputs, a conversion may not. */
	for (pass = 0; pass < 2; pass++) {
		for (o = 0; o < operation->inputs; o++) {
			slot = &chain->slots[operation->slots[o]];
			if (slot->value < 0 && slot->last == at &&
			    pass == operation->is_cast)
				buffers->taken[slot->buffer] = false;
		}
		for (o = operation->inputs; !pass && o < operation->operands;
		     o++) {
			slot = &chain->slots[operation->slots[o]];
			if (slot->value < 0)
				slot->buffer = take_buffer(buffers, slot->size);
		}
	}
	for (o = operation->inputs; o < operation->operands; o++) {
		slot = &chain->slots[operation->slots[o]];
		if (slot->value < 0 && slot->last == at)
			buffers->taken[slot->buffer] = false;
	}
}

/* Chooses the block, and the places of buffers in the scratch memory. */
static void size_block(struct dray_sequence_group *chain,
		       const struct buffers *buffers)
{
	int64_t each = 0;
	int i;

	for (i = 0; i < chain->slots_count; i++)
		if (chain->slots[i].value >= 0)
			each += chain->slots[i].size;
	chain->bytes = each;
	for (i = 0; i < buffers->count; i++)
		each += buffers->sizes[i];
	DRAY_HOLDS(each > 0);
	chain->block = BLOCK_BYTES / each / LEAST_BLOCK * LEAST_BLOCK;
	if (chain->block < LEAST_BLOCK)
		chain->block = LEAST_BLOCK;
	if (chain->block > MOST_BLOCK)
		chain->block = MOST_BLOCK;
	chain->buffers_count = buffers->count;
	for (i = 0; i < buffers->count; i++) {
		chain->offsets[i] = chain->scratch;
		chain->scratch +=
			(size_t)chain->block * buffers->sizes[i] + GAP;
	}
}

static int place_buffers(struct dray_sequence_group *chain)
{
	const size_t most = (size_t)chain->slots_count;
	struct buffers buffers = {
		.sizes = calloc(most, sizeof(buffers.sizes[0])),
		.taken = calloc(most, sizeof(buffers.taken[0])),
	};
	int i, ret = 0;

	chain->offsets = calloc(most, sizeof(chain->offsets[0]));
	if (!buffers.sizes || !buffers.taken || !chain->offsets) {
		ret = dray_fail(-ENOMEM,
				"no memory for the plan of a sequence");
	} else {
		for (i = 0; i < chain->operations_count; i++)
			place_results(chain, &buffers, i);
		size_block(chain, &buffers);
	}
	free(buffers.sizes);
	free(buffers.taken);
	return ret;
}

int dray_chain_plan(struct dray_sequence *sequence, int number, int *time)
{
	struct planner planner = {
		.sequence = sequence,
		.number = number,
		.chain = &sequence->groups[number],
		.time = *time,
	};
	int s, v, ret = 0;

	planner.slot_of = malloc((size_t)sequence->values_count * sizeof(int));
	if (!planner.slot_of)
		return dray_fail(-ENOMEM,
				 "no memory for the plan of a sequence");
	for (v = 0; v < sequence->values_count; v++)
		planner.slot_of[v] = -1;
	for (s = 0; s < sequence->steps_count && !ret; s++)
		if (sequence->steps[s].needed &&
		    sequence->steps[s].group == number)
			ret = plan_step(&planner, s);
	if (!ret)
		ret = place_buffers(planner.chain);
	free(planner.slot_of);
	free(planner.conversions);
	*time = planner.time;
	return ret;
}

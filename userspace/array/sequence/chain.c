// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Runs a chain: all operations on a block of elements along the best axis, then the
 * next block.  Values in memory are read and written in place.
 */
#include <errno.h>
#include <stdlib.h>

#include "private.h"
#include "sequence/sequence.h"
#include "ufunc/users_loop.h"

#define SHORT 32u /* elements of an axis */
#define ALIGNMENT 64u

struct axis {
	int64_t count;
	int64_t *strides; /* of each slot; 0 of buffers */
};

/* A chain with the addresses of its values, and the fewest axes. */
struct chain_walk {
	const struct dray_sequence_group *chain;
	_Atomic unsigned int *errors;
	char **data; /* of each slot */
	struct axis axes[DRAY_MAX_NDIM];
	int axes_count;
	int best; /* axis; -1: no axes */
	int cut; /* axis, for threads */
	int64_t elements;
};

/* A thread's way through it. */
struct chain_way {
	const struct chain_walk *walk;
	char **data; /* of each slot, at this place */
	int64_t counts[DRAY_MAX_NDIM];
	bool watches; /* flags of the processor mean something */
};

static int chain_run_operation(const struct chain_way *way,
			       const struct dray_chain_operation *operation,
			       const int64_t *along, int64_t count)
{
	const struct chain_walk *walk = way->walk;
	char *data[DRAY_UFUNC_MAX_OPERANDS];
	int64_t strides[DRAY_UFUNC_MAX_OPERANDS];
	int o, ret;

	for (o = 0; o < operation->operands; o++) {
		const int s = operation->slots[o];
		const struct dray_chain_slot *slot = &walk->chain->slots[s];

		data[o] = way->data[s];
		strides[o] = slot->value < 0 ? (int64_t)slot->size
			     : along	     ? along[s]
					     : 0;
	}
	DRAY_HOLDS(o >= (operation->is_cast ? 2 : 1));
	ret = operation->is_cast
		      ? dray_cast_run(&operation->cast, data[1], strides[1],
				      data[0], strides[0], count)
		      : dray_loop_run(&operation->loop, data, strides, count);
	if (way->watches && fetestexcept(DRAY_FP_FLAGS)) {
		const unsigned int errors = dray_fp_take();

		if (operation->watches)
			atomic_fetch_or_explicit(&walk->errors[operation->step],
						 errors, memory_order_relaxed);
	}
	return ret;
}

static int run_block(const struct chain_way *way, const int64_t *along,
		     int64_t count)
{
	const struct dray_sequence_group *chain = way->walk->chain;
	int i, ret = 0;

	for (i = 0; i < chain->operations_count && !ret; i++)
		ret = chain_run_operation(way, &chain->operations[i], along,
					  count);
	return ret;
}

static void chain_advance(const struct chain_way *way, const struct axis *axis,
			  int64_t steps)
{
	const struct chain_walk *walk = way->walk;
	int s;

	for (s = 0; s < walk->chain->slots_count; s++)
		if (walk->chain->slots[s].value >= 0)
			way->data[s] = dray_address_add(
				way->data[s], steps * axis->strides[s]);
}

/* Walks the axes from @number on; a block of the best axis counts @count elements. */
static int chain_walk_axes(const struct chain_way *way, int number,
			   int64_t count)
{
	const struct chain_walk *walk = way->walk;
	const struct axis *axis = &walk->axes[number];
	const bool best = number == walk->best;
	const int64_t step = best ? walk->chain->block : 1;
	int64_t left, block = count;
	int ret = 0;

	if (number == walk->axes_count)
		return run_block(way,
				 number ? walk->axes[walk->best].strides : NULL,
				 count);
	for (left = way->counts[number]; left > 0 && !ret; left -= step) {
		if (best)
			block = left < step ? left : step;
		ret = chain_walk_axes(way, number + 1, block);
		chain_advance(way, axis, step);
	}
	/* Back to the start, from the first place that is not in the axis. */
	chain_advance(way, axis,
		      -((way->counts[number] + step - 1) / step * step));
	return ret;
}

/* Does a part of the cut axis in any thread, with @scratch. */
static int chain_walk_part(const struct chain_walk *walk, uint64_t at,
			   uint64_t length, char *scratch)
{
	const struct dray_sequence_group *chain = walk->chain;
	struct chain_way way = { .walk = walk };
	int i;

	way.data = (char **)(void *)scratch;
	scratch += (size_t)chain->slots_count * sizeof(char *);
	scratch += -(uintptr_t)scratch & (ALIGNMENT - 1);
	for (i = 0; i < walk->axes_count; i++)
		way.counts[i] = walk->axes[i].count;
	for (i = 0; i < chain->slots_count; i++) {
		const struct dray_chain_slot *slot = &chain->slots[i];

		way.data[i] = slot->value < 0
				      ? scratch + chain->offsets[slot->buffer]
				      : walk->data[i];
	}
	if (walk->axes_count) {
		chain_advance(&way, &walk->axes[walk->cut], (int64_t)at);
		way.counts[walk->cut] = (int64_t)length;
	}
	for (i = 0; i < chain->operations_count; i++)
		way.watches |= chain->operations[i].watches;
	if (way.watches)
		dray_fp_clear();
	return chain_walk_axes(&way, 0, 1);
}

static int walk_part_alone(void *context, uint64_t at, uint64_t length)
{
	const struct chain_walk *walk = context;
	const struct dray_sequence_group *chain = walk->chain;
	char *scratch;
	int ret;

	scratch = malloc(dray_chain_scratch(chain));
	if (!scratch)
		return dray_fail(-ENOMEM, "no memory for a block of a chain");
	ret = chain_walk_part(walk, at, length, scratch);
	free(scratch);
	return ret;
}

/* Sets an axis of all slots, reversed if it runs backwards in the leader. */
static void set_axis(struct chain_walk *walk,
		     const struct dray_workspace *workspace, int ndim, int i,
		     struct axis *axis)
{
	const struct dray_sequence_group *chain = walk->chain;
	int s;

	for (s = 0; s < chain->slots_count; s++) {
		const int v = chain->slots[s].value;
		const struct dray_view *view =
			v < 0 ? NULL : &workspace->views[v];
		const int at = view ? i - (ndim - view->ndim) : -1;

		axis->strides[s] =
			at < 0 || view->shape[at] == 1 ? 0 : view->strides[at];
	}
	if (axis->strides[chain->leader] >= 0)
		return;
	for (s = 0; s < chain->slots_count; s++) {
		if (chain->slots[s].value < 0)
			continue;
		walk->data[s] = dray_address_add(
			walk->data[s], (axis->count - 1) * axis->strides[s]);
		axis->strides[s] = -axis->strides[s];
	}
}

/* Whether steps of @outer continue where @inner ends, in all slots. */
static bool chain_steps_join(const struct chain_walk *walk,
			     const struct axis *outer, const struct axis *inner)
{
	int s;

	for (s = 0; s < walk->chain->slots_count; s++)
		if (outer->strides[s] != inner->strides[s] * inner->count)
			return false;
	return true;
}

static void choose_axes(struct chain_walk *walk)
{
	int i;

	walk->best = walk->axes_count - 1;
	if (walk->best > 0 && walk->axes[walk->best].count < SHORT)
		for (i = walk->best - 1; i >= 0; i--)
			if (walk->axes[i].count >
			    4 * walk->axes[walk->best].count)
				walk->best = i;
	walk->cut = 0;
	for (i = 1; i < walk->axes_count; i++)
		if (walk->axes[i].count > walk->axes[walk->cut].count)
			walk->cut = i;
}

/*
 * Finds addresses and axes: ordered as the leader's elements lie, and joined.
 * False: there are no elements.
 */
static bool chain_reduce(struct chain_walk *walk,
			 const struct dray_workspace *workspace,
			 int64_t *strides)
{
	const struct dray_sequence_group *chain = walk->chain;
	const struct dray_view *leader =
		&workspace->views[chain->slots[chain->leader].value];
	int order[DRAY_MAX_NDIM];
	struct axis *inner = NULL;
	int i, s;

	for (s = 0; s < chain->slots_count; s++)
		walk->data[s] =
			chain->slots[s].value < 0
				? NULL
				: workspace->views[chain->slots[s].value].data;
	dray_strides_sort(leader->ndim, leader->strides, order);
	walk->elements = 1;
	for (i = 0; i < leader->ndim; i++) {
		struct axis *axis = &walk->axes[walk->axes_count];

		walk->elements *= leader->shape[order[i]];
		if (leader->shape[order[i]] == 1)
			continue;
		axis->count = leader->shape[order[i]];
		axis->strides = strides;
		set_axis(walk, workspace, leader->ndim, order[i], axis);
		if (inner && chain_steps_join(walk, inner, axis)) {
			inner->count *= axis->count;
			for (s = 0; s < chain->slots_count; s++)
				inner->strides[s] = axis->strides[s];
			continue;
		}
		inner = axis;
		walk->axes_count++;
		strides += chain->slots_count;
	}
	choose_axes(walk);
	return walk->elements;
}

/* Reports errors of the chain's calls, in the order of the recording. */
static int chain_report(const struct dray_sequence *sequence,
			const struct dray_sequence_group *chain,
			struct dray_workspace *workspace)
{
	const int number = (int)(chain - sequence->groups);
	int s, ret = 0;

	for (s = 0; s < sequence->steps_count && !ret; s++)
		if (sequence->steps[s].group == number && workspace->errors[s])
			ret = dray_fp_report(
				dray_step_name(&sequence->steps[s]),
				workspace->errors[s]);
	return ret;
}

int dray_chain_run(const struct dray_sequence *sequence,
		   const struct dray_sequence_group *chain,
		   struct dray_workspace *workspace, unsigned int threads)
{
	struct chain_walk walk = { .chain = chain,
				   .errors = workspace->errors };
	const int ndim = sequence->values[chain->shape_of].ndim;
	const size_t slots = (size_t)chain->slots_count;
	int64_t *strides;
	int ret;

	strides = malloc(slots * (sizeof(int64_t) * (size_t)(ndim + 1) +
				  sizeof(char *)));
	if (!strides)
		return dray_fail(-ENOMEM, "no memory for the axes of a chain");
	walk.data = (char **)(void *)(strides + slots * (size_t)(ndim + 1));
	if (!chain_reduce(&walk, workspace, strides)) {
		free(strides);
		return 0;
	}
	if (chain->single_thread || !walk.axes_count || threads <= 1)
		threads = 1;
	else
		threads = dray_threads_for((uint64_t)walk.elements *
						   (uint64_t)chain->bytes,
					   threads);
	ret = threads > 1
		      ? dray_threads_run((uint64_t)walk.axes[walk.cut].count,
					 threads, walk_part_alone, &walk)
		      : chain_walk_part(
				&walk, 0,
				walk.axes_count
					? (uint64_t)walk.axes[walk.cut].count
					: 1,
				workspace->scratch);
	free(strides);
	return ret ? ret : chain_report(sequence, chain, workspace);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Transfers: recorded, started in a run, and waited for by the first group that
 * writes their source, or uses their destination.
 */
#include <errno.h>

#include "private.h"
#include "sequence/run.h"

int dray_sequence_copy(struct dray_sequence *sequence, dray_value value,
		       struct dray_queue *queue, unsigned int flags,
		       dray_value *out)
{
	const unsigned int both = DRAY_COPY_ENGINE | DRAY_COPY_CPU;
	struct dray_sequence_step step = {
		.queue = queue,
		.copy_flags = flags,
		.inputs = 1,
		.operands = 2,
		.where = DRAY_NO_VALUE,
		.otherwise = DRAY_NO_VALUE,
	};
	const struct dray_sequence_value *from;
	int ret;

	if (!dray_given(sequence, __func__) || !dray_given(queue, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_sequence_check_open(sequence);
	if (ret)
		return ret;
	step.values[0] = dray_sequence_find(sequence, value);
	if (step.values[0] < 0)
		return step.values[0];
	if (flags & ~(both | DRAY_COPY_NO_SYNC) || (flags & both) == both)
		return dray_fail(
			-EINVAL,
			"flags 0x%x of a recorded copy are unknown, or contradict each other",
			flags);
	from = &sequence->values[step.values[0]];
	step.resolved.dtypes[0] = from->dtype;
	step.resolved.dtypes[1] = from->dtype;
	return dray_sequence_add_step(sequence, &step, from->ndim, from->shape,
				      out);
}

static struct dray_addresses transfer_span_of(const struct dray_view *view)
{
	struct dray_operand operand;

	/* The run has checked it. */
	if (dray_operand_init(&operand, view, "a value"))
		return (struct dray_addresses){ 0, 0 };
	return operand.span;
}

int dray_run_transfer(struct dray_run *run,
		      const struct dray_sequence_step *step)
{
	struct dray_workspace *workspace = run->workspace;
	const struct dray_view *from = &workspace->views[step->values[0]];
	const struct dray_view *to = &workspace->views[step->values[1]];
	struct dray_fence *fence;
	int ret;

	if (atomic_load(&step->queue->destroyed))
		return dray_fail(
			-EINVAL,
			"the queue of a recorded copy has been destroyed");
	/* A signal ends the wait for room in the queue, but not the run. */
	do {
		ret = dray_copy(step->queue, to, from, step->copy_flags,
				&fence);
	} while (ret == -EINTR);
	if (ret)
		return ret;
	ret = dray_fence_status(fence);
	if (ret) {
		dray_fence_unref(fence);
		return ret < 0 ? ret : 0;
	}
	workspace->flights[workspace->flights_count++] =
		(struct dray_run_transfer){
			.fence = fence,
			.to = transfer_span_of(to),
			.from = transfer_span_of(from),
		};
	return 0;
}

/* Waits for a transfer, which no signal ends, and forgets it. */
static int transfer_land(struct dray_run_transfer *flight)
{
	int ret;

	do {
		ret = dray_fence_wait(flight->fence, -1);
	} while (ret == -EINTR);
	dray_fence_unref(flight->fence);
	flight->fence = NULL;
	return ret;
}

/* Waits for transfers that a use of value @v would overtake. */
static int await_value(struct dray_run *run, int v, bool writes)
{
	struct dray_workspace *workspace = run->workspace;
	struct dray_addresses span;
	int i, ret = 0;

	if (v == DRAY_NO_VALUE || !run->sequence->values[v].in_memory)
		return 0;
	span = transfer_span_of(&workspace->views[v]);
	for (i = 0; i < workspace->flights_count && !ret; i++) {
		struct dray_run_transfer *flight = &workspace->flights[i];

		if (flight->fence &&
		    (dray_addresses_meet(flight->to, span) ||
		     (writes && dray_addresses_meet(flight->from, span))))
			ret = transfer_land(flight);
	}
	return ret;
}

int dray_run_await(struct dray_run *run, int number)
{
	const struct dray_sequence *sequence = run->sequence;
	const struct dray_sequence_group *group = &sequence->groups[number];
	const struct dray_sequence_step *step;
	int i, ret = 0;

	if (!run->workspace->flights_count)
		return 0;
	for (i = 0; i < group->slots_count && !ret; i++) {
		const int v = group->slots[i].value;

		ret = await_value(run, v,
				  v >= 0 && sequence->values[v].written_in ==
						    number);
	}
	if (group->step < 0)
		return ret;
	step = &sequence->steps[group->step];
	for (i = 0; i < step->operands && !ret; i++)
		ret = await_value(run, step->values[i], i >= step->inputs);
	if (!ret)
		ret = await_value(run, step->where, false);
	return ret ? ret : await_value(run, step->otherwise, false);
}

int dray_run_await_all(struct dray_run *run)
{
	struct dray_workspace *workspace = run->workspace;
	int i, ret = 0;

	for (i = 0; i < workspace->flights_count; i++) {
		int status = workspace->flights[i].fence
				     ? transfer_land(&workspace->flights[i])
				     : 0;

		if (!ret)
			ret = status;
	}
	workspace->flights_count = 0;
	return ret;
}

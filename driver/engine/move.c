// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transfers, checked: nothing here trusts a number of the caller, and nothing
 * behind it need doubt one.  A plan knows the span of either side, that its
 * destination runs are apart, how many descriptors it takes, and gives them
 * out one by one.
 */
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "fill.h"
#include "move.h"

static bool dray_axes_valid(const struct dray_transfer *transfer,
			    const struct dray_axis *axes)
{
	u32 i;

	for (i = 0; i < transfer->axes_count; i++) {
		if (!axes[i].count)
			return false;
		if (transfer->op == DRAY_OP_FILL && axes[i].src_stride)
			return false;
	}
	return true;
}

/* Axes of more than one element; the innermost go into the run if they can. */
static void dray_plan_steps(struct dray_plan *plan,
			    const struct dray_axis *axes, u32 count)
{
	struct dray_step *step;
	u32 i;

	for (i = 0; i < count; i++) {
		if (axes[i].count == 1)
			continue;
		step = &plan->step[plan->steps++];
		step->count = axes[i].count;
		step->dst_stride = axes[i].dst_stride;
		step->src_stride = axes[i].src_stride;
	}
	while (plan->steps) {
		step = &plan->step[plan->steps - 1];
		if (step->dst_stride != (s64)plan->run ||
		    (plan->op == DRAY_OP_COPY &&
		     step->src_stride != (s64)plan->run))
			break;
		plan->run *= step->count;
		plan->steps--;
	}
}

/*
 * Fills in what does not depend on an engine.  The caller has set the two
 * areas, and room for the steps and levels of every axis.
 */
int dray_plan_check(struct dray_plan *plan,
		    const struct dray_transfer *transfer,
		    const struct dray_axis *axes, struct dray_refusal *refusal)
{
	u32 count = transfer->axes_count;
	int ret;

	plan->op = transfer->op;
	plan->run = transfer->run;
	plan->dst.run = transfer->run;
	plan->src.run = transfer->run;
	plan->dst.first = transfer->dst_offset;
	plan->src.first = transfer->src_offset;
	plan->pattern_size = transfer->pattern_size;
	memcpy(plan->pattern, transfer->pattern, sizeof(plan->pattern));
	if (!transfer->run || !dray_pattern_valid(transfer) ||
	    !dray_axes_valid(transfer, axes))
		return -EINVAL;

	ret = dray_layout_check(&plan->dst, axes, count, true, refusal);
	if (ret)
		return ret;
	if (!dray_layout_is_apart(&plan->dst, axes, count))
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_OVERLAP, 0);
	if (plan->op == DRAY_OP_COPY) {
		ret = dray_layout_check(&plan->src, axes, count, false,
					refusal);
		if (ret)
			return ret;
		if (dray_layouts_meet(&plan->src, &plan->dst))
			return dray_refuse(refusal, -EINVAL,
					   DRAY_REASON_OVERLAP, 0);
	}
	dray_plan_steps(plan, axes, count);
	dray_layout_join(&plan->dst);
	dray_layout_join(&plan->src);
	return 0;
}

/* How many runs there are; they are apart in an area, so this is small. */
static u64 dray_plan_runs(const struct dray_plan *plan)
{
	u64 runs = 1;
	u32 i;

	for (i = 0; i < plan->steps; i++)
		runs *= plan->step[i].count;
	return runs;
}

u64 dray_plan_bytes(const struct dray_plan *plan)
{
	return dray_plan_runs(plan) * plan->run;
}

static bool dray_plan_is_aligned(const struct dray_plan *plan, u32 alignment)
{
	u64 bits = plan->run;
	u32 i;

	if (alignment == 1)
		return true;
	bits |= dray_layout_bits(&plan->dst);
	if (plan->op == DRAY_OP_COPY)
		bits |= dray_layout_bits(&plan->src);
	for (i = 0; i < plan->steps; i++)
		bits |= plan->step[i].dst_stride | plan->step[i].src_stride;
	return !(bits & (alignment - 1));
}

static bool dray_plan_is_scattered(const struct dray_plan *plan)
{
	return plan->dst.place.count > 1 || plan->src.place.count > 1;
}

/*
 * Adds the descriptors that the plan takes to *@runs.  Between stretches there
 * are cuts that no formula knows: there they are counted one by one, but not
 * further than the call may go.
 */
static int dray_plan_count(struct dray_plan *plan, u64 most, u64 *runs,
			   struct dray_refusal *refusal)
{
	struct dray_piece piece;
	u64 count = 0;

	if (!dray_plan_is_scattered(plan)) {
		count = dray_plan_runs(plan) *
			div64_u64(plan->run + plan->piece - 1, plan->piece);
	} else {
		while (!plan->ended && *runs + count <= most) {
			dray_plan_piece(plan, &piece);
			dray_plan_advance(plan, piece.length);
			if (fatal_signal_pending(current))
				return -EINTR;
			if (!(++count % SZ_1K))
				cond_resched();
		}
	}
	*runs += count;
	if (*runs > most)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_RUNS, most);
	dray_plan_rewind(plan);
	return 0;
}

/* For one engine, once the places are there; adds to *@runs, up to @most. */
int dray_plan_fit(struct dray_plan *plan, struct device *dev,
		  const struct dray_engine_limits *limits, u64 most, u64 *runs,
		  struct dray_refusal *refusal)
{
	u64 grain = max(limits->alignment, plan->pattern_size);
	int ret;

	plan->memset = plan->op == DRAY_OP_FILL && limits->fill_alignment &&
		       dray_pattern_is_byte(plan) &&
		       dray_plan_is_aligned(plan, limits->fill_alignment);
	if (plan->memset)
		grain = limits->fill_alignment;
	else if (!dray_plan_is_aligned(plan, limits->alignment))
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_ALIGNMENT,
				   limits->alignment);

	plan->piece = limits->max_segment & ~(grain - 1);
	if (!plan->piece)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_ALIGNMENT,
				   limits->max_segment);
	if (plan->op == DRAY_OP_FILL && !plan->memset) {
		ret = dray_plan_map_pattern(plan, dev, refusal);
		if (ret)
			return ret;
	}
	dray_plan_rewind(plan);
	return dray_plan_count(plan, most, runs, refusal);
}

void dray_plan_rewind(struct dray_plan *plan)
{
	u32 i;

	for (i = 0; i < plan->steps; i++)
		plan->step[i].index = 0;
	plan->done = 0;
	plan->ended = false;
	plan->dst_at = plan->dst.first;
	plan->src_at = plan->src.first;
}

/*
 * The next descriptor; valid until the plan has ended.  A stretch may end in
 * the middle of a pattern, which then goes on where it was.
 */
void dray_plan_piece(const struct dray_plan *plan, struct dray_piece *piece)
{
	size_t phase = 0;
	u64 at;

	piece->length = min(plan->piece, plan->run - plan->done);
	piece->src = 0;
	if (plan->fill_size) {
		phase = plan->done & (plan->pattern_size - 1);
		piece->src = plan->fill_address + phase;
		piece->length = min(piece->length, plan->fill_size - phase);
	} else if (plan->op == DRAY_OP_COPY) {
		at = plan->src_at + plan->done;
		piece->src = dray_layout_find(&plan->src, at, &piece->length);
	}
	piece->dst = dray_layout_find(&plan->dst, plan->dst_at + plan->done,
				      &piece->length);
}

void dray_plan_advance(struct dray_plan *plan, size_t length)
{
	struct dray_step *step;
	u32 i;

	plan->done += length;
	if (plan->done < plan->run)
		return;
	plan->done = 0;
	for (i = plan->steps; i > 0; i--) {
		step = &plan->step[i - 1];
		plan->dst_at += step->dst_stride;
		plan->src_at += step->src_stride;
		if (++step->index < step->count)
			return;
		step->index = 0;
		plan->dst_at -= step->count * step->dst_stride;
		plan->src_at -= step->count * step->src_stride;
	}
	plan->ended = true;
}

/* Does either write what the other one reads or writes, perhaps? */
bool dray_plan_needs(const struct dray_plan *later,
		     const struct dray_plan *earlier)
{
	return dray_layouts_may_meet(&later->src, &earlier->dst) ||
	       dray_layouts_may_meet(&later->dst, &earlier->dst) ||
	       dray_layouts_may_meet(&later->dst, &earlier->src);
}

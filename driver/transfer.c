// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transfers, checked: nothing here trusts a number of the caller, and nothing
 * behind it need doubt one.  A plan knows the span of either side, that its
 * destination runs are apart, how many descriptors it takes, and gives them
 * out one by one.
 */
#include <linux/dma-mapping.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "account.h"
#include "transfer.h"

static u64 dray_magnitude(s64 stride)
{
	return stride < 0 ? -(u64)stride : (u64)stride;
}

static int dray_level_compare(const void *left, const void *right)
{
	const struct dray_level *a = left, *b = right;

	return a->stride < b->stride ? -1 : a->stride > b->stride;
}

/*
 * Takes one axis into the layout.  The lowest byte may come to lie before the
 * area, so @below counts how far down strides reach.
 */
static bool dray_layout_add(struct dray_layout *layout, u64 count, s64 stride,
			    u64 *below)
{
	struct dray_level *level = &layout->level[layout->levels];
	u64 *far = stride < 0 ? below : &layout->high;
	u64 reach;

	if (count == 1 || !stride)
		return true;
	level->count = count;
	level->stride = dray_magnitude(stride);
	layout->levels++;
	return !check_mul_overflow(count - 1, level->stride, &reach) &&
	       !check_add_overflow(*far, reach, far);
}

static int dray_layout_check(struct dray_layout *layout,
			     const struct dray_axis *axes, u32 count, bool dst,
			     struct dray_refusal *refusal)
{
	u64 below = 0;
	s64 stride;
	bool fits;
	u32 i;

	fits = !check_add_overflow(layout->first, layout->run, &layout->high);
	for (i = 0; i < count && fits; i++) {
		stride = dst ? axes[i].dst_stride : axes[i].src_stride;
		fits = dray_layout_add(layout, axes[i].count, stride, &below);
	}
	if (!fits || below > layout->first || layout->high > layout->area.size)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_RANGE,
				   layout->area.size);
	layout->low = layout->first - below;
	sort(layout->level, layout->levels, sizeof(*layout->level),
	     dray_level_compare, NULL);
	return 0;
}

/*
 * Are the runs apart?  They are when each level steps over all that the ones
 * below it cover.  Layouts exist that this calls overlapping and are not;
 * NumPy's strides do not make them.
 */
static bool dray_layout_is_apart(const struct dray_layout *layout,
				 const struct dray_axis *axes, u32 count)
{
	u64 cover = layout->run;
	u32 i;

	for (i = 0; i < count; i++)
		if (axes[i].count > 1 && !axes[i].dst_stride)
			return false;
	for (i = 0; i < layout->levels; i++) {
		if (layout->level[i].stride < cover)
			return false;
		cover += (layout->level[i].count - 1) * layout->level[i].stride;
	}
	return true;
}

/* One level for two that together are one progression. */
static bool dray_level_join(struct dray_level *low,
			    const struct dray_level *high)
{
	u64 remainder, times;

	times = div64_u64_rem(high->stride, low->stride, &remainder);
	if (remainder || times > low->count)
		return false;
	low->count += (high->count - 1) * times;
	return true;
}

/*
 * The same bytes in the fewest rows: the caller's axes may cut them up
 * finely, and maintenance takes its time for each row.
 */
static void dray_layout_join(struct dray_layout *layout)
{
	struct dray_level *level = layout->level;
	u32 i, levels = 0;

	for (i = 0; i < layout->levels; i++) {
		if (!levels && level[i].stride <= layout->run)
			layout->run += (level[i].count - 1) * level[i].stride;
		else if (!levels ||
			 !dray_level_join(&level[levels - 1], &level[i]))
			level[levels++] = level[i];
	}
	layout->levels = levels;
}

static bool dray_pattern_valid(const struct dray_transfer *transfer)
{
	u32 size = transfer->pattern_size;

	if (transfer->op == DRAY_OP_COPY && size)
		return false;
	if (transfer->op == DRAY_OP_FILL &&
	    (!is_power_of_2(size) || size > DRAY_MAX_PATTERN ||
	     transfer->run & (size - 1)))
		return false;
	return !memchr_inv(transfer->pattern + size, 0,
			   DRAY_MAX_PATTERN - size);
}

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
		if (dray_area_is_same(&plan->src.area, &plan->dst.area) &&
		    plan->src.low < plan->dst.high &&
		    plan->dst.low < plan->src.high)
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

/*
 * The low bits of all addresses where a piece of this side may begin, but for
 * what strides add: the first one, and where a stretch does.
 */
static u64 dray_layout_bits(const struct dray_layout *layout)
{
	const struct dray_stretch *stretch = layout->place.stretch;
	u64 bits = stretch[0].address + layout->first, base;
	u32 i;

	for (i = 1; i < layout->place.count; i++) {
		base = stretch[i].address - stretch[i].offset;
		bits |= stretch[i].address;
		bits |= base ^ stretch[0].address;
	}
	return bits;
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

static bool dray_pattern_is_byte(const struct dray_plan *plan)
{
	return !memchr_inv(plan->pattern, plan->pattern[0], plan->pattern_size);
}

/* Kernel memory that the caller makes us keep until the job's end: locked. */
static int dray_plan_alloc_pattern(struct dray_plan *plan, struct device *dev,
				   size_t size, struct dray_refusal *refusal)
{
	int ret;

	ret = dray_charge_user(size, &plan->fill_user, refusal);
	if (ret)
		return ret;
	plan->fill = dma_alloc_coherent(dev, size, &plan->fill_address,
					GFP_KERNEL | __GFP_NOWARN);
	if (!plan->fill) {
		dray_uncharge_user(plan->fill_user, size);
		return -ENOMEM;
	}
	plan->fill_size = size;
	return 0;
}

/* A piece of memory full of the pattern, for an engine that only copies. */
static int dray_plan_map_pattern(struct dray_plan *plan, struct device *dev,
				 struct dray_refusal *refusal)
{
	size_t size = PAGE_ALIGN(min(plan->run, plan->fill_most));
	size_t done;
	int ret;

	ret = dray_plan_alloc_pattern(plan, dev, size, refusal);
	if (ret && size > PAGE_SIZE) {
		*refusal = (struct dray_refusal){};
		ret = dray_plan_alloc_pattern(plan, dev, PAGE_SIZE, refusal);
	}
	if (ret)
		return ret;
	for (done = 0; done < plan->fill_size; done += plan->pattern_size)
		memcpy(plan->fill + done, plan->pattern, plan->pattern_size);
	plan->piece = min_t(u64, plan->piece, plan->fill_size);
	return 0;
}

void dray_plan_unfit(struct dray_plan *plan, struct device *dev)
{
	if (!plan->fill)
		return;
	dma_free_coherent(dev, plan->fill_size, plan->fill, plan->fill_address);
	dray_plan_abandon(plan);
}

/* The pattern stays where it is, and nobody pays for it any more. */
void dray_plan_abandon(struct dray_plan *plan)
{
	if (!plan->fill)
		return;
	dray_uncharge_user(plan->fill_user, plan->fill_size);
	plan->fill = NULL;
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

/* The address of the byte at @offset; *@length goes down to what follows it. */
static dma_addr_t dray_layout_find(const struct dray_layout *layout, u64 offset,
				   size_t *length)
{
	const struct dray_stretch *stretch =
		dray_place_find(&layout->place, offset);
	u64 into = offset - stretch->offset;

	*length = min_t(u64, *length, stretch->length - into);
	return stretch->address + into;
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
	if (plan->fill) {
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

/*
 * Maintains exactly the bytes of the runs.  The lowest level makes rows, the
 * others say where rows begin.  Where only the whole can be maintained it is
 * for the device; for the CPU that waits for fences, and ours is one of them:
 * there whoever looks asks for it.
 */
int dray_layout_sync(struct dray_layout *layout, struct device *dev,
		     bool for_cpu, enum dma_data_direction direction)
{
	struct dray_rows rows = {
		.offset = layout->low,
		.width = layout->run,
		.rows = 1,
	};
	struct dray_level *level;
	int ret;
	u32 i;

	if (dray_area_is_whole(&layout->area))
		return for_cpu ? 0
			       : dray_area_sync(&layout->area, dev,
						&layout->place, &rows, for_cpu,
						direction);
	if (layout->levels) {
		rows.pitch = layout->level[0].stride;
		rows.rows = layout->level[0].count;
	}
	do {
		ret = dray_area_sync(&layout->area, dev, &layout->place, &rows,
				     for_cpu, direction);
		for (i = 1; i < layout->levels && !ret; i++) {
			level = &layout->level[i];
			rows.offset += level->stride;
			if (++level->index < level->count)
				break;
			level->index = 0;
			rows.offset -= level->count * level->stride;
		}
	} while (!ret && i < layout->levels);
	return ret;
}

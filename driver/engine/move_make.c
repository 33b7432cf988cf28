// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moves: checked transfers.  Nothing here trusts a number of the caller, and
 * nothing behind it need doubt a number.  A move knows the span of either side,
 * that its destination runs are apart, and the number of its descriptors, and
 * makes them singly.
 */
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "fill.h"
#include "move.h"

void dray_move_room(struct dray_move *move, struct dray_step *step,
		    struct dray_dim *dim, u32 axes)
{
	move->step = step;
	move->dst.dim = dim;
	move->src.dim = dim + axes;
}

static bool dray_axes_valid(const struct dray_move *move,
			    const struct dray_axis *axes, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (!axes[i].count)
			return false;
		if (!dray_move_reads(move) && axes[i].src_stride)
			return false;
		if (!dray_move_writes(move) && axes[i].dst_stride)
			return false;
	}
	return true;
}

/*
 * Finds seams.  Where an axis steps on, the axes inside it return to their starts.
 * The innermost axis is without a seam, as it would be a part of the run: so no two
 * seams follow each other.
 */
static void dray_move_seams(struct dray_move *move)
{
	s64 dst_end = move->run, src_end = move->run, last;
	struct dray_step *step;
	u32 i;

	for (i = move->steps; i > 0; i--) {
		step = &move->step[i - 1];
		last = step->count - 1;
		step->seam =
			(!dray_move_writes(move) ||
			 step->dst_stride == dst_end) &&
			(!dray_move_reads(move) || step->src_stride == src_end);
		dst_end += last * step->dst_stride;
		src_end += last * step->src_stride;
	}
}

/*
 * Keeps axes of two elements or more; joins the innermost into the run if
 * possible.  A picture keeps its rows.
 */
static void dray_move_steps(struct dray_move *move,
			    const struct dray_axis *axes, u32 count)
{
	struct dray_step *step;
	u32 i;

	for (i = 0; i < count; i++) {
		if (axes[i].count == 1)
			continue;
		step = &move->step[move->steps++];
		step->count = axes[i].count;
		step->dst_stride = axes[i].dst_stride;
		step->src_stride = axes[i].src_stride;
	}
	while (move->steps > (move->op == DRAY_OP_SHOW)) {
		step = &move->step[move->steps - 1];
		if ((dray_move_writes(move) &&
		     step->dst_stride != (s64)move->run) ||
		    (dray_move_reads(move) &&
		     step->src_stride != (s64)move->run))
			break;
		move->run *= step->count;
		move->steps--;
	}
	if (move->op != DRAY_OP_SHOW)
		dray_move_seams(move);
}

/* Checks the sides that lie in memory. */
static int dray_move_sides(struct dray_move *move, const struct dray_axis *axes,
			   u32 count, struct dray_refusal *refusal)
{
	int ret;

	if (dray_move_writes(move)) {
		ret = dray_side_check(&move->dst, axes, count, true, refusal);
		if (ret)
			return ret;
		if (!dray_side_is_apart(&move->dst, axes, count))
			return dray_refuse(refusal, -EINVAL,
					   DRAY_REASON_OVERLAP, 0);
	}
	if (dray_move_reads(move)) {
		ret = dray_side_check(&move->src, axes, count, false, refusal);
		if (ret)
			return ret;
	}
	if (move->op == DRAY_OP_COPY && dray_sides_meet(&move->src, &move->dst))
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_OVERLAP, 0);
	return 0;
}

/*
 * Fills in all that does not depend on an engine.  The caller sets the two areas
 * before, and room for the steps and dimensions of every axis.
 */
int dray_move_check(struct dray_move *move,
		    const struct dray_transfer *transfer,
		    const struct dray_axis *axes, struct dray_refusal *refusal)
{
	u32 count = transfer->axes_count;
	int ret;

	move->op = transfer->op;
	move->run = transfer->run;
	move->dst.run = transfer->run;
	move->src.run = transfer->run;
	move->dst.first = transfer->dst_offset;
	move->src.first = transfer->src_offset;
	move->pattern_size = transfer->pattern_size;
	memcpy(move->pattern, transfer->pattern, sizeof(move->pattern));
	if (!transfer->run || !dray_pattern_valid(transfer) ||
	    !dray_axes_valid(move, axes, count))
		return -EINVAL;

	ret = dray_move_sides(move, axes, count, refusal);
	if (ret)
		return ret;
	dray_move_steps(move, axes, count);
	dray_side_join(&move->dst);
	dray_side_join(&move->src);
	return 0;
}

/*
 * Counts the runs.  Those that are written are apart in an area; those that are
 * sent may repeat without end.
 */
static u64 dray_move_runs(const struct dray_move *move)
{
	u64 runs = 1;
	u32 i;

	for (i = 0; i < move->steps; i++)
		if (check_mul_overflow(runs, move->step[i].count, &runs))
			return U64_MAX;
	return runs;
}

u64 dray_move_bytes(const struct dray_move *move)
{
	u64 bytes;

	if (check_mul_overflow(dray_move_runs(move), move->run, &bytes))
		return U64_MAX;
	return bytes;
}

/* Counts the runs that touch the next run. */
static u64 dray_move_count_seams(const struct dray_move *move)
{
	u64 outside = 1, seams = 0;
	u32 i;

	for (i = 0; i < move->steps; i++) {
		if (move->step[i].seam)
			seams += outside * (move->step[i].count - 1);
		outside *= move->step[i].count;
	}
	return seams;
}

static u64 dray_move_pieces(const struct dray_move *move, u64 bytes)
{
	return div64_u64(bytes + move->longest - 1, move->longest);
}

static bool dray_move_is_aligned(const struct dray_move *move, u32 alignment)
{
	u64 bits = move->run;
	u32 i;

	if (alignment == 1)
		return true;
	if (dray_move_writes(move))
		bits |= dray_side_bits(&move->dst);
	if (dray_move_reads(move))
		bits |= dray_side_bits(&move->src);
	for (i = 0; i < move->steps; i++)
		bits |= move->step[i].dst_stride | move->step[i].src_stride;
	return !(bits & (alignment - 1));
}

static bool dray_move_is_scattered(const struct dray_move *move)
{
	return move->dst.place.count > 1 || move->src.place.count > 1;
}

/*
 * Adds the descriptors that the move needs to *@runs.  No formula knows the cuts
 * between segments: there they are counted singly, up to the limit of the call.
 */
static int dray_move_count(struct dray_move *move, u64 most, u64 *runs,
			   struct dray_refusal *refusal)
{
	struct dray_descriptor descriptor;
	u64 count = 0, seams;

	if (!dray_move_is_scattered(move)) {
		seams = dray_move_count_seams(move);
		count = (dray_move_runs(move) - 2 * seams) *
				dray_move_pieces(move, move->run) +
			seams * dray_move_pieces(move, 2 * move->run);
	} else {
		while (!move->ended && *runs + count <= most) {
			dray_move_descriptor(move, &descriptor);
			dray_move_advance(move, descriptor.length);
			if (fatal_signal_pending(current))
				return -EINTR;
			if (!(++count % SZ_1K))
				cond_resched();
		}
	}
	*runs += count;
	if (*runs > most)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_RUNS, most);
	dray_move_rewind(move);
	return 0;
}

/* Fits a placed move to an engine; adds to *@runs, up to @most. */
int dray_move_fit(struct dray_move *move, struct device *dev,
		  const struct dray_engine_limits *limits, u64 most, u64 *runs,
		  struct dray_refusal *refusal)
{
	u64 grain = max(limits->alignment, move->pattern_size);
	int ret;

	move->memset = move->op == DRAY_OP_FILL && limits->fill_alignment &&
		       dray_pattern_is_byte(move) &&
		       dray_move_is_aligned(move, limits->fill_alignment);
	if (move->memset)
		grain = limits->fill_alignment;
	else if (!dray_move_is_aligned(move, limits->alignment))
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_ALIGNMENT,
				   limits->alignment);

	move->longest = limits->max_segment & ~(grain - 1);
	if (!move->longest)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_ALIGNMENT,
				   limits->max_segment);
	if (move->op == DRAY_OP_FILL && !move->memset) {
		ret = dray_move_map_pattern(move, dev, refusal);
		if (ret)
			return ret;
	}
	dray_move_rewind(move);
	return dray_move_count(move, most, runs, refusal);
}

/* Measures the stretch that begins at the cursor. */
static void dray_move_stretch(struct dray_move *move)
{
	struct dray_step *step;
	u32 i;

	move->stretch = move->run;
	for (i = move->steps; i > 0; i--) {
		step = &move->step[i - 1];
		if (step->index + 1 < step->count) {
			if (step->seam)
				move->stretch += move->run;
			return;
		}
	}
}

void dray_move_rewind(struct dray_move *move)
{
	u32 i;

	for (i = 0; i < move->steps; i++)
		move->step[i].index = 0;
	move->done = 0;
	move->ended = false;
	move->dst_at = move->dst.first;
	move->src_at = move->src.first;
	dray_move_stretch(move);
}

/*
 * Returns the next descriptor; valid until the move ends.  If a segment ends in
 * the middle of a pattern, the pattern continues there.
 */
void dray_move_descriptor(const struct dray_move *move,
			  struct dray_descriptor *descriptor)
{
	size_t phase = 0;
	u64 at;

	descriptor->length = min(move->longest, move->stretch - move->done);
	descriptor->src = 0;
	if (move->fill_size) {
		phase = move->done & (move->pattern_size - 1);
		descriptor->src = move->fill_address + phase;
		descriptor->length =
			min(descriptor->length, move->fill_size - phase);
	} else if (dray_move_reads(move)) {
		at = move->src_at + move->done;
		descriptor->src =
			dray_side_find(&move->src, at, &descriptor->length);
	}
	descriptor->dst = 0;
	if (dray_move_writes(move))
		descriptor->dst =
			dray_side_find(&move->dst, move->dst_at + move->done,
				       &descriptor->length);
}

/* Advances to the next run, or ends. */
static void dray_move_step(struct dray_move *move)
{
	struct dray_step *step;
	u32 i;

	for (i = move->steps; i > 0; i--) {
		step = &move->step[i - 1];
		move->dst_at += step->dst_stride;
		move->src_at += step->src_stride;
		if (++step->index < step->count)
			return;
		step->index = 0;
		move->dst_at -= step->count * step->dst_stride;
		move->src_at -= step->count * step->src_stride;
	}
	move->ended = true;
}

void dray_move_advance(struct dray_move *move, size_t length)
{
	move->done += length;
	if (move->done < move->stretch)
		return;
	if (move->stretch > move->run)
		dray_move_step(move);
	move->done = 0;
	dray_move_step(move);
	dray_move_stretch(move);
}

/* Whether either may write memory that the other reads or writes. */
bool dray_move_needs(const struct dray_move *later,
		     const struct dray_move *earlier)
{
	return dray_sides_may_meet(&later->src, &earlier->dst) ||
	       dray_sides_may_meet(&later->dst, &earlier->dst) ||
	       dray_sides_may_meet(&later->dst, &earlier->src);
}

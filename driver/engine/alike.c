// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs and flights of frames that only their offsets tell apart.
 */
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "alike.h"
#include "channel.h"
#include "flight.h"
#include "job.h"
#include "store.h"

bool dray_transfers_are_alike(const struct dray_transfer *before,
			      const struct dray_transfer *transfer)
{
	return transfer->op == before->op && !transfer->flags &&
	       !before->flags && transfer->dst_fd == before->dst_fd &&
	       transfer->src_fd == before->src_fd &&
	       transfer->run == before->run &&
	       transfer->axes_count == before->axes_count &&
	       transfer->axes == before->axes && !transfer->pattern_size &&
	       !memcmp(transfer->pattern, before->pattern,
		       sizeof(transfer->pattern));
}

/* Moves a side that was checked; false if it leaves its area. */
static bool dray_side_move(struct dray_side *side, u64 offset)
{
	u64 moved = offset - side->first;

	if (dray_area_is_none(&side->area))
		return !moved;
	side->first = offset;
	side->low += moved;
	side->high += moved;
	return side->low < side->high && side->high <= side->area.size;
}

/* The copy has steps and dimensions of its own. */
static bool dray_job_copy_axes(struct dray_job *job, u32 axes)
{
	const void *from = job->axes;
	struct dray_step *step;
	struct dray_dim *dim;

	if (!axes)
		return true;
	step = kvmalloc_array(axes, sizeof(*step) + 2 * sizeof(*dim),
			      GFP_KERNEL_ACCOUNT);
	if (!step)
		return false;
	memcpy(step, from, axes * (sizeof(*step) + 2 * sizeof(*dim)));
	job->axes = step;
	dray_move_room(&job->moves[0], step, (struct dray_dim *)(step + axes),
		       axes);
	return true;
}

struct dray_job *dray_job_make_alike(const struct dray_job *like,
				     const struct dray_transfer *transfer,
				     struct dray_store *store, u32 index)
{
	struct dray_move *move;
	struct dray_job *job;

	/* Locked memory is counted for each job. */
	if (like->user)
		return NULL;
	job = dray_store_job(store, index);
	if (!job)
		return NULL;
	memcpy(job, like, struct_size(job, moves, 1));
	move = &job->moves[0];
	if (!dray_side_move(&move->dst, transfer->dst_offset) ||
	    !dray_side_move(&move->src, transfer->src_offset) ||
	    !dray_job_copy_axes(job, transfer->axes_count))
		return NULL;
	job->store = store;
	/* Those that follow have the same areas. */
	if (!like->store)
		dray_store_hold(store, job);
	return job;
}

/* Puts a side where that of @like is; -EAGAIN if it may take other descriptors. */
static int dray_prepare_side(struct dray_side *side,
			     const struct dray_side *like, u32 alignment,
			     u64 *moved)
{
	if (dray_area_is_none(&side->area))
		return 0;
	*moved = side->first - like->first;
	side->place = like->place;
	return like->place.count > 1 || *moved & (alignment - 1) ? -EAGAIN : 0;
}

static int dray_flight_prepare_alike(struct dray_job *job,
				     const struct dray_flight *from, u64 moved)
{
	const size_t size = struct_size(from, piece, from->count);
	struct dray_flight *flight;
	u32 i;

	if (from->user || from->rows)
		return -EAGAIN;
	if (from->count == 1)
		flight = dray_store_flight(job);
	else
		flight = kvmalloc(size, GFP_KERNEL_ACCOUNT);
	if (!flight)
		return -ENOMEM;
	memcpy(flight, from, size);
	flight->stored = from->count == 1;
	for (i = 0; i < flight->count; i++)
		sg_dma_address(&flight->piece[i]) += moved;
	job->flight = flight;
	job->runs = flight->count;
	return 0;
}

int dray_prepare_alike(struct dray_job *job, const struct dray_job *like)
{
	const struct dray_move *from = &like->moves[0];
	struct dray_channel *channel = like->channel;
	u32 alignment = channel->limits.alignment;
	struct dray_move *move = &job->moves[0];
	u64 moved = 0;
	int ret;

	ret = dray_prepare_side(&move->dst, &from->dst, alignment, &moved);
	if (!ret)
		ret = dray_prepare_side(&move->src, &from->src, alignment,
					&moved);
	if (!ret)
		ret = dray_flight_prepare_alike(job, like->flight, moved);
	if (ret)
		return ret;
	job->channel = channel;
	move->longest = from->longest;
	dray_move_rewind(move);
	return 0;
}

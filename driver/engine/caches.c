// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cache maintenance for jobs: of exactly the bytes that move.
 */
#include <linux/minmax.h>

#include "caches.h"
#include "channel.h"
#include "end.h"
#include "job.h"

/*
 * Lets the engine see the CPU's writes, and leaves no dirty line that could be
 * written back over the engine's.
 */
static int dray_prepare_sync(struct dray_move *move, struct device *dev)
{
	int ret = 0;

	if (!dray_area_is_none(&move->src.area))
		ret = dray_side_sync(&move->src, dev, false, DMA_TO_DEVICE);
	if (!ret && !dray_area_is_none(&move->dst.area))
		ret = dray_side_sync(&move->dst, dev, false, DMA_BIDIRECTIONAL);
	return ret;
}

/* Syncs caches, or with NO_SYNC marks destinations unsynced. */
int dray_job_sync(struct dray_job *job, struct device *dev)
{
	u32 i;
	int ret = 0;

	for (i = 0; i < job->count && !ret; i++) {
		if (job->sync)
			ret = dray_prepare_sync(&job->moves[i], dev);
		else
			dray_area_leave_unsynced(&job->moves[i].dst.area);
	}
	return ret;
}

int dray_job_sync_rows(struct dray_job *job, struct device *dev, u64 pitch,
		       u32 count)
{
	struct dray_move *move = &job->moves[0];
	bool writes = dray_move_writes(move);
	struct dray_side *side = writes ? &move->dst : &move->src;
	struct dray_area_rows rows = {
		.offset = side->low,
		.width = side->run,
		.pitch = pitch,
		.rows = count,
	};

	if (count == 1 || !job->sync)
		return dray_job_sync(job, dev);
	if (pitch == side->run) {
		rows.width *= count;
		rows.rows = 1;
	}
	return dray_area_sync(&side->area, dev, &side->place, &rows, false,
			      writes ? DMA_BIDIRECTIONAL : DMA_TO_DEVICE);
}

/* Makes the first @bytes that a move wrote visible to the CPU. */
static void dray_move_show(struct dray_move *move, struct device *dev,
			   u64 bytes)
{
	struct dray_descriptor descriptor;
	struct dray_area_rows rows = { .rows = 1 };

	if (dray_area_is_whole(&move->dst.area))
		return;
	dray_move_rewind(move);
	while (bytes) {
		dray_move_descriptor(move, &descriptor);
		rows.offset = move->dst_at + move->done;
		rows.width = min_t(u64, descriptor.length, bytes);
		dray_area_sync(&move->dst.area, dev, &move->dst.place, &rows,
			       true, DMA_FROM_DEVICE);
		dray_move_advance(move, descriptor.length);
		bytes -= rows.width;
	}
}

/* The same of a job; if it was stopped, of all that it may have written. */
void dray_job_show(struct dray_job *job, const struct dray_end *end)
{
	struct device *dev = job->channel->dev;
	u64 left = end->stopped ? U64_MAX : end->bytes, bytes;
	struct dray_move *move;
	u32 i;

	for (i = 0; i < job->count; i++) {
		move = &job->moves[i];
		bytes = dray_move_bytes(move);
		if (left < bytes) {
			if (dray_move_writes(move))
				dray_move_show(move, dev, left);
			return;
		}
		if (dray_move_writes(move))
			dray_side_sync(&move->dst, dev, true, DMA_FROM_DEVICE);
		left -= bytes;
	}
}

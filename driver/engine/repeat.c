// SPDX-License-Identifier: GPL-2.0-only
/*
 * Repetition: an engine without slave_sg, which accepts rows of equal length as
 * an interleaved template, and repeats them until another template replaces
 * them.  Its callback runs at the end of each repetition, and once more at the
 * replacement.  It does not know which, and may run after the work item saw by
 * the status that a flight was replaced.  So it counts, and knows no flight.
 */
#include <linux/dmaengine.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "channel.h"
#include "engine.h"
#include "flight.h"
#include "frames.h"
#include "job.h"
#include "points.h"
#include "repeat.h"

bool dray_repeat_fits(struct dma_chan *chan)
{
	struct dma_device *engine = chan->device;

	return engine->device_prep_interleaved_dma &&
	       dma_has_cap(DMA_INTERLEAVE, engine->cap_mask) &&
	       dma_has_cap(DMA_REPEAT, engine->cap_mask) &&
	       dma_has_cap(DMA_LOAD_EOT, engine->cap_mask);
}

/* Checks that the job is rows with an equal stride in a single segment. */
static int dray_repeat_check(struct dray_job *job, dma_addr_t *address,
			     s64 *stride, struct dray_refusal *refusal)
{
	const struct dray_channel *channel = job->channel;
	const struct dray_move *move = &job->moves[0];
	u64 longest = channel->limits.max_segment;
	size_t span = move->src.high - move->src.low, length = span;
	u32 alignment = channel->stream.alignment;

	if (job->count > 1)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_PIECES, 1);
	*stride = move->steps ? move->step[0].src_stride : move->run;
	if (move->steps > 1 || move->run > longest ||
	    *stride < (s64)move->run || *stride > (s64)longest)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_ROWS, longest);
	*address = dray_side_find(&move->src, move->src.first, &length);
	if (length < span)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_PIECES, 1);
	if (*address & (alignment - 1))
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_ALIGNMENT,
				   alignment);
	return 0;
}

int dray_repeat_prepare(struct dray_job *job, struct dray_refusal *refusal)
{
	const struct dray_move *move = &job->moves[0];
	struct dma_interleaved_template *rows;
	struct dray_flight *flight;
	dma_addr_t address;
	s64 stride;
	int ret;

	ret = dray_repeat_check(job, &address, &stride, refusal);
	if (ret)
		return ret;
	flight = kvzalloc(sizeof(*flight), GFP_KERNEL_ACCOUNT);
	rows = kzalloc(struct_size(rows, sgl, 1), GFP_KERNEL_ACCOUNT);
	if (!flight || !rows) {
		kvfree(flight);
		kfree(rows);
		return -ENOMEM;
	}
	rows->src_start = address;
	rows->dir = DMA_MEM_TO_DEV;
	rows->src_inc = true;
	rows->src_sgl = true;
	rows->numf = move->steps ? move->step[0].count : 1;
	rows->frame_size = 1;
	rows->sgl[0].size = move->run;
	rows->sgl[0].icg = stride - move->run;
	flight->channel = job->channel;
	flight->size = sizeof(*flight) + struct_size(rows, sgl, 1);
	flight->bytes = job->bytes;
	flight->rows = rows;
	job->flight = flight;
	job->runs = rows->numf;
	return 0;
}

/* From the engine's tasklet or interrupt; stopping the engine waits for it. */
static void dray_repeat_report(void *data)
{
	struct dray_channel *channel = data;

	/* The work item that sees this count sees the status of before. */
	atomic_inc_return(&channel->stream.reports);
	mod_delayed_work(dray_workqueue, &channel->feed, 0);
}

struct dma_async_tx_descriptor *dray_repeat_take(struct dray_flight *flight)
{
	struct dma_async_tx_descriptor *tx;

	tx = dmaengine_prep_interleaved_dma(flight->channel->chan, flight->rows,
					    DMA_PREP_INTERRUPT | DMA_CTRL_ACK |
						    DMA_PREP_REPEAT |
						    DMA_PREP_LOAD_EOT);
	if (tx) {
		tx->callback = dray_repeat_report;
		tx->callback_param = flight->channel;
	}
	return tx;
}

/*
 * Counts repetitions: ends that were reported while the engine held nothing but
 * @job.  Some engines report an end when they begin anew.
 */
static void dray_repeat_count(struct dray_job *job, u32 repetitions)
{
	struct dray_points *points =
		job->frames ? job->frames->points : job->points;
	struct dray_timeline_head *head;

	if (points) {
		head = points->head;
		WRITE_ONCE(head->held_back, head->held_back + repetitions);
		atomic64_add(repetitions, &job->channel->held_back);
	}
}

/* Notes the reported ends of @job, and of those before it. */
static void dray_repeat_note(struct dray_job *job, u32 ends, bool counts)
{
	struct dray_channel *channel = job->channel;
	struct dray_stream *stream = &channel->stream;

	/* A replacement may have been seen before it is reported. */
	if ((s32)(ends - stream->ends) <= 0)
		return;
	if (counts && channel->kind == DRAY_CHANNEL_SEND &&
	    list_is_last(&job->list, &stream->jobs))
		dray_repeat_count(job, ends - stream->ends);
	stream->ends = ends;
}

void dray_repeats_look(struct dray_channel *channel)
{
	struct dray_stream *stream = &channel->stream;
	u32 reports = atomic_read_acquire(&stream->reports);
	u32 before = stream->replaced;
	struct dray_flight *flight;
	struct dray_job *job;

	list_for_each_entry(job, &stream->jobs, list) {
		flight = job->flight;
		if (!flight->aloft || flight->landed)
			continue;
		if (dmaengine_tx_status(channel->chan, flight->cookie, NULL) !=
		    DMA_COMPLETE) {
			dray_repeat_note(job, reports - stream->replaced,
					 stream->replaced == before);
			return;
		}
		stream->replaced++;
		flight->time_ns = ktime_get_ns();
		/* As a callback would. */
		smp_store_release(&flight->landed, true);
	}
}

void dray_repeats_forget(struct dray_channel *channel)
{
	struct dray_stream *stream = &channel->stream;

	atomic_set(&stream->reports, 0);
	stream->replaced = 0;
	stream->ends = 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ending a job: caches, timeline, fence, in this order, and later its memory.
 */
#include <linux/dma-fence.h>
#include <linux/workqueue.h>

#include "base/usage.h"
#include "memory/trace.h"
#include "caches.h"
#include "channel.h"
#include "end.h"
#include "engine.h"
#include "in_fence.h"
#include "job.h"
#include "points.h"
#include "queue.h"

static void dray_job_tell(struct dray_job *job, const struct dray_end *end)
{
	const struct dray_point point = {
		.number = job->fence->seqno,
		.bytes = end->bytes,
		.time_ns = end->time_ns,
		.status = end->error,
	};

	if (!job->points)
		return;
	dray_points_publish(job->points, &point);
	dray_slots_wake(job->channel->node);
}

void dray_end_count(struct dray_job *job, const struct dray_end *end)
{
	struct dray_usage *usage = job->queues->usage;

	atomic64_inc(&usage->transfers);
	atomic64_add(end->bytes, &usage->transfer_bytes);
	if (!end->error && job->kind != DRAY_CHANNEL_COPY)
		atomic64_inc(&job->channel->packets);
}

/* Counts one unsignalled job less. */
static void dray_channel_count(struct dray_channel *channel)
{
	spin_lock_irq(&channel->lock);
	channel->ending = false;
	WRITE_ONCE(channel->waiting, channel->waiting - 1);
	if (!channel->waiting)
		wake_up_all(&channel->idle);
	spin_unlock_irq(&channel->lock);
}

void dray_job_end(struct dray_job *job, const struct dray_end *end, bool lost)
{
	struct dray_channel *channel = job->channel;

	dray_in_fences_unwatch(job);
	if (job->started && job->sync)
		dray_job_show(job, end);
	dray_end_count(job, end);
	atomic64_dec(&job->queues->usage->running);
	if (end->error) {
		atomic64_inc(&channel->failed);
		dma_fence_set_error(job->fence, end->error);
	} else {
		atomic64_add(job->count, &channel->submitted);
		atomic64_add(end->bytes, &channel->bytes);
	}
	trace_dray_complete(job->fence, dray_fence_queue(job->fence),
			    job->queues->pid, channel->name, end->bytes,
			    end->error);
	if (!lost)
		dray_job_count(job, -1);
	/* The slot is free when the fence says so, not later. */
	dray_slot_give(job, channel->node);
	dray_job_tell(job, end);
	dma_fence_signal(job->fence);
	dray_channel_count(channel);
}

void dray_job_retire(struct dray_job *job)
{
	struct dray_channel *channel = job->channel;

	spin_lock_irq(&channel->lock);
	list_add_tail(&job->list, &channel->ended);
	spin_unlock_irq(&channel->lock);
	queue_work(dray_clean_workqueue, &channel->clean);
}

/*
 * Frees jobs that have ended.  The last of an attachment waits for locks under
 * which others may wait for fences, so that no fence waits for this.
 */
void dray_clean(struct work_struct *work)
{
	struct dray_channel *channel =
		container_of(work, struct dray_channel, clean);
	struct dray_job *job, *next;
	LIST_HEAD(ended);

	spin_lock_irq(&channel->lock);
	list_splice_init(&channel->ended, &ended);
	spin_unlock_irq(&channel->lock);
	list_for_each_entry_safe(job, next, &ended, list)
		dray_job_free(job);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feeding a channel.  One work item a channel takes the next job, gives its
 * descriptors to the engine batch by batch, and signals its fence.  If a batch
 * is not done in time, nor some time later, the channel is dead.  The engine
 * may still write, so the job is kept until the engine has finished, or for
 * good.
 */
#include <linux/dma-fence.h>
#include <linux/workqueue.h>

#include "memory/trace.h"
#include "batch.h"
#include "channel.h"
#include "engine.h"
#include "feed.h"
#include "fence.h"
#include "in_fence.h"
#include "job.h"
#include "queue.h"

static bool dray_job_is_cancelled(struct dray_job *job)
{
	bool cancelled;

	spin_lock_irq(&job->channel->lock);
	cancelled = job->cancelled;
	spin_unlock_irq(&job->channel->lock);
	return cancelled;
}

/* A job cannot be cancelled any more when the engine has all of it. */
static void dray_job_mark_fed(struct dray_job *job)
{
	if (job->at < job->count)
		return;
	spin_lock_irq(&job->channel->lock);
	job->fed = !job->cancelled;
	spin_unlock_irq(&job->channel->lock);
}

/* Why a job is not fed, or not any more; 0: it is. */
static int dray_job_obstacle(struct dray_job *job)
{
	struct dray_channel *channel = job->channel;

	if (READ_ONCE(channel->closing))
		return -ENODEV;
	if (channel->dead)
		return -EIO;
	if (dray_job_is_cancelled(job))
		return -ECANCELED;
	return 0;
}

/* Takes up the next job; false when there is none that may run. */
static bool dray_channel_start(struct dray_channel *channel)
{
	struct dray_job *job = dray_job_next(channel);

	if (!job)
		return false;
	channel->error = dray_job_obstacle(job);
	if (!channel->error && dray_in_fences_failed(job))
		channel->error = -ECANCELED;
	dray_deadline_set(channel);
	job->started = !channel->error;
	return true;
}

/* Hides the running job from others. */
static struct dray_job *dray_channel_stop(struct dray_channel *channel)
{
	struct dray_job *job = channel->running;

	spin_lock_irq(&channel->lock);
	channel->running = NULL;
	channel->ending = true;
	spin_unlock_irq(&channel->lock);
	return job;
}

static void dray_channel_died(struct dray_channel *channel)
{
	dev_err(channel->node->dev,
		"channel %s did not answer in %u ms: not used any more\n",
		channel->name, dray_watchdog_ms());
	spin_lock_irq(&channel->lock);
	WRITE_ONCE(channel->dead, true);
	spin_unlock_irq(&channel->lock);
	WRITE_ONCE(channel->lost, channel->running);
	channel->error = -ETIMEDOUT;
}

/* Waking up starts the work item.  For the job no time passes in between. */
static bool dray_channel_sleeps(struct dray_channel *channel)
{
	if (READ_ONCE(channel->asleep)) {
		channel->paused = true;
		return true;
	}
	if (channel->paused)
		dray_deadline_set(channel);
	channel->paused = false;
	return false;
}

/* Has the batch that is out ended, or is the engine given up? */
static bool dray_batch_is_over(struct dray_channel *channel)
{
	if (!dray_batch_is_done(channel)) {
		if (!dray_deadline_passed(channel))
			return false;
		if (!dray_batch_is_complete(channel))
			dray_channel_died(channel);
	}
	WRITE_ONCE(channel->out, false);
	wake_up_all(&channel->idle);
	dray_deadline_set(channel);
	return true;
}

/*
 * Issues the job's next batch.  If nothing is out no callback comes: an engine
 * that takes nothing is asked again for a while.  False when the job has
 * failed.
 */
static bool dray_job_feed(struct dray_job *job)
{
	struct dray_channel *channel = job->channel;

	if (dray_batch_issue(channel)) {
		dray_job_mark_fed(job);
		dray_batch_await(channel);
		return true;
	}
	if (!channel->error && dray_deadline_passed(channel))
		channel->error = -EIO;
	if (channel->error)
		return false;
	dray_batch_retry(channel);
	return true;
}

/*
 * Brings the running job forward.  True when it has come to its end; else
 * the work item is woken by a callback, or at the latest in time.
 */
static bool dray_channel_advance(struct dray_channel *channel)
{
	struct dray_job *job = channel->running;

	if (channel->out && !dray_batch_is_over(channel)) {
		dray_batch_await(channel);
		return false;
	}
	if (channel->error || job->fed)
		return true;
	channel->error = dray_job_obstacle(job);
	if (channel->error)
		return true;
	if (dray_channel_sleeps(channel))
		return false;
	return !dray_job_feed(job);
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

/* The fence has signalled, and the engine has nothing of the job. */
static void dray_job_retire(struct dray_job *job)
{
	struct dray_channel *channel = job->channel;

	spin_lock_irq(&channel->lock);
	list_add_tail(&job->list, &channel->ended);
	spin_unlock_irq(&channel->lock);
	queue_work(dray_clean_workqueue, &channel->clean);
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

/* Signals the job's fence, also if it failed. */
static void dray_job_finish(struct dray_job *job, int error)
{
	struct dray_channel *channel = job->channel;
	u32 i;

	dray_in_fences_unwatch(job);
	for (i = 0; i < job->count && job->started && job->sync; i++)
		dray_side_sync(&job->moves[i].dst, channel->dev, true,
			       DMA_FROM_DEVICE);
	if (error) {
		atomic64_inc(&channel->failed);
		dma_fence_set_error(job->fence, error);
	} else {
		atomic64_add(job->count, &channel->submitted);
		atomic64_add(job->bytes, &channel->bytes);
	}
	trace_dray_complete(job->fence, channel->name, error);
	if (channel->lost != job)
		dray_job_count(job, -1);
	/* The slot is free when the fence says so, not later. */
	dray_slot_give(job->queues, channel->node);
	dma_fence_signal(job->fence);
}

void dray_feed(struct work_struct *work)
{
	struct dray_channel *channel =
		container_of(to_delayed_work(work), struct dray_channel, feed);
	struct dray_job *job;
	bool signalling;

	signalling = dma_fence_begin_signalling();
	while (channel->running || dray_channel_start(channel)) {
		if (!dray_channel_advance(channel))
			break;
		job = dray_channel_stop(channel);
		dray_job_finish(job, channel->error);
		dray_channel_count(channel);
		if (job != channel->lost)
			dray_job_retire(job);
	}
	if (!channel->running)
		wake_up_all(&channel->idle);
	/* A dead channel may still come to its end: then nothing is at risk. */
	job = channel->lost;
	if (job && dray_batch_is_done(channel)) {
		WRITE_ONCE(channel->lost, NULL);
		dray_job_count(job, -1);
		dray_job_retire(job);
	}
	dma_fence_end_signalling(signalling);
}

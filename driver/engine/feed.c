// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feeding a channel.  A work item of each channel starts the next job, submits
 * its descriptors to the engine batch by batch, and signals its fence.  If a
 * batch is not done in time, nor some time later, the channel is dead.  The
 * engine may still write, so the job is kept until the engine finishes, or for
 * good.
 */
#include <linux/dma-fence.h>
#include <linux/ktime.h>
#include <linux/workqueue.h>

#include "batch.h"
#include "channel.h"
#include "end.h"
#include "engine.h"
#include "feed.h"
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

/* A job cannot be cancelled once the engine holds all of it. */
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

/* Starts the next job; false if none may run. */
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

/* Whether the batch in the engine ended, or the engine is dead. */
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
 * Issues the job's next batch.  Without a batch in the engine no callback runs:
 * an engine that accepts nothing is asked again for a while.  False if the job
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
 * Brings the running job forward.  True if it ended; else a callback wakes the
 * work item, or a timer at the latest.
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

/* Ends the job that was running. */
static void dray_channel_finish(struct dray_channel *channel,
				struct dray_job *job)
{
	const struct dray_end end = {
		.error = channel->error,
		.bytes = channel->error ? 0 : job->bytes,
		.stopped = channel->error,
		.time_ns = ktime_get_ns(),
	};
	bool lost = channel->lost == job;

	dray_job_end(job, &end, lost);
	if (!lost)
		dray_job_retire(job);
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
		dray_channel_finish(channel, job);
	}
	if (!channel->running)
		wake_up_all(&channel->idle);
	/* A dead channel may still end its job: then nothing is at risk. */
	job = channel->lost;
	if (job && dray_batch_is_done(channel)) {
		WRITE_ONCE(channel->lost, NULL);
		dray_job_count(job, -1);
		dray_job_retire(job);
	}
	dma_fence_end_signalling(signalling);
}

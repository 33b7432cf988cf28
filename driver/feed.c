// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feeding a channel.  One work item a channel takes the next job, gives its
 * descriptors to the engine round by round, and signals its fence.  Callbacks
 * only count and wake the work item, which then asks the engine whether the
 * round's last descriptor is really done.  A round that is not done in time,
 * nor some time after that, makes the channel dead: the engine may still write,
 * so what it was doing is kept until it says that it has finished, or for good.
 */
#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>

#include "job.h"
#include "trace.h"

#define DRAY_RETRY_DELAY msecs_to_jiffies(1)

/* From here on there is all the time that a round may take. */
static void dray_deadline_set(struct dray_channel *channel)
{
	channel->deadline = jiffies + msecs_to_jiffies(dray_watchdog_ms);
	channel->late = false;
}

/*
 * Has the deadline passed for good?  The first time it says little: the whole
 * machine may have stood still, and the engine with it, or its interrupts wait
 * to be handled as this work item did.  So there is a quarter more, however
 * late it is by now, and then another look at the engine.
 */
static bool dray_deadline_passed(struct dray_channel *channel)
{
	if (time_before(jiffies, channel->deadline))
		return false;
	if (channel->late)
		return true;
	channel->deadline = jiffies + msecs_to_jiffies(dray_watchdog_ms / 4);
	channel->late = true;
	return false;
}

/* From the engine's tasklet or interrupt; dray_channel_keep() waits for it. */
static void dray_piece_done(struct dray_channel *channel, bool failed)
{
	rcu_read_lock();
	if (failed)
		atomic_inc(&channel->failed_pieces);
	/* Below 0: engines were seen to call back for an earlier use. */
	if (atomic_dec_return(&channel->pieces) <= 0)
		mod_delayed_work(dray_workqueue, &channel->feed, 0);
	rcu_read_unlock();
}

static void dray_piece_callback(void *data)
{
	dray_piece_done(data, false);
}

static void dray_piece_result(void *data, const struct dmaengine_result *result)
{
	dray_piece_done(data, result && result->result != DMA_TRANS_NOERROR);
}

static struct dma_async_tx_descriptor *
dray_piece_prepare(struct dray_channel *channel, struct dray_plan *plan,
		   const struct dray_piece *piece)
{
	unsigned long flags = DMA_PREP_INTERRUPT | DMA_CTRL_ACK;

	if (plan->memset)
		return dmaengine_prep_dma_memset(channel->chan, piece->dst,
						 plan->pattern[0],
						 piece->length, flags);
	return dmaengine_prep_dma_memcpy(channel->chan, piece->dst, piece->src,
					 piece->length, flags);
}

/* Gives one descriptor to the engine; false when it takes none. */
static bool dray_piece_issue(struct dray_channel *channel,
			     struct dray_plan *plan, struct dray_piece *piece)
{
	struct dma_async_tx_descriptor *descriptor;
	dma_cookie_t cookie;

	dray_plan_piece(plan, piece);
	descriptor = dray_piece_prepare(channel, plan, piece);
	if (!descriptor)
		return false;
	/* Engines use descriptors again without clearing any of these. */
	descriptor->callback = dray_piece_callback;
	descriptor->callback_result = dray_piece_result;
	descriptor->callback_param = channel;
	atomic_inc(&channel->pieces);
	cookie = dmaengine_submit(descriptor);
	if (dma_submit_error(cookie)) {
		atomic_dec(&channel->pieces);
		channel->error = -EIO;
		return false;
	}
	channel->last = cookie;
	dray_plan_advance(plan, piece->length);
	return true;
}

/* Issues a round; false when the engine took nothing. */
static bool dray_round_issue(struct dray_channel *channel)
{
	struct dray_job *job = channel->running;
	struct dray_plan *plan = &job->plans[job->at];
	unsigned int pieces = 0;
	struct dray_piece piece;
	u64 bytes = 0;

	/* One more than there are, so that none of them is the last yet. */
	atomic_set(&channel->pieces, 1);
	atomic_set(&channel->failed_pieces, 0);
	while (job->at < job->count && pieces < DRAY_ROUND_PIECES &&
	       bytes < DRAY_ROUND_BYTES) {
		if (!dray_piece_issue(channel, plan, &piece))
			break;
		pieces++;
		bytes += piece.length;
		if (plan->ended)
			plan = &job->plans[++job->at];
	}
	if (!pieces)
		return false;
	channel->out = true;
	dray_deadline_set(channel);
	dma_async_issue_pending(channel->chan);
	dray_piece_done(channel, false);
	return true;
}

static bool dray_round_is_done(struct dray_channel *channel)
{
	enum dma_status status;

	if (atomic_read(&channel->pieces) > 0)
		return false;
	status = dma_async_is_tx_complete(channel->chan, channel->last, NULL,
					  NULL);
	if (status == DMA_ERROR || atomic_read(&channel->failed_pieces))
		channel->error = -EIO;
	return status == DMA_COMPLETE || status == DMA_ERROR;
}

/* Wakes at the deadline; sooner where only the engine's status is missing. */
static void dray_feed_again(struct dray_channel *channel)
{
	unsigned long delay = DRAY_RETRY_DELAY;

	if (atomic_read(&channel->pieces) > 0)
		delay = max_t(long, channel->deadline - jiffies, 1);
	queue_delayed_work(dray_workqueue, &channel->feed, delay);
}

static bool dray_job_is_cancelled(struct dray_job *job)
{
	bool cancelled;

	spin_lock(&job->channel->lock);
	cancelled = job->cancelled;
	spin_unlock(&job->channel->lock);
	return cancelled;
}

/* Once the engine has all of a job, it is too late to cancel it. */
static void dray_job_fed(struct dray_job *job)
{
	if (job->at < job->count)
		return;
	spin_lock(&job->channel->lock);
	job->fed = !job->cancelled;
	spin_unlock(&job->channel->lock);
}

/* Why a job cannot start, if so. */
static int dray_job_obstacle(struct dray_job *job)
{
	struct dray_channel *channel = job->channel;
	u32 i;

	if (READ_ONCE(channel->closing))
		return -ENODEV;
	if (channel->dead)
		return -EIO;
	if (dray_job_is_cancelled(job))
		return -ECANCELED;
	/* What others did with the memory is only waited for. */
	for (i = 0; i < job->asked_count; i++)
		if (dma_fence_get_status(job->in_fences[i].fence) < 0)
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
	dray_deadline_set(channel);
	job->started = !channel->error;
	return true;
}

/* Nobody finds the running job any more. */
static struct dray_job *dray_channel_stop(struct dray_channel *channel)
{
	struct dray_job *job = channel->running;

	spin_lock(&channel->lock);
	channel->running = NULL;
	spin_unlock(&channel->lock);
	return job;
}

static void dray_channel_died(struct dray_channel *channel)
{
	dev_err(channel->node->dev,
		"channel %s did not answer in %u ms: not used any more\n",
		channel->name, dray_watchdog_ms);
	spin_lock(&channel->lock);
	channel->dead = true;
	spin_unlock(&channel->lock);
	channel->lost = channel->running;
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

/*
 * Brings the running job forward.  True when it has come to its end; else
 * the work item is woken by a callback, or at the latest in time.
 */
static bool dray_channel_advance(struct dray_channel *channel)
{
	struct dray_job *job = channel->running;

	if (channel->out) {
		if (!dray_round_is_done(channel)) {
			if (!dray_deadline_passed(channel))
				goto wait;
			dray_channel_died(channel);
		}
		WRITE_ONCE(channel->out, false);
		wake_up_all(&channel->idle);
		dray_deadline_set(channel);
	}
	if (channel->error || job->fed)
		return true;
	if (READ_ONCE(channel->closing))
		channel->error = -ENODEV;
	else if (dray_job_is_cancelled(job))
		channel->error = -ECANCELED;
	if (channel->error)
		return true;
	if (dray_channel_sleeps(channel))
		return false;
	if (dray_round_issue(channel)) {
		dray_job_fed(job);
		goto wait;
	}
	/* With nothing out, nobody will call: try again for a while. */
	if (!channel->error && dray_deadline_passed(channel))
		channel->error = -EIO;
	if (channel->error)
		return true;
	queue_delayed_work(dray_workqueue, &channel->feed, DRAY_RETRY_DELAY);
	return false;
wait:
	dray_feed_again(channel);
	return false;
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

	spin_lock(&channel->lock);
	list_splice_init(&channel->ended, &ended);
	spin_unlock(&channel->lock);
	list_for_each_entry_safe(job, next, &ended, list)
		dray_job_free(job);
}

/* The fence has signalled, and the engine has nothing of the job. */
static void dray_job_retire(struct dray_job *job)
{
	struct dray_channel *channel = job->channel;

	spin_lock(&channel->lock);
	list_add_tail(&job->list, &channel->ended);
	spin_unlock(&channel->lock);
	queue_work(dray_clean_workqueue, &channel->clean);
}

/* One job less whose fence has not signalled. */
static void dray_channel_count(struct dray_channel *channel)
{
	spin_lock(&channel->lock);
	if (!--channel->waiting)
		wake_up_all(&channel->idle);
	spin_unlock(&channel->lock);
}

/* The job's fence signals, whatever became of it. */
static void dray_job_finish(struct dray_job *job, int error)
{
	struct dray_channel *channel = job->channel;
	u32 i;

	dray_job_unwatch(job);
	for (i = 0; i < job->count && job->started && job->sync; i++)
		dray_layout_sync(&job->plans[i].dst, channel->dev, true,
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
	atomic_dec(&job->queues->in_flight);
	job->slot = false;
	dma_fence_signal(job->fence);
	wake_up_all(&channel->node->channels->slots);
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
	/* A dead channel may still come to its end: then nothing is at risk. */
	job = channel->lost;
	if (job && dray_round_is_done(channel)) {
		WRITE_ONCE(channel->lost, NULL);
		dray_job_count(job, -1);
		dray_job_retire(job);
	}
	dma_fence_end_signalling(signalling);
}

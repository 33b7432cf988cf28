// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams.  A work item of each channel submits jobs to the engine, ends the jobs
 * that it reports, and stops it if a job must end.  An engine holds two groups at
 * most: the group that it works on, and the next.
 */
#include <linux/dma-fence.h>
#include <linux/ktime.h>
#include <linux/workqueue.h>

#include "base/node.h"
#include "caches.h"
#include "channel.h"
#include "engine.h"
#include "flight.h"
#include "frames.h"
#include "in_fence.h"
#include "job.h"
#include "queue.h"
#include "repeat.h"
#include "stop.h"
#include "stream.h"

/*
 * Ends jobs that the engine reported; true: it must be stopped, gently if no job
 * must end.
 */
static bool dray_stream_collect(struct dray_channel *channel, bool *gentle)
{
	struct dray_job *job, *next;

	if (channel->stream.repeats)
		dray_repeats_look(channel);
	list_for_each_entry_safe(job, next, &channel->stream.jobs, list) {
		if (!dray_flight_has_landed(job))
			break;
		*gentle = true;
		if (dray_flight_is_unfinished(job) || dray_flight_is_kept(job))
			return true;
		dray_stream_land(job);
	}
	*gentle = false;
	list_for_each_entry(job, &channel->stream.jobs, list)
		if (job->flight->aloft && dray_stream_obstacle(job))
			return true;
	return false;
}

/* Removes a waiting job that must end from its queue; NULL: there is none. */
static struct dray_job *dray_stream_expired(struct dray_channel *channel)
{
	struct dray_queue *queue;
	struct dray_job *job;

	spin_lock_irq(&channel->lock);
	list_for_each_entry(queue, &channel->queues, link)
		list_for_each_entry(job, &queue->jobs, list)
			if (dray_stream_obstacle(job)) {
				dray_job_dequeue(job);
				spin_unlock_irq(&channel->lock);
				return job;
			}
	spin_unlock_irq(&channel->lock);
	return NULL;
}

/* Ends jobs that the engine does not hold, and that must end. */
static void dray_stream_expire(struct dray_channel *channel)
{
	struct dray_job *job, *next;

	list_for_each_entry_safe(job, next, &channel->stream.jobs, list)
		if (!job->flight->aloft && dray_stream_obstacle(job))
			dray_stream_end(job, dray_stream_obstacle(job), 0,
					false);
	while ((job = dray_stream_expired(channel)) ||
	       (job = dray_frame_cancelled(channel)))
		dray_stream_end(job, dray_stream_obstacle(job), 0, false);
}

static struct dray_job *dray_stream_oldest(struct dray_channel *channel)
{
	struct dray_job *job;

	job = list_first_entry_or_null(&channel->stream.jobs, struct dray_job,
				       list);
	return job && job->flight->aloft ? job : NULL;
}

/*
 * Returns the group of the next flight, 0 if it must wait.  A group in an idle
 * engine is closed at once, because it starts.
 */
static u64 dray_stream_group(struct dray_channel *channel)
{
	struct dray_stream *stream = &channel->stream;
	struct dray_job *oldest = dray_stream_oldest(channel);

	if (oldest && oldest->flight->group + 1 == stream->group)
		return stream->grouped < stream->batch ? stream->group : 0;
	return stream->group + 1;
}

/* Submits the job to the engine: -EAGAIN if it is full now. */
static int dray_stream_start(struct dray_job *job, u64 group)
{
	struct dray_stream *stream = &job->channel->stream;
	struct dray_flight *flight = job->flight;
	u64 now = ktime_get_ns();
	int ret;

	/* Others leave it no room. */
	if (dray_stream_oldest(job->channel))
		flight->asked_ns = 0;
	else if (!flight->asked_ns)
		flight->asked_ns = now;
	ret = dray_flight_start(flight);
	if (ret == -EAGAIN && flight->asked_ns &&
	    now - flight->asked_ns > (u64)dray_watchdog_ms() * NSEC_PER_MSEC)
		ret = -EIO;
	if (ret)
		return ret;
	flight->asked_ns = 0;
	flight->group = group;
	stream->grouped = group == stream->group ? stream->grouped + 1 : 1;
	stream->group = group;
	job->started = true;
	return 0;
}

/* The next job; first the jobs that the engine had to return. */
static struct dray_job *dray_stream_next(struct dray_channel *channel)
{
	struct dray_job *job;

	list_for_each_entry(job, &channel->stream.jobs, list)
		if (!job->flight->aloft)
			return job;
	if (READ_ONCE(channel->stream.frames))
		return dray_frame_next(channel);
	job = dray_job_next(channel);
	if (!job)
		return NULL;
	spin_lock_irq(&channel->lock);
	channel->running = NULL;
	list_add_tail(&job->list, &channel->stream.jobs);
	spin_unlock_irq(&channel->lock);
	return job;
}

/* Maintains the caches of an overwritten frame, without the lock of the engine. */
static void dray_stream_freshen(struct dray_job *job)
{
	struct mutex *engine = job->channel->stream.engine;

	mutex_unlock(engine);
	dray_job_sync(job, job->channel->dev);
	mutex_lock(engine);
	job->stale = false;
}

/* Submits jobs to the engine; true: it is to be asked again soon. */
static bool dray_stream_fill(struct dray_channel *channel)
{
	bool issue = false, again = false;
	struct dray_job *job;
	int ret = 0;
	u64 group;

	while (!READ_ONCE(channel->asleep) && !ret && !again &&
	       (group = dray_stream_group(channel)) &&
	       (job = dray_stream_next(channel))) {
		/* The engine starts together all that is issued at once. */
		if (issue && (group != channel->stream.group || job->stale))
			dma_async_issue_pending(channel->chan);
		if (job->stale) {
			issue = false;
			dray_stream_freshen(job);
			continue;
		}
		ret = dray_stream_obstacle(job);
		if (!ret && dray_in_fences_failed(job))
			ret = -ECANCELED;
		if (!ret)
			ret = dray_stream_start(job, group);
		if (!ret)
			issue = true;
		if (!ret || ret == -EAGAIN)
			continue;
		/* The ring may use the same frame anew. */
		again = job->frames;
		dray_stream_end(job, ret, 0, false);
		ret = 0;
	}
	if (issue)
		dma_async_issue_pending(channel->chan);
	return again || (ret == -EAGAIN && !dray_stream_oldest(channel));
}

/* Returns the next deadline of any job, ktime in ns; U64_MAX: there is none. */
static u64 dray_stream_deadline(struct dray_channel *channel)
{
	struct dray_queue *queue;
	struct dray_job *job;
	u64 next = U64_MAX;

	spin_lock_irq(&channel->lock);
	list_for_each_entry(job, &channel->stream.jobs, list)
		if (job->deadline)
			next = min(next, job->deadline);
	list_for_each_entry(queue, &channel->queues, link)
		list_for_each_entry(job, &queue->jobs, list)
			if (job->deadline)
				next = min(next, job->deadline);
	spin_unlock_irq(&channel->lock);
	return next;
}

static void dray_stream_arm(struct dray_channel *channel, bool soon)
{
	u64 next = dray_stream_deadline(channel), now = ktime_get_ns();
	unsigned long delay = 0;

	if (next == U64_MAX && !soon)
		return;
	if (!soon && next > now)
		delay = nsecs_to_jiffies(next - now);
	queue_delayed_work(dray_workqueue, &channel->feed, delay + 1);
}

/* Brings jobs to their ends, and others to the engine; true: ask it again soon. */
static bool dray_stream_advance(struct dray_channel *channel)
{
	struct mutex *engine = channel->stream.engine;
	bool gentle, soon;

	mutex_lock(engine);
	while (dray_stream_collect(channel, &gentle))
		dray_stream_stop(channel, gentle);
	dray_stream_expire(channel);
	soon = dray_stream_fill(channel);
	mutex_unlock(engine);
	return soon;
}

void dray_stream_feed(struct work_struct *work)
{
	struct dray_channel *channel =
		container_of(to_delayed_work(work), struct dray_channel, feed);
	bool signalling, soon;

	/* Without an engine there were never any jobs.  Its lock is read behind it. */
	if (!smp_load_acquire(&channel->chan))
		return;
	signalling = dma_fence_begin_signalling();
	mutex_lock(&channel->stream.working);
	/* Frames that end may be overwritten. */
	do
		soon = dray_stream_advance(channel);
	while (dray_stream_end_all(channel) && !soon);
	dray_frames_settle(channel);
	dray_stream_arm(channel, soon);
	mutex_unlock(&channel->stream.working);
	dma_fence_end_signalling(signalling);
}

int dray_stream_claim(struct dray_channel *channel, struct dray_queues *queues,
		      u32 batch)
{
	struct dray_stream *stream = &channel->stream;
	int ret = -EBUSY;

	spin_lock_irq(&channel->lock);
	if (!stream->taken) {
		stream->taken = true;
		stream->owner = queues;
		stream->batch = batch;
		ret = 0;
	}
	spin_unlock_irq(&channel->lock);
	return ret;
}

bool dray_stream_is_claimed(struct dray_channel *channel,
			    struct dray_queues *queues)
{
	lockdep_assert_held(&queues->queue[channel->index].order);
	return READ_ONCE(channel->stream.owner) == queues;
}

void dray_stream_release(struct dray_channel *channel,
			 struct dray_queues *queues)
{
	struct dray_queue *queue = &queues->queue[channel->index];
	struct dray_frames *frames;

	mutex_lock(&queue->order);
	WRITE_ONCE(channel->stream.owner, NULL);
	mutex_unlock(&queue->order);
	dray_queue_cancel(queue, channel, NULL, 0);
	dray_frames_stop(channel);
	wait_event(channel->idle, !READ_ONCE(channel->waiting));
	/* The work item may still look at the ring. */
	mutex_lock(&channel->stream.working);
	frames = dray_frames_take_away(channel);
	mutex_unlock(&channel->stream.working);
	dray_frames_put(frames);
	spin_lock_irq(&channel->lock);
	channel->stream.taken = false;
	spin_unlock_irq(&channel->lock);
}

static void dray_stream_quiesce(struct dray_channel *channel)
{
	struct mutex *engine = channel->stream.engine;
	bool signalling = dma_fence_begin_signalling();

	mutex_lock(&channel->stream.working);
	mutex_lock(engine);
	if (dray_stream_oldest(channel))
		dray_stream_stop(channel, true);
	mutex_unlock(engine);
	dray_stream_end_all(channel);
	mutex_unlock(&channel->stream.working);
	dma_fence_end_signalling(signalling);
}

void dray_stream_sleep(struct dray_channel *channel)
{
	/* The lock of the engine is read behind it. */
	if (smp_load_acquire(&channel->chan))
		dray_stream_quiesce(channel);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames of a ring: free for the engine, in flight, unread, or held by the
 * opener.
 */
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "base/node.h"
#include "heap/account.h"
#include "memory/trace.h"
#include "caches.h"
#include "channel.h"
#include "end.h"
#include "engine.h"
#include "frames.h"
#include "job.h"
#include "points.h"
#include "store.h"

static u64 dray_frames_queue(const struct dray_job *job)
{
	return job->queues->queue[job->channel->index].context;
}

static void dray_frames_wake(struct dray_channel *channel)
{
	mod_delayed_work(dray_workqueue, &channel->feed, 0);
}

/* The lists decide: @waiting counts a job for a moment after its point. */
static bool dray_channel_has_jobs(const struct dray_channel *channel)
{
	return channel->running || !list_empty(&channel->queues) ||
	       !list_empty(&channel->stream.jobs) ||
	       !list_empty(&channel->stream.ending);
}

/* Counts the transfers of jobs that are alike together: they share an area. */
static void dray_frames_count(struct dray_frames *frames, int step)
{
	const struct dray_frame *frame = frames->frame;
	u32 i, next;

	for (i = 0; i < frames->count; i = next) {
		for (next = i + 1; next < frames->count; next++)
			if (!frame[i].job || !frame[next].job ||
			    !frame[next].job->store)
				break;
		if (frame[i].job)
			dray_job_count(frame[i].job, step * (int)(next - i));
	}
}

/* The opener owns no frame from here on.  Under the channel's lock. */
static void dray_frames_close(struct dray_channel *channel,
			      struct dray_frames *frames)
{
	WRITE_ONCE(frames->ended, true);
	WRITE_ONCE(frames->channel, NULL);
	dray_frames_count(frames, -1);
	WRITE_ONCE(channel->waiting, channel->waiting - 1);
}

static void dray_frames_open(struct dray_channel *channel,
			     struct dray_frames *frames)
{
	struct dray_frame *frame;
	u32 i;

	dray_frames_count(frames, 1);
	for (i = 0; i < frames->count; i++) {
		frame = &frames->frame[i];
		frame->state = frames->held ? DRAY_FRAME_HELD : DRAY_FRAME_FREE;
		if (!frames->held)
			list_add_tail(&frame->job->list, &frames->free);
	}
	frames->away = frames->held ? 0 : frames->count;
	/* The ring counts as a single job until it is settled. */
	WRITE_ONCE(channel->waiting, channel->waiting + 1);
}

/* Makes room for a ring, or for jobs.  Under the channel's lock. */
static int dray_frames_clear(struct dray_channel *channel, u64 *number,
			     struct dray_frames **old)
{
	struct dray_frames *frames = channel->stream.frames;

	if (dray_channel_has_jobs(channel))
		return -EBUSY;
	if (!frames)
		return 0;
	if (!old)
		return -EBUSY;
	if (frames->ended)
		return -ENODEV;
	if (frames->away)
		return -EBUSY;
	dray_frames_close(channel, frames);
	WRITE_ONCE(*number, frames->number);
	*old = frames;
	return 0;
}

int dray_frames_start(struct dray_channel *channel, struct dray_frames *frames,
		      u64 *number, struct dray_frames **old)
{
	int ret;

	/* The work item may look at the old ring. */
	mutex_lock(&channel->stream.working);
	spin_lock_irq(&channel->lock);
	ret = dray_frames_clear(channel, number, old);
	if (!ret) {
		if (frames) {
			frames->number = *number;
			dray_frames_open(channel, frames);
		}
		WRITE_ONCE(channel->stream.frames, frames);
		if (!channel->waiting)
			wake_up_all(&channel->idle);
	}
	spin_unlock_irq(&channel->lock);
	if (!ret && !frames && *old)
		dray_points_lose_ring((*old)->points);
	mutex_unlock(&channel->stream.working);
	if (!ret && frames)
		dray_frames_wake(channel);
	return ret;
}

void dray_frames_stop(struct dray_channel *channel)
{
	struct dray_frames *frames;

	spin_lock_irq(&channel->lock);
	frames = channel->stream.frames;
	if (frames)
		WRITE_ONCE(frames->ended, true);
	/* Without jobs, the channel may be about to be freed. */
	if (frames && channel->waiting)
		dray_frames_wake(channel);
	spin_unlock_irq(&channel->lock);
}

static void dray_frames_release(struct kref *kref)
{
	struct dray_frames *frames =
		container_of(kref, struct dray_frames, kref);
	u32 i;

	for (i = 0; i < frames->count; i++)
		if (frames->frame[i].job &&
		    !dray_store_has_all(frames->frame[i].job))
			dray_job_free(frames->frame[i].job);
	if (frames->charged)
		dray_uncharge_user(frames->user, frames->charged);
	dray_store_put(frames->store);
	dray_points_put(frames->points);
	kvfree(frames);
}

void dray_frames_put(struct dray_frames *frames)
{
	if (frames)
		kref_put(&frames->kref, dray_frames_release);
}

struct dray_frames *dray_frames_get(struct dray_channel *channel)
{
	struct dray_frames *frames;

	spin_lock_irq(&channel->lock);
	frames = channel->stream.frames;
	if (frames)
		kref_get(&frames->kref);
	spin_unlock_irq(&channel->lock);
	return frames;
}

struct dray_frames *dray_frames_take_away(struct dray_channel *channel)
{
	struct dray_frames *frames = channel->stream.frames;

	spin_lock_irq(&channel->lock);
	WRITE_ONCE(channel->stream.frames, NULL);
	spin_unlock_irq(&channel->lock);
	return frames;
}

/* Ends a ring without a frame in flight. */
void dray_frames_settle(struct dray_channel *channel)
{
	struct dray_frames *frames = channel->stream.frames;

	if (!frames)
		return;
	if (!frames->ended && !READ_ONCE(channel->closing) &&
	    !READ_ONCE(channel->dead))
		return;
	spin_lock_irq(&channel->lock);
	/* A frame is on its way, or the ring is settled already. */
	if (!list_empty(&channel->stream.jobs) ||
	    !list_empty(&channel->stream.ending) || !frames->channel) {
		spin_unlock_irq(&channel->lock);
		return;
	}
	dray_frames_close(channel, frames);
	spin_unlock_irq(&channel->lock);
	dray_points_end(frames->points);
	wake_up_all(&channel->idle);
}

/* The oldest unread frame; NULL: there is none. */
static struct dray_frame *dray_frames_unread(struct dray_frames *frames)
{
	struct dray_frame *frame, *oldest = NULL;
	u32 i;

	for (i = 0; i < frames->count; i++) {
		frame = &frames->frame[i];
		if (frame->state == DRAY_FRAME_UNREAD &&
		    (!oldest || frame->point.number < oldest->point.number))
			oldest = frame;
	}
	return oldest;
}

static struct dray_job *dray_frames_take(struct dray_channel *channel,
					 bool *overwritten)
{
	struct dray_frames *frames = channel->stream.frames;
	struct dray_timeline_head *head = frames->points->head;
	struct dray_frame *frame;
	struct dray_job *job;

	job = list_first_entry_or_null(&frames->free, struct dray_job, list);
	*overwritten = !job;
	if (job) {
		list_del_init(&job->list);
	} else {
		if (!frames->overwrite)
			return NULL;
		frame = dray_frames_unread(frames);
		if (!frame)
			return NULL;
		frame->state = DRAY_FRAME_FREE;
		frames->away++;
		WRITE_ONCE(head->lost, head->lost + 1);
		atomic64_inc(&channel->overwritten);
		job = frame->job;
	}
	return job;
}

/* Counts once that the engine ran out of frames. */
static void dray_frames_starve(struct dray_channel *channel)
{
	struct dray_frames *frames = channel->stream.frames;
	struct dray_timeline_head *head = frames->points->head;

	if (!frames->starved && frames->number) {
		WRITE_ONCE(head->held_back, head->held_back + 1);
		atomic64_inc(&channel->held_back);
	}
	frames->starved = true;
}

struct dray_job *dray_frame_next(struct dray_channel *channel)
{
	struct dray_frames *frames = channel->stream.frames;
	struct dray_job *job = NULL;
	bool overwritten;

	/* Frames that end at once would keep the work item busy for ever. */
	if (frames->ended || READ_ONCE(channel->closing) ||
	    READ_ONCE(channel->dead))
		return NULL;
	spin_lock_irq(&channel->lock);
	job = dray_frames_take(channel, &overwritten);
	frames->wanted = !job;
	if (job) {
		frames->starved = false;
		list_add_tail(&job->list, &channel->stream.jobs);
	} else if (list_empty(&channel->stream.jobs) &&
		   list_empty(&channel->stream.ending)) {
		dray_frames_starve(channel);
	}
	spin_unlock_irq(&channel->lock);
	if (job)
		trace_dray_frame_submit(dray_frames_queue(job),
					job->queues->pid, channel->name,
					job->frame, job->bytes);
	/*
	 * The CPU saw the frame, so its caches may hold lines of it.  Readers
	 * of another driver's dma-buf drop them anyway, and syncing that may wait
	 * for a fence of this work item.
	 */
	if (job)
		job->stale = overwritten &&
			     !dray_area_is_whole(&job->moves[0].dst.area);
	return job;
}

u32 dray_frames_cancel(struct dray_channel *channel,
		       const struct dray_queue *queue)
{
	struct dray_frames *frames;
	struct dray_job *job;
	u32 count = 0;

	spin_lock_irq(&channel->lock);
	frames = channel->stream.frames;
	if (frames && !frames->ended)
		list_for_each_entry(job, &frames->free, list) {
			if (&job->queues->queue[channel->index] != queue)
				break;
			count += !job->cancelled;
			job->cancelled = true;
		}
	if (count)
		dray_frames_wake(channel);
	spin_unlock_irq(&channel->lock);
	return count;
}

struct dray_job *dray_frame_cancelled(struct dray_channel *channel)
{
	struct dray_frames *frames = channel->stream.frames;
	struct dray_job *job = NULL;

	if (!frames || READ_ONCE(frames->ended))
		return NULL;
	spin_lock_irq(&channel->lock);
	/* Those that were released later are behind them. */
	if (!list_empty(&frames->free))
		job = list_first_entry(&frames->free, struct dray_job, list);
	if (job && job->cancelled)
		list_move_tail(&job->list, &channel->stream.jobs);
	else
		job = NULL;
	spin_unlock_irq(&channel->lock);
	return job;
}

void dray_frame_end(struct dray_job *job)
{
	struct dray_frames *frames = job->frames;
	const struct dray_end *end = &job->end;
	struct dray_channel *channel = job->channel;
	struct dray_frame *frame = &frames->frame[job->frame];
	bool ends = READ_ONCE(frames->ended) || READ_ONCE(channel->closing);

	if (job->started)
		dray_job_show(job, end);
	dray_end_count(job, end);
	if (end->error)
		atomic64_inc(&channel->failed);
	else
		atomic64_inc(&channel->submitted);
	atomic64_add(end->bytes, &channel->bytes);
	spin_lock_irq(&channel->lock);
	frame->state = DRAY_FRAME_UNREAD;
	frames->away--;
	job->cancelled = false;
	job->started = false;
	if (job->lost) {
		frame->job = NULL;
		dray_store_get(job->store);
	}
	if (!ends)
		frames->number++;
	frame->point = (struct dray_point){
		.number = frames->number,
		.bytes = end->bytes,
		.time_ns = end->time_ns,
		.status = end->error,
		.frame = job->frame,
	};
	spin_unlock_irq(&channel->lock);
	trace_dray_frame_complete(dray_frames_queue(job), job->queues->pid,
				  channel->name, &frame->point);
	if (!ends)
		dray_points_publish(frames->points, &frame->point);
}

/* Moves the frame away from its opener; -EINVAL: the opener does not own it. */
static int dray_frame_take_back(struct dray_frames *frames,
				struct dray_frame *frame)
{
	if (!frames->channel)
		return -ENODEV;
	if (!frame->job ||
	    (frame->state != DRAY_FRAME_HELD &&
	     (frame->state != DRAY_FRAME_UNREAD || frames->overwrite)))
		return -EINVAL;
	frame->state = DRAY_FRAME_FREE;
	frames->away++;
	return 0;
}

int dray_frame_release(struct dray_frames *frames, u32 index,
		       struct dray_refusal *refusal)
{
	struct dray_channel *channel = READ_ONCE(frames->channel);
	struct dray_frame *frame = &frames->frame[index];
	int ret;

	if (!channel)
		return -ENODEV;
	spin_lock_irq(&channel->lock);
	ret = dray_frame_take_back(frames, frame);
	spin_unlock_irq(&channel->lock);
	if (ret == -EINVAL)
		return dray_refuse(refusal, ret, DRAY_REASON_FRAME, index);
	if (ret)
		return ret;
	dray_job_sync(frame->job, channel->dev);
	spin_lock_irq(&channel->lock);
	list_add_tail(&frame->job->list, &frames->free);
	spin_unlock_irq(&channel->lock);
	return 0;
}

void dray_frames_feed(struct dray_frames *frames)
{
	struct dray_channel *channel = READ_ONCE(frames->channel);
	bool wanted;

	if (!channel)
		return;
	spin_lock_irq(&channel->lock);
	wanted = frames->wanted;
	frames->wanted = false;
	spin_unlock_irq(&channel->lock);
	if (wanted)
		dray_frames_wake(channel);
}

u32 dray_frames_fill(struct dray_channel *channel, u32 *ready)
{
	struct dray_frames *frames = channel->stream.frames;
	bool sends = channel->kind != DRAY_CHANNEL_RECV;
	u32 i;

	lockdep_assert_held(&channel->lock);
	*ready = 0;
	if (!frames || frames->ended)
		return 0;
	for (i = 0; i < frames->count; i++)
		*ready += sends == (frames->frame[i].state == DRAY_FRAME_FREE);
	return frames->count;
}

bool dray_frame_acquire(struct dray_frames *frames, struct dray_point *point)
{
	struct dray_channel *channel = READ_ONCE(frames->channel);
	struct dray_frame *frame;

	if (!channel)
		return false;
	spin_lock_irq(&channel->lock);
	/* Another ring may be in its place now. */
	frame = frames->channel ? dray_frames_unread(frames) : NULL;
	if (frame) {
		frame->state = DRAY_FRAME_HELD;
		*point = frame->point;
	}
	spin_unlock_irq(&channel->lock);
	return frame;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * RING and RELEASE: the frames of a stream, given once, and passed back and
 * forth.
 */
#include <linux/err.h>
#include <linux/nospec.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "base/node.h"
#include "engine/channel.h"
#include "engine/flight.h"
#include "engine/frames.h"
#include "engine/job.h"
#include "engine/points.h"
#include "engine/prepare.h"
#include "engine/queue.h"
#include "engine/stream.h"
#include "heap/account.h"
#include "timeline.h"

/* Arguments for a frame, as of a SUBMIT of one transfer. */
static struct dray_submit dray_ring_frame(const struct dray_ring *args,
					  const struct dray_channel *channel,
					  u32 i)
{
	return (struct dray_submit){
		.channel = channel->index,
		.flags = DRAY_SUBMIT_NO_FENCE,
		.transfers = args->frames + i * sizeof(struct dray_transfer),
		.count = 1,
	};
}

/* Makes the frames' jobs; the caller is not inside the node. */
static int dray_ring_create(struct dray_timeline_file *line,
			    struct dray_ring *args, struct dray_frames *frames,
			    struct dray_refusal *refusal)
{
	struct dray_opener opener = { .node = line->node,
				      .queues = line->queues };
	struct dray_submit submit;
	struct dray_job *job;
	u32 i;

	for (i = 0; i < args->count; i++) {
		args->failed = i;
		submit = dray_ring_frame(args, line->channel, i);
		job = dray_job_create(&opener, &submit, refusal);
		if (IS_ERR(job))
			return PTR_ERR(job);
		job->frames = frames;
		job->frame = i;
		frames->frame[i].job = job;
		frames->count++;
		if (job->kind != line->channel->kind)
			return dray_refuse(refusal, -EINVAL, DRAY_REASON_KIND,
					   line->channel->index);
	}
	return 0;
}

/* Frames that receive must be apart. */
static int dray_ring_check(struct dray_frames *frames, u32 *failed,
			   struct dray_refusal *refusal)
{
	u32 i, j;

	for (i = 1; i < frames->count; i++) {
		*failed = i;
		for (j = 0; j < i; j++)
			if (dray_sides_meet(&frames->frame[i].job->moves[0].dst,
					    &frames->frame[j].job->moves[0].dst))
				return dray_refuse(refusal, -EINVAL,
						   DRAY_REASON_OVERLAP, 0);
		cond_resched();
	}
	return 0;
}

/* The frames' jobs are locked memory of the caller, as their pieces are. */
static int dray_ring_charge(struct dray_frames *frames, u32 count,
			    struct dray_refusal *refusal)
{
	const struct dray_job *job;
	size_t size;
	int ret;

	size = count * (sizeof(frames->frame[0]) + struct_size(job, moves, 1) +
			sizeof(*job->flight));
	ret = dray_charge_user(size, &frames->user, refusal);
	if (!ret)
		frames->charged = size;
	return ret;
}

/* A submission comes before the ring, or is refused. */
static int dray_ring_start(struct dray_timeline_file *line,
			   struct dray_frames *frames)
{
	struct dray_queue *queue = &line->queues->queue[line->channel->index];
	int ret;

	mutex_lock(&queue->order);
	frames->number = queue->number;
	ret = dray_frames_start(line->channel, frames);
	mutex_unlock(&queue->order);
	return ret;
}

/* Inside the node. */
static int dray_ring_prepare(struct dray_timeline_file *line,
			     struct dray_ring *args, struct dray_frames *frames,
			     struct dray_refusal *refusal)
{
	struct dray_submit submit;
	u32 i;
	int ret;

	for (i = 0; i < frames->count; i++) {
		args->failed = i;
		submit = dray_ring_frame(args, line->channel, i);
		ret = dray_prepare_job(frames->frame[i].job, line->node,
				       &submit, refusal);
		if (ret)
			return ret;
	}
	args->failed = 0;
	return dray_ring_start(line, frames);
}

static struct dray_frames *dray_ring_alloc(struct dray_timeline_file *line,
					   const struct dray_ring *args)
{
	struct dray_frames *frames;

	frames = kvzalloc(struct_size(frames, frame, args->count),
			  GFP_KERNEL_ACCOUNT);
	if (!frames)
		return NULL;
	frames->channel = line->channel;
	dray_points_get(line->points);
	frames->points = line->points;
	frames->overwrite = args->flags & DRAY_RING_OVERWRITE;
	INIT_LIST_HEAD(&frames->free);
	return frames;
}

int dray_ring_call(struct dray_timeline_file *line, void *data,
		   struct dray_refusal *refusal)
{
	u32 kind = line->channel->kind;
	struct dray_ring *args = data;
	struct dray_frames *frames;
	int ret;

	args->failed = 0;
	if (args->flags & ~DRAY_RING_OVERWRITE ||
	    (args->flags && kind != DRAY_CHANNEL_RECV))
		return -EINVAL;
	if (kind == DRAY_CHANNEL_COPY)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_KIND,
				   line->channel->index);
	if (!args->count && READ_ONCE(line->channel->stream.frames)) {
		dray_frames_stop(line->channel);
		return 0;
	}
	if (args->count < 2 || args->count > DRAY_MAX_FRAMES)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_FRAMES,
				   DRAY_MAX_FRAMES);
	frames = dray_ring_alloc(line, args);
	if (!frames)
		return -ENOMEM;
	ret = dray_ring_charge(frames, args->count, refusal);
	if (!ret)
		ret = dray_ring_create(line, args, frames, refusal);
	if (!ret && kind == DRAY_CHANNEL_RECV)
		ret = dray_ring_check(frames, &args->failed, refusal);
	if (!ret)
		ret = dray_node_enter(line->node);
	if (!ret) {
		ret = dray_ring_prepare(line, args, frames, refusal);
		dray_node_leave(line->node);
	}
	if (ret)
		dray_frames_drop(frames);
	return ret;
}

/* Inside the node, which keeps the frames' mappings. */
static int dray_ring_give_some(struct dray_frames *frames, const u32 *indices,
			       u32 count, struct dray_release *args,
			       struct dray_refusal *refusal)
{
	u32 i, index;
	int ret;

	for (i = 0; i < count; i++) {
		index = indices[i];
		if (index >= frames->count)
			return dray_refuse(refusal, -EINVAL, DRAY_REASON_FRAME,
					   index);
		index = array_index_nospec(index, frames->count);
		ret = dray_frame_release(frames, index, refusal);
		if (ret)
			return ret;
		args->released++;
	}
	return 0;
}

static int dray_ring_give(struct dray_timeline_file *line,
			  struct dray_frames *frames, struct dray_release *args,
			  struct dray_refusal *refusal)
{
	u32 __user *user = u64_to_user_ptr(args->frames);
	u32 indices[64], count;
	int ret = 0;

	while (!ret && args->released < args->count) {
		count = min_t(u32, args->count - args->released,
			      ARRAY_SIZE(indices));
		if (copy_from_user(indices, user + args->released,
				   count * sizeof(*indices)))
			return -EFAULT;
		ret = dray_node_enter(line->node);
		if (ret)
			return ret;
		ret = dray_ring_give_some(frames, indices, count, args,
					  refusal);
		dray_frames_feed(frames);
		dray_node_leave(line->node);
	}
	return ret;
}

static int dray_ring_take(struct dray_frames *frames, struct dray_release *args)
{
	struct dray_point __user *user = u64_to_user_ptr(args->points);
	struct dray_point point;

	while (args->acquired < args->room &&
	       dray_frame_acquire(frames, &point)) {
		if (copy_to_user(user + args->acquired, &point, sizeof(point)))
			return -EFAULT;
		args->acquired++;
	}
	return 0;
}

/* Acquires frames; if there are none, waits for a point and tries again. */
static int dray_ring_await(struct dray_timeline_file *line,
			   struct dray_frames *frames,
			   struct dray_release *args)
{
	struct dray_wait wait = { .number = args->number,
				  .until_ns = args->until_ns };
	struct dray_refusal none = {};
	int ret = dray_ring_take(frames, args);

	if (ret || args->acquired || !args->until_ns)
		return ret;
	ret = dray_wait_call(line, &wait, &none);
	/* A restarted call would release the frames again. */
	if (ret == -ERESTARTSYS)
		return -EINTR;
	/* A later point is one, too. */
	if (ret && ret != -EOVERFLOW)
		return ret;
	return dray_ring_take(frames, args);
}

int dray_release_call(struct dray_timeline_file *line, void *data,
		      struct dray_refusal *refusal)
{
	struct dray_frames *frames = READ_ONCE(line->channel->stream.frames);
	struct dray_release *args = data;
	int ret;

	args->released = 0;
	args->acquired = 0;
	if (args->reserved)
		return -EINVAL;
	if (line->channel->kind == DRAY_CHANNEL_COPY || !frames ||
	    args->count > DRAY_MAX_FRAMES || args->room > DRAY_MAX_FRAMES ||
	    (args->room && !frames->overwrite))
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_FRAMES,
				   DRAY_MAX_FRAMES);
	ret = dray_ring_give(line, frames, args, refusal);
	return ret ? ret : dray_ring_await(line, frames, args);
}

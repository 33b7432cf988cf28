// SPDX-License-Identifier: GPL-2.0-only
/*
 * SUBMIT: a list of transfers becomes a job.  All that can fail is done first:
 * arguments are copied and checked (job.c), a slot is reserved (queue.c), buffers
 * are mapped for the engine (prepare.c).  Then the fence is shown to others,
 * and from there on the job ends by itself.
 */
#include <linux/err.h>
#include <linux/nospec.h>
#include <linux/sync_file.h>

#include "base/node.h"
#include "base/reply.h"
#include "memory/trace.h"
#include "engine/channel.h"
#include "engine/fence.h"
#include "engine/guard.h"
#include "engine/in_fence.h"
#include "engine/job.h"
#include "engine/points.h"
#include "engine/prepare.h"
#include "engine/queue.h"
#include "engine/sleep.h"
#include "engine/stream.h"
#include "address.h"
#include "calls.h"

static int dray_job_sync_file(struct dray_job *job, struct dray_reply *reply)
{
	struct sync_file *sync_file = sync_file_create(job->fence);

	return sync_file ? dray_reply_give(reply, sync_file->file) : -ENOMEM;
}

/* Another thread may close the stream while the job is made. */
static int dray_job_may_publish(struct dray_job *job,
				struct dray_refusal *refusal)
{
	struct dray_channel *channel = job->channel;

	if (job->kind == DRAY_CHANNEL_COPY)
		return 0;
	if (dray_stream_is_claimed(channel, job->queues))
		return READ_ONCE(channel->stream.frames) ? -EBUSY : 0;
	return dray_refuse(refusal, -ENOTCONN, DRAY_REASON_STREAM,
			   channel->index);
}

/*
 * May other drivers wait for the job's fence?  They do so without a limit of their own,
 * so that it must signal soon.
 */
static bool dray_job_is_shown(const struct dray_job *job,
			      const struct dray_submit *args)
{
	return job->kind == DRAY_CHANNEL_COPY ||
	       (args->deadline_ns &&
		args->deadline_ns <= DRAY_MAX_FENCE_DEADLINE);
}

/*
 * Shows the fence and enqueues the job, in a single step for the queue.  On
 * failure the job is still the caller's.
 */
static int dray_job_publish(struct dray_job *job, struct dray_submit *args,
			    struct dray_reply *reply)
{
	struct dray_channel *channel = job->channel;
	struct dray_queue *queue = &job->queues->queue[channel->index];
	bool signalling;
	int ret;

	if (mutex_lock_interruptible(&queue->order))
		return -ERESTARTSYS;
	ret = dray_job_may_publish(job, &reply->refusal);
	if (ret)
		goto unlock;
	job->fence = dray_fence_create(channel, queue);
	if (!job->fence) {
		ret = -ENOMEM;
		goto unlock;
	}
	if (!(args->flags & DRAY_SUBMIT_NO_FENCE)) {
		ret = dray_job_sync_file(job, reply);
		if (ret)
			goto unlock;
	}
	if (dray_job_is_shown(job, args))
		ret = dray_guard_job(job);
	else
		ret = dray_guard_await_job(job);
	if (ret)
		goto unlock;
	args->point = ++queue->number;
	if (queue->points) {
		dray_points_get(queue->points);
		job->points = queue->points;
	}
	/* Others may wait for the fence, which nothing may hinder now. */
	signalling = dma_fence_begin_signalling();
	trace_dray_submit(job->fence, queue->context, job->queues->pid,
			  channel->name, job->count, job->runs, job->bytes);
	dray_in_fences_watch(job);
	dray_job_count(job, 1);
	dray_job_enqueue(job);
	dma_fence_end_signalling(signalling);
unlock:
	mutex_unlock(&queue->order);
	return ret;
}

static int dray_submit_check(struct dray_node *node,
			     const struct dray_submit *args,
			     struct dray_refusal *refusal)
{
	u32 count = node->channels->count;

	if (dray_node_check(node))
		return -ENODEV;
	if (args->reserved || !args->count ||
	    args->flags & ~(DRAY_SUBMIT_NONBLOCK | DRAY_SUBMIT_NO_SYNC |
			    DRAY_SUBMIT_NO_FENCE) ||
	    args->count > DRAY_MAX_TRANSFERS ||
	    args->in_fence_count > DRAY_MAX_IN_FENCES)
		return -EINVAL;
	if (!count)
		return dray_refuse(refusal, -EOPNOTSUPP, DRAY_REASON_CHANNEL,
				   0);
	if (args->channel != DRAY_CHANNEL_ANY && args->channel >= count)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_CHANNEL,
				   count);
	return 0;
}

/* Copies end by their watchdog; a stream's job ends by its deadline, if ever. */
static int dray_submit_check_kind(const struct dray_job *job,
				  const struct dray_submit *args,
				  struct dray_refusal *refusal)
{
	bool fence = !(args->flags & DRAY_SUBMIT_NO_FENCE);
	u64 most = fence ? DRAY_MAX_FENCE_DEADLINE : DRAY_MAX_DEADLINE;

	if (job->kind == DRAY_CHANNEL_COPY)
		return args->deadline_ns ? -EINVAL : 0;
	if (args->channel == DRAY_CHANNEL_ANY)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_KIND,
				   args->channel);
	if (args->deadline_ns > most || (!args->deadline_ns && fence))
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_DEADLINE,
				   most);
	return 0;
}

/*
 * Returns the number of descriptors, or 0 if the caller may not know it: each
 * segment of attached memory needs a descriptor.
 */
static u64 dray_submit_runs(const struct dray_opener *opener,
			    const struct dray_job *job)
{
	if (dray_job_is_attached(job) &&
	    !dray_segments_allowed(opener, job->channel->dev))
		return 0;
	return job->runs;
}

/*
 * Inside the node: reserves a place for the job, and shows it to others.  On
 * failure it is still the caller's.
 */
static int dray_submit_start(struct dray_opener *opener, struct dray_job *job,
			     struct dray_submit *args, struct dray_reply *reply,
			     struct dray_refusal *refusal)
{
	u64 runs, bytes;
	u32 channel;
	int ret;

	ret = dray_prepare_job(job, opener->node, args, refusal);
	if (ret)
		return ret;
	/* Once it is published, the job may end and be freed. */
	channel = job->channel->index;
	runs = dray_submit_runs(opener, job);
	bytes = job->bytes;
	ret = dray_job_publish(job, args, reply);
	if (ret)
		return ret;
	args->channel = channel;
	args->fence_fd = reply->fd;
	args->runs = runs;
	args->bytes = bytes;
	return 0;
}

/* Owns the job from here on. */
static int dray_submit_job(struct dray_opener *opener, struct dray_job *job,
			   struct dray_submit *args, struct dray_reply *reply,
			   struct dray_refusal *refusal)
{
	bool wait = !(args->flags & DRAY_SUBMIT_NONBLOCK);
	struct dray_node *node = opener->node;
	u32 index;
	int ret;

	ret = dray_submit_check_kind(job, args, refusal);
	if (ret)
		goto free_job;
	index = args->channel;
	if (index != DRAY_CHANNEL_ANY)
		index = array_index_nospec(index, node->channels->count);
	ret = dray_slot_take(job, node, index, wait, refusal);
	if (ret)
		goto free_job;
	ret = dray_node_enter_awake(node, wait);
	if (ret)
		goto give_slot;
	ret = dray_submit_start(opener, job, args, reply, refusal);
	if (ret)
		goto leave;
	dray_node_leave(node);
	return 0;

leave:
	dray_job_unprepare(job);
	dray_node_leave(node);
give_slot:
	dray_slot_give(job, node);
free_job:
	dray_job_free(job);
	return ret;
}

int dray_submit_call(struct dray_opener *opener, void *data,
		     struct dray_reply *reply)
{
	struct dray_submit *args = data;
	struct dray_job *job;
	int ret;

	args->failed = 0;
	ret = dray_submit_check(opener->node, args, &reply->refusal);
	if (ret)
		return ret;
	job = dray_job_create(opener, args, &reply->refusal);
	if (IS_ERR(job))
		return PTR_ERR(job);
	return dray_submit_job(opener, job, args, reply, &reply->refusal);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * SUBMIT: a list of transfers becomes a job.  All that can fail comes first:
 * arguments are copied and checked (job.c), a slot is taken (queue.c), buffers
 * are mapped for the engine (place.c).  Then the fence is shown to others, and
 * from there on the job ends by itself.
 */
#include <linux/err.h>
#include <linux/sync_file.h>

#include "job.h"
#include "trace.h"

static void dray_in_fence_done(struct dma_fence *fence,
			       struct dma_fence_cb *callback)
{
	struct dray_in_fence *in_fence =
		container_of(callback, struct dray_in_fence, callback);
	struct dray_job *job = in_fence->job;

	if (atomic_dec_and_test(&job->pending))
		mod_delayed_work(dray_workqueue, &job->channel->feed, 0);
}

static void dray_job_watch(struct dray_job *job)
{
	struct dray_in_fence *in_fence;
	u32 i;

	atomic_set(&job->pending, job->in_fence_count);
	for (i = 0; i < job->in_fence_count; i++) {
		in_fence = &job->in_fences[i];
		in_fence->job = job;
		if (dma_fence_add_callback(in_fence->fence, &in_fence->callback,
					   dray_in_fence_done)) {
			in_fence->job = NULL;
			atomic_dec(&job->pending);
		}
	}
}

/* From here on no in-fence touches the job, nor wakes its channel. */
void dray_job_unwatch(struct dray_job *job)
{
	struct dray_in_fence *in_fence;
	u32 i;

	for (i = 0; i < job->in_fence_count; i++) {
		in_fence = &job->in_fences[i];
		if (in_fence->job)
			dma_fence_remove_callback(in_fence->fence,
						  &in_fence->callback);
	}
}

/*
 * Shows the fence and enqueues the job, in one step for the queue.  On
 * failure the job is still the caller's.
 */
static int dray_job_publish(struct dray_job *job, struct dray_reply *reply)
{
	struct dray_channel *channel = job->channel;
	struct dray_queue *queue = &job->queues->queue[channel->index];
	struct sync_file *sync_file;
	int ret;

	if (mutex_lock_interruptible(&queue->order))
		return -ERESTARTSYS;
	job->fence = dray_fence_create(channel, queue);
	if (!job->fence) {
		ret = -ENOMEM;
		goto unlock;
	}
	sync_file = sync_file_create(job->fence);
	if (!sync_file) {
		ret = -ENOMEM;
		goto unlock;
	}
	ret = dray_reply_give(reply, sync_file->file);
	if (ret)
		goto unlock;
	ret = dray_job_guard(job);
	if (ret)
		goto unlock;
	trace_dray_submit(job->fence, channel->name, job->count, job->runs,
			  job->bytes);
	dray_job_watch(job);
	dray_job_enqueue(job);
unlock:
	mutex_unlock(&queue->order);
	return ret;
}

static int dray_submit_check(struct dray_node *node,
			     const struct dray_submit *args,
			     struct dray_refusal *refusal)
{
	u32 count = node->channels->count;

	if (READ_ONCE(node->gone))
		return -ENODEV;
	if (args->reserved || !args->count ||
	    args->flags & ~(DRAY_SUBMIT_NONBLOCK | DRAY_SUBMIT_NO_SYNC) ||
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

/* What the caller is told; pieces of attached memory take a descriptor each. */
static u64 dray_submit_runs(const struct dray_opener *opener,
			    const struct dray_job *job)
{
	if (dray_job_is_attached(job) &&
	    !dray_pieces_allowed(opener, job->channel->dev))
		return 0;
	return job->runs;
}

int dray_submit_call(struct dray_opener *opener, void *data,
		     struct dray_reply *reply)
{
	struct dray_node *node = opener->node;
	struct dray_refusal refusal = {};
	struct dray_submit *args = data;
	struct dray_job *job;
	u64 runs, bytes;
	u32 channel;
	int ret;

	args->failed = 0;
	ret = dray_submit_check(node, args, &refusal);
	if (ret)
		goto out;
	job = dray_job_create(opener, args, &refusal);
	if (IS_ERR(job)) {
		ret = PTR_ERR(job);
		goto out;
	}
	ret = dray_job_slot(job, node, !(args->flags & DRAY_SUBMIT_NONBLOCK),
			    &refusal);
	if (ret)
		goto free_job;
	ret = dray_node_enter(node);
	if (ret)
		goto free_job;
	ret = dray_job_place(job, node, args, &refusal);
	if (ret)
		goto leave;
	runs = dray_submit_runs(opener, job);
	bytes = job->bytes;
	channel = job->channel->index;
	ret = dray_job_publish(job, reply);
	if (ret)
		goto leave;
	/* The job may have ended and be gone. */
	dray_node_leave(node);
	args->channel = channel;
	args->fence_fd = reply->fd;
	args->runs = runs;
	args->bytes = bytes;
	goto out;

leave:
	/* Inside, since patterns are mapped for the engine. */
	dray_job_free(job);
	job = NULL;
	dray_node_leave(node);
free_job:
	if (job)
		dray_job_free(job);
	/* Its slot, if it had one, is free. */
	wake_up_all(&node->channels->slots);
out:
	args->reason = refusal.reason;
	args->limit = refusal.limit;
	return ret;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * SUBMIT: a list of transfers becomes a job.  All that can fail comes first:
 * arguments are copied and checked, memory and a slot are taken, buffers are
 * mapped for the engine.  Then the fence is shown to others, and from there
 * on the job ends by itself.
 */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/nospec.h>
#include <linux/overflow.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/sync_file.h>
#include <linux/uaccess.h>

#include "buffer.h"
#include "job.h"

/* --- what the caller gave ------------------------------------------------- */

static int dray_transfer_buffers(struct dray_plan *plan,
				 const struct dray_transfer *transfer,
				 struct dray_refusal *refusal)
{
	struct dray_buffer *buffer;

	if (transfer->op == DRAY_OP_FILL) {
		if (transfer->src_fd != -1 || transfer->src_offset)
			return -EINVAL;
	} else {
		buffer = dray_buffer_of_fd(transfer->src_fd, refusal);
		if (IS_ERR(buffer))
			return PTR_ERR(buffer);
		plan->src.buffer = buffer;
	}
	buffer = dray_buffer_of_fd(transfer->dst_fd, refusal);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	plan->dst.buffer = buffer;
	return 0;
}

static int dray_job_add(struct dray_job *job, struct dray_plan *plan,
			const struct dray_transfer *transfer,
			struct dray_refusal *refusal)
{
	struct dray_axis *axes;
	u64 most;
	int ret;

	if (transfer->flags ||
	    (transfer->op != DRAY_OP_COPY && transfer->op != DRAY_OP_FILL))
		return -EINVAL;
	axes = memdup_user(u64_to_user_ptr(transfer->axes),
			   transfer->axes_count * sizeof(*axes));
	if (IS_ERR(axes))
		return PTR_ERR(axes);
	ret = dray_transfer_buffers(plan, transfer, refusal);
	if (!ret)
		ret = dray_plan_check(plan, transfer, axes, refusal);
	kfree(axes);
	if (ret)
		return ret;

	most = dray_submit_max_bytes();
	if (check_add_overflow(job->bytes, dray_plan_bytes(plan),
			       &job->bytes) ||
	    job->bytes > most)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_BYTES, most);
	return 0;
}

/* Room for the steps and the two layouts of every transfer. */
static int dray_job_axes(struct dray_job *job,
			 const struct dray_transfer *transfers, u32 count,
			 u32 *failed, struct dray_refusal *refusal)
{
	struct dray_level *level;
	struct dray_step *step;
	size_t total = 0;
	u32 i;

	for (i = 0; i < count; i++) {
		if (transfers[i].axes_count > DRAY_MAX_AXES) {
			*failed = i;
			return dray_refuse(refusal, -EINVAL, DRAY_REASON_AXES,
					   DRAY_MAX_AXES);
		}
		total += transfers[i].axes_count;
	}
	if (!total)
		return 0;
	job->axes = kvcalloc(total, sizeof(*step) + 2 * sizeof(*level),
			     GFP_KERNEL_ACCOUNT);
	if (!job->axes)
		return -ENOMEM;
	step = job->axes;
	level = (struct dray_level *)(step + total);
	for (i = 0; i < count; i++) {
		job->plans[i].step = step;
		job->plans[i].dst.level = level;
		job->plans[i].src.level = level + transfers[i].axes_count;
		step += transfers[i].axes_count;
		level += 2 * transfers[i].axes_count;
	}
	return 0;
}

static int dray_job_transfers(struct dray_job *job, struct dray_submit *args,
			      struct dray_refusal *refusal)
{
	struct dray_transfer *transfers;
	u32 i;
	int ret;

	transfers = vmemdup_user(u64_to_user_ptr(args->transfers),
				 args->count * sizeof(*transfers));
	if (IS_ERR(transfers))
		return PTR_ERR(transfers);
	ret = dray_job_axes(job, transfers, args->count, &args->failed,
			    refusal);
	for (i = 0; i < args->count && !ret; i++) {
		/* Patterns are nobody's memory: a job has this much, together. */
		job->plans[i].fill_most = SZ_64K / args->count;
		ret = dray_job_add(job, &job->plans[i], &transfers[i], refusal);
		if (ret)
			args->failed = i;
	}
	kvfree(transfers);
	return ret;
}

static int dray_job_in_fences(struct dray_job *job, struct dray_submit *args,
			      struct dray_refusal *refusal)
{
	s32 fds[DRAY_MAX_IN_FENCES];
	struct dma_fence *fence;
	struct file *file;
	u32 i;

	if (!args->in_fence_count)
		return 0;
	if (copy_from_user(fds, u64_to_user_ptr(args->in_fences),
			   args->in_fence_count * sizeof(*fds)))
		return -EFAULT;
	job->in_fences = kcalloc(args->in_fence_count, sizeof(*job->in_fences),
				 GFP_KERNEL_ACCOUNT);
	if (!job->in_fences)
		return -ENOMEM;
	for (i = 0; i < args->in_fence_count; i++) {
		file = fget(fds[i]);
		if (!file)
			return dray_refuse(refusal, -EBADF, DRAY_REASON_FOREIGN,
					   (u32)fds[i]);
		fput(file);
		/* Only these come to an end for sure. */
		fence = sync_file_get_fence(fds[i]);
		if (!fence)
			return dray_refuse(refusal, -EINVAL,
					   DRAY_REASON_FOREIGN, (u32)fds[i]);
		job->in_fences[i].fence = fence;
		job->in_fence_count++;
	}
	return 0;
}

static struct dray_job *dray_job_create(struct dray_opener *opener,
					struct dray_submit *args,
					struct dray_refusal *refusal)
{
	struct dray_job *job;
	int ret;

	job = kvzalloc(struct_size(job, plans, args->count),
		       GFP_KERNEL_ACCOUNT);
	if (!job)
		return ERR_PTR(-ENOMEM);
	kref_get(&opener->queues->kref);
	job->queues = opener->queues;
	job->sync = !(args->flags & DRAY_SUBMIT_NO_SYNC);
	job->count = args->count;
	ret = dray_job_transfers(job, args, refusal);
	if (!ret)
		ret = dray_job_in_fences(job, args, refusal);
	if (ret) {
		dray_job_free(job);
		return ERR_PTR(ret);
	}
	return job;
}

/* --- what the node has ---------------------------------------------------- */

static bool dray_slot_take(struct dray_job *job)
{
	job->slot =
		atomic_add_unless(&job->queues->in_flight, 1, DRAY_QUEUE_DEPTH);
	return job->slot;
}

/* Outside of the node, since this may last. */
static int dray_job_slot(struct dray_job *job, struct dray_node *node,
			 bool wait, struct dray_refusal *refusal)
{
	int ret;

	if (dray_slot_take(job))
		return 0;
	if (!wait)
		return dray_refuse(refusal, -EAGAIN, DRAY_REASON_BUSY,
				   DRAY_QUEUE_DEPTH);
	ret = wait_event_interruptible(node->channels->slots,
				       dray_slot_take(job) ||
					       READ_ONCE(node->gone));
	if (ret)
		return ret;
	return job->slot ? 0 : -ENODEV;
}

/* The living channel with the fewest jobs. */
static struct dray_channel *dray_channel_any(struct dray_node *node,
					     struct dray_refusal *refusal)
{
	struct dray_channel *channel, *best = NULL;
	u32 i, waiting, fewest = U32_MAX;
	int ret = -ENODEV;

	dray_refuse(refusal, 0, DRAY_REASON_CHANNEL, node->channels->count);
	for (i = 0; i < node->channels->count; i++) {
		channel = &node->channels->channel[i];
		if (READ_ONCE(channel->dead)) {
			ret = dray_refuse(refusal, -EIO, DRAY_REASON_DEAD, i);
			continue;
		}
		if (dray_channel_open(channel))
			continue;
		waiting = READ_ONCE(channel->waiting);
		if (waiting < fewest) {
			fewest = waiting;
			best = channel;
		}
	}
	if (!best)
		return ERR_PTR(ret);
	*refusal = (struct dray_refusal){};
	return best;
}

static struct dray_channel *dray_channel_named(struct dray_node *node,
					       u32 index,
					       struct dray_refusal *refusal)
{
	u32 count = node->channels->count;
	struct dray_channel *channel;
	int ret;

	channel = &node->channels->channel[array_index_nospec(index, count)];
	if (READ_ONCE(channel->dead)) {
		ret = dray_refuse(refusal, -EIO, DRAY_REASON_DEAD, index);
		return ERR_PTR(ret);
	}
	if (dray_channel_open(channel)) {
		ret = dray_refuse(refusal, -ENODEV, DRAY_REASON_CHANNEL, count);
		return ERR_PTR(ret);
	}
	return channel;
}

static int dray_plan_place(struct dray_plan *plan, struct dray_channel *channel,
			   u64 *runs, struct dray_refusal *refusal)
{
	struct dray_node *node = channel->node;
	int ret;

	ret = dray_mapping_get(plan->dst.buffer, node, channel->dev,
			       &plan->dst.address, refusal);
	if (!ret && plan->src.buffer)
		ret = dray_mapping_get(plan->src.buffer, node, channel->dev,
				       &plan->src.address, refusal);
	if (!ret)
		ret = dray_plan_fit(plan, channel->dev, &channel->limits, runs,
				    refusal);
	return ret;
}

/*
 * The engine sees what the CPU wrote, and no dirty line is left that could
 * be written back over what the engine writes.
 */
static int dray_plan_sync(struct dray_plan *plan, struct device *dev)
{
	int ret = 0;

	if (plan->src.buffer)
		ret = dray_layout_sync(&plan->src, dev, false, DMA_TO_DEVICE);
	if (!ret)
		ret = dray_layout_sync(&plan->dst, dev, false,
				       DMA_BIDIRECTIONAL);
	return ret;
}

/* On the caller's channel, or on any. */
static int dray_job_place(struct dray_job *job, struct dray_node *node,
			  struct dray_submit *args,
			  struct dray_refusal *refusal)
{
	struct dray_channel *channel;
	u64 most = dray_submit_max_runs();
	u32 i;
	int ret;

	if (args->channel == DRAY_CHANNEL_ANY)
		channel = dray_channel_any(node, refusal);
	else
		channel = dray_channel_named(node, args->channel, refusal);
	if (IS_ERR(channel))
		return PTR_ERR(channel);
	job->channel = channel;
	for (i = 0; i < job->count; i++) {
		ret = dray_plan_place(&job->plans[i], channel, &job->runs,
				      refusal);
		if (!ret && job->runs > most)
			ret = dray_refuse(refusal, -EINVAL, DRAY_REASON_RUNS,
					  most);
		if (ret) {
			args->failed = i;
			return ret;
		}
	}
	for (i = 0; i < job->count && job->sync; i++) {
		ret = dray_plan_sync(&job->plans[i], channel->dev);
		if (ret)
			return ret;
	}
	return 0;
}

/* --- what others see ------------------------------------------------------ */

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

	ret = mutex_lock_interruptible(&queue->order);
	if (ret)
		return ret;
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
	ret = get_unused_fd_flags(O_CLOEXEC);
	if (ret < 0)
		goto put_file;
	reply->fd = ret;
	ret = dray_job_guard(job);
	if (ret)
		goto put_fd;
	reply->file = sync_file->file;
	dray_job_watch(job);
	dray_job_enqueue(job);
	goto unlock;

put_fd:
	put_unused_fd(reply->fd);
put_file:
	fput(sync_file->file);
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
	runs = job->runs;
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Turns: a thread submits in a turn of the queue, without the queue's lock, because the
 * call may wait for room.  The first transfer chooses the queue's channel.  Each
 * turn settles signalled fences, so that parked blocks return without a thread.  copy.c
 * submits here.
 */
#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "memory/node.h"
#include "transfer/queue.h"

void dray_queue_lose_engine(struct dray_queue *queue, const char *sentence)
{
	queue->engine = false;
	snprintf(queue->no_engine, sizeof(queue->no_engine), "%s", sentence);
}

void dray_queue_forget_limits(struct dray_queue *queue)
{
	queue->alignment = 1;
	queue->max_segment = UINT64_MAX;
}

void dray_queue_add_limits(struct dray_queue *queue,
			   const struct dray_channel_info *channel)
{
	if (channel->alignment > queue->alignment)
		queue->alignment = channel->alignment;
	if (channel->max_segment && channel->max_segment < queue->max_segment)
		queue->max_segment = channel->max_segment;
}

void dray_queue_drop_first(struct dray_queue *queue)
{
	struct dray_fence *fence = queue->first;

	queue->first = fence->next;
	if (!queue->first)
		queue->last = &queue->first;
	dray_use_leave(&fence->use);
	dray_fence_unref(fence);
}

void dray_queue_reap(struct dray_queue *queue)
{
	while (queue->first && dray_fence_status(queue->first))
		dray_queue_drop_first(queue);
}

/* Stays on @channel: channels are in no order with each other.  With the lock. */
static void stay_on(struct dray_queue *queue, uint32_t channel)
{
	struct dray_channel_info info;

	if (queue->channel == channel)
		return;
	queue->channel = channel;
	/*
	 * An open channel knows its limits; if it does not answer, the old limits
	 * stay.
	 */
	if (!dray_node_channel(queue->node, channel, &info, sizeof(info))) {
		dray_queue_forget_limits(queue);
		dray_queue_add_limits(queue, &info);
	}
}

/* With the lock, dropped meanwhile. */
static int await_channel(struct dray_queue *queue, bool nonblock)
{
	while (queue->channel == DRAY_CHANNEL_ANY && queue->choosing) {
		if (nonblock)
			return dray_fail(
				-EAGAIN,
				"another thread waits for room in the queue");
		pthread_cond_wait(&queue->changed, &queue->lock);
	}
	return 0;
}

/*
 * Begins a turn, and settles transfers that ended.  Until the queue's channel is known, a
 * single thread submits at a time.
 */
static int turn_begin(struct dray_queue *queue, bool nonblock,
		      uint32_t *channel)
{
	int ret;

	pthread_mutex_lock(&queue->lock);
	dray_queue_reap(queue);
	ret = await_channel(queue, nonblock);
	if (!ret && atomic_load(&queue->destroyed))
		ret = dray_fail(-EINVAL, "the queue has been destroyed");
	if (!ret) {
		*channel = queue->channel;
		queue->choosing = queue->channel == DRAY_CHANNEL_ANY;
		queue->submitting++;
	}
	pthread_mutex_unlock(&queue->lock);
	return ret;
}

/* Keeps a fence that was submitted.  With the lock. */
static void transfer_queue_append(struct dray_queue *queue,
				  struct dray_fence *fence)
{
	fence->next = NULL;
	fence->queue = queue;
	*queue->last = dray_fence_ref(fence);
	queue->last = &fence->next;
	dray_use_submitted(&fence->use);
}

/*
 * Ends a turn on @channel, and keeps @fence (NULL: nothing was submitted).  The queue
 * stays on the channel of @args.  True if the channel was dead, and another may not be.
 */
static bool turn_finish(struct dray_queue *queue, uint32_t channel,
			struct dray_fence *fence,
			const struct dray_submit *args)
{
	const bool dead = !fence && args->reason == DRAY_REASON_DEAD;
	const bool again = dead && !queue->bound && channel != DRAY_CHANNEL_ANY;

	pthread_mutex_lock(&queue->lock);
	if (fence) {
		transfer_queue_append(queue, fence);
		/* Another thread may have left a dead channel meanwhile. */
		if (queue->channel == channel)
			stay_on(queue, args->channel);
	} else if (dead && !again) {
		dray_queue_lose_engine(queue, dray_last_error());
	} else if (again && queue->channel == channel) {
		queue->channel = DRAY_CHANNEL_ANY;
	}
	if (channel == DRAY_CHANNEL_ANY)
		queue->choosing = false;
	queue->submitting--;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
	return again;
}

/* Fills the out fields of @args, but @args->channel only on success. */
static int submit_once(struct dray_queue *queue, struct dray_submit *args)
{
	struct dray_submit reply = *args;
	int ret;

	reply.reason = DRAY_REASON_NONE;
	ret = dray_node_submit(queue->node, &reply);
	if (!ret)
		args->channel = reply.channel;
	args->fence_fd = reply.fence_fd;
	args->reason = reply.reason;
	if (ret == -EINTR)
		return dray_fail(
			-EINTR,
			"a signal came before the queue had room, nothing was submitted");
	return ret;
}

/*
 * Submits in a turn of the queue.  Its lock is free meanwhile, because the call may wait
 * for room.  True if the channel was found dead, and the next try may choose another:
 * all transfers in flight there failed, so no order is lost.
 */
static bool submit_in_turn(struct dray_queue *queue, struct dray_submit *args,
			   struct dray_fence *fence, int *ret)
{
	const bool nonblock = args->flags & DRAY_SUBMIT_NONBLOCK;
	uint32_t channel = DRAY_CHANNEL_ANY;

	*ret = turn_begin(queue, nonblock, &channel);
	if (*ret)
		return false;
	args->channel = channel;
	*ret = submit_once(queue, args);
	if (!*ret)
		fence->fd = args->fence_fd;
	return turn_finish(queue, channel, *ret ? NULL : fence, args);
}

int dray_queue_submit(struct dray_queue *queue,
		      const struct dray_transfer *transfer, unsigned int flags,
		      struct dray_fence *fence, uint32_t *reason)
{
	struct dray_submit args = {
		.transfers = (uintptr_t)transfer,
		.count = 1,
		.fence_fd = -1,
	};
	int ret;

	if (flags & DRAY_COPY_NONBLOCK)
		args.flags |= DRAY_SUBMIT_NONBLOCK;
	if (flags & DRAY_COPY_NO_SYNC)
		args.flags |= DRAY_SUBMIT_NO_SYNC;
	ret = dray_use_claim(&fence->use, flags & DRAY_COPY_NONBLOCK);
	if (!ret)
		while (submit_in_turn(queue, &args, fence, &ret))
			;
	*reason = args.reason;
	return ret;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * CANCEL: an opener's jobs are not fed any more.  Descriptors of copies that the
 * engine already has are finished; a stream is stopped.  A job that is stopped
 * before the engine had all of it ends as -ECANCELED, when its turn in its queue
 * comes.
 */
#include <linux/err.h>
#include <linux/nospec.h>

#include "base/node.h"
#include "base/reply.h"
#include "engine/channel.h"
#include "engine/fence.h"
#include "engine/frames.h"
#include "engine/queue.h"
#include "calls.h"

static int dray_cancel_one(struct dray_opener *opener, struct dray_cancel *args,
			   struct dray_refusal *refusal)
{
	struct dray_channels *channels = opener->node->channels;
	struct dray_queue *queue;
	struct dma_fence *fence;
	int ret = -EINVAL;
	u32 i;

	fence = dray_fence_of_fd(args->fence_fd, refusal);
	if (IS_ERR(fence))
		return PTR_ERR(fence);
	for (i = 0; i < channels->count && ret; i++) {
		queue = &opener->queues->queue[i];
		if (queue->context != dray_fence_queue(fence))
			continue;
		args->count = dray_queue_cancel(queue, &channels->channel[i],
						fence, 0);
		ret = 0;
	}
	dma_fence_put(fence);
	if (ret)
		dray_refuse(refusal, ret, DRAY_REASON_FOREIGN,
			    (u32)args->fence_fd);
	return ret;
}

static int dray_cancel_all(struct dray_opener *opener, struct dray_cancel *args,
			   struct dray_refusal *refusal)
{
	struct dray_channels *channels = opener->node->channels;
	u32 first = 0, last = channels->count, i;

	/* Points have their numbers on one timeline. */
	if (args->point && args->channel == DRAY_CHANNEL_ANY)
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_CHANNEL, last);
	if (args->channel != DRAY_CHANNEL_ANY) {
		if (args->channel >= last)
			return dray_refuse(refusal, -EINVAL,
					   DRAY_REASON_CHANNEL, last);
		first = array_index_nospec(args->channel, last);
		last = first + 1;
	}
	for (i = first; i < last; i++) {
		if (!args->point)
			args->count +=
				dray_frames_cancel(&channels->channel[i],
						   &opener->queues->queue[i]);
		args->count += dray_queue_cancel(&opener->queues->queue[i],
						 &channels->channel[i], NULL,
						 args->point);
	}
	return 0;
}

int dray_cancel_call(struct dray_opener *opener, void *data,
		     struct dray_reply *reply)
{
	struct dray_cancel *args = data;
	int ret;

	if (args->flags || args->reserved)
		return -EINVAL;
	ret = dray_node_enter(opener->node);
	if (ret)
		return ret;
	args->count = 0;
	if (args->fence_fd < 0)
		ret = dray_cancel_all(opener, args, &reply->refusal);
	else
		ret = dray_cancel_one(opener, args, &reply->refusal);
	dray_node_leave(opener->node);
	return ret;
}

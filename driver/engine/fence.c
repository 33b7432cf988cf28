// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fence of a job.  Others may hold it long after its channel and its node
 * are gone.  So it contains its lock, its names, and a reference to the module,
 * which it drops from an RCU callback.  The module's end waits for those
 * callbacks.
 */
#include <linux/dma-fence-chain.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/sync_file.h>

#include "channel.h"
#include "fence.h"
#include "queue.h"

struct dray_fence {
	struct dma_fence base;
	spinlock_t lock; /* of the fence itself */
	u64 queue; /* context of its queue */
	char channel[DRAY_NAME_LEN];
};

static struct dray_fence *to_dray_fence(struct dma_fence *fence)
{
	return container_of(fence, struct dray_fence, base);
}

static const char *dray_fence_driver(struct dma_fence *fence)
{
	return "dray";
}

static const char *dray_fence_timeline(struct dma_fence *fence)
{
	return to_dray_fence(fence)->channel;
}

static void dray_fence_free(struct rcu_head *rcu)
{
	struct dma_fence *fence = container_of(rcu, struct dma_fence, rcu);

	kfree(to_dray_fence(fence));
	module_put(THIS_MODULE);
}

static void dray_fence_release(struct dma_fence *fence)
{
	call_rcu(&fence->rcu, dray_fence_free);
}

static const struct dma_fence_ops dray_fence_ops = {
	.get_driver_name = dray_fence_driver,
	.get_timeline_name = dray_fence_timeline,
	.release = dray_fence_release,
};

static bool dray_fence_is_one_of_ours(struct dma_fence *fence)
{
	struct dma_fence_chain *chain = to_dma_fence_chain(fence);

	return (chain ? chain->fence : fence)->ops == &dray_fence_ops;
}

/* Before Linux 5.19 a chain stands for several writers. */
bool dray_fence_is_ours(struct dma_fence *fence)
{
	struct dma_fence *link;

	dma_fence_chain_for_each(link, fence)
		if (!dray_fence_is_one_of_ours(link)) {
			dma_fence_put(link);
			return false;
		}
	return true;
}

u64 dray_fence_queue(struct dma_fence *fence)
{
	if (fence->ops != &dray_fence_ops)
		return 0;
	return to_dray_fence(fence)->queue;
}

/*
 * Returns the next fence of @queue, with its order held; NULL: no memory.  A
 * stream's job may end before an earlier one: no two have a context in common.
 */
struct dma_fence *dray_fence_create(struct dray_channel *channel,
				    struct dray_queue *queue)
{
	u64 context = channel->kind == DRAY_CHANNEL_COPY
			      ? queue->context
			      : dma_fence_context_alloc(1);
	struct dray_fence *fence;

	fence = kzalloc(sizeof(*fence), GFP_KERNEL_ACCOUNT);
	if (!fence)
		return NULL;
	__module_get(THIS_MODULE);
	spin_lock_init(&fence->lock);
	strscpy(fence->channel, channel->name, sizeof(fence->channel));
	fence->queue = queue->context;
	dma_fence_init(&fence->base, &dray_fence_ops, &fence->lock, context,
		       queue->number + 1);
	return &fence->base;
}

struct dma_fence *dray_fence_of_fd(int fd, struct dray_refusal *refusal)
{
	struct file *file = fget(fd);
	struct dma_fence *fence;
	int ret;

	if (!file) {
		ret = dray_refuse(refusal, -EBADF, DRAY_REASON_FOREIGN,
				  (u32)fd);
		return ERR_PTR(ret);
	}
	fput(file);
	fence = sync_file_get_fence(fd);
	if (!fence) {
		ret = dray_refuse(refusal, -EINVAL, DRAY_REASON_FOREIGN,
				  (u32)fd);
		return ERR_PTR(ret);
	}
	return fence;
}

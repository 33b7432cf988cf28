// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues: what each opener has submitted to each channel, in its order.  An
 * opener has so many slots in all; a channel takes jobs from its queues in
 * turns.
 */
#include <linux/dma-fence.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "channel.h"
#include "job.h"
#include "queue.h"

static void dray_queues_release(struct kref *kref)
{
	kfree(container_of(kref, struct dray_queues, kref));
}

void dray_queues_put(struct dray_queues *queues)
{
	kref_put(&queues->kref, dray_queues_release);
}

int dray_queues_open(struct dray_opener *opener)
{
	u32 count = opener->node->channels->count, i;
	struct dray_queues *queues;
	u64 context;

	queues = kzalloc(struct_size(queues, queue, count), GFP_KERNEL_ACCOUNT);
	if (!queues)
		return -ENOMEM;
	kref_init(&queues->kref);
	queues->count = count;
	/* None at all is more than the kernel lets itself be asked for. */
	context = count ? dma_fence_context_alloc(count) : 0;
	for (i = 0; i < queues->count; i++) {
		queues->queue[i].context = context + i;
		mutex_init(&queues->queue[i].order);
		INIT_LIST_HEAD(&queues->queue[i].link);
		INIT_LIST_HEAD(&queues->queue[i].jobs);
	}
	opener->queues = queues;
	return 0;
}

/*
 * What the opener has submitted ends: a round that is out is waited for, and
 * nothing is fed any more.  A channel without jobs is left alone; its node
 * may be on its way out.
 */
void dray_queues_close(struct dray_opener *opener)
{
	struct dray_channels *channels = opener->node->channels;
	struct dray_queues *queues = opener->queues;
	u32 i;

	for (i = 0; i < channels->count; i++)
		dray_queue_cancel(&queues->queue[i], &channels->channel[i],
				  NULL);
	dray_queues_put(queues);
}

static bool dray_slot_try(struct dray_queues *queues)
{
	return atomic_add_unless(&queues->in_flight, 1, DRAY_QUEUE_DEPTH);
}

int dray_slot_take(struct dray_queues *queues, struct dray_node *node,
		   bool wait, struct dray_refusal *refusal)
{
	bool taken = dray_slot_try(queues);
	int ret;

	if (taken)
		return 0;
	if (!wait)
		return dray_refuse(refusal, -EAGAIN, DRAY_REASON_BUSY,
				   DRAY_QUEUE_DEPTH);
	ret = wait_event_interruptible(node->channels->slots,
				       (taken = dray_slot_try(queues)) ||
					       READ_ONCE(node->gone));
	if (ret)
		return ret;
	return taken ? 0 : -ENODEV;
}

void dray_slot_give(struct dray_queues *queues, struct dray_node *node)
{
	atomic_dec(&queues->in_flight);
	wake_up_all(&node->channels->slots);
}

static struct dray_queue *dray_job_queue(struct dray_job *job)
{
	return &job->queues->queue[job->channel->index];
}

void dray_job_enqueue(struct dray_job *job)
{
	struct dray_channel *channel = job->channel;
	struct dray_queue *queue = dray_job_queue(job);

	dray_job_count(job, 1);
	spin_lock(&channel->lock);
	if (list_empty(&queue->jobs))
		list_add_tail(&queue->link, &channel->queues);
	list_add_tail(&job->list, &queue->jobs);
	WRITE_ONCE(channel->waiting, channel->waiting + 1);
	spin_unlock(&channel->lock);
	mod_delayed_work(dray_workqueue, &channel->feed, 0);
}

/* Will the job not run, so that it need not wait for its in-fences? */
static bool dray_job_must_end(struct dray_job *job)
{
	struct dray_channel *channel = job->channel;

	return channel->closing || channel->dead || job->cancelled;
}

/* The first job of @queue, if it may run or must end. */
static struct dray_job *dray_queue_ready(struct dray_queue *queue)
{
	struct dray_job *first =
		list_first_entry(&queue->jobs, struct dray_job, list);

	if (atomic_read(&first->pending) && !dray_job_must_end(first))
		return NULL;
	return first;
}

bool dray_jobs_ready(struct dray_channel *channel)
{
	struct dray_queue *queue;

	lockdep_assert_held(&channel->lock);
	list_for_each_entry(queue, &channel->queues, link)
		if (dray_queue_ready(queue))
			return true;
	return false;
}

/* Of the queue that has waited longest. */
struct dray_job *dray_job_next(struct dray_channel *channel)
{
	struct dray_job *job = NULL;
	struct dray_queue *queue;

	spin_lock(&channel->lock);
	list_for_each_entry(queue, &channel->queues, link) {
		job = dray_queue_ready(queue);
		if (!job)
			continue;
		channel->running = job;
		list_del_init(&job->list);
		if (list_empty(&queue->jobs))
			list_del_init(&queue->link);
		else
			list_move_tail(&queue->link, &channel->queues);
		break;
	}
	spin_unlock(&channel->lock);
	return job;
}

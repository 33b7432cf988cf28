// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues: the jobs of each opener for each channel, in order.  The slots of a
 * user are limited in all.  A channel runs jobs of its users in turns, and of a
 * user's openers in turns.
 */
#include <linux/cred.h>
#include <linux/dma-fence.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "base/node.h"
#include "base/usage.h"
#include "channel.h"
#include "engine.h"
#include "flight.h"
#include "job.h"
#include "points.h"
#include "queue.h"

/* Finds @uid; the list is private to this file. */
static struct dray_queue_user *dray_queue_user_find(struct dray_channels *all,
						    kuid_t uid)
{
	struct dray_queue_user *user;

	lockdep_assert_held(&all->users_lock);
	list_for_each_entry(user, &all->users, link)
		if (uid_eq(user->uid, uid))
			return user;
	return NULL;
}

static struct dray_queue_user *dray_queue_user_create(u32 channels, kuid_t uid)
{
	struct dray_queue_user *user;
	u32 i;

	user = kzalloc(struct_size(user, turns, channels), GFP_KERNEL_ACCOUNT);
	if (!user)
		return NULL;
	user->uid = uid;
	for (i = 0; i < channels; i++) {
		INIT_LIST_HEAD(&user->turns[i].link);
		INIT_LIST_HEAD(&user->turns[i].ready);
	}
	return user;
}

/*
 * A person may own a user namespace with 65536 uids.  Those share the owner's turns
 * and slots.  Namespaces of root are containers of different users.
 */
static kuid_t dray_queue_owner(void)
{
	struct user_namespace *ns;
	kuid_t uid = current_euid();

	for (ns = current_user_ns(); ns != &init_user_ns; ns = ns->parent)
		if (!uid_eq(ns->owner, GLOBAL_ROOT_UID))
			uid = ns->owner;
	return uid;
}

/* Returns the caller's user, with a reference; NULL if there is no memory. */
static struct dray_queue_user *dray_queue_user_get(struct dray_channels *all)
{
	kuid_t uid = dray_queue_owner();
	struct dray_queue_user *user;

	mutex_lock(&all->users_lock);
	user = dray_queue_user_find(all, uid);
	if (!user) {
		user = dray_queue_user_create(all->count, uid);
		if (user)
			list_add(&user->link, &all->users);
	}
	if (user)
		user->openers++;
	mutex_unlock(&all->users_lock);
	return user;
}

static void dray_queue_user_put(struct dray_channels *all,
				struct dray_queue_user *user)
{
	mutex_lock(&all->users_lock);
	if (!--user->openers) {
		list_del(&user->link);
		kfree(user);
	}
	mutex_unlock(&all->users_lock);
}

static void dray_queues_release(struct kref *kref)
{
	struct dray_queues *queues =
		container_of(kref, struct dray_queues, kref);

	dray_queue_user_put(queues->channels, queues->user);
	dray_usage_put(queues->usage);
	kfree(queues);
}

void dray_queues_put(struct dray_queues *queues)
{
	kref_put(&queues->kref, dray_queues_release);
}

int dray_queues_open(struct dray_opener *opener)
{
	struct dray_channels *channels = opener->node->channels;
	u32 count = channels->count, i;
	struct dray_queues *queues;
	u64 context;

	queues = kzalloc(struct_size(queues, queue, count), GFP_KERNEL_ACCOUNT);
	if (!queues)
		return -ENOMEM;
	queues->user = dray_queue_user_get(channels);
	if (!queues->user) {
		kfree(queues);
		return -ENOMEM;
	}
	kref_init(&queues->kref);
	dray_usage_get(opener->usage);
	queues->usage = opener->usage;
	queues->channels = channels;
	queues->pid = task_tgid_nr(current);
	queues->count = count;
	/* The kernel warns if it is asked for no context. */
	context = count ? dma_fence_context_alloc(count) : 0;
	for (i = 0; i < queues->count; i++) {
		queues->queue[i].context = context + i;
		mutex_init(&queues->queue[i].order);
		INIT_LIST_HEAD(&queues->queue[i].link);
		INIT_LIST_HEAD(&queues->queue[i].ready);
		INIT_LIST_HEAD(&queues->queue[i].jobs);
	}
	opener->queues = queues;
	return 0;
}

/* Whether the engine did the job, which the work item did not see yet. */
static bool dray_job_is_done(const struct dray_job *job)
{
	return job->flight && dray_flight_has_landed(job) &&
	       !dray_flight_is_unfinished(job);
}

/* Cancels the job; false if it is all fed, or another job is meant. */
static bool dray_job_cancel(struct dray_job *job, struct dma_fence *fence,
			    u64 number)
{
	if (job->fed || dray_job_is_done(job) || job->cancelled ||
	    (fence && job->fence != fence) ||
	    (number && (job->frames || job->fence->seqno != number)))
		return false;
	job->cancelled = true;
	return true;
}

u32 dray_queue_cancel(struct dray_queue *queue, struct dray_channel *channel,
		      struct dma_fence *fence, u64 number)
{
	struct dray_job *job;
	u32 count = 0;

	spin_lock_irq(&channel->lock);
	job = channel->running;
	if (job && &job->queues->queue[channel->index] == queue)
		count += dray_job_cancel(job, fence, number);
	list_for_each_entry(job, &queue->jobs, list)
		count += dray_job_cancel(job, fence, number);
	/* Only its opener's: the list is empty if it serves no stream. */
	list_for_each_entry(job, &channel->stream.jobs, list)
		if (&job->queues->queue[channel->index] == queue)
			count += dray_job_cancel(job, fence, number);
	dray_queue_update(queue, channel);
	/* A channel without jobs may be on its way out. */
	if (count)
		mod_delayed_work(dray_workqueue, &channel->feed, 0);
	spin_unlock_irq(&channel->lock);
	return count;
}

/*
 * Ends the opener's jobs: nothing more is fed, and a job with a batch in the
 * engine ends after it.  Leaves a channel without jobs alone; its node may be
 * on its way out.
 */
void dray_queues_close(struct dray_opener *opener)
{
	struct dray_channels *channels = opener->node->channels;
	struct dray_queues *queues = opener->queues;
	u32 i;

	for (i = 0; i < channels->count; i++)
		dray_queue_cancel(&queues->queue[i], &channels->channel[i],
				  NULL, 0);
	dray_queues_put(queues);
}

/*
 * A point keeps its place until a later point overwrites it.  So the timeline must
 * reach from the oldest job without a point to the last that may hold a slot.
 */
static bool dray_queue_has_room(struct dray_queue *queue,
				struct dray_channel *channel)
{
	const struct dray_timeline_head *head;
	bool room = true;

	spin_lock_irq(&channel->lock);
	/* Beside a ring the submission is refused later. */
	if (queue->points && !channel->stream.frames) {
		head = queue->points->head;
		room = READ_ONCE(queue->number) - READ_ONCE(head->completed) +
			       DRAY_QUEUE_DEPTH <=
		       head->points;
	}
	spin_unlock_irq(&channel->lock);
	return room;
}

static bool dray_slot_try(struct dray_job *job, u32 index)
{
	struct dray_queues *queues = job->queues;

	if (job->kind != DRAY_CHANNEL_COPY &&
	    !dray_queue_has_room(&queues->queue[index],
				 &queues->channels->channel[index]))
		return false;
	return atomic_add_unless(job->slot, 1, DRAY_QUEUE_DEPTH);
}

int dray_slot_take(struct dray_job *job, struct dray_node *node, u32 index,
		   bool wait, struct dray_refusal *refusal)
{
	struct dray_queues *queues = job->queues;
	bool taken;
	int ret;

	/* A silent stream uses no slot of the user's copies. */
	if (job->kind == DRAY_CHANNEL_COPY)
		job->slot = &queues->user->in_flight;
	else
		job->slot = &queues->queue[index].in_flight;
	taken = dray_slot_try(job, index);
	if (taken)
		return 0;
	if (!wait)
		return dray_refuse(refusal, -EAGAIN, DRAY_REASON_BUSY,
				   DRAY_QUEUE_DEPTH);
	ret = wait_event_interruptible(node->channels->slots,
				       (taken = dray_slot_try(job, index)) ||
					       READ_ONCE(node->gone));
	if (ret)
		return ret;
	return taken ? 0 : -ENODEV;
}

void dray_slot_give(struct dray_job *job, struct dray_node *node)
{
	atomic_dec(job->slot);
	dray_slots_wake(node);
}

void dray_slots_wake(struct dray_node *node)
{
	wake_up_all(&node->channels->slots);
}

static struct dray_queue *dray_job_queue(struct dray_job *job)
{
	return &job->queues->queue[job->channel->index];
}

/* Will the job not run, so that it need not wait for its in-fences? */
static bool dray_job_must_end(struct dray_job *job)
{
	struct dray_channel *channel = job->channel;

	return channel->closing || channel->dead || job->cancelled;
}

static struct dray_job *dray_queue_first(struct dray_queue *queue)
{
	return list_first_entry_or_null(&queue->jobs, struct dray_job, list);
}

static struct dray_turns *dray_queue_turns(struct dray_queue *queue,
					   struct dray_channel *channel)
{
	struct dray_job *first = dray_queue_first(queue);

	return &first->queues->user->turns[channel->index];
}

/* Lines the queue up for a turn if its first job may run or must end. */
void dray_queue_update(struct dray_queue *queue, struct dray_channel *channel)
{
	struct dray_job *first = dray_queue_first(queue);
	struct dray_turns *turns;

	lockdep_assert_held(&channel->lock);
	if (!first || !list_empty(&queue->ready) ||
	    (atomic_read(&first->pending) && !dray_job_must_end(first)))
		return;
	turns = dray_queue_turns(queue, channel);
	list_add_tail(&queue->ready, &turns->ready);
	if (list_empty(&turns->link))
		list_add_tail(&turns->link, &channel->ready);
}

/* Puts the queue and its user behind others that are ready. */
static void dray_queue_end_turn(struct dray_queue *queue,
				struct dray_channel *channel)
{
	struct dray_turns *turns = dray_queue_turns(queue, channel);

	list_del_init(&queue->ready);
	if (list_empty(&turns->ready))
		list_del_init(&turns->link);
	else
		list_move_tail(&turns->link, &channel->ready);
}

void dray_job_enqueue(struct dray_job *job)
{
	struct dray_channel *channel = job->channel;
	struct dray_queue *queue = dray_job_queue(job);

	spin_lock_irq(&channel->lock);
	if (list_empty(&queue->jobs))
		list_add_tail(&queue->link, &channel->queues);
	list_add_tail(&job->list, &queue->jobs);
	dray_queue_update(queue, channel);
	WRITE_ONCE(channel->waiting, channel->waiting + 1);
	atomic64_inc(&job->queues->usage->running);
	spin_unlock_irq(&channel->lock);
	mod_delayed_work(dray_workqueue, &channel->feed, 0);
}

void dray_job_wake(struct dray_job *job)
{
	struct dray_channel *channel = job->channel;
	unsigned long flags;

	spin_lock_irqsave(&channel->lock, flags);
	dray_queue_update(dray_job_queue(job), channel);
	spin_unlock_irqrestore(&channel->lock, flags);
	mod_delayed_work(dray_workqueue, &channel->feed, 0);
}

/*
 * Returns the queue that is next in turn.  All queues line up if nothing runs any
 * more.
 */
static struct dray_queue *dray_queue_next(struct dray_channel *channel)
{
	struct dray_turns *turns;

	lockdep_assert_held(&channel->lock);
	if (channel->closing || channel->dead)
		return list_first_entry_or_null(&channel->queues,
						struct dray_queue, link);
	turns = list_first_entry_or_null(&channel->ready, struct dray_turns,
					 link);
	return turns ? list_first_entry(&turns->ready, struct dray_queue, ready)
		     : NULL;
}

bool dray_jobs_ready(struct dray_channel *channel)
{
	return dray_queue_next(channel);
}

void dray_job_dequeue(struct dray_job *job)
{
	struct dray_queue *queue = dray_job_queue(job);

	lockdep_assert_held(&job->channel->lock);
	if (!list_empty(&queue->ready))
		dray_queue_end_turn(queue, job->channel);
	list_del_init(&job->list);
	if (list_empty(&queue->jobs))
		list_del_init(&queue->link);
	dray_queue_update(queue, job->channel);
}

struct dray_job *dray_job_next(struct dray_channel *channel)
{
	struct dray_job *job = NULL;
	struct dray_queue *queue;

	spin_lock_irq(&channel->lock);
	queue = dray_queue_next(channel);
	if (queue) {
		job = dray_queue_first(queue);
		channel->running = job;
		dray_job_dequeue(job);
	}
	spin_unlock_irq(&channel->lock);
	return job;
}

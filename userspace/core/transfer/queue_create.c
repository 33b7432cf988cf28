// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Queues: made, found by pools and forks, and destroyed.  The kernel keeps the order of
 * submissions on a channel, so a queue stays on the channel of its first transfer.  A
 * copy by the CPU waits for transfers that it would overtake.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fork.h"
#include "base/options.h"
#include "pool/busy.h"
#include "transfer/queue.h"

#define DEFAULT_THRESHOLD 8192

/* All queues: a pool short of memory asks them for finished transfers. */
static pthread_mutex_t queues_lock = PTHREAD_MUTEX_INITIALIZER;
static struct dray_queue *queues;

static int threshold_of(const struct dray_queue_options *options, uint64_t *out)
{
	const char *text = getenv("DRAY_MAX_DESCRIPTORS");
	unsigned long long number;
	char *end;

	*out = DEFAULT_THRESHOLD;
	if (options->max_descriptors) {
		*out = options->max_descriptors;
		return 0;
	}
	if (!text || !*text)
		return 0;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || number == 0)
		return dray_fail(
			-EINVAL,
			"DRAY_MAX_DESCRIPTORS is \"%.40s\", not a number of at least 1",
			text);
	*out = number;
	return 0;
}

/* Whether a channel copies, as far as is known before it is opened. */
static bool may_copy(const struct dray_channel_info *channel)
{
	if (channel->flags & (DRAY_CHANNEL_DEAD | DRAY_CHANNEL_SEND |
			      DRAY_CHANNEL_RECV | DRAY_CHANNEL_SHOW))
		return false;
	return (channel->flags & DRAY_CHANNEL_COPY) ||
	       !(channel->flags & DRAY_CHANNEL_OPEN);
}

static int learn_channels(struct dray_queue *queue,
			  const struct dray_info *info)
{
	uint32_t found = 0;
	uint32_t i;

	for (i = 0; i < info->channel_count; i++) {
		struct dray_channel_info channel;
		int ret;

		if (queue->channel != DRAY_CHANNEL_ANY && queue->channel != i)
			continue;
		ret = dray_node_channel(queue->node, i, &channel,
					sizeof(channel));
		if (ret)
			return ret;
		if (!may_copy(&channel))
			continue;
		dray_queue_add_limits(queue, &channel);
		found++;
	}
	queue->engine = found;
	return 0;
}

static int learn_engine(struct dray_queue *queue)
{
	struct dray_info info;
	char sentence[DRAY_REASON_LEN];
	int ret;

	ret = dray_node_info(queue->node, &info, sizeof(info));
	if (ret)
		return ret;
	if (queue->channel != DRAY_CHANNEL_ANY &&
	    queue->channel >= info.channel_count)
		return dray_fail(-EINVAL, "no channel %u, %s has %u",
				 queue->channel, info.name, info.channel_count);
	queue->max_runs = info.max_runs;
	queue->max_bytes = info.max_bytes;
	if (!(info.flags & DRAY_NODE_SUBMIT)) {
		if (!strcmp(dray_node_backend(queue->node), "host"))
			snprintf(sentence, sizeof(sentence),
				 "the host has no engine");
		else
			snprintf(sentence, sizeof(sentence),
				 "the module behind %s has no transfers",
				 info.name);
		dray_queue_lose_engine(queue, sentence);
		return 0;
	}
	ret = learn_channels(queue, &info);
	if (!ret && !queue->engine) {
		snprintf(sentence, sizeof(sentence),
			 "none of the %u channels of %s copies",
			 info.channel_count, info.name);
		dray_queue_lose_engine(queue, sentence);
	}
	return ret;
}

static void queue_wait_for_end(struct dray_fence *fence)
{
	/* Every fence ends: the kernel watches each. */
	while (dray_fence_wait(fence, -1) == -EINTR)
		;
}

/* Returns the first fence that this process submitted, or NULL.  Lock held. */
static struct dray_fence *first_own(const struct dray_queue *queue,
				    uint32_t process)
{
	struct dray_fence *fence = queue->first;

	while (fence && fence->use.process != process)
		fence = fence->next;
	return fence;
}

/*
 * Settles all signalled fences.  Returns a fence in flight, or NULL.  A child skips
 * its parent's fences: their end frees no memory of the child.
 */
static struct dray_fence *reap_all(void)
{
	uint32_t process = dray_fork_process();
	struct dray_fence *fence = NULL;
	struct dray_queue *queue;

	pthread_mutex_lock(&queues_lock);
	for (queue = queues; queue; queue = queue->next) {
		pthread_mutex_lock(&queue->lock);
		dray_queue_reap(queue);
		if (!fence)
			fence = dray_fence_ref(first_own(queue, process));
		pthread_mutex_unlock(&queue->lock);
	}
	pthread_mutex_unlock(&queues_lock);
	return fence;
}

/* Implements dray_reap. */
static bool queue_reap_for_pool(bool wait)
{
	struct dray_fence *fence = reap_all();
	bool done;

	if (!fence)
		return !wait;
	if (wait)
		queue_wait_for_end(fence);
	done = dray_use_has_ended(&fence->use);
	dray_fence_unref(fence);
	return done;
}

static void take_locks(void)
{
	struct dray_queue *queue;

	pthread_mutex_lock(&queues_lock);
	for (queue = queues; queue; queue = queue->next)
		pthread_mutex_lock(&queue->lock);
}

static void give_locks(void)
{
	struct dray_queue *queue;

	for (queue = queues; queue; queue = queue->next)
		pthread_mutex_unlock(&queue->lock);
	pthread_mutex_unlock(&queues_lock);
}

/* Other threads are in the midst of submissions in the parent alone. */
static void inherit_locks(void)
{
	struct dray_queue *queue;

	for (queue = queues; queue; queue = queue->next) {
		queue->submitting = 0;
		queue->choosing = false;
		pthread_cond_init(&queue->changed, NULL);
	}
	give_locks();
}

static struct dray_fork_locks locks = {
	.rank = DRAY_FORK_QUEUES,
	.take = take_locks,
	.give = give_locks,
	.inherit = inherit_locks,
};

static void add_to_queues(struct dray_queue *queue)
{
	dray_fences_enlist();
	dray_fork_enlist(&locks);
	dray_block_set_reap(queue_reap_for_pool);
	pthread_mutex_lock(&queues_lock);
	queue->next = queues;
	queues = queue;
	pthread_mutex_unlock(&queues_lock);
}

static void remove_from_queues(const struct dray_queue *queue)
{
	struct dray_queue **link = &queues;

	pthread_mutex_lock(&queues_lock);
	while (*link && *link != queue)
		link = &(*link)->next;
	if (*link)
		*link = queue->next;
	pthread_mutex_unlock(&queues_lock);
}

int dray_queue_create(struct dray_node *node,
		      const struct dray_queue_options *options,
		      struct dray_queue **out)
{
	struct dray_queue_options known;
	struct dray_queue *queue;
	int ret;

	if (!dray_given(node, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = DRAY_READ_OPTIONS(&known, options, DRAY_QUEUE_OPTIONS_SIZE_FIRST);
	if (ret)
		return ret;
	if (known.flags)
		return dray_fail(-EINVAL, "unknown flags 0x%x of a queue",
				 known.flags);
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return dray_fail(-ENOMEM, "no memory for a queue");
	atomic_init(&queue->references, 1);
	queue->node = node;
	queue->channel = DRAY_CHANNEL_ANY;
	queue->last = &queue->first;
	dray_queue_forget_limits(queue);
	queue->bound = known.channel;
	if (queue->bound)
		queue->channel = known.channel - 1;
	ret = threshold_of(&known, &queue->threshold);
	if (!ret)
		ret = learn_engine(queue);
	if (ret) {
		free(queue);
		return ret;
	}
	dray_node_ref(node);
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->changed, NULL);
	add_to_queues(queue);
	*out = queue;
	return 0;
}

struct dray_queue *dray_queue_ref(struct dray_queue *queue)
{
	atomic_fetch_add(&queue->references, 1);
	return queue;
}

void dray_queue_unref(struct dray_queue *queue)
{
	if (!queue || atomic_fetch_sub(&queue->references, 1) != 1)
		return;
	pthread_mutex_destroy(&queue->lock);
	pthread_cond_destroy(&queue->changed);
	free(queue);
}

void dray_queue_destroy(struct dray_queue *queue)
{
	struct dray_fence *fence;

	if (!queue)
		return;
	pthread_mutex_lock(&queue->lock);
	atomic_store(&queue->destroyed, true);
	/* A run of a sequence may be about to submit. */
	while (queue->submitting)
		pthread_cond_wait(&queue->changed, &queue->lock);
	while ((fence = dray_fence_ref(queue->first))) {
		pthread_mutex_unlock(&queue->lock);
		queue_wait_for_end(fence);
		pthread_mutex_lock(&queue->lock);
		if (queue->first == fence)
			dray_queue_drop_first(queue);
		dray_fence_unref(fence);
	}
	pthread_mutex_unlock(&queue->lock);
	remove_from_queues(queue);
	dray_node_unref(queue->node);
	dray_queue_unref(queue);
}

/* Loans hinder each queue.  A transfer that is pending is in none. */
static bool queue_hinders(const struct dray_use *use, const void *queue)
{
	const struct dray_fence *fence = dray_fence_of(use);

	return use->kind->sort == DRAY_USE_LOAN ||
	       (fence && !dray_use_is_pending(use) && fence->queue == queue);
}

int dray_queue_wait_for(struct dray_queue *queue, struct dray_addresses dst,
			struct dray_addresses src, bool nonblock)
{
	const struct dray_use_query query = {
		.reads = src,
		.writes = dst,
		.before = UINT64_MAX,
		.sorts = 1 << DRAY_USE_TRANSFER | 1 << DRAY_USE_LOAN,
		.wanted = queue_hinders,
		.context = queue,
	};

	int ret = dray_use_wait(&query, nonblock ? 0 : -1);

	if (ret == -ETIME && dray_last_failure() == DRAY_FAILURE_LENT)
		return -EAGAIN;
	return ret != -ETIME
		       ? ret
		       : dray_fail(
				 -EAGAIN,
				 "the CPU would have to wait for a transfer in flight on the same memory");
}

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A queue: what its engine can do, and the fences of what is in flight, in
 * the order of their submission.
 */
#ifndef DRAY_TRANSFER_QUEUE_H
#define DRAY_TRANSFER_QUEUE_H

#include <pthread.h>
#include <stdbool.h>

#include "transfer/fence.h"

#define DRAY_REASON_LEN 160 /* of a sentence in dray_explanation */

struct dray_queue {
	struct dray_queue *next; /* of all queues of this process */
	struct dray_node *node; /* one reference */
	uint64_t threshold; /* descriptors; more go to the CPU */

	pthread_mutex_t lock; /* for all below */
	bool bound; /* to a channel by the caller */
	uint32_t channel; /* DRAY_CHANNEL_ANY until one was taken */
	bool engine;
	char no_engine[DRAY_REASON_LEN]; /* why not, when there is none */
	/* limits of the engine, the strictest of those that may be taken */
	uint64_t max_runs;
	uint64_t max_bytes;
	uint64_t max_segment; /* bytes of one descriptor */
	uint32_t alignment; /* bytes; of addresses and lengths */
	struct dray_fence *first; /* in flight; the list has references */
	struct dray_fence **last;
};

/* With the lock held: settles and drops what has signalled. */
void dray_queue_reap(struct dray_queue *queue);

/*
 * With the lock held: takes over @fence, which was just submitted on
 * @channel; from now on everything goes there, because channels are in no
 * order with each other.
 */
void dray_queue_append(struct dray_queue *queue, struct dray_fence *fence,
		       uint32_t channel);

/* With the lock held: @sentence says why there is no engine from now on. */
void dray_queue_lose_engine(struct dray_queue *queue, const char *sentence);

/*
 * Waits for each transfer in flight that writes into either span, or reads
 * from @dst.  @nonblock: -EAGAIN if it would wait.  -EINTR if a signal handler
 * ran.
 */
int dray_queue_wait_for(struct dray_queue *queue, struct dray_addresses dst,
			struct dray_addresses src, bool nonblock);

#endif /* DRAY_TRANSFER_QUEUE_H */

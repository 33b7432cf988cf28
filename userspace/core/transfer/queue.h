/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A queue: the abilities of its engine, and the fences in flight, in the order
 * of submission.
 */
#ifndef DRAY_TRANSFER_QUEUE_H
#define DRAY_TRANSFER_QUEUE_H

#include <pthread.h>
#include <stdbool.h>

#include <dray/transfer.h>

#include "transfer/fence.h"
#include "base/shared.h"

#define DRAY_REASON_LEN 160 /* of a sentence in dray_explanation */

struct dray_queue {
	struct dray_queue *next; /* of all queues of this process */
	_Atomic uint32_t references; /* the program's counts */
	atomic_bool destroyed; /* by the program */
	struct dray_node *node; /* a reference */
	uint64_t threshold; /* descriptors; the CPU copies more */

	pthread_mutex_t lock; /* for all below */
	pthread_cond_t changed; /* with choosing and submitting */
	uint32_t submitting; /* threads that submit */
	bool choosing; /* any of these chooses the channel */
	bool bound; /* to a channel by the caller */
	uint32_t channel; /* DRAY_CHANNEL_ANY until it is assigned */
	bool engine;
	char no_engine[DRAY_REASON_LEN]; /* the reason, if there is none */
	/* limits of the engine, the strictest of the possible channels */
	uint64_t max_runs;
	uint64_t max_bytes;
	uint64_t max_segment; /* bytes of a descriptor */
	uint32_t alignment; /* bytes; of addresses and lengths */
	struct dray_fence *first; /* in flight; the list holds references */
	struct dray_fence **last;
};

/*
 * Keeps the memory of a queue that the program may destroy: it then refuses
 * transfers.  Returns @queue.
 */
DRAY_PRIVATE struct dray_queue *dray_queue_ref(struct dray_queue *queue);
/* NULL is ignored. */
DRAY_PRIVATE void dray_queue_unref(struct dray_queue *queue);

/* Settles and drops signalled fences.  Lock held. */
void dray_queue_reap(struct dray_queue *queue);

/* Drops the oldest fence, even if its status cannot be read.  Lock held. */
void dray_queue_drop_first(struct dray_queue *queue);

/*
 * Submits a transfer with @fence, in a turn of the queue, once its memory is not lent.  No
 * lock is held meanwhile: a fork, other threads and pools do not wait for an engine that is
 * full.
 * @flags: DRAY_COPY_NONBLOCK and DRAY_COPY_NO_SYNC of them count
 * @reason: of the kernel's refusal
 * Errors: -EAGAIN (no room or memory that is lent, and it may not wait), -EINVAL (the queue
 * was destroyed), and errors of dray_node_submit().
 */
int dray_queue_submit(struct dray_queue *queue,
		      const struct dray_transfer *transfer, unsigned int flags,
		      struct dray_fence *fence, uint32_t *reason);

/* Limits of the engine: none, and of another channel. */
void dray_queue_forget_limits(struct dray_queue *queue);
void dray_queue_add_limits(struct dray_queue *queue,
			   const struct dray_channel_info *channel);

/* Abandons the engine; @sentence says why.  Lock held. */
void dray_queue_lose_engine(struct dray_queue *queue, const char *sentence);

/*
 * Waits for each transfer in flight that writes into either span, or reads
 * from @dst, and for loans that do.  @nonblock: -EAGAIN if it would wait.  -EINTR if a
 * signal handler ran.
 */
int dray_queue_wait_for(struct dray_queue *queue, struct dray_addresses dst,
			struct dray_addresses src, bool nonblock);

#endif /* DRAY_TRANSFER_QUEUE_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Queues of calls, for the files that share them. */
#ifndef DRAY_EXECUTOR_QUEUE_H
#define DRAY_EXECUTOR_QUEUE_H

#include "executor/executor.h"

#define DRAY_CALLS_MOST_EXECUTORS 16
#define DRAY_CALLS_MOST_DEPTH 1048576
#define DRAY_CALLS_DEPTH 1024 /* by default */

struct dray_call_queue {
	pthread_t thread;
	uint32_t process;
	uint32_t depth;
	bool nonblock; /* a submission does not wait for room */
	bool ends; /* no call follows */
	bool alone; /* its thread frees it */
	uint32_t calls; /* that have not ended */
	/* all that were not freed, in their order */
	struct dray_queued *oldest, *newest;
	struct dray_queued *first; /* that the thread has not taken */
	struct dray_queued *ended; /* for the thread to free */
	size_t count;
	struct dray_executor
		*executors[DRAY_CALLS_MOST_EXECUTORS]; /* each one reference */
};

/*
 * Puts a call behind all others, when there is room.  Errors, after which the caller
 * still has the call: -EAGAIN, -EINTR, -EDEADLK.
 */
int dray_calls_append(struct dray_call_queue *queue,
		       struct dray_queued *queued);

/* Gives a call to its executor. */
void dray_calls_start(struct dray_call_queue *queue,
		      struct dray_queued *queued);

/* Whether the caller is the queue's thread, which is in a call. */
bool dray_calls_in_own_thread(const struct dray_call_queue *queue);

#endif /* DRAY_EXECUTOR_QUEUE_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Queues: an opener's jobs for a channel wait in a queue, in their order.  It
 * outlives the opener with the jobs that are in it.  Slots and turns belong to
 * users: more openers do not get a user more of a channel.
 */
#ifndef DRAY_QUEUE_H
#define DRAY_QUEUE_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include "base/refusal.h"

struct dma_fence;
struct dray_channel;
struct dray_channels;
struct dray_job;
struct dray_node;
struct dray_opener;
struct dray_points;
struct dray_usage;

/* Jobs of a user on all copy channels of a node, or on a stream. */
#define DRAY_QUEUE_DEPTH 64

/* A user's place on a channel; under the channel's lock. */
struct dray_turns {
	struct list_head link; /* of the channel, while a queue is ready */
	struct list_head ready; /* queues with a job to run or end */
};

/* The effective user of openers, and their shared state. */
struct dray_queue_user {
	struct list_head link; /* of the node's users */
	u32 openers; /* and their leftovers; under users_lock */
	kuid_t uid;
	atomic_t in_flight; /* jobs that hold a slot */
	struct dray_turns turns[]; /* for each channel */
};

/* An opener's jobs for a channel: a timeline. */
struct dray_queue {
	struct mutex order; /* fences signal in the order of their numbers */
	u64 context;
	u64 number; /* of the last fence */
	atomic_t in_flight; /* a stream's jobs that hold a slot */

	/* Under the channel's lock. */
	struct list_head link; /* of the channel, while there are jobs */
	struct list_head ready; /* of the user's turns, while it is ready */
	struct list_head jobs;
	struct dray_points *points; /* of the opener's timeline, or NULL */
};

struct dray_queues {
	struct kref kref;
	struct dray_channels *channels;
	struct dray_queue_user *user;
	struct dray_usage *usage; /* of the opener; a reference */
	s32 pid; /* of the opener, for events */
	u32 count;
	struct dray_queue queue[]; /* for each channel */
};

/* An opener's queues, made when it opens the node. */
int dray_queues_open(struct dray_opener *opener);
void dray_queues_close(struct dray_opener *opener);
void dray_queues_put(struct dray_queues *queues);

/*
 * Reserves a slot of the user, or of the stream, for a job on channel @index until
 * its fence signals.  Waits for a free slot if @wait is set, and so is called
 * outside of the node: -EAGAIN, -ERESTARTSYS, or -ENODEV if the node is removed.
 */
int dray_slot_take(struct dray_job *job, struct dray_node *node, u32 index,
		   bool wait, struct dray_refusal *refusal);
void dray_slot_give(struct dray_job *job, struct dray_node *node);
/* Call this after a point, which may make room on its timeline. */
void dray_slots_wake(struct dray_node *node);

/*
 * Puts a job with a published fence into its queue, from which it ends by
 * itself.
 */
void dray_job_enqueue(struct dray_job *job);

/* The job waits for no fence any more; in any context. */
void dray_job_wake(struct dray_job *job);

/* Call this after a change to a job of @queue; under the channel's lock. */
void dray_queue_update(struct dray_queue *queue, struct dray_channel *channel);

/* Is there a job that may run or must end?  Under the channel's lock. */
bool dray_jobs_ready(struct dray_channel *channel);

/* Makes it the running job; NULL: there is none. */
struct dray_job *dray_job_next(struct dray_channel *channel);
/* Removes a waiting job from its turn; under the channel's lock. */
void dray_job_dequeue(struct dray_job *job);

/*
 * Stops the job with @fence, or with @number, or with NULL and 0 all jobs; returns
 * their number.
 */
u32 dray_queue_cancel(struct dray_queue *queue, struct dray_channel *channel,
		      struct dma_fence *fence, u64 number);

#endif /* DRAY_QUEUE_H */

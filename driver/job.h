/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jobs and channels.  A job is one SUBMIT: it waits in the queue that its
 * opener has for the channel, then runs in rounds of descriptors, then its
 * fence signals.  One job runs on a channel at a time, and only the channel's
 * work item (feed.c) touches it then.  Another one frees it.
 */
#ifndef DRAY_JOB_H
#define DRAY_JOB_H

#include <linux/atomic.h>
#include <linux/dma-fence.h>
#include <linux/dmaengine.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "channel.h"
#include "transfer.h"

#define DRAY_QUEUE_DEPTH 64 /* jobs of one opener */
#define DRAY_ROUND_PIECES 32 /* descriptors that are out at a time */
#define DRAY_ROUND_BYTES SZ_64M /* so that a round's time has a bound */

struct dray_fence {
	struct dma_fence base;
	spinlock_t lock; /* of the fence itself */
	char channel[DRAY_NAME_LEN];
};

struct dray_in_fence {
	struct dma_fence *fence;
	struct dma_fence_cb callback;
	struct dray_job *job;
};

struct dray_job {
	struct list_head list; /* of a queue, or of what is finished */
	struct dray_queues *queues;
	struct dray_channel *channel;
	struct dma_fence *fence;
	bool slot; /* counts as in flight for its opener */
	bool sync; /* destinations are made visible to the CPU */
	bool started;
	bool cancelled; /* under the channel's lock: ends as -ECANCELED */
	bool fed; /* under the channel's lock: the engine has all of it */
	u64 bytes;
	u64 runs;

	atomic_t pending; /* in-fences that have not signalled */
	u32 asked_count; /* of the in-fences: those that the caller named */
	u32 in_fence_count;
	struct dray_in_fence *in_fences;

	struct dray_patterns patterns; /* of the plans that fill */
	void *axes; /* memory of the plans' steps and levels */
	struct user_struct *user; /* whose locked memory the job is */
	size_t charged; /* bytes */
	u32 at; /* the plan that is being fed */
	u32 count;
	struct dray_plan plans[];
};

/* What one opener has submitted to one channel: a timeline. */
struct dray_queue {
	struct mutex order; /* fences come in the order of their numbers */
	u64 context;
	u64 number; /* of the last fence */
	struct list_head link; /* of the channel, while there are jobs */
	struct list_head jobs;
};

struct dray_queues {
	struct kref kref;
	atomic_t in_flight;
	u32 count;
	struct dray_queue queue[]; /* one a channel */
};

struct dray_channel {
	struct dray_node *node;
	u32 index;
	char name[DRAY_NAME_LEN];

	struct mutex opening; /* one at a time asks for @chan */
	bool refused; /* under @opening: said once that it cannot be stopped */
	struct dma_chan *chan; /* NULL until the first use */
	struct dma_chan *given; /* by who registered the node, or NULL */
	struct device *dev; /* whose addresses the engine puts out */
	struct dray_engine_limits limits;

	spinlock_t lock; /* the next six */
	struct list_head queues; /* that have jobs */
	struct list_head ended; /* jobs for @clean to free */
	struct dray_job *running; /* changed by the work item alone */
	u32 waiting; /* jobs whose fences have not signalled */
	bool closing; /* the node is being unbound */
	bool dead; /* it did not answer */
	wait_queue_head_t idle; /* @waiting has come to 0, or a round to its end */
	bool asleep; /* nothing is fed */
	struct work_struct clean;

	/* of the work item alone */
	struct delayed_work feed;
	struct dray_job *lost; /* what it was doing when it died */
	bool out; /* a round is out */
	bool paused; /* found the channel asleep */
	dma_cookie_t last; /* its last descriptor */
	unsigned long deadline; /* jiffies, of the round or of trying */
	bool late; /* it has passed once, and was put off */
	int error; /* of the running job */

	atomic_t pieces; /* descriptors out that have not called back */
	atomic_t failed_pieces;

	atomic64_t submitted;
	atomic64_t bytes;
	atomic64_t failed;
};

struct dray_channels {
	wait_queue_head_t slots; /* an opener has a free one again */
	u32 count;
	struct dray_channel channel[];
};

/* channel.c */
extern struct workqueue_struct *dray_workqueue;
extern struct workqueue_struct *dray_clean_workqueue;
extern unsigned int dray_watchdog_ms; /* for one round */
u64 dray_submit_max_runs(void); /* of one SUBMIT: descriptors */
u64 dray_submit_max_bytes(void);
int dray_channel_open(struct dray_channel *channel);

/* job.c: from the caller's memory, so outside of the node; or ERR_PTR */
struct dray_job *dray_job_create(struct dray_opener *opener,
				 struct dray_submit *args,
				 struct dray_refusal *refusal);
bool dray_job_is_attached(const struct dray_job *job);
void dray_job_count(struct dray_job *job, int step);
void dray_job_free(struct dray_job *job);
void dray_job_abandon(struct dray_job *job);

/* queue.c */
void dray_queues_put(struct dray_queues *queues);
int dray_job_slot(struct dray_job *job, struct dray_node *node, bool wait,
		  struct dray_refusal *refusal);
void dray_job_enqueue(struct dray_job *job);
struct dray_job *dray_job_next(struct dray_channel *channel);

/* cancel.c */
u32 dray_queue_cancel(struct dray_queue *queue, struct dray_channel *channel,
		      struct dma_fence *fence);

/* submit.c */
void dray_job_unwatch(struct dray_job *job);

/* place.c */
int dray_job_place(struct dray_job *job, struct dray_node *node,
		   struct dray_submit *args, struct dray_refusal *refusal);

/* fence.c */
struct dma_fence *dray_fence_create(struct dray_channel *channel,
				    struct dray_queue *queue);
bool dray_fence_is_ours(struct dma_fence *fence);

/* guard.c: a job and the reservation objects of its areas */
int dray_job_guard(struct dray_job *job);

/* feed.c: the work items of a channel */
void dray_feed(struct work_struct *work);
void dray_clean(struct work_struct *work);

#endif /* DRAY_JOB_H */

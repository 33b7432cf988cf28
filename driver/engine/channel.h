/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A channel: an engine of a node, for copies or for a stream (stream.h).  Openers
 * queue jobs for it (queue.h).  If it copies, its work item starts a job at a time and
 * feeds it to the engine in batches of descriptors (feed.c, batch.c).  Only that work
 * item touches a running job; a second work item frees jobs that ended.
 */
#ifndef DRAY_CHANNEL_H
#define DRAY_CHANNEL_H

#include <linux/atomic.h>
#include <linux/dmaengine.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "base/node.h"
#include "move.h"
#include "token.h"

struct dray_job;
struct dray_frames;
struct dray_node_channel;
struct dray_points;
struct dray_queues;
struct dray_quirk;
struct dray_refusal;

#define DRAY_BATCH_DESCRIPTORS 32 /* descriptors that are out at a time */
#define DRAY_BATCH_BYTES SZ_64M /* bounds the time of a batch */

/*
 * A channel's stream; under @engine.  If a comment says so, also or only under the
 * channel's lock, or @working.
 */
struct dray_stream {
	struct mutex working; /* on the ends of jobs, and the ring; for long */
	struct mutex *engine; /* inside @working; common to those it stops together */
	struct mutex alone; /* @engine, unless another stream's */
	enum dma_transfer_direction direction;
	struct dma_slave_config config; /* of its peripheral's register */
	bool configured; /* @config is set */
	const struct dray_quirk *quirk;
	bool counts; /* the engine reports the bytes moved */
	bool coarse; /* it counts whole pieces only */
	bool repeats; /* a flight lands when another replaces it: repeat.h */
	u32 alignment; /* bytes, of the first byte to repeat; else 0 */
	atomic_t reports; /* of ends, and of replacements; any context */
	u32 replaced; /* flights, among these reports */
	u32 ends; /* that were noted, of repetitions */
	u32 batch; /* jobs that it may take up together */
	struct list_head jobs; /* taken up, oldest first; changes under both */
	struct list_head ending; /* jobs from there; only the lock */
	struct list_head lost; /* of an engine that does not stop; @working */
	u64 group; /* of the latest flight */
	u32 grouped; /* flights in that group */
	struct dray_frames *frames; /* of its ring, or NULL; @working and the lock */
	bool taken; /* an opener owns the stream; only the lock */
	struct dray_queues *owner; /* of the opener that may submit; its order */
};

struct dray_channel {
	struct dray_node *node;
	u32 index; /* among the node's channels */
	u32 kind; /* DRAY_CHANNEL_COPY, SEND, RECV or SHOW */
	char name[DRAY_NAME_LEN];

	/* The engine. */
	struct mutex opening; /* held to ask for @chan */
	bool refused; /* under @opening: said once why it is not used */
	struct dma_chan *chan; /* NULL until the first use */
	struct dma_chan *given; /* by the node's maker, or NULL */
	struct device *dev; /* the engine's addresses are this device's */
	struct dray_engine_limits limits;
	struct dray_token token;

	/* Jobs, from queue to end: all under @lock. */
	spinlock_t lock; /* in-fences lock it with interrupts off */
	struct list_head queues; /* with jobs */
	struct list_head ready; /* turns of users with a queue ready */
	struct list_head ended; /* jobs for @clean to free */
	struct dray_job *running; /* changed by @feed alone */
	bool ending; /* it was removed, and its fence is about to signal */
	u32 waiting; /* jobs with unsignalled fences */
	bool closing; /* the node is being unbound */
	bool dead; /* it did not answer */

	wait_queue_head_t idle; /* no job waits or runs, or no batch is out */
	struct dray_stream stream; /* unless it copies */
	bool kept; /* its engine cannot be stopped: it stays */
	bool asleep; /* nothing is fed */
	struct work_struct clean;
	struct delayed_work feed;

	/* For @feed alone; others look at @lost and @out. */
	struct dray_job *lost; /* its job when it died */
	bool out; /* a batch is out */
	bool paused; /* found the channel asleep */
	dma_cookie_t last; /* the batch's last descriptor */
	unsigned long deadline; /* jiffies, of the batch or of trying */
	bool late; /* it has passed once, and was put off */
	int error; /* of the running job */

	/* For the engine's callbacks. */
	atomic_t descriptors; /* out, and not called back yet */
	atomic_t failed_descriptors;

	/* For CHANNEL_INFO. */
	atomic64_t submitted; /* transfers */
	atomic64_t bytes;
	atomic64_t failed; /* jobs */
	atomic64_t packets; /* of its stream */
	atomic64_t overwritten; /* frames, unread */
	atomic64_t held_back; /* times */
};

struct dray_channels {
	wait_queue_head_t slots; /* a slot is free; or the node woke */
	bool asleep; /* submissions wait; changes while no call is inside */
	struct mutex users_lock; /* held as the node is opened or closed */
	struct list_head users; /* users with the node open */
	struct list_head timelines; /* of openers, under users_lock too */
	u32 count;
	struct dray_channel channel[];
};

/*
 * Describes the channels of a node, without asking for engines; and ends their
 * jobs.  They are freed with the node.  Both may sleep.
 */
int dray_channels_probe(struct dray_node *node,
			const struct dray_node_channel *channels,
			unsigned int count);
void dray_channels_remove(struct dray_node *node);

/*
 * Releases the engine of a dead channel, so that the next use asks for it anew;
 * does nothing to a living channel.  Memory that its last job may still write
 * stays out of use.  The node stays bound meanwhile.  -EINVAL: no such channel;
 * -EBUSY: the engine cannot be stopped.
 */
int dray_channel_reopen(struct dray_node *node, u32 index);

/*
 * Asks for the engine if it is not there yet; the caller is inside the node.
 * -EBUSY: it cannot be had now, or not be used; -EOPNOTSUPP: it cannot tell the
 * bytes received; -ENOMEM; -EINTR when killed.
 */
int dray_channel_open(struct dray_channel *channel);

/* The timeline learns when the node goes, from here on and no longer. */
void dray_channels_show(struct dray_channels *channels,
			struct dray_points *points);
void dray_channels_forget(struct dray_channels *channels,
			  struct dray_points *points);

/* The device by which the engine of channel @index reaches memory. */
int dray_channel_device(struct dray_node *node, u32 index, struct device **dev,
			struct dray_refusal *refusal);

#endif /* DRAY_CHANNEL_H */

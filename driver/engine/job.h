/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A job is a SUBMIT: it waits in its opener's queue for the channel, then runs,
 * then its fence signals.  A copy runs in batches of descriptors; a stream's job
 * is a single descriptor, its flight.
 */
#ifndef DRAY_JOB_H
#define DRAY_JOB_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/types.h>

#include "channel.h"
#include "end.h"
#include "fence.h"
#include "fill.h"
#include "move.h"
#include "queue.h"

struct dma_fence;
struct dray_flight;
struct dray_frames;
struct dray_points;
struct dray_store;
struct user_struct;

struct dray_job {
	struct list_head list; /* of a queue, or of ended jobs */
	struct dray_queues *queues;
	struct dray_channel *channel; /* NULL until it is placed */
	struct dma_fence *fence; /* NULL until it is published */
	u32 kind; /* of channel: DRAY_CHANNEL_COPY, SEND, RECV or SHOW */
	atomic_t *slot; /* its slot's counter, or NULL */
	struct dray_points *points; /* to be notified of its end, or NULL */
	struct dray_flight *flight; /* of a stream's job */
	struct dray_frames *frames; /* of its ring, or NULL: see SUBMIT */
	u32 frame; /* in the ring */
	struct dray_store *store; /* owns its memory and references, or NULL */
	struct dray_job *anchor; /* for its store */
	u64 deadline; /* ktime, ns; 0: none */
	bool sync; /* destinations are made visible to the CPU */
	bool started;
	bool stale; /* the CPU's caches may hold lines of the frame */
	bool lost; /* the engine may start it next; a stream's, once it ends */
	struct dray_end end; /* likewise */
	u64 bytes;
	u64 runs;

	/* Under the channel's lock. */
	bool cancelled; /* ends as -ECANCELED */
	bool fed; /* the engine holds all of it */

	atomic_t pending; /* unsignalled in-fences */
	u32 asked_count; /* of the in-fences, the caller's */
	u32 in_fence_count;
	struct dray_in_fence *in_fences;

	struct dray_patterns patterns; /* of the moves that fill */
	void *axes; /* memory of the moves' steps and dims */
	size_t size; /* bytes of its own memory, @axes included */
	struct user_struct *user; /* payer of that, or NULL: it is small */
	u32 at; /* the move that is being fed */
	u32 count;
	struct dray_move moves[];
};

/*
 * A job is made from the caller's memory, so outside of the node: it
 * holds all areas and in-fences then, or is an ERR_PTR.
 */
struct dray_job *dray_job_create(struct dray_opener *opener,
				 struct dray_submit *args,
				 struct dray_refusal *refusal);
/* The same of transfers that were copied: as many as @args says. */
struct dray_job *dray_job_make(struct dray_opener *opener,
			       struct dray_submit *args,
			       const struct dray_transfer *transfers,
			       struct dray_refusal *refusal);
/* The fence signalled already, or was never published. */
void dray_job_free(struct dray_job *job);
/*
 * As above, if its engine never finished and may still write.  A ring's job keeps a
 * reference to its store.
 */
void dray_job_abandon(struct dray_job *job);
/* The engine may still report the flight: it is never freed. */
void dray_job_keep_flight(struct dray_job *job);
/* Does any transfer read or write attached memory? */
bool dray_job_is_attached(const struct dray_job *job);
/* Transfers in flight, as BUFFER_INFO shows them of each buffer. */
void dray_job_count(struct dray_job *job, int step);

/* Frees memory that needs the engine's device, also if preparing failed. */
void dray_job_unprepare(struct dray_job *job);

#endif /* DRAY_JOB_H */

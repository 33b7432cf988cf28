/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * transfer: strided copies and fills that a DMA engine runs.
 *
 * Two views of the same shape are reduced to a layout: the fewest axes that
 * cover the same addresses.  The engine gets a descriptor for each contiguous
 * run, in a single system call, without a bounce copy.  Bytes between the rows
 * are never touched.  The number of descriptors is the least that the engine's
 * longest descriptor allows.
 *
 *	struct dray_queue *queue;
 *	struct dray_fence *fence;
 *
 *	ret = dray_queue_create(node, NULL, &queue);
 *	if (ret)
 *		return ret;
 *	ret = dray_copy(queue, &to, &from, 0, &fence);
 *	if (!ret) {
 *		ret = dray_fence_wait(fence, 1000);	// milliseconds
 *		dray_fence_unref(fence);
 *	}
 *	dray_queue_destroy(queue);
 *
 * If there is no engine, or a threshold says so, the CPU copies, and
 * dray_explain() returns the reason.
 *
 * Every function may be called from any thread.  Only five of them wait.
 * dray_fence_wait() and dray_queue_destroy() wait for transfers, dray_view_wait() for
 * all users of a view's memory.  dray_copy()
 * and dray_fill() wait for room in the queue, for loans of the memory (dray/loan.h), for
 * transfers that a copy by the CPU would overtake, and if @fence is NULL for the end.
 */
#ifndef DRAY_TRANSFER_H
#define DRAY_TRANSFER_H

#include <dray/block.h>
#include <dray/view.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dray_queue;
struct dray_fence;

/** How a queue decides; all zero is the default. */
struct dray_queue_options {
	size_t size;		/* of this structure; 0: the first version's */
	uint32_t channel;	/* index + 1; 0: as the first transfer */
	uint32_t flags;		/* 0 */
	/*
	 * The threshold: a copy that needs more descriptors is left to the CPU.
	 * 0: DRAY_MAX_DESCRIPTORS of the environment, else 8192.
	 */
	uint64_t max_descriptors;
};

/**
 * Makes a queue of transfers on @node, which it references.  Transfers start in
 * the order of their submission.  If the node is without channels, the queue
 * copies with the CPU.
 * Errors: -EINVAL (no such channel, unknown flags, DRAY_MAX_DESCRIPTORS is not
 * a number), -ENOMEM, -ENODEV (the device is gone).
 */
DRAY_API int dray_queue_create(struct dray_node *node,
			       const struct dray_queue_options *options,
			       struct dray_queue **out);
/** Waits for transfers in flight, then frees the queue.  NULL is ignored. */
DRAY_API void dray_queue_destroy(struct dray_queue *queue);

/* How to copy; 0 lets the threshold decide. */
#define DRAY_COPY_ENGINE	(1u << 0)  /* never the CPU: -EOPNOTSUPP instead */
#define DRAY_COPY_CPU		(1u << 1)  /* never the engine */
#define DRAY_COPY_NO_SYNC	(1u << 2)  /* the caller maintains caches */
#define DRAY_COPY_NONBLOCK	(1u << 3)  /* -EAGAIN rather than wait */

/**
 * Copies @src to @dst, of the same shape and type.  Nothing is converted: see
 * dray_view_assign().  The engine copies only if both lie in dray memory of the
 * queue's node.  The blocks of both are busy until the copy is done: if they
 * are freed meanwhile, they are parked.
 *
 * @fence: the point where the copy is done, with a reference; already signalled
 * if the CPU copied.  NULL waits.
 *
 * Errors: -EINVAL (a view that dray_view_init() would refuse; shapes or types
 * differ; a destination whose elements share bytes; unknown or contradicting
 * flags; with DRAY_COPY_ENGINE, spans of source and destination that overlap),
 * -EPERM (a read-only destination), -EOPNOTSUPP (DRAY_COPY_ENGINE, or memory of
 * DRAY_MODE_DEVICE, and no engine can: the sentence says why), -EAGAIN
 * (DRAY_COPY_NONBLOCK), -EINTR (while waiting for room in the queue, for a loan, or for
 * a transfer in flight before a copy by the CPU; never while waiting for the end,
 * as @fence NULL asks), -ENOMEM, -EIO, -ETIMEDOUT, -ENODEV (from the engine).
 */
DRAY_API int dray_copy(struct dray_queue *queue, const struct dray_view *dst,
		       const struct dray_view *src, unsigned int flags,
		       struct dray_fence **fence);

/**
 * Sets every element of @dst to the element at @element, otherwise as
 * dray_copy().  Engines fill elements of 1, 2, 4, 8 and 16 bytes.
 */
DRAY_API int dray_fill(struct dray_queue *queue, const struct dray_view *dst,
		       const void *element, unsigned int flags,
		       struct dray_fence **fence);

/** How a copy would be done, and why. */
struct dray_explanation {
	size_t size;		/* of this structure; 0: the first version's */
	uint64_t elements;	/* number of elements */
	uint64_t bytes;		/* bytes that move */
	uint64_t run;		/* bytes of a contiguous run, on both sides */
	uint64_t descriptors;	/* descriptors that the engine would need */
	uint64_t threshold;	/* the queue's max_descriptors */
	int32_t axes;		/* axes left, beside the run */
	int32_t engine;		/* 1: the engine copies, 0: the CPU */
	char reason[160];	/* a sentence */
};

/** Fills @out; copies nothing.  Errors as dray_copy(). */
DRAY_API int dray_explain(struct dray_queue *queue,
			  const struct dray_view *dst,
			  const struct dray_view *src, unsigned int flags,
			  struct dray_explanation *out);

/**
 * Waits until the fence signals.  Returns 0, the negative errno that the
 * transfer failed with, -ETIME after @timeout_ms milliseconds (below 0: never),
 * -EINTR, or an error of poll().  May be called again, from any thread.
 */
DRAY_API int dray_fence_wait(struct dray_fence *fence, int timeout_ms);
/** Returns 1 if signalled, 0 if not yet, a negative errno if it failed. */
DRAY_API int dray_fence_status(struct dray_fence *fence);
/**
 * Writes the time when the fence signalled, in nanoseconds of CLOCK_MONOTONIC,
 * also if the transfer failed. 0 if the CPU copied: that was before dray_copy()
 * returned.
 * Errors: -EINPROGRESS (it did not signal yet), -ENOMEM, or an error of
 * ioctl().
 */
DRAY_API int dray_fence_time(struct dray_fence *fence, uint64_t *time_ns);
/** Returns a sync_file to poll(), borrowed; -1 if the CPU copied. */
DRAY_API int dray_fence_fd(const struct dray_fence *fence);
/** Adds a reference, dropped by dray_fence_unref(); returns @fence. */
DRAY_API struct dray_fence *dray_fence_ref(struct dray_fence *fence);
/** Drops a reference; the transfer continues without any.  NULL is ignored. */
DRAY_API void dray_fence_unref(struct dray_fence *fence);

/**
 * Frees a block of a pool when @fence signals, without waiting; if it signalled
 * already, this is dray_pool_free().  NULL as @block is ignored.
 *
 * Errors: -EINVAL (no fence, no block of a pool), -ENOMEM.  The caller keeps
 * the block then.
 */
DRAY_API int dray_free_after(void *block, struct dray_fence *fence);

/**
 * Makes the CPU's writes to @view visible to the node, or the node's writes
 * visible to the CPU: exactly its rows.  If the node needs no syncs, no call is
 * made.
 *
 * Errors: -EINVAL (a view that dray_view_init() would refuse, or that does not
 * lie in a single block of dray's memory), else as dray_node_sync().
 */
DRAY_API int dray_view_sync(const struct dray_view *view,
			    enum dray_sync_owner owner,
			    enum dray_direction direction);

/* How the CPU is about to access a view. */
#define DRAY_ACCESS_READ	(1u << 0)
#define DRAY_ACCESS_WRITE	(1u << 1)

/**
 * Waits until the CPU may access @view: until no transfer, packet, queued call
 * (dray/array/executor.h) or loan (dray/loan.h) writes its memory, and with
 * DRAY_ACCESS_WRITE, until none reads it either.  Covers all queues and streams of
 * this process, and transfers that other threads submit meanwhile.  Each counts with all
 * bytes from its first to its last, until its fence or event ends.  A child of fork()
 * waits for no transfer of its parent.
 *
 * 0 says nothing about their success, which their fences and events report.
 *
 * @access: DRAY_ACCESS_READ, DRAY_ACCESS_WRITE, or both
 *
 * Errors: -EINVAL (a view that dray_view_init() would refuse, @access), -EBUSY
 * (a frame of a ring, which the caller must acquire), -ETIME after @timeout_ms
 * milliseconds (below 0: never), -EINTR, or an error of poll().
 */
DRAY_API int dray_view_wait(const struct dray_view *view, unsigned int access,
			    int timeout_ms);

/**
 * Returns whether this process began a transfer, a packet, a ring, a loan or a queued
 * call whose end it did not see.  If not, every dray_view_wait() returns at
 * once.  Needs no lock.
 */
DRAY_API bool dray_transfers_in_flight(void);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_TRANSFER_H */

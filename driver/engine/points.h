/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Points: the timeline of a queue, in memory that its opener maps for reading.
 * include/uapi/linux/dray.h describes its layout and ordering.
 */
#ifndef DRAY_POINTS_H
#define DRAY_POINTS_H

#include <linux/dray.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

struct dray_refusal;
struct eventfd_ctx;
struct user_struct;
struct vm_area_struct;

struct dray_points {
	struct kref kref;
	spinlock_t lock; /* of writers */
	struct dray_timeline_head *head; /* the mapped memory */
	struct dray_point *point;
	u64 base; /* number of the last submission before it was made */
	size_t size; /* bytes, whole pages */
	u64 bytes; /* of all points that came; under @lock */
	struct list_head link; /* of the node's timelines */
	wait_queue_head_t moved;
	bool ended; /* the node is gone */
	u32 rings; /* that were removed */
	struct eventfd_ctx *event; /* or NULL */
	struct user_struct *user; /* payer of the memory */
};

/*
 * Makes room for @args->points points, after number @base; an ERR_PTR.  The
 * memory is locked memory of the caller's user.
 */
struct dray_points *dray_points_create(const struct dray_timeline *args,
				       u64 base, struct dray_refusal *refusal);
void dray_points_get(struct dray_points *points);
/* NULL is ignored.  Frees the memory: not from an interrupt. */
void dray_points_put(struct dray_points *points);

/* Shows @point to readers; in any context. */
void dray_points_publish(struct dray_points *points,
			 const struct dray_point *point);
/* Bytes of all points that came. */
u64 dray_points_bytes(struct dray_points *points);
/* Nothing is published any more: wakes all that wait. */
void dray_points_end(struct dray_points *points);
/* Counts a removed ring, and wakes all tasks that wait for its points. */
void dray_points_lose_ring(struct dray_points *points);
/* Returns that count.  The stream's ring, if read afterwards, is at least as new. */
u32 dray_points_rings(const struct dray_points *points);

/* Whether point @number is there, or a later point in its place.  Any context. */
bool dray_points_reach(struct dray_points *points, u64 number);
/*
 * Copies the point with @number: -EAGAIN if it is not there yet, -EOVERFLOW if
 * another is in its place.
 */
int dray_points_find(struct dray_points *points, u64 number,
		     struct dray_point *point);
int dray_points_map(struct dray_points *points, struct vm_area_struct *vma);

#endif /* DRAY_POINTS_H */

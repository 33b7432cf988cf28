/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file of a timeline, and its calls.
 */
#ifndef DRAY_TIMELINE_H
#define DRAY_TIMELINE_H

#include <linux/types.h>

struct dray_channel;
struct dray_node;
struct dray_points;
struct dray_queues;
struct dray_refusal;
struct dray_wait;

struct dray_timeline_file {
	struct dray_node *node;
	struct dray_queues *queues;
	struct dray_channel *channel;
	struct dray_points *points;
	u64 seen; /* points, at the last read() */
};

/* wait.c: nothing is published any more. */
bool dray_timeline_is_over(struct dray_timeline_file *line);
int dray_wait_call(struct dray_timeline_file *line, void *data,
		   struct dray_refusal *refusal);
/* The same; -ECANCELED if a ring was taken away since there were @rings of those. */
int dray_timeline_wait(struct dray_timeline_file *line, struct dray_wait *args,
		       u32 rings);

/* ring.c: the calls of a stream's timeline, by their structures. */
int dray_ring_call(struct dray_timeline_file *line, void *data,
		   struct dray_refusal *refusal);
int dray_release_call(struct dray_timeline_file *line, void *data,
		      struct dray_refusal *refusal);

#endif /* DRAY_TIMELINE_H */

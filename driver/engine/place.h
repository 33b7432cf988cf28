/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a job runs.
 */
#ifndef DRAY_PLACE_H
#define DRAY_PLACE_H

struct dray_job;
struct dray_node;
struct dray_refusal;
struct dray_submit;

/* Gives it a channel, addresses and caches; the caller is inside the node. */
int dray_job_place(struct dray_job *job, struct dray_node *node,
		   struct dray_submit *args, struct dray_refusal *refusal);

#endif /* DRAY_PLACE_H */

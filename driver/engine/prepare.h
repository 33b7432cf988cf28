/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Preparing a job for its channel.
 */
#ifndef DRAY_PREPARE_H
#define DRAY_PREPARE_H

struct dray_job;
struct dray_node;
struct dray_refusal;
struct dray_submit;

/* Gives it a channel, addresses and caches; the caller is inside the node. */
int dray_prepare_job(struct dray_job *job, struct dray_node *node,
		     struct dray_submit *args, struct dray_refusal *refusal);

/*
 * Syncs caches for its engine.  A frame to send is the writer's at first: its release
 * shows the engine its bytes.
 */
int dray_prepare_caches(struct dray_job *job);

#endif /* DRAY_PREPARE_H */

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

/*
 * Gives it a channel, addresses and caches, of a frame no caches; the caller is inside
 * the node.
 */
int dray_prepare_job(struct dray_job *job, struct dray_node *node,
		     struct dray_submit *args, struct dray_refusal *refusal);

#endif /* DRAY_PREPARE_H */

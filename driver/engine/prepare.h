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
 * The same for a job of dray_job_repeat(), by the one that it is like, which is
 * prepared.  -EAGAIN: only dray_prepare_job() can.
 */
int dray_prepare_repeat(struct dray_job *job, const struct dray_job *like);

#endif /* DRAY_PREPARE_H */

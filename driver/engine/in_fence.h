/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In-fences, which signal before a job may run.
 */
#ifndef DRAY_IN_FENCE_H
#define DRAY_IN_FENCE_H

#include <linux/dma-fence.h>
#include <linux/types.h>

struct dray_job;
struct dray_refusal;
struct dray_submit;

struct dray_in_fence {
	struct dma_fence *fence;
	struct dma_fence_cb callback;
	struct dray_job *job; /* NULL: it does not call back */
};

/*
 * The caller's fences are taken first, then guard.c adds those of other
 * drivers, then all are watched.  Watching ends before the job is freed.
 */
int dray_in_fences_take(struct dray_job *job, struct dray_submit *args,
			struct dray_refusal *refusal);
int dray_in_fences_add(struct dray_job *job, struct dma_fence *fence);
void dray_in_fences_watch(struct dray_job *job);
void dray_in_fences_unwatch(struct dray_job *job);
bool dray_in_fences_failed(const struct dray_job *job);
void dray_in_fences_put(struct dray_job *job);

#endif /* DRAY_IN_FENCE_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In-fences: those that a job waits for before it may run.
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
 * First those that the caller of SUBMIT names are taken, then what
 * other drivers do with the memory is added (guard.c), then all are watched.
 * Whoever ends the job stops watching before it is freed.
 */
int dray_in_fences_take(struct dray_job *job, struct dray_submit *args,
			struct dray_refusal *refusal);
int dray_in_fences_add(struct dray_job *job, struct dma_fence *fence);
void dray_in_fences_watch(struct dray_job *job);
void dray_in_fences_unwatch(struct dray_job *job);
bool dray_in_fences_failed(const struct dray_job *job);
void dray_in_fences_put(struct dray_job *job);

#endif /* DRAY_IN_FENCE_H */

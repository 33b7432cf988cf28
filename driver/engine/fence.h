/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fences: a job's own, which signals when the job has ended, and its in-fences,
 * which signal before it may run.
 */
#ifndef DRAY_FENCE_H
#define DRAY_FENCE_H

#include <linux/dma-fence.h>
#include <linux/types.h>

#include "base/refusal.h"

struct dray_channel;
struct dray_job;
struct dray_queue;
struct dray_submit;

/* fence.c */
struct dma_fence *dray_fence_create(struct dray_channel *channel,
				    struct dray_queue *queue);
bool dray_fence_is_ours(struct dma_fence *fence);
/* What a sync_file stands for, with a reference; ERR_PTR for other files. */
struct dma_fence *dray_fence_of_fd(int fd, struct dray_refusal *refusal);

struct dray_in_fence {
	struct dma_fence *fence;
	struct dma_fence_cb callback;
	struct dray_job *job; /* NULL: it does not call back */
};

/*
 * in_fence.c.  First those that the caller of SUBMIT names are taken, then what
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

#endif /* DRAY_FENCE_H */

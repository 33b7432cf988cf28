/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fence of a job, which signals when the job has ended.
 */
#ifndef DRAY_FENCE_H
#define DRAY_FENCE_H

#include <linux/dma-fence.h>
#include <linux/types.h>

#include "base/refusal.h"

struct dray_channel;
struct dray_queue;

struct dma_fence *dray_fence_create(struct dray_channel *channel,
				    struct dray_queue *queue);
bool dray_fence_is_ours(struct dma_fence *fence);
/* Returns the context of the queue whose job it is; 0: it is not ours. */
u64 dray_fence_queue(struct dma_fence *fence);
/*
 * Returns the fence of a sync_file, with a reference; an ERR_PTR for other
 * files.
 */
struct dma_fence *dray_fence_of_fd(int fd, struct dray_refusal *refusal);

#endif /* DRAY_FENCE_H */

// SPDX-License-Identifier: GPL-2.0-only
/*
 * A job's fence in the reservation objects of its buffers, where importers,
 * poll() on the dma-buf and DMA_BUF_IOCTL_SYNC find it.  All objects are
 * locked together, in whatever order the others lock them.
 */
#include <linux/dma-resv.h>
#include <linux/slab.h>
#include <linux/ww_mutex.h>

#include "buffer.h"
#include "compat.h"
#include "job.h"

struct dray_guard {
	struct dma_resv *resv;
	bool write;
};

/* Each buffer once; one that is written anywhere counts as written. */
static u32 dray_guard_add(struct dray_guard *guards, u32 count,
			  struct dray_buffer *buffer, bool write)
{
	u32 i;

	if (!buffer)
		return count;
	for (i = 0; i < count; i++)
		if (guards[i].resv == &buffer->resv)
			break;
	guards[i].resv = &buffer->resv;
	guards[i].write |= write;
	return max(count, i + 1);
}

static void dray_guards_unlock(struct dray_guard *guards, u32 count)
{
	while (count--)
		dma_resv_unlock(guards[count].resv);
}

/*
 * Locks all.  Where that would deadlock, lets go of all, waits for the one
 * that others have, and starts again with it in hand, as the first.
 */
static int dray_guards_lock(struct dray_guard *guards, u32 count,
			    struct ww_acquire_ctx *context)
{
	bool first_held = false;
	u32 i;
	int ret;

again:
	for (i = first_held ? 1 : 0; i < count; i++) {
		ret = dma_resv_lock_interruptible(guards[i].resv, context);
		if (!ret)
			continue;
		dray_guards_unlock(guards, i);
		if (ret != -EDEADLK)
			return ret;
		ret = dma_resv_lock_slow_interruptible(guards[i].resv, context);
		if (ret)
			return ret;
		swap(guards[0], guards[i]);
		first_held = true;
		goto again;
	}
	return 0;
}

/* From here on others may wait for the fence: the job must be enqueued. */
int dray_job_guard(struct dray_job *job)
{
	struct ww_acquire_ctx context;
	struct dray_guard *guards;
	u32 count = 0, i;
	int ret;

	guards = kcalloc(2 * job->count, sizeof(*guards), GFP_KERNEL);
	if (!guards)
		return -ENOMEM;
	for (i = 0; i < job->count; i++) {
		count = dray_guard_add(guards, count, job->plans[i].dst.buffer,
				       true);
		count = dray_guard_add(guards, count, job->plans[i].src.buffer,
				       false);
	}

	ww_acquire_init(&context, &reservation_ww_class);
	ret = dray_guards_lock(guards, count, &context);
	if (ret)
		goto out;
	for (i = 0; i < count && !ret; i++)
		ret = dray_resv_reserve(guards[i].resv);
	for (i = 0; i < count && !ret; i++)
		dray_resv_add(guards[i].resv, job->fence, guards[i].write);
	dray_guards_unlock(guards, count);
out:
	ww_acquire_fini(&context);
	kfree(guards);
	return ret;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * A job's fence in the reservation objects of its areas, for importers, poll()
 * on the dma-buf and DMA_BUF_IOCTL_SYNC. All objects are locked together, in
 * any order.  The job waits for the fences of other drivers that it finds
 * there.
 */
#include <linux/dma-resv.h>
#include <linux/slab.h>
#include <linux/ww_mutex.h>

#include "base/compat.h"
#include "fence.h"
#include "guard.h"
#include "in_fence.h"
#include "job.h"

struct dray_job_guard {
	struct dma_resv *resv;
	struct dma_fence *fence; /* the job's, or its stand-in there */
	bool write;
};

/* Each area once; an area that is written anywhere counts as written. */
static u32 dray_guard_add(struct dray_job_guard *guards, u32 count,
			  const struct dray_area *area, bool write)
{
	struct dma_resv *resv = dray_area_resv(area);
	u32 i;

	if (!resv)
		return count;
	for (i = 0; i < count; i++)
		if (guards[i].resv == resv)
			break;
	guards[i].resv = resv;
	guards[i].write |= write;
	return max(count, i + 1);
}

static void dray_guards_unlock(struct dray_job_guard *guards, u32 count)
{
	while (count--)
		dma_resv_unlock(guards[count].resv);
}

/*
 * Locks all.  If that would deadlock, drops all locks, waits for the contended
 * lock, and starts again with it as the first.
 */
static int dray_guards_lock(struct dray_job_guard *guards, u32 count,
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
			return ret == -EINTR ? -ERESTARTSYS : ret;
		if (dma_resv_lock_slow_interruptible(guards[i].resv, context))
			return -ERESTARTSYS;
		swap(guards[0], guards[i]);
		first_held = true;
		goto again;
	}
	return 0;
}

/*
 * A reader waits for writers, a writer for all.  Dray's own jobs are not among
 * them: the queue and the fences that callers name are their order,
 * and jobs on different parts of a buffer may run side by side.
 */
static int dray_guard_await(const struct dray_job_guard *guard,
			    struct dray_job *job)
{
	struct dma_fence **fences = NULL;
	unsigned int count = 0, i;
	int ret;

	ret = dray_resv_fences(guard->resv, guard->write, &count, &fences);
	if (ret)
		return ret;
	for (i = 0; i < count; i++) {
		if (ret || dray_fence_is_ours(fences[i]) ||
		    dma_fence_is_signaled(fences[i]))
			dma_fence_put(fences[i]);
		else
			ret = dray_in_fences_add(job, fences[i]);
	}
	kfree(fences);
	return ret;
}

/* Reserves room for the fence in all objects, which are locked; -ENOMEM. */
static int dray_guard_prepare(struct dray_job_guard *guard,
			      struct dray_job *job)
{
	int ret;

	ret = dray_guard_await(guard, job);
	if (!ret)
		ret = dray_resv_reserve(guard->resv);
	if (ret)
		return ret;
	guard->fence = dray_resv_prepare(guard->resv, job->fence, guard->write);
	return guard->fence ? 0 : -ENOMEM;
}

static void dray_guards_free(struct dray_job_guard *guards, u32 count)
{
	while (count--)
		dma_fence_put(guards[count].fence);
	kfree(guards);
}

static int dray_guard_areas(struct dray_job *job, bool show)
{
	struct ww_acquire_ctx context;
	struct dray_job_guard *guards;
	u32 count = 0, i;
	int ret;

	guards = kcalloc(2 * job->count, sizeof(*guards), GFP_KERNEL);
	if (!guards)
		return -ENOMEM;
	for (i = 0; i < job->count; i++) {
		count = dray_guard_add(guards, count, &job->moves[i].dst.area,
				       true);
		count = dray_guard_add(guards, count, &job->moves[i].src.area,
				       false);
	}

	ww_acquire_init(&context, &reservation_ww_class);
	ret = dray_guards_lock(guards, count, &context);
	if (ret)
		goto out;
	for (i = 0; i < count && !ret; i++)
		ret = show ? dray_guard_prepare(&guards[i], job)
			   : dray_guard_await(&guards[i], job);
	for (i = 0; i < count && !ret && show; i++)
		dray_resv_add(guards[i].resv, guards[i].fence, guards[i].write);
	dray_guards_unlock(guards, count);
out:
	ww_acquire_fini(&context);
	dray_guards_free(guards, count);
	return ret;
}

int dray_guard_job(struct dray_job *job)
{
	return dray_guard_areas(job, true);
}

int dray_guard_await_job(struct dray_job *job)
{
	return dray_guard_areas(job, false);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * In-fences.  Each calls back once, and the last one wakes the channel.
 */
#include <linux/err.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "fence.h"
#include "in_fence.h"
#include "job.h"

int dray_in_fences_take(struct dray_job *job, struct dray_submit *args,
			struct dray_refusal *refusal)
{
	s32 fds[DRAY_MAX_IN_FENCES] = {};
	struct dma_fence *fence;
	u32 i;

	if (!args->in_fence_count)
		return 0;
	if (copy_from_user(fds, u64_to_user_ptr(args->in_fences),
			   args->in_fence_count * sizeof(*fds)))
		return -EFAULT;
	job->in_fences = kcalloc(args->in_fence_count, sizeof(*job->in_fences),
				 GFP_KERNEL_ACCOUNT);
	if (!job->in_fences)
		return -ENOMEM;
	for (i = 0; i < args->in_fence_count; i++) {
		/* No other files: only these come to an end for sure. */
		fence = dray_fence_of_fd(fds[i], refusal);
		if (IS_ERR(fence))
			return PTR_ERR(fence);
		job->in_fences[i].fence = fence;
		job->in_fence_count++;
		job->asked_count++;
	}
	return 0;
}

/* Takes over one reference. */
int dray_in_fences_add(struct dray_job *job, struct dma_fence *fence)
{
	struct dray_in_fence *in_fences;

	in_fences = krealloc(job->in_fences,
			     array_size(job->in_fence_count + 1,
					sizeof(*in_fences)),
			     GFP_KERNEL_ACCOUNT);
	if (!in_fences) {
		dma_fence_put(fence);
		return -ENOMEM;
	}
	job->in_fences = in_fences;
	in_fences[job->in_fence_count++] =
		(struct dray_in_fence){ .fence = fence };
	return 0;
}

static void dray_in_fence_done(struct dma_fence *fence,
			       struct dma_fence_cb *callback)
{
	struct dray_in_fence *in_fence =
		container_of(callback, struct dray_in_fence, callback);
	struct dray_job *job = in_fence->job;

	if (atomic_dec_and_test(&job->pending))
		dray_job_wake(job);
}

void dray_in_fences_watch(struct dray_job *job)
{
	struct dray_in_fence *in_fence;
	u32 i;

	atomic_set(&job->pending, job->in_fence_count);
	for (i = 0; i < job->in_fence_count; i++) {
		in_fence = &job->in_fences[i];
		in_fence->job = job;
		if (dma_fence_add_callback(in_fence->fence, &in_fence->callback,
					   dray_in_fence_done)) {
			in_fence->job = NULL;
			atomic_dec(&job->pending);
		}
	}
}

/* Afterwards no in-fence touches the job or wakes its channel. */
void dray_in_fences_unwatch(struct dray_job *job)
{
	struct dray_in_fence *in_fence;
	u32 i;

	for (i = 0; i < job->in_fence_count; i++) {
		in_fence = &job->in_fences[i];
		if (in_fence->job)
			dma_fence_remove_callback(in_fence->fence,
						  &in_fence->callback);
	}
}

/* Has an in-fence of the caller failed? Others are only waited for. */
bool dray_in_fences_failed(const struct dray_job *job)
{
	u32 i;

	for (i = 0; i < job->asked_count; i++)
		if (dma_fence_get_status(job->in_fences[i].fence) < 0)
			return true;
	return false;
}

void dray_in_fences_put(struct dray_job *job)
{
	u32 i;

	for (i = 0; i < job->in_fence_count; i++)
		dma_fence_put(job->in_fences[i].fence);
	kfree(job->in_fences);
}

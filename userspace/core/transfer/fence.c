// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Fences over sync_files.  Settling a fence stores its status and releases the
 * blocks held for it.  It happens once, on the first thread that sees the
 * kernel's fence signalled.  The lock of fences is free meanwhile, because
 * the last release of a block frees it.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <linux/sync_file.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/fork.h"
#include "pool/busy.h"
#include "transfer/fence.h"

/* Guards the holds of all fences, and settles each once; held briefly. */
DEFINE_FORK_LOCK(DRAY_FORK_FENCES, lock);

void dray_fences_enlist(void)
{
	dray_fork_enlist(&locks);
	dray_uses_enlist();
}

static struct dray_fence signalled = {
	.use = { .references = 1, .status = 1 },
	.fd = -1,
};

struct dray_fence *dray_fence_signalled(void)
{
	return &signalled;
}

/* dray_fence_wait(), for waits for memory. */
static int fence_wait_for_use(struct dray_use *use,
			      const struct dray_use_part *part, int timeout_ms)
{
	(void)part;
	return dray_fence_wait((struct dray_fence *)(void *)use, timeout_ms);
}

static void fence_free_use(struct dray_use *use)
{
	struct dray_fence *fence = (void *)use;

	if (fence->fd >= 0)
		close(fence->fd);
	free(fence);
}

static const struct dray_use_kind kind = { DRAY_USE_TRANSFER,
					   fence_wait_for_use, fence_free_use };

const struct dray_fence *dray_fence_of(const struct dray_use *use)
{
	return use->kind == &kind ? (const void *)use : NULL;
}

int dray_fence_create(struct dray_fence **out)
{
	struct dray_fence *fence = calloc(1, sizeof(*fence));

	if (!fence)
		return dray_fail(-ENOMEM, "no memory for a fence");
	dray_use_init(&fence->use, &kind);
	fence->fd = -1;
	*out = fence;
	return 0;
}

static void release_holds(struct dray_fence_hold *hold)
{
	while (hold) {
		struct dray_fence_hold *next = hold->next;

		dray_locate_release(&hold->location);
		if (hold->allocated)
			free(hold);
		hold = next;
	}
}

void dray_fence_keep(struct dray_fence *fence, struct dray_operand *operand,
		     bool writes)
{
	const int i = fence->holds ? 1 : 0;
	struct dray_fence_hold *hold = &fence->own[i];

	dray_use_add(&fence->use, &fence->parts[i], operand->span, writes);
	hold->location = operand->location;
	hold->allocated = false;
	hold->next = fence->holds;
	fence->holds = hold;
	operand->held = false;
}

static void fence_settle(struct dray_fence *fence, int status)
{
	struct dray_fence_hold *holds;

	pthread_mutex_lock(&lock);
	holds = fence->holds;
	fence->holds = NULL;
	atomic_store(&fence->use.status, status);
	pthread_mutex_unlock(&lock);
	dray_use_leave(&fence->use);
	release_holds(holds);
}

void dray_fence_abandon(struct dray_fence *fence)
{
	fence_settle(fence, -ECANCELED);
	dray_fence_unref(fence);
}

/* Asks the kernel for the status, and the time of the fence in the sync_file. */
static int fence_ask(const struct dray_fence *fence,
		     struct sync_fence_info *answer)
{
	struct sync_file_info info = {
		.num_fences = 1,
		.sync_fence_info = (uintptr_t)answer,
	};

	while (ioctl(fence->fd, SYNC_IOC_FILE_INFO, &info)) {
		if (errno != EINTR)
			return dray_fail(-errno, "status of fence %d: %s",
					 fence->fd, strerror(errno));
	}
	return 0;
}

static int fail_with(int status)
{
	return dray_fail(status, "the transfer failed on the engine: %s",
			 strerror(-status));
}

int dray_fence_status(struct dray_fence *fence)
{
	struct sync_fence_info answer = { .status = 0 };
	int status, ret;

	if (!dray_given(fence, __func__))
		return -EINVAL;
	status = atomic_load(&fence->use.status);
	if (!status) {
		ret = fence_ask(fence, &answer);
		if (ret)
			return ret;
		status = answer.status;
		if (!status)
			return 0;
		fence_settle(fence, status);
	}
	return status < 0 ? fail_with(status) : 1;
}

int dray_fence_wait(struct dray_fence *fence, int timeout_ms)
{
	DRAY_NO_CANCEL;
	struct pollfd poller = { .events = POLLIN };
	int status, ready;

	if (!dray_given(fence, __func__))
		return -EINVAL;
	poller.fd = fence->fd;
	status = atomic_load(&fence->use.status);
	if (!status) {
		ready = poll(&poller, 1, timeout_ms < 0 ? -1 : timeout_ms);
		if (ready < 0)
			return dray_fail(-errno, "waiting for fence %d: %s",
					 fence->fd, strerror(errno));
		if (!ready)
			return dray_fail(
				-ETIME,
				"the fence has not signalled within %d ms",
				timeout_ms);
	}
	status = dray_fence_status(fence);
	if (!status) /* poll() returned for another reason. */
		return dray_fail(-EIO, "fence %d cannot be waited for",
				 fence->fd);
	return status < 0 ? status : 0;
}

int dray_fence_time(struct dray_fence *fence, uint64_t *time_ns)
{
	struct sync_fence_info answer = { .status = 0 };
	int ret;

	if (!dray_given(fence, __func__) || !dray_given(time_ns, __func__))
		return -EINVAL;
	if (fence->fd >= 0) {
		ret = fence_ask(fence, &answer);
		if (ret)
			return ret;
		if (!answer.status)
			return dray_fail(-EINPROGRESS,
					 "fence %d has not signalled",
					 fence->fd);
	}
	*time_ns = answer.timestamp_ns;
	return 0;
}

int dray_fence_fd(const struct dray_fence *fence)
{
	return dray_given(fence, __func__) ? fence->fd : -1;
}

struct dray_fence *dray_fence_ref(struct dray_fence *fence)
{
	if (fence && fence != &signalled)
		dray_use_ref(&fence->use);
	return fence;
}

void dray_fence_unref(struct dray_fence *fence)
{
	DRAY_NO_CANCEL;

	if (!fence || fence == &signalled)
		return;
	/* Settle early: the user may keep the last reference for long. */
	if (!dray_use_has_ended(&fence->use) && fence->fd >= 0)
		dray_fence_status(fence);
	dray_use_unref(&fence->use);
}

int dray_free_after(void *block, struct dray_fence *fence)
{
	struct dray_location location;
	struct dray_fence_hold *hold;
	bool done;
	int ret;

	if (!block)
		return 0;
	if (!fence)
		return dray_fail(-EINVAL, "no fence to free block %p after",
				 block);
	ret = dray_locate(block, &location);
	if (ret || !location.pool || location.block != block)
		return dray_fail(-EINVAL, "%p is not a block of a pool", block);
	hold = malloc(sizeof(*hold));
	if (!hold)
		return dray_fail(-ENOMEM, "no memory to remember block %p",
				 block);
	ret = dray_block_hold(block);
	if (ret) {
		free(hold);
		return ret;
	}
	hold->location = location;
	hold->allocated = true;
	pthread_mutex_lock(&lock);
	done = dray_use_has_ended(&fence->use);
	hold->next = done ? NULL : fence->holds;
	if (!done)
		fence->holds = hold;
	pthread_mutex_unlock(&lock);
	dray_pool_free(location.pool, block); /* parks it, because it is held */
	if (done)
		release_holds(hold);
	else
		dray_fence_status(fence);
	return 0;
}

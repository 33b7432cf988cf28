// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The lock, and the end: at exit() all handles are closed before the destructors
 * of XRT run, which would crash over them.
 *
 * Functions of atexit() and destructors run in reverse order of their making, and
 * XRT makes static objects when a function is first called.  So this registers
 * again after the first call of each kind; the last registered does the work.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/fork.h"
#include "xrt/xrt.h"

struct dray_xrt_calls dray_xrt;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool ended;
static _Atomic int running; /* calls without the lock */
static bool opened; /* a device, by opener */
static uint32_t opener; /* dray_fork_process() */
static uint32_t registered; /* enum dray_xrt_first */
static struct dray_xrt_device *devices;
static struct dray_xrt_whole *wholes;
static struct dray_xrt_bo *bos;

static void xrt_life_take(void)
{
	pthread_mutex_lock(&lock);
}

static void xrt_life_give(void)
{
	pthread_mutex_unlock(&lock);
}

/* A call that ran during the fork never ends in the child. */
static void xrt_life_inherit(void)
{
	atomic_store(&running, 0);
	xrt_life_give();
}

static struct dray_fork_locks locks = {
	.rank = DRAY_FORK_XRT,
	.take = xrt_life_take,
	.give = xrt_life_give,
	.inherit = xrt_life_inherit,
};

int dray_xrt_check(uint32_t process)
{
	if (process != dray_fork_process())
		return dray_fail(
			-EPERM,
			"the BO or device of XRT was made before fork(): it is the parent's");
	if (atomic_load(&ended))
		return dray_fail(
			-ESHUTDOWN,
			"exit() has closed all BOs and devices of XRT");
	return 0;
}

int dray_xrt_enter(uint32_t process)
{
	int ret;

	pthread_mutex_lock(&lock);
	ret = dray_xrt_check(process);
	if (ret)
		pthread_mutex_unlock(&lock);
	return ret;
}

/*
 * XRT keeps a single open file for a device and shares it with children, in which an
 * import would get the parent's handle.
 */
int dray_xrt_enter_first(void)
{
	int ret;

	dray_fork_enlist(&locks);
	ret = dray_xrt_enter(dray_fork_process());
	if (!ret && opened && opener != dray_fork_process()) {
		pthread_mutex_unlock(&lock);
		return dray_fail(
			-EPERM,
			"a device of XRT was opened before fork(): only the parent may use XRT");
	}
	return ret;
}

void dray_xrt_enter_last(void)
{
	pthread_mutex_lock(&lock);
}

void dray_xrt_leave(void)
{
	pthread_mutex_unlock(&lock);
}

int dray_xrt_begin_call(uint32_t process)
{
	int ret;

	atomic_fetch_add(&running, 1);
	ret = dray_xrt_check(process);
	if (ret)
		dray_xrt_end_call();
	return ret;
}

void dray_xrt_end_call(void)
{
	atomic_fetch_sub(&running, 1);
}

/*
 * A BO, or its owner, would be freed under such a call.  A signal handler that
 * calls exit() may interrupt a call, which never ends then: the wait lasts a second
 * at most.
 */
static void wait_for_calls(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	int i;

	for (i = 0; i < 1000; i++) {
		if (atomic_load(&running) <= 0)
			return;
		nanosleep(&pause, NULL);
	}
}

/* Parts end before their wholes, and BOs before devices. */
static void close_bos(void)
{
	struct dray_xrt_bo *bo;
	dray_xrt_handle part;

	for (bo = bos; bo; bo = bo->next) {
		if (bo->process != dray_fork_process())
			continue;
		part = atomic_exchange(&bo->part, NULL);
		if (part && !bo->callers)
			dray_xrt.xrtBOFree(part);
	}
}

static void close_wholes(void)
{
	struct dray_xrt_whole *whole;
	dray_xrt_handle handle;

	for (whole = wholes; whole; whole = whole->next) {
		if (whole->process != dray_fork_process())
			continue;
		handle = atomic_exchange(&whole->handle, NULL);
		if (handle && whole->kind != DRAY_XRT_CALLERS)
			dray_xrt.xrtBOFree(handle);
	}
}

/* A function of the caller's that is left to call, once. */
static bool take_release(struct dray_xrt_release *out)
{
	struct dray_xrt_whole *whole;
	struct dray_xrt_device *device;

	for (whole = wholes; whole; whole = whole->next) {
		if (whole->process == dray_fork_process() &&
		    dray_xrt_take_release(&whole->release, out))
			return true;
	}
	for (device = devices; device; device = device->next) {
		if (device->process == dray_fork_process() &&
		    dray_xrt_take_release(&device->release, out))
			return true;
	}
	return false;
}

static void close_devices(void)
{
	struct dray_xrt_device *device;
	dray_xrt_handle handle;

	for (device = devices; device; device = device->next) {
		if (device->process != dray_fork_process())
			continue;
		handle = atomic_exchange(&device->handle, NULL);
		if (handle && device->opened)
			dray_xrt.xrtDeviceClose(handle);
	}
}

static void at_exit(void)
{
	struct dray_xrt_release release;

	pthread_mutex_lock(&lock);
	if (!atomic_exchange(&ended, true)) {
		wait_for_calls();
		close_bos();
		close_wholes();
		while (take_release(&release)) {
			pthread_mutex_unlock(&lock);
			release.call(release.owner);
			pthread_mutex_lock(&lock);
		}
		close_devices();
	}
	pthread_mutex_unlock(&lock);
}

void dray_xrt_before_exit(enum dray_xrt_first first)
{
	if (first == DRAY_XRT_OPENED && !opened) {
		opened = true;
		opener = dray_fork_process();
	}
	if (!(registered & first) && !atexit(at_exit))
		registered |= first;
}

bool dray_xrt_take_release(struct dray_xrt_release *from,
			   struct dray_xrt_release *out)
{
	*out = *from;
	from->call = NULL;
	return out->call;
}

#define LIST(head, object)                              \
	do {                                            \
		(object)->next = (head);                \
		(object)->link = &(head);               \
		if (head)                               \
			(head)->link = &(object)->next; \
		(head) = (object);                      \
	} while (0)

#define UNLIST(object)                                         \
	do {                                                   \
		*(object)->link = (object)->next;              \
		if ((object)->next)                            \
			(object)->next->link = (object)->link; \
	} while (0)

void dray_xrt_list_device(struct dray_xrt_device *device)
{
	device->process = dray_fork_process();
	LIST(devices, device);
}

void dray_xrt_unlist_device(struct dray_xrt_device *device)
{
	UNLIST(device);
}

void dray_xrt_list_whole(struct dray_xrt_whole *whole)
{
	whole->process = dray_fork_process();
	LIST(wholes, whole);
}

void dray_xrt_unlist_whole(struct dray_xrt_whole *whole)
{
	UNLIST(whole);
}

void dray_xrt_list_bo(struct dray_xrt_bo *bo)
{
	bo->process = dray_fork_process();
	LIST(bos, bo);
}

void dray_xrt_unlist_bo(struct dray_xrt_bo *bo)
{
	UNLIST(bo);
}

struct dray_xrt_whole *dray_xrt_wholes(void)
{
	return wholes;
}

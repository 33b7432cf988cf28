// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * view_wait: waits for all transfers that meet a view, those of queues and then
 * those of streams, one after the other.
 */
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <time.h>

#include "base/cancel.h"
#include "base/error.h"
#include "stream/stream.h"
#include "transfer/queue.h"

_Atomic(dray_calls_conflict_fn *) dray_calls_conflict;

struct awaited {
	struct dray_addresses reads; /* by the CPU */
	struct dray_addresses writes;
	uint64_t until_ns;
	int timeout_ms;
	bool calls; /* of queues of universal functions, too */
};

/* Returns the milliseconds that are left, rounded up. */
static int time_left(const struct awaited *awaited)
{
	struct timespec now;
	uint64_t now_ns, left;

	if (awaited->timeout_ms <= 0)
		return awaited->timeout_ms;
	clock_gettime(CLOCK_MONOTONIC, &now);
	now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (now_ns >= awaited->until_ns)
		return 0;
	left = (awaited->until_ns - now_ns + 999999) / 1000000;
	return left < INT_MAX ? (int)left : INT_MAX;
}

/* Returns 1 if a transfer has ended, 0 if there is none, or a negative errno. */
static int wait_for_queues(const struct awaited *awaited)
{
	struct dray_fence *fence =
		dray_queues_conflict(awaited->writes, awaited->reads);
	int ret;

	if (!fence)
		return 0;
	ret = dray_fence_wait(fence, time_left(awaited));
	if (atomic_load(&fence->status))
		ret = 1;
	dray_fence_unref(fence);
	return ret;
}

static int wait_for_streams(const struct awaited *awaited)
{
	bool writes = awaited->writes.high;
	struct dray_event *event;
	int ret;

	ret = dray_streams_conflict(awaited->reads, writes, &event);
	if (ret || !event)
		return ret;
	ret = dray_event_wait(event, time_left(awaited));
	if (atomic_load(&event->state) == DRAY_EVENT_ENDED)
		ret = 1;
	dray_event_unref(event);
	return ret;
}

static int wait_for_calls(const struct awaited *awaited)
{
	dray_calls_conflict_fn *conflict = atomic_load(&dray_calls_conflict);
	struct dray_event *event;
	int ret;

	if (!awaited->calls || !conflict)
		return 0;
	event = conflict(awaited->reads, awaited->writes);
	if (!event)
		return 0;
	ret = dray_event_wait(event, time_left(awaited));
	if (atomic_load(&event->state) == DRAY_EVENT_ENDED)
		ret = 1;
	dray_event_unref(event);
	return ret;
}

static int wait_for_all(const struct awaited *awaited)
{
	DRAY_NO_CANCEL;
	int ret;

	do {
		ret = wait_for_queues(awaited);
		/* A call may have frames of a ring, which it gives back. */
		if (!ret)
			ret = wait_for_calls(awaited);
		if (!ret)
			ret = wait_for_streams(awaited);
	} while (ret > 0);
	return ret;
}

bool dray_transfers_in_flight(void)
{
	return dray_queues_in_flight() || dray_streams_open() ||
	       atomic_load(&dray_calls_conflict);
}

static int wait_for(const struct dray_view *view, unsigned int access,
		    int timeout_ms, bool calls)
{
	struct awaited awaited = { .timeout_ms = timeout_ms, .calls = calls };
	struct dray_operand operand;
	int ret;

	if (!access || access & ~(DRAY_ACCESS_READ | DRAY_ACCESS_WRITE))
		return dray_fail(-EINVAL,
				 "access 0x%x, not DRAY_ACCESS_READ or WRITE",
				 access);
	ret = dray_operand_init(&operand, view, "the view");
	if (ret || !operand.extent.elements)
		return ret;
	/* Mostly there is nothing to wait for, and no lock to take. */
	if (!dray_transfers_in_flight())
		return 0;
	if (timeout_ms > 0)
		awaited.until_ns = dray_stream_until(timeout_ms);
	awaited.reads = operand.span;
	if (access & DRAY_ACCESS_WRITE)
		awaited.writes = operand.span;
	ret = wait_for_all(&awaited);
	if (ret == -ETIME)
		return dray_fail(
			ret,
			"a transfer still uses the view's memory after %d ms",
			timeout_ms);
	return ret;
}

int dray_view_wait(const struct dray_view *view, unsigned int access,
		   int timeout_ms)
{
	if (!dray_given(view, __func__))
		return -EINVAL;
	return wait_for(view, access, timeout_ms, true);
}

int dray_view_wait_transfers(const struct dray_view *view, unsigned int access)
{
	return wait_for(view, access, -1, false);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* view_wait: waits for all users of memory that meets a view, one after the other. */
#include <errno.h>
#include <limits.h>
#include <time.h>

#include <dray/transfer.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/error.h"
#include "use/use.h"

uint64_t dray_use_until(int timeout_ms)
{
	return timeout_ms < 0
		       ? UINT64_MAX
		       : dray_clock_now() + (uint64_t)timeout_ms * 1000000;
}

/* Returns the milliseconds that are left of @timeout_ms, rounded up. */
static int wait_time_left(int timeout_ms, uint64_t until_ns)
{
	uint64_t now, left;

	if (timeout_ms <= 0)
		return timeout_ms;
	now = dray_clock_now();
	if (now >= until_ns)
		return 0;
	left = (until_ns - now + 999999) / 1000000;
	return left < INT_MAX ? (int)left : INT_MAX;
}

/* Waits for a user, and then for others. */
static int wait_from(struct dray_use *use, const struct dray_use_part *part,
		     const struct dray_use_query *query, int timeout_ms)
{
	DRAY_NO_CANCEL;
	uint64_t until_ns = 0;
	bool ended;
	int ret;

	if (timeout_ms > 0)
		until_ns = dray_use_until(timeout_ms);
	do {
		ret = use->kind->wait(use, part,
				      wait_time_left(timeout_ms, until_ns));
		ended = dray_use_has_ended(use);
		dray_use_unref(use);
		if (!ended && ret)
			return ret;
		use = dray_use_find(query, &part);
	} while (use);
	return 0;
}

int dray_use_wait(const struct dray_use_query *query, int timeout_ms)
{
	const struct dray_use_part *part;
	struct dray_use *use = dray_use_find(query, &part);

	return use ? wait_from(use, part, query, timeout_ms) : 0;
}

int dray_view_wait(const struct dray_view *view, unsigned int access,
		   int timeout_ms)
{
	struct dray_use_query query = { .before = UINT64_MAX };
	struct dray_operand operand;
	int ret;

	if (!dray_given(view, __func__))
		return -EINVAL;
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
	if (access & DRAY_ACCESS_WRITE)
		query.writes = operand.span;
	else
		query.reads = operand.span;
	ret = dray_use_wait(&query, timeout_ms);
	if (ret == -ETIME)
		return dray_fail(
			ret,
			"a transfer still uses the view's memory after %d ms",
			timeout_ms);
	return ret;
}

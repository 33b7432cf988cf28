// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * view_wait: waits for all users of memory that meets a view, one after the other, and
 * for those that keep a user from the book.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <time.h>

#include <dray/transfer.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/error.h"
#include "memory/futex.h"
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

/* Waits until a transfer that entered was submitted, or was not. */
static int await_submission(struct dray_use *use, uint64_t until_ns)
{
	uint32_t one;

	while (dray_use_is_pending(use)) {
		one = 1;
		/* A 2 stays, and a 0 ends the loop. */
		atomic_compare_exchange_strong(&use->pending, &one, 2);
		if (until_ns && (!dray_futex_wait(&use->pending, 2, until_ns) ||
				 errno == EAGAIN))
			continue;
		return !until_ns || errno == ETIMEDOUT
			       ? -ETIME
			       : dray_fail(
					 -errno,
					 "waiting for a transfer that is submitted: %s",
					 strerror(errno));
	}
	return 0;
}

/* Waits for a user, whose reference it drops. */
static int wait_for_user(struct dray_use *use, const struct dray_use_part *part,
			 int timeout_ms, uint64_t until_ns)
{
	DRAY_NO_CANCEL;
	int ret = await_submission(use, until_ns);

	if (ret == -ETIME)
		dray_fail(ret, "a transfer is submitted after %d ms still",
			  timeout_ms);
	if (!ret && !dray_use_has_ended(use))
		ret = use->kind->wait(use, part,
				      wait_time_left(timeout_ms, until_ns));
	if (dray_use_has_ended(use))
		ret = 0;
	dray_use_unref(use);
	return ret;
}

/* When a wait of @timeout_ms ends; 0: at once. */
static uint64_t use_deadline(int timeout_ms)
{
	return timeout_ms ? dray_use_until(timeout_ms) : 0;
}

int dray_use_wait(const struct dray_use_query *query, int timeout_ms)
{
	const struct dray_use_part *part;
	struct dray_use *use = dray_use_find(query, &part);
	uint64_t until_ns = use ? use_deadline(timeout_ms) : 0;
	int ret = 0;

	while (use && !ret) {
		ret = wait_for_user(use, part, timeout_ms, until_ns);
		use = ret ? NULL : dray_use_find(query, &part);
	}
	return ret;
}

int dray_use_enter_alone(struct dray_use *use, unsigned int sorts,
			 int timeout_ms)
{
	const struct dray_use_part *part;
	struct dray_use *met = dray_use_enter_or_find(use, sorts, &part);
	uint64_t until_ns = met ? use_deadline(timeout_ms) : 0;
	int ret = 0;

	while (met && !ret) {
		ret = wait_for_user(met, part, timeout_ms, until_ns);
		met = ret ? NULL : dray_use_enter_or_find(use, sorts, &part);
	}
	return ret;
}

int dray_use_claim(struct dray_use *use, bool nonblock)
{
	int ret;

	atomic_store(&use->pending, 1);
	ret = dray_use_enter_alone(use, 1 << DRAY_USE_LOAN, nonblock ? 0 : -1);
	return ret == -ETIME ? -EAGAIN : ret;
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
	if (ret == -ETIME && dray_last_failure() != DRAY_FAILURE_LENT)
		return dray_fail(
			ret,
			"a transfer still uses the view's memory after %d ms",
			timeout_ms);
	return ret;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The end of a call whose IP raises an interrupt when it is done.  The wait is cut into
 * turns, as an interrupt has no event that a cancel could end.
 */
#include <errno.h>
#include <inttypes.h>

#include "private.h"
#include "executor/stream_executor.h"

#define TURN_MS 50 /* until a call that waits notices that it was cancelled */

int dray_stream_await_done(const struct dray_stream_call *run)
{
	const struct dray_stream_executor_options *options =
		&run->executor->options;
	uint64_t left_ms = options->timeout_ns / 1000000 + 1;
	int turn_ms, ret;

	for (;;) {
		turn_ms = left_ms < TURN_MS ? (int)left_ms : TURN_MS;
		ret = dray_interrupt_wait(options->done, turn_ms, NULL);
		if (ret && ret != -ETIME && ret != -EINTR)
			return ret;
		if (ret == -ETIME)
			left_ms -= (uint64_t)turn_ms;
		if (!ret)
			return 0;
		ret = dray_stream_check_cancelled(run);
		if (ret)
			return ret;
		if (!left_ms)
			return dray_fail(
				-ETIMEDOUT,
				"interrupt %s did not arrive within %" PRIu64
				" ns of the packets",
				dray_interrupt_name(options->done),
				options->timeout_ns);
	}
}

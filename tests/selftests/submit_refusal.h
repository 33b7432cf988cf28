/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The refusal of one transfer, for tests of what SUBMIT does not take.
 */
#ifndef SELFTEST_SUBMIT_REFUSAL_H
#define SELFTEST_SUBMIT_REFUSAL_H

#include "fixture_engine.h"

struct refusal {
	int error;
	uint32_t reason;
	uint64_t limit;
};

static inline struct refusal refuse(FIXTURE_DATA(engine) * self,
			     const struct dray_transfer *transfer)
{
	struct dray_submit submit = { .channel = DRAY_CHANNEL_ANY,
				      .fence_fd = -1 };
	struct refusal refusal;

	refusal.error = engine_submit(self, transfer, 1, &submit);
	refusal.reason = submit.reason;
	refusal.limit = submit.limit;
	if (!refusal.error)
		fence_wait(submit.fence_fd);
	return refusal;
}

#endif

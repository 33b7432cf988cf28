/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * One transfer, from SUBMIT to its end.
 */
#ifndef SELFTEST_TRANSFER_H
#define SELFTEST_TRANSFER_H

#include "system.h"

/*
 * @flags: DRAY_SUBMIT_*.  0, or the negative errno of the call or of the fence,
 * -ETIME at the deadline of process.h.
 */
int transfer_run(int node, const struct dray_transfer *transfer,
		 uint32_t channel, uint32_t flags);

#endif

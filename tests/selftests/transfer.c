// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * One transfer, from SUBMIT to its end; see transfer.h.
 */
#include "fence.h"
#include "node.h"
#include "transfer.h"

int transfer_run(int node, const struct dray_transfer *transfer,
		 uint32_t channel, uint32_t flags)
{
	struct dray_submit submit =
		SUBMIT_OF(channel, transfer, 1, .flags = flags);
	int ret = node_call(node, DRAY_IOC_SUBMIT, &submit);

	if (ret)
		return ret;
	ret = fence_wait(submit.fence_fd);
	close(submit.fence_fd);
	if (ret == 1)
		return 0;
	/* Readable, and not signalled: no fence does that. */
	return ret ? ret : -EIO;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls about channels, for a kernel without the DMA engine framework or
 * without sync_file.  If the device is gone, that comes first.
 */
#include "base/node.h"
#include "calls.h"

static int dray_call_absent(struct dray_opener *opener, int error)
{
	int ret = dray_node_check(opener->node);

	return ret ? ret : error;
}

int dray_channel_info_call(struct dray_opener *opener, void *data,
			   struct dray_reply *reply)
{
	return dray_call_absent(opener, -EINVAL);
}

int dray_submit_call(struct dray_opener *opener, void *data,
		     struct dray_reply *reply)
{
	return dray_call_absent(opener, -EOPNOTSUPP);
}

int dray_cancel_call(struct dray_opener *opener, void *data,
		     struct dray_reply *reply)
{
	return dray_call_absent(opener, -EOPNOTSUPP);
}

int dray_timeline_call(struct dray_opener *opener, void *data,
		       struct dray_reply *reply)
{
	return dray_call_absent(opener, -EOPNOTSUPP);
}

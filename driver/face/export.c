// SPDX-License-Identifier: GPL-2.0-only
/*
 * EXPORT: a second, read-only dma-buf of a buffer.
 */
#include <linux/err.h>

#include "base/node.h"
#include "base/reply.h"
#include "memory/dmabuf.h"
#include "calls.h"

int dray_export_call(struct dray_opener *opener, void *data,
		     struct dray_reply *reply)
{
	struct dray_export *args = data;
	struct dray_buffer *buffer;
	bool writable;
	int ret;

	if (args->flags != DRAY_EXPORT_READ_ONLY)
		return -EINVAL;
	ret = dray_node_check(opener->node);
	if (ret)
		return ret;
	buffer = dray_dmabuf_of_fd(args->buffer_fd, &writable, &reply->refusal);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	ret = dray_dmabuf_export(buffer, false, reply);
	if (!ret)
		args->fd = reply->fd;
	return ret;
}

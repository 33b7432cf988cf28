// SPDX-License-Identifier: GPL-2.0-only
/*
 * ATTACH: makes memory of others reachable for the node.
 */
#include <linux/err.h>

#include "base/node.h"
#include "base/reply.h"
#include "memory/attachment.h"
#include "memory/trace.h"
#include "address.h"
#include "calls.h"

static int dray_attach_check(const struct dray_attach *args)
{
	bool user = args->flags & DRAY_ATTACH_USER;

	if (args->flags & ~(DRAY_ATTACH_USER | DRAY_ATTACH_READ_ONLY) ||
	    args->reserved)
		return -EINVAL;
	if (user ? args->dmabuf_fd != -1 : args->address || args->length)
		return -EINVAL;
	return 0;
}

/*
 * Publishes and maps the attachment; from here on the end of the node finds it,
 * so this happens inside.  *@segments stays 0 for callers that may not know it.
 */
static int dray_attachment_publish(struct dray_attachment *attachment,
				   const struct dray_opener *opener,
				   u32 *segments, struct dray_refusal *refusal)
{
	struct dray_node *node = attachment->node;
	struct dray_place place;
	int ret = dray_node_enter(node);

	if (ret)
		return ret;
	dray_entry_count(&attachment->entry, opener->usage,
			 attachment->charged);
	dray_entry_publish(&attachment->entry);
	trace_dray_attach(&attachment->entry, attachment->size, node->dev);
	ret = dray_attachment_place(attachment, node->dev, &place, refusal);
	if (!ret && dray_segments_allowed(opener, node->dev))
		*segments = place.count;
	dray_node_leave(node);
	return ret;
}

int dray_attach_call(struct dray_opener *opener, void *data,
		     struct dray_reply *reply)
{
	struct dray_attachment *attachment;
	struct dray_attach *args = data;
	struct file *file;
	u32 segments = 0;
	int ret;

	ret = dray_attach_check(args);
	if (ret)
		return ret;
	ret = dray_node_check(opener->node);
	if (ret)
		return ret;
	attachment =
		dray_attachment_create(opener->node, args, &reply->refusal);
	if (IS_ERR(attachment))
		return PTR_ERR(attachment);
	ret = dray_attachment_publish(attachment, opener, &segments,
				      &reply->refusal);
	if (ret)
		goto put_attachment;
	file = dray_attachment_open(attachment);
	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = dray_reply_give(reply, file);
	if (ret)
		return ret;
	/* The file in the reply has the attachment. */
	args->fd = reply->fd;
	args->id = attachment->entry.id;
	args->length = attachment->size;
	args->segments = segments;
	return 0;

put_attachment:
	dray_attachment_put(attachment);
	return ret;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * ADDRESS: the addresses of an area for the node's device, for callers with the
 * right to know; and the check of that right.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "base/device.h"
#include "base/node.h"
#include "base/reply.h"
#include "heap/heap.h"
#include "memory/area.h"
#include "memory/buffer.h"
#include "address.h"
#include "calls.h"

/* Without an IOMMU an address of shared memory is the key to all. */
bool dray_address_allowed(const struct dray_opener *opener,
			  const struct dray_heap *heap)
{
	if (!opener->address)
		return false;
	return opener->raw || dray_device_translated(opener->node->dev) ||
	       (heap && !(heap->flags & DRAY_HEAP_SHARED));
}

bool dray_segments_allowed(const struct dray_opener *opener, struct device *dev)
{
	return dray_device_translated(dev) ||
	       dray_address_allowed(opener, NULL);
}

/* Knowing an address allows writing there. */
static int dray_address_check(const struct dray_opener *opener,
			      const struct dray_area *area,
			      const struct dray_address *args,
			      struct dray_refusal *refusal)
{
	if (!area->writable)
		return dray_refuse(refusal, -EACCES, DRAY_REASON_READ_ONLY,
				   (u32)args->fd);
	if (!dray_address_allowed(opener,
				  area->buffer ? area->buffer->heap : NULL))
		return dray_refuse(refusal, -EPERM, DRAY_REASON_PERMISSION, 0);
	if (args->offset >= area->size ||
	    !dray_area_fits(area, args->offset, args->length))
		return dray_refuse(refusal, -EINVAL, DRAY_REASON_RANGE,
				   area->size);
	return 0;
}

/*
 * Returns the segments of a range, at most as many as there is room for, in
 * memory of dray's own: user memory is never touched while the caller is inside
 * the node.
 */
static struct dray_segment *
dray_address_segments(const struct dray_place *place, u64 offset, u64 length,
		      struct dray_address *args)
{
	const struct dray_place_segment *first = dray_place_find(place, offset),
					*at;
	const struct dray_place_segment *last =
		dray_place_find(place, offset + length - 1);
	struct dray_segment *segments, *segment;
	u64 into;

	args->count = last - first + 1;
	segments =
		kvmalloc_array(min(args->room, args->count), sizeof(*segments),
			       GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!segments)
		return ERR_PTR(-ENOMEM);
	for (at = first; at <= last && at - first < args->room; at++) {
		into = at == first ? offset - at->offset : 0;
		segment = &segments[at - first];
		segment->address = at->address + into;
		segment->length = min(at->length - into, length);
		length -= segment->length;
	}
	return segments;
}

int dray_address_call(struct dray_opener *opener, void *data,
		      struct dray_reply *reply)
{
	struct dray_node *node = opener->node;
	struct dray_segment *segments = NULL;
	struct dray_address *args = data;
	struct dray_place place;
	struct dray_area area;
	u64 length;
	int ret;

	if (args->flags || args->reserved)
		return -EINVAL;
	ret = dray_area_of_fd(args->fd, node, &area, &reply->refusal);
	if (ret)
		return ret;
	ret = dray_node_enter(node);
	if (ret)
		goto put_area;
	ret = dray_address_check(opener, &area, args, &reply->refusal);
	if (!ret)
		ret = dray_area_place(&area, node, node->dev, &place,
				      &reply->refusal);
	if (!ret) {
		length = args->length ? args->length : area.size - args->offset;
		segments = dray_address_segments(&place, args->offset, length,
						 args);
		ret = PTR_ERR_OR_ZERO(segments);
		if (ret)
			segments = NULL;
	}
	/* The end of the node must see each disclosure. */
	if (!ret && args->room)
		ret = dray_area_disclose(&area, node);
	dray_node_leave(node);

	if (!ret &&
	    copy_to_user(u64_to_user_ptr(args->segments), segments,
			 min(args->room, args->count) * sizeof(*segments)))
		ret = -EFAULT;
	kvfree(segments);
put_area:
	dray_area_put(&area);
	return ret;
}

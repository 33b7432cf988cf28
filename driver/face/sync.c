// SPDX-License-Identifier: GPL-2.0-only
/*
 * SYNC: maintains ranges of areas for the CPU or for a device.
 */
#include <linux/err.h>
#include <linux/freezer.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "base/device.h"
#include "base/node.h"
#include "base/reply.h"
#include "memory/area.h"
#include "engine/channel.h"
#include "calls.h"

static bool dray_range_valid(const struct dray_area *area,
			     const struct dray_range *range)
{
	u64 span = 0;

	if (range->rows > 1 &&
	    (range->pitch < range->width ||
	     check_mul_overflow(range->rows - 1, range->pitch, &span)))
		return false;
	return !check_add_overflow(span, range->width, &span) &&
	       dray_area_fits(area, range->offset, span);
}

/* The caller is inside the node. */
static int dray_sync_place(struct dray_node *node, struct device *dev,
			   const struct dray_area *area,
			   const struct dray_range *range, bool for_cpu,
			   enum dma_data_direction direction,
			   struct dray_refusal *refusal)
{
	struct dray_area_rows rows = {
		.offset = range->offset,
		.width = range->width,
		.pitch = range->pitch,
		.rows = range->rows,
		.gone = &node->gone,
	};
	struct dray_place place;
	ktime_t start;
	int ret;

	ret = dray_area_place(area, node, dev, &place, refusal);
	if (ret || dray_area_is_whole(area))
		return ret;
	start = ktime_get();
	ret = dray_area_sync(area, dev, &place, &rows, for_cpu, direction);
	if (!ret && dray_area_is_maintained(area, dev, for_cpu))
		dray_rows_count(dray_area_entry(area), dev,
				range->rows * range->width, for_cpu, direction,
				start);
	return ret;
}

/*
 * Asks the exporter to maintain a dma-buf for all its devices, outside of the
 * node: the exporter waits for fences without a limit, and unbinding must not
 * wait for it.
 */
static int dray_sync_whole(const struct dray_area *area, struct dray_node *node,
			   bool for_cpu, enum dma_data_direction direction)
{
	ktime_t start = ktime_get();
	int ret = dray_area_sync_whole(area, for_cpu, direction);

	if (!ret)
		dray_rows_count(dray_area_entry(area), node->dev, area->size,
				for_cpu, direction, start);
	return ret;
}

/* Sets *@needed if the range is of a buffer that needs syncs. */
static int dray_sync_range(struct dray_node *node, struct device *dev,
			   const struct dray_sync *args,
			   const struct dray_range *range, bool *needed,
			   struct dray_refusal *refusal)
{
	enum dma_data_direction direction =
		args->direction == DRAY_TO_DEVICE     ? DMA_TO_DEVICE
		: args->direction == DRAY_FROM_DEVICE ? DMA_FROM_DEVICE
						      : DMA_BIDIRECTIONAL;
	bool for_cpu = args->owner == DRAY_SYNC_FOR_CPU;
	bool asks = args->flags & DRAY_SYNC_ASK;
	struct dray_area area;
	int ret;

	if (range->flags || !range->width || !range->rows)
		return -EINVAL;
	ret = dray_area_of_fd(range->fd, node, &area, refusal);
	if (ret)
		return ret;
	if (!dray_range_valid(&area, range) ||
	    (dray_area_is_whole(&area) &&
	     (range->width != area.size || range->rows != 1))) {
		ret = dray_refuse(refusal, -EINVAL, DRAY_REASON_RANGE,
				  area.size);
		goto put_area;
	}
	ret = dray_node_enter(node);
	if (ret)
		goto put_area;
	if (dray_area_needs_sync(&area, dev))
		*needed = true;
	if (!asks)
		ret = dray_sync_place(node, dev, &area, range, for_cpu,
				      direction, refusal);
	dray_node_leave(node);
	if (!ret && !asks && dray_area_is_whole(&area))
		ret = dray_sync_whole(&area, node, for_cpu, direction);
put_area:
	dray_area_put(&area);
	return ret;
}

/* Finds the target device; it is there when the node is entered again. */
static int dray_sync_target(struct dray_node *node,
			    const struct dray_sync *args, struct device **dev,
			    bool *needed, struct dray_refusal *refusal)
{
	int ret = dray_node_enter(node);

	if (ret)
		return ret;
	*dev = node->dev;
	if (args->target != DRAY_TARGET_NODE)
		ret = DRAY_ENGINES ? dray_channel_device(node, args->target,
							 dev, refusal)
				   : dray_refuse(refusal, -EINVAL,
						 DRAY_REASON_CHANNEL, 0);
	*needed = !ret && !args->count && dray_device_maintained(*dev);
	dray_node_leave(node);
	return ret;
}

int dray_sync_call(struct dray_opener *opener, void *data,
		   struct dray_reply *reply)
{
	struct dray_node *node = opener->node;
	struct dray_range *ranges = NULL;
	struct dray_sync *args = data;
	struct device *dev;
	bool needed;
	int ret;
	u32 i;

	args->failed = 0;
	/* The flag of an earlier reply may still be set. */
	if (args->flags & ~(DRAY_SYNC_ASK | DRAY_SYNC_NOT_NEEDED))
		return -EINVAL;
	if (args->reserved || args->owner < DRAY_SYNC_FOR_DEVICE ||
	    args->owner > DRAY_SYNC_FOR_CPU ||
	    args->direction < DRAY_TO_DEVICE ||
	    args->direction > DRAY_BIDIRECTIONAL)
		return -EINVAL;
	if (args->count > DRAY_MAX_RANGES)
		return -EINVAL;
	if (args->count) {
		ranges = vmemdup_user(u64_to_user_ptr(args->ranges),
				      args->count * sizeof(*ranges));
		if (IS_ERR(ranges))
			return PTR_ERR(ranges);
	}

	ret = dray_sync_target(node, args, &dev, &needed, &reply->refusal);
	if (ret)
		goto free_ranges;
	for (i = 0; i < args->count && !ret; i++) {
		ret = dray_sync_range(node, dev, args, &ranges[i], &needed,
				      &reply->refusal);
		/* Unbinding may happen while an exporter waits for fences. */
		if (!ret && READ_ONCE(node->gone))
			ret = -ENODEV;
		if (ret)
			args->failed = i;
		cond_resched();
		/*
		 * If this task runs for 20 s more, the system does not fall
		 * asleep.  If every signal ended the call, a program with a
		 * timer would never finish it.
		 */
		try_to_freeze();
	}
	args->flags = ret || needed ? 0 : DRAY_SYNC_NOT_NEEDED;
free_ranges:
	kvfree(ranges);
	return ret;
}

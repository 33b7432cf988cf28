// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Handing memory over between the CPU and a device.  The regions are checked
 * here, on every back end and whether or not there is anything to do, so that
 * a program that is wrong on a board is wrong on a laptop too.
 */
#include <errno.h>
#include <inttypes.h>

#include "base/error.h"
#include "base/number.h"
#include "memory/backend.h"
#include "memory/node.h"

bool dray_node_needs_sync(const struct dray_node *node)
{
	return dray_given(node, __func__) && node->needs_sync;
}

static int sync_check_region(struct dray_node *node,
			     enum dray_direction direction,
			     const struct dray_region *region, size_t index)
{
	struct dray_buffer *buffer = region->buffer;
	uint64_t size, last, end;

	if (!buffer || !dray_node_same(buffer->node, node))
		return dray_fail(-EINVAL,
				 "region %zu: a buffer of another node", index);
	if (!region->width || !region->rows)
		return dray_fail(-EINVAL,
				 "region %zu: %" PRIu64 " rows of %" PRIu64
				 " bytes are empty",
				 index, region->rows, region->width);
	if (region->rows > 1 && region->pitch < region->width)
		return dray_fail(-EINVAL,
				 "region %zu: a pitch of %" PRIu64
				 " below the width of %" PRIu64 " bytes",
				 index, region->pitch, region->width);
	if (direction != DRAY_TO_DEVICE && !buffer->writable)
		return dray_fail(-EPERM,
				 "region %zu: buffer %" PRIu64
				 " is read-only, a device must not write it",
				 index, buffer->id);

	size = dray_buffer_size(buffer);
	if (dray_mul_overflow(region->rows - 1,
			      region->rows > 1 ? region->pitch : 0, &last) ||
	    dray_add_overflow(last, region->offset, &last) ||
	    dray_add_overflow(last, region->width, &end))
		return dray_fail(-EINVAL,
				 "region %zu: %" PRIu64 " rows, %" PRIu64
				 " bytes apart, at offset %" PRIu64
				 ": more than 64 bits",
				 index, region->rows, region->pitch,
				 region->offset);
	if (end > size)
		return dray_fail(-EINVAL,
				 "region %zu ends at %" PRIu64
				 ", buffer %" PRIu64 " at %" PRIu64 " bytes",
				 index, end, buffer->id, size);
	return 0;
}

/* Memory that no CPU caches never needs a sync, for any target. */
static bool is_some_cached(const struct dray_region *regions, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (regions[i].buffer->mode == DRAY_MODE_CACHED)
			return true;
	return false;
}

int dray_node_sync_target(struct dray_node *node, uint32_t target,
			  enum dray_sync_owner owner,
			  enum dray_direction direction,
			  const struct dray_region *regions, size_t count)
{
	size_t i, batch;
	int ret;

	if (owner != DRAY_SYNC_FOR_DEVICE && owner != DRAY_SYNC_FOR_CPU)
		return dray_fail(-EINVAL,
				 "%d is not the owner of a sync: %d or %d",
				 (int)owner, DRAY_SYNC_FOR_DEVICE,
				 DRAY_SYNC_FOR_CPU);
	if (direction < DRAY_TO_DEVICE || direction > DRAY_BIDIRECTIONAL)
		return dray_fail(-EINVAL, "%d is not a direction: %d to %d",
				 (int)direction, DRAY_TO_DEVICE,
				 DRAY_BIDIRECTIONAL);
	if (target != DRAY_TARGET_NODE && target >= node->info.channel_count)
		return dray_fail(-EINVAL, "channel %u: %s has %u", target,
				 node->info.name, node->info.channel_count);
	for (i = 0; i < count; i++) {
		ret = sync_check_region(node, direction, &regions[i], i);
		if (ret)
			return ret;
	}
	if (target == DRAY_TARGET_NODE && !node->needs_sync)
		return 0;
	if (!is_some_cached(regions, count) || !node->backend->sync)
		return 0;

	for (i = 0; i < count; i += batch) {
		batch = count - i < DRAY_MAX_RANGES ? count - i
						    : DRAY_MAX_RANGES;
		ret = node->backend->sync(node, target, owner, direction,
					  regions + i, batch);
		if (ret)
			return ret;
	}
	return 0;
}

int dray_node_sync(struct dray_node *node, enum dray_sync_owner owner,
		   enum dray_direction direction,
		   const struct dray_region *regions, size_t count)
{
	if (!dray_given(node, __func__) ||
	    (count && !dray_given(regions, __func__)))
		return -EINVAL;
	return dray_node_sync_target(node, DRAY_TARGET_NODE, owner, direction,
				     regions, count);
}

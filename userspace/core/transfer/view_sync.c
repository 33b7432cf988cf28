// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Cache maintenance for exactly the bytes of a view.  Its layout becomes
 * regions, with the longest axis as their rows, so a picture's crop is one
 * region and one call.
 */
#include <string.h>

#include "layout/layout.h"
#include "transfer/view_sync.h"

/* Regions made at a time, on the stack. */
#define BATCH 256
/* Bytes; no cache has shorter lines. */
#define SHORTEST_LINE 32u

/*
 * Closes gaps shorter than a line: every line has a byte of the view, and
 * cleaning a gap does no harm.  Invalidation needs the gaps, or the CPU would
 * lose its own bytes there.
 */
static void close_gaps(struct dray_layout *layout)
{
	while (layout->axes_count) {
		const struct dray_layout_axis *inner =
			&layout->axes[layout->axes_count - 1];
		uint64_t stride = (uint64_t)inner->strides[0];

		if (stride > SHORTEST_LINE && stride > layout->run)
			return;
		layout->run += stride * (inner->count - 1);
		layout->axes_count--;
	}
}

/* Takes the longest axis out of the layout, as the region's rows. */
static void sync_take_rows(struct dray_layout *layout,
			   struct dray_region *region)
{
	int longest = 0;
	int i;

	region->width = layout->run;
	region->rows = 1;
	region->pitch = layout->run;
	if (!layout->axes_count)
		return;
	for (i = 1; i < layout->axes_count; i++) {
		if (layout->axes[i].count >= layout->axes[longest].count)
			longest = i;
	}
	region->rows = layout->axes[longest].count;
	region->pitch = (uint64_t)layout->axes[longest].strides[0];
	layout->axes_count--;
	memmove(&layout->axes[longest], &layout->axes[longest + 1],
		(size_t)(layout->axes_count - longest) *
			sizeof(layout->axes[0]));
}

/* Moves to the next region; false behind the last. */
static bool view_sync_step(const struct dray_layout *layout, uint64_t *position,
			   uint64_t *offset)
{
	int k;

	for (k = layout->axes_count - 1; k >= 0; k--) {
		uint64_t stride = (uint64_t)layout->axes[k].strides[0];

		*offset += stride;
		if (++position[k] < layout->axes[k].count)
			return true;
		*offset -= stride * layout->axes[k].count;
		position[k] = 0;
	}
	return false;
}

static int sync_layout(struct dray_layout *layout,
		       const struct dray_location *location,
		       enum dray_sync_owner owner,
		       enum dray_direction direction)
{
	uint64_t position[DRAY_MAX_NDIM] = { 0 };
	struct dray_region regions[BATCH];
	struct dray_region region = { .buffer = location->buffer };
	struct dray_node *node = dray_buffer_node(location->buffer);
	size_t count = 0;
	bool more;
	int ret;

	region.offset =
		(uint64_t)((uintptr_t)layout->data[0] -
			   (uintptr_t)dray_buffer_data(location->buffer));
	if (owner == DRAY_SYNC_FOR_DEVICE && direction == DRAY_TO_DEVICE)
		close_gaps(layout);
	sync_take_rows(layout, &region);
	do {
		regions[count++] = region;
		more = view_sync_step(layout, position, &region.offset);
		if (more && count < BATCH && dray_node_needs_sync(node))
			continue;
		ret = dray_node_sync(node, owner, direction, regions, count);
		/*
		 * A node without need of syncs checks one region, and skips the
		 * others.
		 */
		if (ret || !dray_node_needs_sync(node))
			return ret;
		count = 0;
	} while (more);
	return 0;
}

int dray_view_sync_operand(struct dray_operand *operand,
			   enum dray_sync_owner owner,
			   enum dray_direction direction)
{
	struct dray_layout layout;
	int ret;

	dray_layout_cover(&layout, operand->view);
	if (!layout.runs)
		return 0;
	dray_operand_locate(operand, false);
	ret = dray_operand_check_block(operand);
	return ret ? ret
		   : sync_layout(&layout, &operand->location, owner, direction);
}

int dray_view_sync(const struct dray_view *view, enum dray_sync_owner owner,
		   enum dray_direction direction)
{
	struct dray_operand operand;
	int ret;

	ret = dray_operand_init(&operand, view, "the view");
	return ret ? ret : dray_view_sync_operand(&operand, owner, direction);
}

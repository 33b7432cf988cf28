// SPDX-License-Identifier: GPL-2.0-only
/*
 * INFO and HEAP_INFO: facts about a node, and the state of its heaps.
 */
#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/nospec.h>
#include <linux/string.h>

#include "base/device.h"
#include "base/node.h"
#include "base/reply.h"
#include "heap/heap.h"
#include "io/io.h"
#include "calls.h"
#include "channel_info.h"

int dray_info_call(struct dray_opener *opener, void *data,
		   struct dray_reply *reply)
{
	struct dray_node *node = opener->node;
	struct dray_info *info = data;
	int ret;

	memset(info, 0, sizeof(*info));
	ret = dray_node_enter(node);
	if (ret)
		return ret;
	info->abi_version = DRAY_ABI_VERSION;
	info->flags = node->flags;
	if (opener->address)
		info->flags |= DRAY_NODE_ADDRESS;
	if (opener->registers)
		info->flags |= DRAY_NODE_REGISTERS;
	if (node->io) {
		info->register_count = node->io->area_count;
		info->interrupt_count = node->io->line_count;
	}
	info->dma_mask = dray_device_reach(node->dev);
	info->cache_line = cache_line_size();
	info->dma_alignment = 1;
	if (!dev_is_dma_coherent(node->dev)) {
		info->cache_line =
			max(cache_line_size(), dma_get_cache_alignment());
		info->dma_alignment = info->cache_line;
	}
	info->heap_count = node->heap_count;
	info->page_size = PAGE_SIZE;
	if (DRAY_ENGINES)
		dray_channels_limits(node, info);
	strscpy(info->name, node->name, sizeof(info->name));
	strscpy(info->device, dev_name(node->dev), sizeof(info->device));
	strscpy(info->version, DRAY_MODULE_VERSION, sizeof(info->version));
	dray_node_leave(node);
	return 0;
}

/* Returns the heap that DRAY_HEAP_ANY tries first for cached memory. */
static u32 dray_node_default_heap(struct dray_node *node)
{
	u32 index;

	for (index = 0; index < node->heap_count; index++)
		if (node->heaps[index]->modes & BIT(DRAY_MODE_CACHED))
			return index;
	return 0;
}

int dray_heap_info_call(struct dray_opener *opener, void *data,
			struct dray_reply *reply)
{
	struct dray_node *node = opener->node;
	struct dray_heap_info *info = data;
	u32 index = info->index, modes = 0;
	int ret;

	ret = dray_node_enter(node);
	if (ret)
		return ret;
	if (index < node->heap_count) {
		index = array_index_nospec(index, node->heap_count);
		modes = dray_heap_modes(node->heaps[index], node->dev);
	}
	dray_node_leave(node);
	if (index >= node->heap_count)
		return -EINVAL;
	memset(info, 0, sizeof(*info));
	info->index = index;
	dray_heap_state(node->heaps[index], info);
	info->modes = modes;
	if (index == dray_node_default_heap(node))
		info->flags |= DRAY_HEAP_DEFAULT;
	return 0;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Kinds of memory, by the table of blocks: a question never touches the memory.
 */
#include <errno.h>
#include <string.h>

#include <dray/kind.h>
#include <dray/pool.h>

#include "base/error.h"
#include "layout/operand.h"
#include "memory/node.h"
#include "memory/window.h"

static enum dray_memory_kind place_kind_of(const struct dray_buffer *buffer,
					   struct dray_node *node)
{
	struct dray_node *owner = dray_buffer_node(buffer);

	if (node && !dray_node_same(owner, node))
		return DRAY_MEMORY_UNKNOWN;
	if (!dray_buffer_mapped(buffer))
		return DRAY_MEMORY_DEVICE;
	return strcmp(dray_node_backend(owner), "kernel") ? DRAY_MEMORY_HOST
							  : DRAY_MEMORY_SHARED;
}

enum dray_memory_kind dray_address_kind(const void *address,
					struct dray_node *node)
{
	struct dray_location where;

	/* Foreign memory is told from dray's without a sentence about it. */
	if (!dray_window_find(address) || dray_locate(address, &where))
		return DRAY_MEMORY_UNKNOWN;
	return place_kind_of(where.buffer, node);
}

int dray_view_kind(const struct dray_view *view, struct dray_node *node,
		   enum dray_memory_kind *kind)
{
	struct dray_operand operand;
	int ret;

	if (!dray_given(view, __func__) || !dray_given(kind, __func__))
		return -EINVAL;
	ret = dray_operand_init(&operand, view, "the view");
	if (ret)
		return ret;
	*kind = DRAY_MEMORY_UNKNOWN;
	if (operand.extent.low != operand.extent.high &&
	    dray_operand_locate(&operand, false) &&
	    !dray_operand_check_block(&operand))
		*kind = place_kind_of(operand.location.buffer, node);
	return 0;
}

const char *dray_memory_kind_name(enum dray_memory_kind kind)
{
	static const char *const names[] = {
		[DRAY_MEMORY_UNKNOWN] = "unknown",
		[DRAY_MEMORY_HOST] = "host",
		[DRAY_MEMORY_PINNED] = "pinned",
		[DRAY_MEMORY_MAPPED] = "mapped",
		[DRAY_MEMORY_SHARED] = "shared",
		[DRAY_MEMORY_DEVICE] = "device",
	};

	return (unsigned int)kind < sizeof(names) / sizeof(names[0])
		       ? names[kind]
		       : NULL;
}

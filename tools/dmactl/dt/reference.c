// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Entries of a list of phandles, one after another. */
#include "reference.h"

/* An entry without a known end is the last one. */
static bool is_open(const struct reference *reference)
{
	return reference->next &&
	       (!reference->target || !reference->counted || reference->cut);
}

struct reference reference_channels(const struct tree_node *node)
{
	return (struct reference){
		.node = node,
		.list = "dmas",
		.count_name = "#dma-cells",
	};
}

struct reference reference_heaps(const struct tree_node *node)
{
	return (struct reference){ .node = node, .list = "memory-region" };
}

bool reference_next(struct reference *reference)
{
	const char *list = reference->list;
	size_t cells = tree_cells(reference->node, list);

	if (reference->next >= cells || is_open(reference))
		return false;
	if (reference->next)
		reference->index++;
	reference->phandle =
		tree_cell(reference->node, list, reference->next++, 0);
	reference->target =
		tree_pointed(reference->node->tree, reference->phandle);
	reference->first = reference->next;
	reference->count = 0;
	reference->counted = !reference->count_name;
	reference->cut = false;
	if (!reference->target || !reference->count_name)
		return true;
	reference->counted =
		tree_cells(reference->target, reference->count_name);
	reference->count =
		tree_cell(reference->target, reference->count_name, 0, 0);
	reference->cut = reference->count > cells - reference->next;
	if (!reference->cut)
		reference->next += reference->count;
	return true;
}

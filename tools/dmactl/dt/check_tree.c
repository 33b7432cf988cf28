// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Runs all checks over a tree. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cli.h"

static void mark_used(struct check *check, const struct tree_node *node)
{
	size_t i;

	for (i = 0; i < tree_cells(node, "memory-region"); i++) {
		uint32_t phandle = tree_cell(node, "memory-region", i, 0);
		const struct tree_node *region =
			tree_pointed(check->tree, phandle);

		if (region)
			check->used[region - check->tree->nodes] = true;
	}
}

void check_tree(const struct tree *tree, unsigned int bits,
		struct findings *findings)
{
	struct memory memory;
	struct check check = {
		.tree = tree,
		.memory = &memory,
		.bits = bits,
		.used = memory_new(tree->count, sizeof(*check.used)),
		.findings = findings,
	};
	size_t i;

	memory_read(tree, &memory);
	for (i = 0; i < tree->count; i++)
		if (check_is_node(&tree->nodes[i]))
			mark_used(&check, &tree->nodes[i]);
	check_phandles(&check);
	check_memory(&check);
	for (i = 0; i < memory.region_count; i++) {
		const struct region *region = &memory.regions[i];

		if (region->node && check_uses(&check, region->node))
			check_region(&check, region);
	}
	check_nodes(&check);
	memory_drop(&memory);
	free(check.used);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Runs all checks over a tree. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cli.h"

bool check_is_node(const struct tree_node *node)
{
	return tree_names(node, "compatible", CHECK_COMPATIBLE);
}

bool check_uses(const struct check *check, const struct tree_node *region)
{
	return check->used[region - check->tree->nodes];
}

enum severity check_weight(const struct check *check,
			   const struct tree_node *region)
{
	return check_uses(check, region) ? SEVERITY_ERROR : SEVERITY_WARNING;
}

bool check_is_narrow(const struct tree *tree)
{
	static const char *const cores[] = {
		"arm,cortex-a5",  "arm,cortex-a7",    "arm,cortex-a8",
		"arm,cortex-a9",  "arm,cortex-a12",   "arm,cortex-a15",
		"arm,cortex-a17", "arm,arm1176jzf-s", NULL,
	};
	const struct tree_node *cpus = tree_at(tree, "/cpus");
	const struct tree_node *cpu = cpus ? tree_first(cpus) : NULL;
	size_t i;

	for (; cpu; cpu = tree_next(cpu))
		for (i = 0; cores[i]; i++)
			if (tree_names(cpu, "compatible", cores[i]))
				return true;
	return false;
}

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

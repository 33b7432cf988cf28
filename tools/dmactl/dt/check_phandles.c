// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Phandles: each number belongs to one node.  Nodes of dray are looked at more
 * closely elsewhere; here the references of all others.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "check.h"
#include "reference.h"

static const struct {
	const char *list;
	const char *count_name;
} lists[] = {
	{ "memory-region", NULL },
	{ "dmas", "#dma-cells" },
	{ "iommus", "#iommu-cells" },
};

static void check_duplicates(const struct check *check)
{
	const struct tree *tree = check->tree;
	size_t i;

	for (i = 1; i < tree->handle_count; i++) {
		const struct tree_node *node = tree->handles[i];
		char *path;

		if (node->phandle != tree->handles[i - 1]->phandle)
			continue;
		path = tree_path(tree->handles[i - 1]);
		report(check->findings, SEVERITY_ERROR, "phandle-duplicate",
		       node, "the phandle %#" PRIx32 " belongs to %s, too",
		       node->phandle, path);
		mend(check->findings,
		     "let dtc number the nodes: remove phandle from the source");
		free(path);
	}
}

static void phandles_check_list(const struct check *check,
				const struct tree_node *node, const char *list,
				const char *count_name)
{
	struct reference reference = {
		.node = node,
		.list = list,
		.count_name = count_name,
	};

	while (reference_next(&reference))
		if (!reference.target && reference.phandle) {
			report(check->findings, SEVERITY_WARNING,
			       "reference-dangling", node,
			       "entry %zu of %s is the phandle %#" PRIx32
			       ", which is not a node's",
			       reference.index, list, reference.phandle);
			mend(check->findings,
			     "refer to an existing node by its label");
		}
}

void check_phandles(const struct check *check)
{
	const struct tree *tree = check->tree;
	size_t i, j;

	check_duplicates(check);
	for (i = 0; i < tree->count; i++) {
		const struct tree_node *node = &tree->nodes[i];

		if (check_is_node(node) || !tree_is_enabled(node))
			continue;
		for (j = 0; j < sizeof(lists) / sizeof(lists[0]); j++)
			phandles_check_list(check, node, lists[j].list,
					    lists[j].count_name);
	}
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Facts of trees that several checks need. */
#include "check.h"

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

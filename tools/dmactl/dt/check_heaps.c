// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The entries of memory-region of a node of dray: each is a region that Linux
 * reserves, and of the kind that its name says.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "reference.h"

/* Each kind of heap, and the words that make one of a region. */
static const struct {
	const char *kind;
	const char *needs;
} kinds[] = {
	{ "carveout", "no-map" },
	{ "cma", "compatible = \"shared-dma-pool\" and reusable" },
	{ "reserved", "neither reusable nor no-map" },
};

static void heaps_check_kind(const struct check *check,
			     const struct tree_node *node,
			     const struct tree_node *region, size_t index)
{
	const char *name = tree_string(node, "memory-region-names", index);
	const char *kind = region_kind(region);
	size_t i;

	for (i = 0; name && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(name, kinds[i].kind) != 0 || !strcmp(name, kind))
			continue;
		report(check->findings, SEVERITY_ERROR, "region-kind", region,
		       "memory-region-names calls it %s, but it makes a heap of the kind %s",
		       name, kind);
		mend(check->findings, "a heap of the kind %s needs %s", name,
		     kinds[i].needs);
	}
}

static void heaps_check_entry(const struct check *check,
			      const struct reference *reference)
{
	const struct tree_node *node = reference->node;
	const struct tree_node *region = reference->target;
	const struct tree_node *top = tree_at(check->tree, "/reserved-memory");
	char *path;

	if (!region) {
		report(check->findings, SEVERITY_ERROR, "reference-dangling",
		       node,
		       "entry %zu of memory-region is the phandle %#" PRIx32
		       ", which is not a node's",
		       reference->index, reference->phandle);
		mend(check->findings,
		     "refer to a region of /reserved-memory by its label");
		return;
	}
	path = tree_path(region);
	if (!top || region->parent != top) {
		report(check->findings, SEVERITY_ERROR, "region-elsewhere",
		       node, "memory-region names %s, which is not a region",
		       path);
		mend(check->findings, "write the region in /reserved-memory");
	} else if (!tree_is_enabled(region)) {
		report(check->findings, SEVERITY_ERROR, "region-disabled",
		       region,
		       "its status is \"%s\": Linux does not reserve it",
		       tree_string(region, "status", 0)
			       ? tree_string(region, "status", 0)
			       : "");
		mend(check->findings, "remove status");
	} else {
		heaps_check_kind(check, node, region, reference->index);
	}
	free(path);
}

static bool heaps_is_repeated(const struct reference *reference)
{
	size_t i;

	for (i = 0; i < reference->index; i++)
		if (tree_cell(reference->node, reference->list, i, 0) ==
		    reference->phandle)
			return true;
	return false;
}

static void heaps_check_names(const struct check *check,
			      const struct tree_node *node, size_t count)
{
	size_t names = tree_strings(node, "memory-region-names");

	if (!tree_has(node, "memory-region-names") || names == count)
		return;
	report(check->findings, SEVERITY_WARNING, "names-count", node,
	       "memory-region-names lists %zu names, but memory-region %zu entries",
	       names, count);
	mend(check->findings, "write a name for each region");
}

void check_heaps(const struct check *check, const struct tree_node *node)
{
	struct reference reference = reference_heaps(node);
	size_t count = tree_cells(node, "memory-region");

	heaps_check_names(check, node, count);
	if (!count)
		report(check->findings, SEVERITY_NOTE, "heaps-none", node,
		       "memory-region is missing: the only heap is pages");
	if (count > CHECK_HEAPS_MOST) {
		report(check->findings, SEVERITY_ERROR, "count-limit", node,
		       "memory-region lists %zu entries; dray uses the first %d",
		       count, CHECK_HEAPS_MOST);
		mend(check->findings, "make a second node for the others");
	}
	while (reference_next(&reference) &&
	       reference.index < CHECK_HEAPS_MOST) {
		heaps_check_entry(check, &reference);
		if (heaps_is_repeated(&reference)) {
			report(check->findings, SEVERITY_WARNING,
			       "reference-repeated", node,
			       "entry %zu of memory-region names a region again",
			       reference.index);
			mend(check->findings, "name each region once");
		}
		/* reference_next() ends behind a phandle that is nobody's. */
		reference.target = node;
	}
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Banks of memory, the form of /reserved-memory, and regions that overlap.  Linux
 * ignores all regions if the form is wrong.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define REGIONS_MOST 64 /* MAX_RESERVED_REGIONS of Linux */

/* Linux's defaults of the root; a region's parent has none. */
#define ROOT_ADDRESS_CELLS 1
#define ROOT_SIZE_CELLS 1

static void check_bank(const struct check *check, const struct tree_node *node)
{
	enum extent_result result;
	struct extent extent;
	size_t i;

	for (i = 0;
	     (result = extent_read(node, "reg", i, &extent)) == EXTENT_READ ||
	     result == EXTENT_EMPTY;
	     i++)
		;
	if (result != EXTENT_WRONG)
		return;
	report(check->findings, SEVERITY_ERROR, "memory-format", node,
	       "entry %zu of reg is cut off or exceeds 64 bits, with %" PRIu32
	       " address and %" PRIu32 " size cells",
	       i, cells_of(node->parent).address, cells_of(node->parent).size);
	mend(check->findings,
	     "write each bank with the cells that the root demands");
}

static void check_banks(const struct check *check)
{
	const struct tree_node *root = check->tree->nodes, *node;
	const struct memory *memory = check->memory;
	size_t i;

	for (node = tree_first(root); node; node = tree_next(node))
		if (is_bank(node))
			check_bank(check, node);
	for (i = 1; i < memory->bank_count; i++) {
		const struct bank *low = &memory->banks[i - 1];
		const struct bank *high = &memory->banks[i];

		if (!extent_overlaps(&low->extent, &high->extent))
			continue;
		report(check->findings, SEVERITY_WARNING, "memory-overlap",
		       high->node,
		       "the bank at %#" PRIx64
		       " overlaps the bank from %#" PRIx64 " to %#" PRIx64,
		       high->extent.start, low->extent.start, low->extent.last);
		mend(check->findings, "describe each byte once");
	}
	if (!memory->bank_count)
		report(check->findings, SEVERITY_NOTE, "memory-none", root,
		       "no bank of memory states a size, so places are not compared with memory: the boot loader fills it in");
}

static void check_cells(const struct check *check, const struct tree_node *top,
			enum severity severity, const char *name,
			uint32_t expected)
{
	if (!tree_cells(top, name)) {
		report(check->findings, severity, "reserved-format", top,
		       "%s is missing, so Linux ignores all regions", name);
	} else if (tree_cell(top, name, 0, 0) != expected) {
		report(check->findings, severity, "reserved-format", top,
		       "%s is %" PRIu32 ", but the root's is %" PRIu32
		       ", so Linux ignores all regions",
		       name, tree_cell(top, name, 0, 0), expected);
	} else {
		return;
	}
	mend(check->findings, "set %s = <%" PRIu32 ">", name, expected);
}

/* Checks /reserved-memory itself, as __reserved_mem_check_root() of Linux. */
static void check_form(const struct check *check, const struct tree_node *top)
{
	const struct tree_node *root = check->tree->nodes, *node;
	enum severity severity = SEVERITY_WARNING;
	size_t count = 0;

	for (node = tree_first(top); node; node = tree_next(node)) {
		if (check_uses(check, node))
			severity = SEVERITY_ERROR;
		count += tree_is_enabled(node);
	}
	if (!count)
		return;
	check_cells(check, top, severity, "#address-cells",
		    tree_cell(root, "#address-cells", 0, ROOT_ADDRESS_CELLS));
	check_cells(check, top, severity, "#size-cells",
		    tree_cell(root, "#size-cells", 0, ROOT_SIZE_CELLS));
	if (!tree_has(top, "ranges")) {
		report(check->findings, severity, "reserved-ranges", top,
		       "ranges is missing, so Linux ignores all regions");
		mend(check->findings, "add an empty property: ranges;");
	}
	if (count > REGIONS_MOST) {
		report(check->findings, SEVERITY_WARNING, "reserved-many", top,
		       "%zu regions: kernels before 6.13 know the first %d",
		       count, REGIONS_MOST);
		mend(check->findings, "join regions that touch each other");
	}
}

/* Checks the form of a region, used or not. */
static void memory_check_shape(const struct check *check,
			       const struct region *region)
{
	const struct tree_node *node = region->node;

	if (region->wrong && !region->more) {
		report(check->findings, check_weight(check, node),
		       "region-format", node,
		       "%s does not fit %" PRIu32 " address and %" PRIu32
		       " size cells of /reserved-memory",
		       tree_has(node, "reg") ? "reg" : "size",
		       cells_of(node->parent).address,
		       cells_of(node->parent).size);
		mend(check->findings, "write as many numbers as cells");
	}
	if (!region->more && tree_has(node, "no-map") &&
	    tree_has(node, "reusable")) {
		report(check->findings, check_weight(check, node),
		       "region-flags", node,
		       "no-map and reusable contradict each other: the system cannot use memory that it does not map");
		mend(check->findings,
		     "keep no-map for a carveout, or reusable for CMA");
	}
}

static char *memory_name_of(const struct region *region)
{
	if (region->node)
		return tree_path(region->node);
	return strdup("/memreserve/");
}

static void report_overlap(const struct check *check, const struct region *low,
			   const struct region *high)
{
	bool used = (low->node && check_uses(check, low->node)) ||
		    (high->node && check_uses(check, high->node));
	const struct region *about = high->node ? high : low;
	const struct region *other = high->node ? low : high;
	char *name;

	/* The kernel accepts a reservation of the blob over others. */
	if (!used && (!low->node || !high->node))
		return;
	if (!about->node)
		return;
	name = memory_name_of(other);
	report(check->findings, used ? SEVERITY_ERROR : SEVERITY_WARNING,
	       "region-overlap", about->node,
	       "%#" PRIx64 " to %#" PRIx64 " overlaps %s, %#" PRIx64
	       " to %#" PRIx64,
	       about->extent.start, about->extent.last, name ? name : "",
	       other->extent.start, other->extent.last);
	mend(check->findings,
	     "move either of them: dmactl dt show lists free room");
	free(name);
}

/*
 * Compares each region with the one before it that reaches farthest.  The list is
 * sorted, and those without a place are last.
 */
static void check_overlaps(const struct check *check)
{
	const struct memory *memory = check->memory;
	const struct region *farthest = NULL;
	size_t i;

	for (i = 0; i < memory->region_count; i++) {
		const struct region *region = &memory->regions[i];

		if (!region->placed)
			continue;
		if (farthest &&
		    extent_overlaps(&farthest->extent, &region->extent) &&
		    farthest->node != region->node)
			report_overlap(check, farthest, region);
		if (!farthest || region->extent.last > farthest->extent.last)
			farthest = region;
	}
}

void check_memory(const struct check *check)
{
	const struct tree_node *top = tree_at(check->tree, "/reserved-memory");
	size_t i;

	check_banks(check);
	if (top)
		check_form(check, top);
	for (i = 0; i < check->memory->region_count; i++)
		if (check->memory->regions[i].node)
			memory_check_shape(check, &check->memory->regions[i]);
	check_overlaps(check);
}

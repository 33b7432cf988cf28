// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * One region of dray: it lies in memory, on whole pages, has one owner, and the
 * properties that its kind of heap needs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "base/quantity.h"

/* Memory that a 32-bit kernel maps, by default: 760 MiB. */
#define LOW_MEMORY UINT64_C(0x2f800000)

static void region_check_place(const struct check *check,
			       const struct region *region)
{
	const struct memory *memory = check->memory;
	const struct tree_node *node = region->node;
	bool carveout = !strcmp(region_kind(node), "carveout");
	bool touches;

	if (!memory->bank_count || memory_holds(memory, &region->extent))
		return;
	touches = memory_touches(memory, &region->extent);
	if (carveout && !touches) {
		report(check->findings, SEVERITY_NOTE, "region-outside", node,
		       "%#" PRIx64 " to %#" PRIx64
		       " lies in no bank of memory: right only for memory of the logic or on the chip",
		       region->extent.start, region->extent.last);
		return;
	}
	report(check->findings, SEVERITY_ERROR, "region-outside", node,
	       "%#" PRIx64 " to %#" PRIx64 " is %s memory",
	       region->extent.start, region->extent.last,
	       touches ? "only partly" : "not");
	mend(check->findings,
	     "move it into a bank of memory: dmactl dt show lists them");
}

/* Registers of a device inside a carveout: the kernel refuses it. */
static void check_registers(const struct check *check,
			    const struct region *region)
{
	const struct tree *tree = check->tree;
	struct extent extent;
	size_t i, j;

	if (!tree_has(region->node, "no-map"))
		return;
	for (i = 1; i < tree->count; i++) {
		const struct tree_node *node = &tree->nodes[i];

		if (is_bank(node) || node->parent == region->node->parent ||
		    !tree_has(node, "compatible") || !tree_is_enabled(node))
			continue;
		for (j = 0; extent_read(node, "reg", j, &extent) == EXTENT_READ;
		     j++) {
			char *path;

			if (!extent_translate(node, &extent) ||
			    !extent_overlaps(&extent, &region->extent))
				continue;
			path = tree_path(node);
			report(check->findings, SEVERITY_ERROR,
			       "region-registers", region->node,
			       "the registers of %s, %#" PRIx64 " to %#" PRIx64
			       ", lie in it",
			       path, extent.start, extent.last);
			mend(check->findings, "move the region");
			free(path);
			break;
		}
	}
}

static void check_pages(const struct check *check, const struct region *region)
{
	const struct tree_node *node = region->node;
	uint64_t sides = region->extent.start | region->size;

	if (region->size < PAGE_4K) {
		report(check->findings, SEVERITY_ERROR, "region-small", node,
		       "its size is %" PRIu64
		       " bytes; a heap needs a page of 4096 at least",
		       region->size);
		mend(check->findings, "set a size in whole pages");
	} else if (sides % PAGE_4K) {
		report(check->findings, SEVERITY_WARNING, "region-alignment",
		       node,
		       "%#" PRIx64 " and the size %#" PRIx64
		       " are not multiples of a page, 0x1000: dray leaves out the parts of pages",
		       region->extent.start, region->size);
		mend(check->findings, "align both to 0x1000");
	} else if (sides % PAGE_64K && !check_is_narrow(check->tree)) {
		report(check->findings, SEVERITY_NOTE, "region-alignment-64k",
		       node,
		       "%#" PRIx64 " and the size %#" PRIx64
		       " are not multiples of 0x10000: a kernel with pages of 64 KiB leaves out the parts",
		       region->extent.start, region->size);
		mend(check->findings, "align both to 0x10000");
	}
}

static void region_check_unit(const struct check *check,
			      const struct region *region)
{
	uint64_t sides = region->extent.start | region->size;
	uint64_t unit = check_is_narrow(check->tree) ? CMA_UNIT_OLD : CMA_UNIT;

	if (sides % unit) {
		report(check->findings, SEVERITY_ERROR, "region-alignment-cma",
		       region->node,
		       "%#" PRIx64 " and the size %#" PRIx64
		       " are not multiples of the unit of CMA, %#" PRIx64
		       ", so Linux makes no area of it",
		       region->extent.start, region->size, unit);
		mend(check->findings, "align both to %#" PRIx64, CMA_UNIT_OLD);
	} else if (sides % CMA_UNIT_OLD) {
		report(check->findings, SEVERITY_WARNING,
		       "region-alignment-cma", region->node,
		       "%#" PRIx64 " and the size %#" PRIx64
		       " are not multiples of %#" PRIx64
		       ": kernels before 5.18 make no area of it",
		       region->extent.start, region->size, CMA_UNIT_OLD);
		mend(check->findings, "align both to %#" PRIx64, CMA_UNIT_OLD);
	} else if (sides % CMA_UNIT_64K && !check_is_narrow(check->tree)) {
		report(check->findings, SEVERITY_NOTE, "region-alignment-64k",
		       region->node,
		       "a kernel with pages of 64 KiB makes no CMA area of it: the unit is %#" PRIx64
		       " there",
		       CMA_UNIT_64K);
	}
}

/* An area of CMA must not have memory of two zones. */
static void check_zones(const struct check *check, const struct region *region)
{
	const struct memory *memory = check->memory;
	uint64_t edge;

	if (!memory->bank_count || !check_is_narrow(check->tree))
		return;
	edge = memory->banks[0].extent.start + LOW_MEMORY;
	if (region->extent.start >= edge || region->extent.last < edge)
		return;
	report(check->findings, SEVERITY_WARNING, "region-zones", region->node,
	       "%#" PRIx64 " to %#" PRIx64
	       " crosses the end of low memory, %#" PRIx64
	       " by default: a 32-bit kernel makes no CMA area of it",
	       region->extent.start, region->extent.last, edge);
	mend(check->findings, "keep it on one side");
}

/* The length of the longest part of a bank in @window. */
static uint64_t longest_part(const struct memory *memory,
			     const struct extent *window)
{
	uint64_t longest = 0;
	size_t i;

	for (i = 0; i < memory->bank_count; i++) {
		struct extent bank = memory->banks[i].extent;

		if (!extent_overlaps(&bank, window))
			continue;
		if (bank.start < window->start)
			bank.start = window->start;
		if (bank.last > window->last)
			bank.last = window->last;
		if (extent_size(&bank) > longest)
			longest = extent_size(&bank);
	}
	return longest;
}

/* Checks a region that the kernel places: alloc-ranges and memory have room. */
static void check_dynamic(const struct check *check,
			  const struct region *region)
{
	const struct tree_node *node = region->node;
	struct extent window = { 0, UINT64_MAX };
	uint64_t room = 0;
	char size[QUANTITY_ROOM], most[QUANTITY_ROOM];
	size_t i;

	if (!tree_has(node, "size")) {
		report(check->findings, SEVERITY_ERROR, "region-format", node,
		       "it lacks both reg and size");
		mend(check->findings,
		     "add reg, or size for a place that Linux chooses");
		return;
	}
	if (!check->memory->bank_count || region->wrong)
		return;
	if (!tree_has(node, "alloc-ranges"))
		room = longest_part(check->memory, &window);
	for (i = 0;
	     extent_read(node, "alloc-ranges", i, &window) == EXTENT_READ;
	     i++) {
		uint64_t part = longest_part(check->memory, &window);

		room = part > room ? part : room;
	}
	if (region->size <= room)
		return;
	report(check->findings, SEVERITY_ERROR, "region-room", node,
	       "its size is %s, but the longest range of memory %s is %s",
	       quantity_size(size, region->size, false),
	       i ? "in alloc-ranges" : "of the board",
	       quantity_size(most, room, false));
	mend(check->findings, "%s",
	     i ? "widen alloc-ranges, or reduce the size" : "reduce the size");
}

static void region_check_shape(const struct check *check,
			       const struct region *region)
{
	const struct tree_node *node = region->node;

	if (tree_has(node, "reg") && tree_has(node, "size")) {
		report(check->findings, SEVERITY_WARNING, "region-format", node,
		       "it states both reg and size: Linux uses reg");
		mend(check->findings, "remove either of them");
	}
	if (tree_has(node, "reusable") && !tree_has(node, "no-map") &&
	    !tree_names(node, "compatible", "shared-dma-pool")) {
		report(check->findings, SEVERITY_WARNING, "region-reusable",
		       node,
		       "reusable has no effect without the compatible \"shared-dma-pool\": the heap is of the kind reserved");
		mend(check->findings,
		     "add compatible = \"shared-dma-pool\" for CMA, or remove reusable");
	}
	if (tree_names(node, "compatible", "restricted-dma-pool")) {
		report(check->findings, SEVERITY_ERROR, "region-owner", node,
		       "Linux uses a restricted-dma-pool for bounce buffers");
		mend(check->findings, "remove this compatible");
	}
	if (tree_names(node, "compatible", "shared-dma-pool") &&
	    !tree_has(node, "reusable") && !tree_has(node, "no-map")) {
		report(check->findings, SEVERITY_WARNING, "region-reusable",
		       node,
		       "a shared-dma-pool without reusable is not a CMA area: the heap is of the kind reserved");
		mend(check->findings,
		     "add reusable for CMA, or remove the compatible");
	}
}

/* A second user would have the memory at the same time; of CMA, both take parts. */
static void check_owner(const struct check *check, const struct region *region)
{
	const struct tree *tree = check->tree;
	uint32_t phandle = region->node->phandle;
	size_t i, j;

	if (!strcmp(region_kind(region->node), "cma"))
		return;
	for (i = 0; i < tree->count; i++) {
		const struct tree_node *node = &tree->nodes[i];
		char *path;

		if (check_is_node(node) || !tree_is_enabled(node))
			continue;
		for (j = 0; j < tree_cells(node, "memory-region"); j++)
			if (tree_cell(node, "memory-region", j, 0) == phandle)
				break;
		if (j == tree_cells(node, "memory-region"))
			continue;
		path = tree_path(node);
		report(check->findings, SEVERITY_WARNING, "region-owner",
		       region->node,
		       "%s names it, too: its driver may use the same memory",
		       path);
		mend(check->findings, "add a region for each of them");
		free(path);
	}
}

void check_region(const struct check *check, const struct region *region)
{
	const struct tree_node *node = region->node;

	if (region->more) {
		report(check->findings, SEVERITY_WARNING, "region-entries",
		       node,
		       "reg lists several entries: the heap is the first");
		mend(check->findings, "write a region for each");
		return;
	}
	region_check_shape(check, region);
	check_owner(check, region);
	if (!tree_has(node, "reg"))
		check_dynamic(check, region);
	if (region->wrong || (!region->placed && !tree_has(node, "reg")))
		return;
	check_pages(check, region);
	if (!region->placed)
		return;
	region_check_place(check, region);
	check_registers(check, region);
	if (!strcmp(region_kind(node), "cma")) {
		region_check_unit(check, region);
		check_zones(check, region);
	}
}

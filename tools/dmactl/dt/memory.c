// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Banks and regions, as Linux finds them in the tree at boot. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "flat.h"
#include "memory.h"

bool is_bank(const struct tree_node *node)
{
	const char *type = tree_string(node, "device_type", 0);

	return type && !strcmp(type, "memory") && tree_is_enabled(node);
}

static void memory_add_bank(struct memory *memory, const struct tree_node *node,
			    const struct extent *extent)
{
	memory->banks = memory_resize(memory->banks, memory->bank_count + 1,
				      sizeof(*memory->banks));
	memory->banks[memory->bank_count++] = (struct bank){
		.node = node,
		.extent = *extent,
	};
}

static void memory_read_banks(const struct tree_node *node,
			      struct memory *memory)
{
	const char *list = tree_has(node, "linux,usable-memory")
				   ? "linux,usable-memory"
				   : "reg";
	enum extent_result result;
	struct extent extent;
	size_t i;

	for (i = 0;
	     (result = extent_read(node, list, i, &extent)) == EXTENT_READ ||
	     result == EXTENT_EMPTY;
	     i++)
		if (result == EXTENT_READ)
			memory_add_bank(memory, node, &extent);
}

static void memory_add_region(struct memory *memory,
			      const struct region *region)
{
	memory->regions =
		memory_resize(memory->regions, memory->region_count + 1,
			      sizeof(*memory->regions));
	memory->regions[memory->region_count++] = *region;
}

/* Reads the size of a region that the kernel places. */
static void read_size(struct region *region)
{
	const struct tree_node *node = region->node;
	uint32_t cells = cells_of(node->parent).size;

	region->wrong = tree_has(node, "size") &&
			(tree_cells(node, "size") != cells ||
			 !cells_number(node, "size", 0, cells, &region->size));
}

static void read_region(const struct tree_node *node, struct memory *memory)
{
	struct region region = { .node = node };
	enum extent_result result = EXTENT_NONE;
	size_t i = 0;

	if (!tree_has(node, "reg")) {
		read_size(&region);
		memory_add_region(memory, &region);
		return;
	}
	do {
		result = extent_read(node, "reg", i, &region.extent);
		if (result == EXTENT_NONE && i)
			break;
		region.placed = result == EXTENT_READ;
		region.wrong = result == EXTENT_WRONG;
		region.size = region.placed ? extent_size(&region.extent) : 0;
		region.more = i++;
		memory_add_region(memory, &region);
	} while (result == EXTENT_READ || result == EXTENT_EMPTY);
}

/* The reservations of the blob. */
static void read_reserves(const struct tree *tree, struct memory *memory)
{
	int count = fdt_num_mem_rsv(tree->blob), i;

	for (i = 0; i < count; i++) {
		struct region region = { .placed = true };

		if (fdt_get_mem_rsv(tree->blob, i, &region.extent.start,
				    &region.size) ||
		    !region.size)
			continue;
		region.extent.last = region.extent.start + (region.size - 1);
		if (region.extent.last >= region.extent.start)
			memory_add_region(memory, &region);
	}
}

static int by_bank(const void *a, const void *b)
{
	const struct bank *first = a, *second = b;

	if (first->extent.start == second->extent.start)
		return first->node < second->node ? -1 : 1;
	return first->extent.start < second->extent.start ? -1 : 1;
}

static int memory_by_place(const void *a, const void *b)
{
	const struct region *first = a, *second = b;

	if (first->placed != second->placed)
		return first->placed ? -1 : 1;
	if (first->placed && first->extent.start != second->extent.start)
		return first->extent.start < second->extent.start ? -1 : 1;
	if (first->node == second->node)
		return first->more - second->more;
	return first->node < second->node ? -1 : 1;
}

void memory_read(const struct tree *tree, struct memory *memory)
{
	const struct tree_node *top = tree_at(tree, "/reserved-memory");
	const struct tree_node *node;

	*memory = (struct memory){ 0 };
	for (node = tree_first(tree->nodes); node; node = tree_next(node))
		if (is_bank(node))
			memory_read_banks(node, memory);
	for (node = top ? tree_first(top) : NULL; node; node = tree_next(node))
		if (tree_is_enabled(node))
			read_region(node, memory);
	read_reserves(tree, memory);
	if (memory->bank_count)
		qsort(memory->banks, memory->bank_count, sizeof(*memory->banks),
		      by_bank);
	if (memory->region_count)
		qsort(memory->regions, memory->region_count,
		      sizeof(*memory->regions), memory_by_place);
}

void memory_drop(struct memory *memory)
{
	free(memory->banks);
	free(memory->regions);
}

uint64_t memory_size(const struct memory *memory)
{
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < memory->bank_count; i++)
		size += extent_size(&memory->banks[i].extent);
	return size;
}

bool memory_holds(const struct memory *memory, const struct extent *extent)
{
	uint64_t next = extent->start;
	size_t i;

	for (i = 0; i < memory->bank_count; i++) {
		const struct extent *bank = &memory->banks[i].extent;

		if (bank->start > next || bank->last < next)
			continue;
		if (bank->last >= extent->last)
			return true;
		next = bank->last + 1;
	}
	return false;
}

bool memory_touches(const struct memory *memory, const struct extent *extent)
{
	size_t i;

	for (i = 0; i < memory->bank_count; i++)
		if (extent_overlaps(&memory->banks[i].extent, extent))
			return true;
	return false;
}

const struct region *memory_region(const struct memory *memory,
				   const struct tree_node *node)
{
	size_t i;

	for (i = 0; i < memory->region_count; i++)
		if (memory->regions[i].node == node && !memory->regions[i].more)
			return &memory->regions[i];
	return NULL;
}

const char *region_kind(const struct tree_node *node)
{
	if (tree_has(node, "no-map"))
		return "carveout";
	if (tree_has(node, "reusable") &&
	    tree_names(node, "compatible", "shared-dma-pool"))
		return "cma";
	return "reserved";
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Ranges of addresses.  Numbers of more than two cells count if the upper cells are
 * zero; addresses of PCI, with flags in the first cell, do not address memory.
 */
#include "extent.h"

#define CELLS_MOST 4 /* as in Linux */
#define WINDOWS_MOST 64 /* looked at, so that a hostile tree ends */

uint64_t extent_size(const struct extent *extent)
{
	return extent->last - extent->start + 1;
}

bool extent_overlaps(const struct extent *a, const struct extent *b)
{
	return a->start <= b->last && b->start <= a->last;
}

static bool extent_contains(const struct extent *outer,
			    const struct extent *inner)
{
	return outer->start <= inner->start && inner->last <= outer->last;
}

struct cells cells_of(const struct tree_node *bus)
{
	return (struct cells){
		.address = tree_cell(bus, "#address-cells", 0, 2),
		.size = tree_cell(bus, "#size-cells", 0, 1),
	};
}

bool cells_number(const struct tree_node *node, const char *name, size_t index,
		  uint32_t count, uint64_t *number)
{
	uint32_t i;

	*number = 0;
	if (count > CELLS_MOST || index + count > tree_cells(node, name))
		return false;
	for (i = 0; i < count; i++) {
		if (*number >> 32)
			return false;
		*number = *number << 32 | tree_cell(node, name, index + i, 0);
	}
	return true;
}

static enum extent_result extent_set(struct extent *extent, uint64_t start,
				     uint64_t size)
{
	if (!size)
		return EXTENT_EMPTY;
	extent->start = start;
	extent->last = start + (size - 1);
	return extent->last < start ? EXTENT_WRONG : EXTENT_READ;
}

enum extent_result extent_read(const struct tree_node *node, const char *name,
			       size_t index, struct extent *extent)
{
	struct cells cells = cells_of(node->parent ? node->parent : node);
	const struct tree_property *property = tree_property(node, name);
	size_t entry = (size_t)cells.address + cells.size;
	uint64_t start, size;

	if (!property || !property->size)
		return EXTENT_NONE;
	if (cells.address > CELLS_MOST || cells.size > CELLS_MOST || !entry ||
	    property->size % 4)
		return EXTENT_WRONG;
	if (index * entry >= property->size / 4)
		return EXTENT_NONE;
	if (!cells_number(node, name, index * entry, cells.address, &start) ||
	    !cells_number(node, name, index * entry + cells.address, cells.size,
			  &size))
		return EXTENT_WRONG;
	return extent_set(extent, start, size);
}

/* An entry of ranges or dma-ranges: of a bus, and the bus above it. */
struct mapping {
	struct extent below;
	uint64_t above;
};

static enum extent_result mapping_read(const struct tree_node *bus,
				       const char *name, size_t index,
				       struct mapping *mapping)
{
	struct cells below = cells_of(bus), above = cells_of(bus->parent);
	size_t entry = (size_t)below.address + above.address + below.size;
	uint64_t start, size;

	if (below.address > CELLS_MOST || above.address > CELLS_MOST ||
	    below.size > CELLS_MOST || !entry ||
	    index >= tree_cells(bus, name) / entry)
		return EXTENT_NONE;
	index *= entry;
	if (!cells_number(bus, name, index, below.address, &start) ||
	    !cells_number(bus, name, index + below.address, above.address,
			  &mapping->above) ||
	    !cells_number(bus, name, index + below.address + above.address,
			  below.size, &size))
		return EXTENT_WRONG;
	return extent_set(&mapping->below, start, size);
}

/* Moves @extent through a bus; an empty property changes nothing. */
static bool extent_rise(const struct tree_node *bus, const char *name,
			struct extent *extent)
{
	enum extent_result result;
	struct mapping mapping;
	size_t i;

	if (!tree_cells(bus, name))
		return true;
	for (i = 0;
	     (result = mapping_read(bus, name, i, &mapping)) != EXTENT_NONE;
	     i++) {
		if (result != EXTENT_READ ||
		    !extent_contains(&mapping.below, extent))
			continue;
		extent->start += mapping.above - mapping.below.start;
		extent->last += mapping.above - mapping.below.start;
		return extent->start <= extent->last;
	}
	return false;
}

bool extent_translate(const struct tree_node *node, struct extent *extent)
{
	const struct tree_node *bus = node->parent;

	for (; bus && bus->parent; bus = bus->parent)
		if (!tree_has(bus, "ranges") ||
		    !extent_rise(bus, "ranges", extent))
			return false;
	return true;
}

/* The nearest bus above with limits, or NULL. */
static const struct tree_node *limiting_bus(const struct tree_node *device)
{
	const struct tree_node *bus = device->parent;

	while (bus && bus->parent && !tree_cells(bus, "dma-ranges"))
		bus = bus->parent;
	return bus && bus->parent ? bus : NULL;
}

static bool window_rise(const struct tree_node *bus, struct extent *memory)
{
	for (bus = bus->parent; bus && bus->parent; bus = bus->parent)
		if (!extent_rise(bus, "dma-ranges", memory))
			return false;
	return true;
}

/* A part of memory that a device reaches, and its address there. */
struct window {
	struct extent memory; /* as the processors see it */
	uint64_t bus; /* the device's address of its first byte */
};

/*
 * Reads window @index of the bus above a device, from dma-ranges as Linux does.
 * False behind the last; the only window of a bus without limits is everything.
 */
static bool window_read(const struct tree_node *device, size_t index,
			struct window *window)
{
	const struct tree_node *bus = limiting_bus(device);
	enum extent_result result;
	struct mapping mapping;
	size_t i;

	if (!bus) {
		*window = (struct window){ .memory.last = UINT64_MAX };
		return !index;
	}
	for (i = 0; (result = mapping_read(bus, "dma-ranges", i, &mapping)) !=
		    EXTENT_NONE;
	     i++) {
		uint64_t more = mapping.below.last - mapping.below.start;

		if (result != EXTENT_READ || mapping.above > UINT64_MAX - more)
			continue;
		window->bus = mapping.below.start;
		window->memory.start = mapping.above;
		window->memory.last = mapping.above + more;
		if (window_rise(bus, &window->memory) && !index--)
			return true;
	}
	return false;
}

/* Cuts a window to the address bits; false if nothing is left. */
static bool window_cut(struct window *window, unsigned int bits)
{
	uint64_t most = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;

	if (window->bus > most)
		return false;
	if (window->memory.last - window->memory.start > most - window->bus)
		window->memory.last =
			window->memory.start + (most - window->bus);
	return true;
}

bool window_reaches(const struct tree_node *device, unsigned int bits,
		    const struct extent *memory, uint64_t *limit)
{
	struct window window;
	size_t i;

	*limit = 0;
	for (i = 0; i < WINDOWS_MOST && window_read(device, i, &window); i++) {
		if (!window_cut(&window, bits))
			continue;
		if (extent_contains(&window.memory, memory))
			return true;
		if (window.memory.last > *limit)
			*limit = window.memory.last;
	}
	return false;
}

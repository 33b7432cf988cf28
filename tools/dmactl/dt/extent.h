/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Ranges of addresses: read from reg and dma-ranges with any number of cells, and
 * translated through the buses in between.
 */
#ifndef DMACTL_DT_EXTENT_H
#define DMACTL_DT_EXTENT_H

#include "tree.h"

struct extent {
	uint64_t start;
	uint64_t last; /* the last byte, so that 2^64 fits */
};

/* Bytes of an extent; 0 for all 2^64. */
uint64_t extent_size(const struct extent *extent);
bool extent_overlaps(const struct extent *a, const struct extent *b);

/* #address-cells and #size-cells of a bus, by default 2 and 1. */
struct cells {
	uint32_t address;
	uint32_t size;
};

struct cells cells_of(const struct tree_node *bus);

/*
 * Reads a number of @count cells at cell @index of a property.  False if the
 * property ends before, or the number exceeds 64 bits.
 */
bool cells_number(const struct tree_node *node, const char *name, size_t index,
		  uint32_t count, uint64_t *number);

/* The results of extent_read(). */
enum extent_result {
	EXTENT_READ,
	EXTENT_NONE, /* the property ends before */
	EXTENT_EMPTY, /* its size is 0 */
	EXTENT_WRONG, /* cut off, or beyond 64 bits */
};

/*
 * Reads entry @index of a property such as reg: an address and a size with the
 * cells of the node's parent.
 */
enum extent_result extent_read(const struct tree_node *node, const char *name,
			       size_t index, struct extent *extent);

/* Translates it from the bus of @node to the processors; false if it cannot. */
bool extent_translate(const struct tree_node *node, struct extent *extent);

/*
 * Whether a device with @bits address bits, 64 at most, reaches all of @memory.
 * If not, @limit is the last byte that it reaches, or 0 if it reaches none.
 */
bool window_reaches(const struct tree_node *device, unsigned int bits,
		    const struct extent *memory, uint64_t *limit);

#endif /* DMACTL_DT_EXTENT_H */

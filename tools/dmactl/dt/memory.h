/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The memory that a device tree describes: banks, regions of /reserved-memory, and
 * reservations of the blob itself (/memreserve/).
 */
#ifndef DMACTL_DT_MEMORY_H
#define DMACTL_DT_MEMORY_H

#include "extent.h"

struct bank {
	const struct tree_node *node;
	struct extent extent;
};

struct region {
	const struct tree_node *node; /* NULL: a reservation of the blob */
	struct extent extent; /* if it is placed */
	uint64_t size;
	bool placed; /* the tree sets its address; else the kernel chooses */
	bool wrong; /* reg or size cannot be read */
	bool more; /* a further entry of the same reg */
};

struct memory {
	struct bank *banks; /* by address */
	size_t bank_count;
	struct region *regions; /* by address; regions without an address last */
	size_t region_count;
};

void memory_read(const struct tree *tree, struct memory *memory);
void memory_drop(struct memory *memory);

/* Whether the kernel uses a node as a bank of memory. */
bool is_bank(const struct tree_node *node);

/* Bytes of all banks. */
uint64_t memory_size(const struct memory *memory);

/* Whether banks that touch each other hold all of @extent. */
bool memory_holds(const struct memory *memory, const struct extent *extent);

/* Whether a bank holds a byte of @extent. */
bool memory_touches(const struct memory *memory, const struct extent *extent);

/* The region of a node, or NULL. */
const struct region *memory_region(const struct memory *memory,
				   const struct tree_node *node);

/* The heap that dray makes of a region: "carveout", "cma" or "reserved". */
const char *region_kind(const struct tree_node *node);

#endif /* DMACTL_DT_MEMORY_H */

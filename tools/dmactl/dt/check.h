/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The checks of a device tree, by subject.  An error is something that keeps a node
 * of dray, or memory that it names, from working as the tree says.  Trees of
 * boards follow their own habits, so the rest of a tree gets warnings at most, and
 * only where Linux itself would complain.
 */
#ifndef DMACTL_DT_CHECK_H
#define DMACTL_DT_CHECK_H

#include "findings.h"
#include "memory.h"

#define CHECK_COMPATIBLE "dray,node"
#define CHECK_HEAPS_MOST 15 /* DRAY_MAX_HEAPS without "pages" */
#define CHECK_CHANNELS_MOST 16 /* DRAY_MAX_CHANNELS */

#define PAGE_4K UINT64_C(0x1000)
#define PAGE_64K UINT64_C(0x10000)
/*
 * The unit of a CMA area: of arm64; of arm and of kernels before 5.18; and of
 * arm64 with pages of 64 KiB.
 */
#define CMA_UNIT UINT64_C(0x200000)
#define CMA_UNIT_OLD UINT64_C(0x400000)
#define CMA_UNIT_64K UINT64_C(0x20000000)

struct check {
	const struct tree *tree;
	const struct memory *memory;
	unsigned int bits; /* address bits of all nodes of dray, 64 at most */
	bool *used; /* of each node: memory-region of a node of dray lists it */
	struct findings *findings;
};

/* Checks all; with @bits address bits of each node of dray, 64 for no limit. */
void check_tree(const struct tree *tree, unsigned int bits,
		struct findings *findings);

/* Whether a node is dray's and Linux binds it. */
bool check_is_node(const struct tree_node *node);

/* Whether the board's processors are of 32 bits. */
bool check_is_narrow(const struct tree *tree);

/* Whether a node of dray names a region. */
bool check_uses(const struct check *check, const struct tree_node *region);

/* Error if dray is concerned, otherwise a warning. */
enum severity check_weight(const struct check *check,
			   const struct tree_node *region);

/* Checks that lists of phandles point to nodes: check_phandles.c. */
void check_phandles(const struct check *check);

/* Checks banks, /reserved-memory and overlaps: check_memory.c. */
void check_memory(const struct check *check);

/* Checks a region that a node of dray names: check_region.c. */
void check_region(const struct check *check, const struct region *region);

/* Checks nodes of dray, and such as are nearly called so: check_node.c. */
void check_nodes(const struct check *check);

/* Checks the entries of memory-region of a node of dray: check_heaps.c. */
void check_heaps(const struct check *check, const struct tree_node *node);

/* Checks the channels and the IOMMU of a node of dray: check_engines.c. */
void check_engines(const struct check *check, const struct tree_node *node);

/* Checks the engines that a node of dray names: check_providers.c. */
void check_providers(const struct check *check, const struct tree_node *node);

/* Checks the FIFOs of the channels: check_fifos.c. */
void check_fifos(const struct check *check, const struct tree_node *node);

/* Checks that the node and its engines reach its regions: check_reach.c. */
void check_reach(const struct check *check, const struct tree_node *node);

#endif /* DMACTL_DT_CHECK_H */

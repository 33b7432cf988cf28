/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The map of memory that a tree describes: banks, the regions in them with their
 * users, and free parts, by address.
 */
#ifndef DMACTL_DT_MAP_H
#define DMACTL_DT_MAP_H

#include "memory.h"

#define MAP_BAR_WIDTH 32

enum node_map_kind {
	MAP_BANK,
	MAP_REGION,
	MAP_RESERVE, /* of the blob, without a node */
	MAP_FREE, /* of a bank, in no region */
};

struct map_row {
	enum node_map_kind kind;
	const struct tree_node *node; /* NULL: MAP_RESERVE, MAP_FREE */
	bool placed; /* otherwise Linux chooses the place */
	struct extent extent;
	uint64_t size;
	const char *heap; /* the kind that dray would make of it, or NULL */
	bool drays; /* a node of dray names it */
};

struct node_map {
	const struct tree *tree;
	struct memory memory;
	struct map_row *rows; /* by address, those without one last */
	size_t count;
};

void memory_map_read(const struct tree *tree, struct node_map *map);
void map_drop(struct node_map *map);

/* "memory", "region", "memreserve" or "free". */
const char *map_word(enum node_map_kind kind);

/* Returns user @index of a region, a node that names it, or NULL. */
const struct tree_node *map_user(const struct node_map *map,
				 const struct map_row *row, size_t index);

/*
 * Draws a bank: '#' regions of dray, 'c' memory lent to the system, 'x' other
 * regions, '.' free.
 */
void map_bar(const struct node_map *map, const struct map_row *row,
	     char bar[MAP_BAR_WIDTH + 1]);

#endif /* DMACTL_DT_MAP_H */

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Rows of the map: banks and regions as they are, and the gaps between them. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cli.h"
#include "map.h"

const char *map_word(enum node_map_kind kind)
{
	static const char *const words[] = { "memory", "region", "memreserve",
					     "free" };

	return words[kind];
}

static struct map_row *map_add_row(struct node_map *map)
{
	map->rows =
		memory_resize(map->rows, map->count + 1, sizeof(*map->rows));
	map->rows[map->count] = (struct map_row){ 0 };
	return &map->rows[map->count++];
}

static void map_add_free(struct node_map *map, uint64_t start, uint64_t last)
{
	struct map_row *row = map_add_row(map);

	row->kind = MAP_FREE;
	row->placed = true;
	row->extent = (struct extent){ start, last };
	row->size = extent_size(&row->extent);
}

/* Adds a bank and what no region of it has. */
static void map_add_bank(struct node_map *map, const struct bank *bank)
{
	const struct memory *memory = &map->memory;
	struct map_row *row = map_add_row(map);
	uint64_t next = bank->extent.start;
	size_t i;

	row->kind = MAP_BANK;
	row->node = bank->node;
	row->placed = true;
	row->extent = bank->extent;
	row->size = extent_size(&bank->extent);
	for (i = 0; i < memory->region_count; i++) {
		const struct region *region = &memory->regions[i];

		if (!region->placed || region->extent.last < next ||
		    region->extent.start > bank->extent.last)
			continue;
		if (region->extent.start > next)
			map_add_free(map, next, region->extent.start - 1);
		if (region->extent.last >= bank->extent.last)
			return;
		next = region->extent.last + 1;
	}
	map_add_free(map, next, bank->extent.last);
}

static bool is_drays(const struct node_map *map, const struct map_row *row)
{
	const struct tree_node *user;
	size_t i;

	for (i = 0; (user = map_user(map, row, i)); i++)
		if (check_is_node(user))
			return true;
	return false;
}

static void map_add_region(struct node_map *map, const struct region *region)
{
	struct map_row *row = map_add_row(map);

	row->kind = region->node ? MAP_REGION : MAP_RESERVE;
	row->node = region->node;
	row->placed = region->placed;
	row->extent = region->extent;
	row->size = region->size;
	if (!region->node)
		return;
	row->heap = region_kind(region->node);
	row->drays = is_drays(map, row);
}

static int map_by_place(const void *a, const void *b)
{
	const struct map_row *first = a, *second = b;

	if (first->placed != second->placed)
		return first->placed ? -1 : 1;
	if (first->placed && first->extent.start != second->extent.start)
		return first->extent.start < second->extent.start ? -1 : 1;
	if (first->kind != second->kind)
		return first->kind < second->kind ? -1 : 1;
	return first->node < second->node ? -1 : first->node > second->node;
}

void memory_map_read(const struct tree *tree, struct node_map *map)
{
	size_t i;

	*map = (struct node_map){ .tree = tree };
	memory_read(tree, &map->memory);
	for (i = 0; i < map->memory.bank_count; i++)
		map_add_bank(map, &map->memory.banks[i]);
	for (i = 0; i < map->memory.region_count; i++)
		map_add_region(map, &map->memory.regions[i]);
	if (map->count)
		qsort(map->rows, map->count, sizeof(*map->rows), map_by_place);
}

void map_drop(struct node_map *map)
{
	memory_drop(&map->memory);
	free(map->rows);
}

static bool names_region(const struct tree_node *node, uint32_t phandle)
{
	size_t i;

	for (i = 0; i < tree_cells(node, "memory-region"); i++)
		if (tree_cell(node, "memory-region", i, 0) == phandle)
			return true;
	return false;
}

const struct tree_node *map_user(const struct node_map *map,
				 const struct map_row *row, size_t index)
{
	size_t i;

	if (!row->node || !row->node->phandle)
		return NULL;
	for (i = 0; i < map->tree->count; i++)
		if (names_region(&map->tree->nodes[i], row->node->phandle) &&
		    !index--)
			return &map->tree->nodes[i];
	return NULL;
}

static char map_letter_of(const struct map_row *row)
{
	if (row->drays)
		return '#';
	return row->heap && !strcmp(row->heap, "cma") ? 'c' : 'x';
}

void map_bar(const struct node_map *map, const struct map_row *row,
	     char bar[MAP_BAR_WIDTH + 1])
{
	/* so that small regions are seen, too: a cell shows what it touches */
	double cell = ((double)row->extent.last - (double)row->extent.start) /
		      MAP_BAR_WIDTH;
	size_t i, at;

	memset(bar, '.', MAP_BAR_WIDTH);
	bar[MAP_BAR_WIDTH] = '\0';
	for (i = 0; i < map->count; i++) {
		const struct map_row *region = &map->rows[i];

		if (!region->placed || region->kind == MAP_BANK ||
		    region->kind == MAP_FREE)
			continue;
		for (at = 0; at < MAP_BAR_WIDTH; at++) {
			double start =
				(double)row->extent.start + (double)at * cell;

			if ((double)region->extent.start < start + cell &&
			    (double)region->extent.last > start &&
			    bar[at] != '#')
				bar[at] = map_letter_of(region);
		}
	}
}

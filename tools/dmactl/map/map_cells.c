// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reduces a map to cells of equal size, so that its picture is bounded however many
 * buffers there are.  A cell shows the part that has most of it; memory that is free
 * or the system's is the ground on which parts lie.
 */
#include <stdlib.h>

#include "map.h"

uint64_t map_cell_bytes(const struct map *map, size_t columns, size_t rows)
{
	uint64_t bytes = 1;

	while (bytes < map->node->info.page_size)
		bytes *= 2;
	while ((map->size - 1) / bytes >= columns * rows)
		bytes *= 2;
	return bytes;
}

static void cells_add_piece(const struct map *map, struct map_cell *cell,
			    size_t part, uint64_t length)
{
	switch (map->parts[part].state) {
	case DRAY_PART_FREE:
		return;
	case DRAY_PART_SYSTEM:
		cell->system += length;
		return;
	}
	if (!cell->parts++ || length > cell->most) {
		cell->most = length;
		cell->part = part;
	}
	cell->used += length;
}

struct map_cell *map_cells(const struct map *map, uint64_t bytes, size_t *count)
{
	struct map_cell *cells;
	size_t i;

	*count = (size_t)((map->size - 1) / bytes) + 1;
	cells = memory_new(*count, sizeof(*cells));
	for (i = 0; i < map->count; i++) {
		uint64_t from = map->parts[i].offset;
		uint64_t left = map->parts[i].length;

		while (left && from < map->size) {
			uint64_t piece = bytes - from % bytes;

			if (piece > left)
				piece = left;
			cells_add_piece(map, &cells[from / bytes], i, piece);
			from += piece;
			left -= piece;
		}
	}
	return cells;
}

unsigned int map_eighths(const struct map_cell *cell, uint64_t bytes)
{
	double part = 8 * (double)cell->used / (double)bytes;

	if (!cell->used)
		return 0;
	return part < 1 ? 1 : (unsigned int)part;
}

const struct map_group *map_cell_group(const struct map *map,
				       const struct map_cell *cell)
{
	size_t i;

	if (cell->parts)
		return &map->groups[map->group_of[cell->part]];
	for (i = 0; cell->system && i < map->group_count; i++)
		if (map->groups[i].kind == MAP_SYSTEM)
			return &map->groups[i];
	return NULL;
}

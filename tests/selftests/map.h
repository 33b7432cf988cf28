/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The map of a heap: reading it, and the rules that every map keeps.
 */
#ifndef SELFTEST_MAP_H
#define SELFTEST_MAP_H

#include "node.h"

#define MAP_ROOM 16384

struct map {
	struct dray_heap_map call;
	struct dray_part parts[MAP_ROOM];
};

static inline int map_read(int node, uint32_t heap, struct map *map)
{
	map->call = (struct dray_heap_map){ .heap = heap,
					    .parts = (uintptr_t)map->parts,
					    .room = MAP_ROOM };
	return node_call(node, DRAY_IOC_HEAP_MAP, &map->call);
}

static inline bool part_is_right(const struct map *map, uint32_t i, size_t page)
{
	const struct dray_part *part = &map->parts[i];

	return part->length && !(part->length % page) &&
	       part->state <= DRAY_PART_SYSTEM && !part->reserved &&
	       (!part->id || part->state == DRAY_PART_BUFFER ||
		part->state == DRAY_PART_HELD) &&
	       (!i || part->id || part[-1].id || part->state != part[-1].state);
}

/* The index of the first part that breaks a rule, or -1. */
static inline int map_wrong_part(const struct map *map, size_t page)
{
	uint64_t at = 0;
	uint32_t i;

	for (i = 0; i < map->call.count; i++) {
		if (i == MAP_ROOM || map->parts[i].offset != at ||
		    !part_is_right(map, i, page))
			return (int)i;
		at += map->parts[i].length;
	}
	return at == map->call.size ? -1 : (int)i;
}

/* The buffer's part, or NULL. */
static inline const struct dray_part *map_find(const struct map *map,
					       uint64_t id)
{
	for (uint32_t i = 0; i < map->call.count && i < MAP_ROOM; i++)
		if (map->parts[i].id == id)
			return &map->parts[i];
	return NULL;
}

/* The part that has the byte at @offset. */
static inline const struct dray_part *map_at(const struct map *map,
					     uint64_t offset)
{
	uint32_t i = 0;

	while (i + 1 < map->call.count && map->parts[i + 1].offset <= offset)
		i++;
	return &map->parts[i];
}

/* Bytes of all parts in that state; *@longest of the longest one. */
static inline uint64_t map_bytes(const struct map *map, uint32_t state,
				 uint64_t *longest)
{
	uint64_t bytes = 0;

	*longest = 0;
	for (uint32_t i = 0; i < map->call.count && i < MAP_ROOM; i++) {
		if (map->parts[i].state != state)
			continue;
		bytes += map->parts[i].length;
		if (map->parts[i].length > *longest)
			*longest = map->parts[i].length;
	}
	return bytes;
}

#endif

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Maps of the scripted heaps, as tables.  The range of "reserved" begins 1 MiB
 * above a multiple of all alignments, at 0x40100000.
 */
#include <errno.h>
#include <string.h>

#include "scripted.h"
#include "scripted_many.h"

#define START (1024 * MIB + MIB) /* an address, in secret */

/* A part is as long as the next one's offset says, up to 64 MiB. */
struct place {
	uint64_t offset; /* MiB */
	uint32_t state;
	uint64_t id;
};

static const struct place reserved[] = {
	{ 0, DRAY_PART_BUFFER, 1 },	  { 1, DRAY_PART_FREE, 0 },
	{ 5, DRAY_PART_BUFFER, 2 },	  { 7, DRAY_PART_FREE, 0 },
	{ 11, DRAY_PART_QUARANTINED, 0 }, { 19, DRAY_PART_FREE, 0 },
	{ 23, DRAY_PART_BUFFER, 0 },	  { 52, DRAY_PART_FREE, 0 },
	{ 56, DRAY_PART_CONDEMNED, 0 },	  { 64, 0, 0 },
};

static const struct place other[] = {
	{ 0, DRAY_PART_SYSTEM, 0 },
	{ 8, DRAY_PART_BUFFER, 3 },
	{ 11, DRAY_PART_SYSTEM, 0 },
	{ 64, 0, 0 },
};

static const struct place unused[] = {
	{ 0, DRAY_PART_FREE, 0 },
	{ 64, 0, 0 },
};

static void set_parts(const struct place *place, struct dray_heap_map *map)
{
	struct dray_part *parts = (struct dray_part *)(uintptr_t)map->parts;

	for (; place->offset < 64; place++) {
		struct dray_part part = {
			.offset = place[0].offset * MIB,
			.length = (place[1].offset - place[0].offset) * MIB,
			.id = place->id,
			.state = place->state,
		};

		if (is_scene("held") && place->id == 2)
			part.state = DRAY_PART_HELD;
		if (map->count < map->room)
			parts[map->count] = part;
		map->count++;
	}
}

int dray_node_heap_map(struct dray_node *node, struct dray_heap_map *map,
		       size_t size)
{
	uint64_t alignment = map->alignment ? map->alignment : 4096;
	uint64_t limit = map->address_limit;
	uint64_t reach;

	if (size != sizeof(*map))
		return fail("map", EINVAL);
	if (limit & (limit + 1) && is_scene("others"))
		return fail("map", EPERM);
	if (alignment > 64 * MIB)
		return fail("map", EINVAL);
	map->count = 0;
	map->size = 0;
	if (map->heap < 2) {
		map->size = 64 * MIB;
		map->first_aligned =
			(alignment - START % alignment) % alignment;
		reach = limit && limit < START ? 0
			: limit ? (limit - START + 1) & ~UINT64_C(4095)
				: map->size;
		map->reach = reach < map->size ? reach : map->size;
		if (has_many() && !map->heap)
			set_many_parts(map);
		else if (is_scene("empty"))
			set_parts(unused, map);
		else
			set_parts(map->heap ? other : reserved, map);
	}
	return scripted_failure("map", scripted_index(node));
}

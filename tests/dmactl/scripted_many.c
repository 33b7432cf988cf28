// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A heap of 10,000 buffers: small ones of many owners in a heap of 64 MiB.  All is
 * computed from the id, so that BUFFER_INFO and HEAP_MAP agree.
 */
#include <stdio.h>
#include <string.h>

#include "scripted.h"
#include "scripted_many.h"

#define PAGE 4096
#define OWNERS 40

bool has_many(void)
{
	return is_scene("many") || is_scene("swelling");
}

/* Buffers in the map: all, or more at each look until all are there. */
static uint64_t many_now(void)
{
	static uint64_t looks;

	if (is_scene("many") || ++looks * 1000 > MANY)
		return MANY;
	return looks * 1000;
}

/* Pages of buffer @id: mostly one. */
static uint64_t pages_of(uint64_t id)
{
	return id % 16 == 5 ? 4 : 1;
}

/* Free pages behind it. */
static uint64_t free_behind(uint64_t id)
{
	return id % 7 == 3 ? 1 + id % 3 : 0;
}

void make_one_of_many(struct dray_buffer_info *info)
{
	/* runs of ten belong together, and the first owners have more */
	uint64_t run = info->id / 10;
	unsigned int owner = (unsigned int)(run * run % 97 * run % OWNERS);

	info->size = pages_of(info->id) * PAGE;
	info->heap = 0;
	info->flags = 0;
	info->mode = DRAY_MODE_CACHED;
	info->pid = 1000 + (int32_t)owner;
	info->uid = owner % 3 ? 0 : 65534;
	snprintf(info->comm, sizeof(info->comm), "worker%u", owner);
	snprintf(info->name, sizeof(info->name), "tile %u",
		 (unsigned int)info->id);
	snprintf(info->heap_name, sizeof(info->heap_name), "reserved");
}

static void add(struct dray_heap_map *map, uint64_t *offset, uint64_t pages,
		uint32_t state, uint64_t id)
{
	struct dray_part *parts = (struct dray_part *)(uintptr_t)map->parts;

	if (!pages)
		return;
	if (map->count < map->room)
		parts[map->count] = (struct dray_part){
			.offset = *offset,
			.length = pages * PAGE,
			.id = id,
			.state = state,
		};
	map->count++;
	*offset += pages * PAGE;
}

void set_many_parts(struct dray_heap_map *map)
{
	uint64_t offset = 0;
	uint64_t count = many_now();
	uint64_t id;

	for (id = 1; id <= count; id++) {
		add(map, &offset, pages_of(id), DRAY_PART_BUFFER, id);
		add(map, &offset, free_behind(id), DRAY_PART_FREE, 0);
	}
	add(map, &offset, (map->size - offset) / PAGE, DRAY_PART_FREE, 0);
}

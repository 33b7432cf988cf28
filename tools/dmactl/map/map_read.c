// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reads the map of a heap and the owner of each buffer in it.  The heap may change
 * meanwhile: a buffer that was freed before its owner could be asked for is marked.
 */
#include <errno.h>
#include <stdlib.h>

#include "map.h"

/* Reads all parts; retries if their number grows between two calls. */
static int read_parts(const struct open_node *node, struct map *map)
{
	struct dray_heap_map call = { .heap = map->heap.index };
	int ret;

	for (;;) {
		call.parts = (uintptr_t)map->parts;
		ret = dray_node_heap_map(node->node, &call, sizeof(call));
		if (ret || call.count <= call.room)
			break;
		call.room = call.count + call.count / 8 + 1;
		if (call.room < call.count)
			call.room = UINT32_MAX;
		map->parts = memory_resize(map->parts, call.room,
					   sizeof(*map->parts));
	}
	if (ret)
		return ret;
	map->count = call.count;
	map->size = call.size;
	return 0;
}

static bool read_has_owner(const struct dray_part *part)
{
	return part->id && part->state == DRAY_PART_BUFFER;
}

static int read_owners(const struct open_node *node, struct map *map)
{
	size_t i;
	int ret;

	map->infos = memory_new(map->count, sizeof(*map->infos));
	for (i = 0; i < map->count; i++) {
		if (!read_has_owner(&map->parts[i]))
			continue;
		ret = dray_node_buffer_info(node->node, map->parts[i].id,
					    &map->infos[i],
					    sizeof(map->infos[i]));
		if (ret == -ENOENT)
			map->infos[i].id = 0;
		else if (ret)
			return ret;
	}
	return 0;
}

static void find_free_runs(struct map *map)
{
	size_t i;

	for (i = 0; i < map->count; i++) {
		const struct dray_part *part = &map->parts[i];

		if (part->state != DRAY_PART_FREE)
			continue;
		map->free_runs++;
		map->free += part->length;
		if (part->length > map->longest) {
			map->longest = part->length;
			map->longest_offset = part->offset;
		}
	}
}

bool map_read(const struct open_node *node, const struct dray_heap_info *heap,
	      enum map_by by, struct map *map)
{
	int ret;

	*map = (struct map){ .node = node, .heap = *heap, .by = by };
	ret = read_parts(node, map);
	if (ret) {
		node_complain(node, "read the map of a heap", ret);
	} else {
		ret = read_owners(node, map);
		if (ret)
			node_complain(node, "read a buffer", ret);
	}
	if (ret) {
		map_free(map);
		return false;
	}
	find_free_runs(map);
	map_form_groups(map);
	return true;
}

void map_free(struct map *map)
{
	size_t i;

	for (i = 0; i < map->group_count; i++)
		free(map->groups[i].label);
	free(map->groups);
	free(map->group_of);
	free(map->infos);
	free(map->parts);
	*map = (struct map){ 0 };
}

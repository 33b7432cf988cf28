// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The sentences of a map: one heap's name, fill, free runs and fragmentation. */
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "map.h"
#include "base/quantity.h"

int map_fragmentation(const struct map *map)
{
	return quantity_fragmentation(map->free, map->longest,
				      map->heap.largest_request);
}

char *map_title(const struct map *map, bool bytes)
{
	const struct dray_heap_info *heap = &map->heap;
	char size[QUANTITY_ROOM];
	char *name = escape(heap->name, sizeof(heap->name), ESCAPE_NAME);
	char *title = text_format("%s of %s: %s", name, map->node->name,
				  quantity_size(size, heap->total, bytes));

	free(name);
	return title;
}

static void map_facts_add_free(const struct map *map, bool bytes, char **facts)
{
	int fragmented = map_fragmentation(map);
	char first[QUANTITY_ROOM];
	char second[QUANTITY_ROOM];

	if (!map->free_runs) {
		text_append(facts, "; %s%s free",
			    map->heap.flags & DRAY_HEAP_SHARED ? "at most "
							       : "",
			    quantity_size(first, map->heap.free, bytes));
		return;
	}
	text_append(facts, "; %s free in %zu %s",
		    quantity_size(first, map->free, bytes), map->free_runs,
		    map->free_runs == 1 ? "run" : "runs");
	text_append(facts, "; longest run %s at %s",
		    quantity_size(first, map->longest, bytes),
		    quantity_size(second, map->longest_offset, bytes));
	if (fragmented >= 0)
		text_append(facts, "; %d%% fragmented", fragmented);
}

char *map_facts(const struct map *map, bool bytes)
{
	const struct dray_heap_info *heap = &map->heap;
	char size[QUANTITY_ROOM];
	char *facts = text_format("%s used by %u %s",
				  quantity_size(size, heap->used, bytes),
				  heap->buffers,
				  heap->buffers == 1 ? "buffer" : "buffers");

	map_facts_add_free(map, bytes, &facts);
	if (!map->size)
		text_append(&facts, "; this heap has no range of its own: the "
				    "system's pages come from anywhere");
	if (map_hides(map))
		text_append(&facts, "; 'others' are buffers of other users: "
				    "their owners are shown to "
				    "CAP_SYS_ADMIN only");
	return facts;
}

void map_wrap(char *text, size_t width)
{
	char *line = text;
	char *space = NULL;
	char *end;

	for (end = text; width && *end; end++) {
		if (*end == ' ')
			space = end;
		if ((size_t)(end - line) < width || !space)
			continue;
		*space = '\n';
		line = space + 1;
		space = NULL;
	}
}

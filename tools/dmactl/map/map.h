/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The map of a heap: the parts of its range, the owners of its buffers, and the
 * same reduced to cells of a terminal.
 */
#ifndef DMACTL_MAP_H
#define DMACTL_MAP_H

#include "base/access.h"
#include "base/command.h"

#define MAP_HUES 8 /* owners with a colour and a letter of their own */

/* The meaning of colours: --by. */
enum map_by {
	MAP_BY_OWNER, /* process */
	MAP_BY_USER,
	MAP_BY_STATE,
	MAP_BY_AGE,
};

/* The kinds of parts; owners' parts are first and get a hue. */
enum map_kind {
	MAP_OWNER,
	MAP_MORE, /* owners beyond MAP_HUES */
	MAP_OTHERS, /* of users that the caller may not see */
	MAP_ENDED, /* freed before dmactl could ask for its owner */
	MAP_HELD,
	MAP_QUARANTINED,
	MAP_CONDEMNED,
	MAP_SYSTEM,
	MAP_UNKNOWN, /* a state of a newer module */
	MAP_FREE,
	MAP_KINDS,
};

/* Parts with one colour: a line of the legend. */
struct map_group {
	enum map_kind kind;
	unsigned int hue; /* below MAP_HUES, for MAP_OWNER */
	uint64_t bytes;
	size_t parts;
	size_t owners; /* for MAP_MORE */
	/* A buffer of the owner; NULL: the group is not an owner's. */
	const struct dray_buffer_info *info;
	char *label; /* escaped, for people */
};

struct map {
	const struct open_node *node; /* borrowed */
	struct dray_heap_info heap;
	enum map_by by;
	uint64_t size; /* bytes of its range; 0: there is none */
	struct dray_part *parts;
	size_t count;
	/* Of the buffer in each part; id 0: it is not known. */
	struct dray_buffer_info *infos;
	uint32_t *group_of; /* of each part */
	struct map_group *groups;
	size_t group_count;
	/* Free runs, of the map; none if the system shares the heap. */
	size_t free_runs;
	uint64_t free;
	uint64_t longest; /* bytes of the longest run */
	uint64_t longest_offset;
};

/* Reads the map of a heap; false after a complaint. */
bool map_read(const struct open_node *node, const struct dray_heap_info *heap,
	      enum map_by by, struct map *map);
void map_free(struct map *map);

/* Forms the groups of a map that was read: called by map_read(). */
void map_form_groups(struct map *map);

/* Whether there are buffers that the caller may not see. */
bool map_hides(const struct map *map);

/* Returns the free bytes in percent that the longest run lacks; -1: none is free. */
int map_fragmentation(const struct map *map);

/* A piece of the range that is drawn as a whole. */
struct map_cell {
	uint64_t used; /* bytes of dray that are not free */
	uint64_t system; /* bytes of the system */
	uint64_t most; /* bytes here of the part with most of used */
	size_t part; /* that part, if there are parts */
	size_t parts; /* of used */
};

/*
 * Returns the cells of @bytes each, *@count for the range, the last maybe shorter;
 * for free().
 */
struct map_cell *map_cells(const struct map *map, uint64_t bytes,
			   size_t *count);

/* Returns the group that a cell shows, or NULL if it shows free memory. */
const struct map_group *map_cell_group(const struct map *map,
				       const struct map_cell *cell);

/*
 * Returns the bytes of a cell, a power of two, so that at most @columns * @rows
 * cells cover the range.
 */
uint64_t map_cell_bytes(const struct map *map, size_t columns, size_t rows);

/* Returns how full a cell is, in eighths: 0 if it is empty, else at least 1. */
unsigned int map_eighths(const struct map_cell *cell, uint64_t bytes);

/* Returns the heap's name, node and size, and facts about it; for free(). */
char *map_title(const struct map *map, bool bytes);
char *map_facts(const struct map *map, bool bytes);

/* Breaks text at spaces into lines of up to @width characters, if that is not 0. */
void map_wrap(char *text, size_t width);

void map_print(const struct map *map, const struct request *request);

#endif /* DMACTL_MAP_H */

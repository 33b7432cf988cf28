// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Blocks as rows, then the sums and a picture of each buffer. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"
#include "base/quantity.h"
#include "escape.h"

#define MAP_WIDTH 64 /* characters, of wide terminals and files */

const struct command_option arrays_all_option = {
	.name = "all",
	.text = "also rows for cached blocks and free runs",
};

struct arrays_rows {
	struct array_row *entries;
	size_t count;
	size_t room;
	bool all; /* cached blocks and free runs too */
};

/* Buffers of the host have numbers of their process only. */
bool inside_wants(const void *context, const struct published_region *region)
{
	const struct inside *inside = context;
	const struct dray_publish_pool *pool = region->pool;

	if (inside->node &&
	    strncmp(inside->node, pool->node, sizeof(pool->node)) != 0)
		return false;
	return !inside->buffer || (region->fixed->buffer == inside->buffer &&
				   !strcmp(pool->backend, "kernel"));
}

bool inside_has(const struct inside *inside, const struct published *process)
{
	size_t i;

	for (i = 0; i < process->region_count; i++)
		if (inside_wants(inside, &process->regions[i]))
			return true;
	return false;
}

static void print_add_row(void *context, const struct array_row *row)
{
	struct arrays_rows *rows = context;

	if (!rows->all &&
	    (!row->block || row->block->fixed->state == DRAY_PUBLISH_CACHED))
		return;
	if (rows->count == rows->room) {
		rows->room = rows->room ? 2 * rows->room : 64;
		rows->entries = memory_resize(rows->entries, rows->room,
					      sizeof(*rows->entries));
	}
	rows->entries[rows->count++] = *row;
}

static struct arrays_rows print_take_rows(const struct inside *inside, bool all)
{
	struct arrays_rows rows = { .all = all };
	size_t i, j;

	for (i = 0; i < inside->count; i++) {
		const struct published *process = &inside->processes[i];

		for (j = 0; j < process->region_count; j++)
			if (inside_wants(inside, &process->regions[j]))
				region_each(process, &process->regions[j],
					    print_add_row, &rows);
	}
	return rows;
}

static void print_rows(const struct request *request,
		       const struct inside *inside, const struct row_view *view,
		       uint64_t limit)
{
	struct arrays_rows rows = print_take_rows(
		inside, option_value(request, &arrays_all_option));
	const void **order =
		memory_resize(NULL, rows.count + 1, sizeof(*order));
	struct table *table;
	size_t i;

	for (i = 0; i < rows.count; i++)
		order[i] = &rows.entries[i];
	row_view_sort(view, order, rows.count);
	table = row_view_table(view, request, order,
			       rows.count < limit ? rows.count : (size_t)limit);
	table_print(table, request);
	table_destroy(table);
	if (request->header && rows.count > limit)
		printf("... and %zu more\n", (size_t)(rows.count - limit));
	free(order);
	free(rows.entries);
}

static void arrays_print_size(const struct request *request, const char *before,
			      uint64_t size)
{
	char text[QUANTITY_ROOM];

	printf("%s%s%s", before, quantity_size(text, size, request->bytes),
	       request->bytes ? " bytes" : "");
}

/* The sums of one buffer, and a picture of it. */
static void print_sums(const struct request *request,
		       const struct published *process,
		       const struct published_region *region)
{
	const struct dray_publish_pool *pool = region->pool;
	size_t width = MAP_WIDTH;
	struct region_facts facts;
	char *name = escape(pool->name, strnlen(pool->name, sizeof(pool->name)),
			    ESCAPE_NAME);
	char *comm = escape(process->comm, strlen(process->comm), ESCAPE_NAME);
	char *node = escape(pool->node, strnlen(pool->node, sizeof(pool->node)),
			    ESCAPE_NAME);
	char *map;

	region_sum(process, region, &facts);
	printf("buffer %" PRIu64 " of pool '%s' on %s, process %d (%s)",
	       region->fixed->buffer, name, node, process->pid, comm);
	arrays_print_size(request, ": ", region->fixed->size);
	if (pool->flags & DRAY_PUBLISH_POOL_CLOSED)
		printf(", closed");
	arrays_print_size(request, "\n  used ", facts.used);
	printf(" in %zu block%s (%zu array%s)", facts.blocks,
	       facts.blocks == 1 ? "" : "s", facts.arrays,
	       facts.arrays == 1 ? "" : "s");
	arrays_print_size(request, ", cached ", facts.cached);
	arrays_print_size(request, ", parked ", facts.parked);
	arrays_print_size(request, "\n  free ", facts.free);
	printf(" in %zu run%s", facts.free_runs,
	       facts.free_runs == 1 ? "" : "s");
	arrays_print_size(request, ", the longest ", facts.longest_free);
	printf(", fragmented %u%%\n", region_fragmented(&facts));
	if (request->width && request->width < width + 4)
		width = request->width > 20 ? request->width - 4 : 16;
	map = region_map(process, region, width);
	printf("  [%s]\n", map);
	free(map);
	free(node);
	free(comm);
	free(name);
}

void inside_print(const struct request *request, const struct inside *inside,
		  const struct row_view *view, uint64_t limit)
{
	size_t i, j;

	print_rows(request, inside, view, limit);
	for (i = 0; request->header && i < inside->count; i++) {
		const struct published *process = &inside->processes[i];

		for (j = 0; j < process->region_count; j++)
			if (inside_wants(inside, &process->regions[j]))
				print_sums(request, process,
					   &process->regions[j]);
		if (!process->pool_count)
			printf("process %d has no pool\n", process->pid);
		else if (inside->node && !inside_has(inside, process))
			printf("process %d has no buffer on %s\n", process->pid,
			       inside->node);
	}
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Sums, free runs and a picture of one buffer, and all of it as JSON. */
#include <stdlib.h>
#include <string.h>

#include "arrays.h"
#include "base/document.h"

void region_each(const struct published *process,
		 const struct published_region *region,
		 void (*see)(void *context, const struct array_row *row),
		 void *context)
{
	struct array_row row = { .process = process, .region = region };
	uint64_t end = 0; /* of the rows so far */
	size_t i;

	for (i = 0; i <= region->count; i++) {
		const struct published_block *block = NULL;
		uint64_t start = region->fixed->size;

		if (i < region->count) {
			block = &process->blocks[region->first + i];
			start = block->fixed->offset;
		}
		if (start > end) {
			row.block = NULL;
			row.offset = end;
			row.size = start - end;
			see(context, &row);
		}
		if (!block)
			break;
		row.block = block;
		row.offset = start;
		row.size = block->fixed->size;
		see(context, &row);
		end = start + block->fixed->size;
	}
}

static void facts_add_free(struct region_facts *facts, uint64_t size)
{
	facts->free += size;
	facts->free_runs++;
	if (size > facts->longest_free)
		facts->longest_free = size;
}

static void facts_add_row(void *context, const struct array_row *row)
{
	struct region_facts *facts = context;

	if (!row->block) {
		facts_add_free(facts, row->size);
		return;
	}
	switch (row->block->fixed->state) {
	case DRAY_PUBLISH_PARKED:
		facts->parked += row->size;
		break;
	case DRAY_PUBLISH_CACHED:
		facts->cached += row->size;
		break;
	default:
		facts->used += row->size;
		facts->blocks++;
		if (row->block->fixed->flags & DRAY_PUBLISH_ARRAY)
			facts->arrays++;
	}
}

void region_sum(const struct published *process,
		const struct published_region *region,
		struct region_facts *facts)
{
	*facts = (struct region_facts){ 0 };
	region_each(process, region, facts_add_row, facts);
}

unsigned int region_fragmented(const struct region_facts *facts)
{
	if (!facts->free)
		return 0;
	return (unsigned int)(100 - (double)facts->longest_free * 100 /
					    (double)facts->free);
}

struct drawing {
	double scale; /* characters in a byte */
	size_t width;
	double *used; /* shares of each character */
	double *kept;
};

static void facts_draw_row(void *context, const struct array_row *row)
{
	struct drawing *drawing = context;
	double from = (double)row->offset * drawing->scale;
	double to = from + (double)row->size * drawing->scale;
	double *share = drawing->used;
	size_t at;

	if (!row->block)
		return;
	if (row->block->fixed->state != DRAY_PUBLISH_USED)
		share = drawing->kept;
	for (at = (size_t)from; at < drawing->width && (double)at < to; at++) {
		double start = from > (double)at ? from : (double)at;
		double end = to < (double)at + 1 ? to : (double)at + 1;

		share[at] += end - start;
	}
}

char *region_map(const struct published *process,
		 const struct published_region *region, size_t width)
{
	struct drawing drawing = {
		.scale = (double)width / (double)region->fixed->size,
		.width = width,
		.used = memory_new(width, sizeof(double)),
		.kept = memory_new(width, sizeof(double)),
	};
	char *map = memory_new(width + 1, 1);
	size_t i;

	region_each(process, region, facts_draw_row, &drawing);
	for (i = 0; i < width; i++) {
		map[i] = '.';
		if (drawing.used[i] >= 0.5)
			map[i] = '#';
		else if (drawing.used[i] > 0)
			map[i] = '+';
		else if (drawing.kept[i] > 0)
			map[i] = '-';
	}
	free(drawing.used);
	free(drawing.kept);
	return map;
}

struct facts_listing {
	const struct row_view *view;
	json_t *blocks;
};

/* A text that is NULL in JSON if it is not known. */
static void add_text(json_t *object, const char *key, const char *text,
		     size_t length)
{
	if (length)
		document_text(object, key, text, length);
	else
		document_set(object, key, json_null());
}

static void facts_list_row(void *context, const struct array_row *row)
{
	struct facts_listing *listing = context;
	const struct published_block *block = row->block;
	json_t *object;
	json_t *shape = NULL;
	uint32_t i;

	if (!block)
		return;
	object = json_object();
	document_number(object, "offset", row->offset);
	document_number(object, "size", row->size);
	if (block->fixed->asked)
		document_number(object, "asked", block->fixed->asked);
	else
		document_set(object, "asked", json_null());
	document_word(object, "state", row_state(row));
	document_word(object, "kind", row_kind(row));
	if (block->fixed->flags & DRAY_PUBLISH_ARRAY) {
		shape = json_array();
		for (i = 0; i < block->fixed->ndim; i++)
			document_set(shape, NULL,
				     json_integer(block->shape[i]));
	}
	document_set(object, "shape", shape ? shape : json_null());
	add_text(object, "type", block->type, block->fixed->type_length);
	document_number(object, "transfers", block->fixed->holds);
	add_text(object, "lent_to", block->loan ? block->loan->to : "",
		 block->loan ? strnlen(block->loan->to, sizeof(block->loan->to))
			     : 0);
	add_text(object, "site", block->site, block->fixed->site_length);
	document_set(listing->blocks, NULL,
		     row_view_trim(listing->view, object));
}

static json_t *region_document(const struct published *process,
			       const struct published_region *region,
			       const struct row_view *view)
{
	struct facts_listing listing = { .view = view, .blocks = json_array() };
	json_t *object = json_object();
	struct region_facts facts;

	region_sum(process, region, &facts);
	region_each(process, region, facts_list_row, &listing);
	document_number(object, "buffer", region->fixed->buffer);
	document_number(object, "size", region->fixed->size);
	document_number(object, "age_ns", region->fixed->age_ns);
	document_number(object, "used", facts.used);
	document_number(object, "parked", facts.parked);
	document_number(object, "cached", facts.cached);
	document_number(object, "free", facts.free);
	document_number(object, "free_runs", facts.free_runs);
	document_number(object, "longest_free", facts.longest_free);
	document_number(object, "fragmented_percent",
			region_fragmented(&facts));
	document_number(object, "used_blocks", facts.blocks);
	document_number(object, "arrays", facts.arrays);
	document_set(object, "blocks", listing.blocks);
	return object;
}

/* A pool with an array for its buffers. */
static json_t *pool_document(const struct dray_publish_pool *pool)
{
	json_t *object = json_object();

	document_text(object, "name", pool->name, sizeof(pool->name));
	document_text(object, "node", pool->node, sizeof(pool->node));
	document_text(object, "backend", pool->backend, sizeof(pool->backend));
	document_number(object, "granule", pool->granule);
	document_set(object, "closed",
		     json_boolean(pool->flags & DRAY_PUBLISH_POOL_CLOSED));
	document_set(object, "checked",
		     json_boolean(pool->flags & DRAY_PUBLISH_POOL_CHECKED));
	document_set(object, "buffers", json_array());
	return object;
}

json_t *arrays_document(const struct published *process,
			const struct row_view *view,
			bool (*wanted)(const void *context,
				       const struct published_region *region),
			const void *context)
{
	const struct dray_publish_pool *pool = NULL;
	json_t *root = json_object();
	json_t *pools = json_array();
	json_t *last = NULL;
	size_t i;

	document_number(root, "pid", (uint64_t)process->pid);
	document_text(root, "comm", process->comm, sizeof(process->comm));
	document_set(root, "truncated", json_boolean(process->truncated));
	for (i = 0; i < process->region_count; i++) {
		const struct published_region *region = &process->regions[i];

		if (!wanted(context, region))
			continue;
		if (region->pool != pool) {
			pool = region->pool;
			last = pool_document(pool);
			document_set(pools, NULL, last);
		}
		document_set(json_object_get(last, "buffers"), NULL,
			     region_document(process, region, view));
	}
	document_set(root, "pools", pools);
	return root;
}

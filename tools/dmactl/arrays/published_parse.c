// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Checks a snapshot and finds its parts.  They stay where they are: the bytes
 * are the caller's own copy, so that they cannot change after they were checked.
 */
#include <stdlib.h>

#include "cli.h"
#include "published.h"

struct published_parser {
	struct published *out;
	const struct dray_publish_pool *pool; /* NULL: none yet */
	size_t first; /* block that has no region yet */
	size_t block_room;
	size_t region_room;
	uint64_t end; /* of the last block, in its region */
};

/* Makes room for one more; doubles. */
static void *published_parse_grow(void *entries, size_t count, size_t *room,
				  size_t size)
{
	if (count < *room)
		return entries;
	*room = *room ? 2 * *room : 64;
	return memory_resize(entries, *room, size);
}

static const char *parse_add_pool(struct published_parser *parser,
				  const void *item)
{
	const struct dray_publish_pool *pool = item;

	if (parser->first != parser->out->block_count)
		return "blocks without a buffer";
	parser->pool = pool;
	parser->out->pool_count++;
	return NULL;
}

static const char *add_block(struct published_parser *parser, const void *item)
{
	const struct dray_publish_block *block = item;
	struct published *out = parser->out;
	uint64_t size = sizeof(*block) + (uint64_t)block->type_length +
			block->site_length;
	uint64_t end;
	const char *rest;

	if (!parser->pool)
		return "a block without a pool";
	if (block->ndim > DRAY_PUBLISH_AXES)
		return "an array with too many axes";
	size += block->ndim * sizeof(int64_t);
	if (size > block->item.size)
		return "a block that is longer than its item";
	if (block->state > DRAY_PUBLISH_CACHED)
		return "a block in an unknown state";
	if (!block->size ||
	    __builtin_add_overflow(block->offset, block->size, &end) ||
	    block->offset < parser->end)
		return "blocks that overlap";
	parser->end = end;
	out->blocks =
		published_parse_grow(out->blocks, out->block_count,
				     &parser->block_room, sizeof(*out->blocks));
	rest = (const char *)(block + 1) + block->ndim * sizeof(int64_t);
	out->blocks[out->block_count++] = (struct published_block){
		.fixed = block,
		.shape = (const int64_t *)(const void *)(block + 1),
		.type = rest,
		.site = rest + block->type_length,
	};
	return NULL;
}

static const char *add_loan(struct published_parser *parser, const void *item)
{
	struct published *out = parser->out;

	if (parser->first == out->block_count)
		return "a loan without a block";
	out->blocks[out->block_count - 1].loan = item;
	return NULL;
}

static const char *parse_add_region(struct published_parser *parser,
				    const void *item)
{
	const struct dray_publish_region *region = item;
	struct published *out = parser->out;

	if (!parser->pool)
		return "a buffer without a pool";
	if (!region->size || parser->end > region->size)
		return "a block that leaves its buffer";
	out->regions = published_parse_grow(out->regions, out->region_count,
					    &parser->region_room,
					    sizeof(*out->regions));
	out->regions[out->region_count++] = (struct published_region){
		.fixed = region,
		.pool = parser->pool,
		.first = parser->first,
		.count = out->block_count - parser->first,
	};
	parser->first = out->block_count;
	parser->end = 0;
	return NULL;
}

static const char *parse_add_item(struct published_parser *parser,
				  const struct dray_publish_item *item)
{
	static const struct {
		size_t least; /* bytes */
		const char *(*add)(struct published_parser *parser,
				   const void *item);
	} kinds[] = {
		[DRAY_PUBLISH_POOL] = { sizeof(struct dray_publish_pool),
					parse_add_pool },
		[DRAY_PUBLISH_REGION] = { sizeof(struct dray_publish_region),
					  parse_add_region },
		[DRAY_PUBLISH_BLOCK] = { sizeof(struct dray_publish_block),
					 add_block },
		[DRAY_PUBLISH_LOAN] = { sizeof(struct dray_publish_loan),
					add_loan },
	};

	if (item->kind >= sizeof(kinds) / sizeof(kinds[0]) ||
	    !kinds[item->kind].add)
		return NULL; /* of a later version */
	if (item->size < kinds[item->kind].least)
		return "an item that is too short";
	return kinds[item->kind].add(parser, item);
}

static const char *add_items(struct published_parser *parser, const char *at,
			     const char *end)
{
	const char *wrong = NULL;

	while (!wrong && at < end) {
		const struct dray_publish_item *item = (const void *)at;

		if ((size_t)(end - at) < sizeof(*item) ||
		    item->size < sizeof(*item) || item->size % 8 ||
		    item->size > (size_t)(end - at))
			return "an item that leaves the snapshot";
		wrong = parse_add_item(parser, item);
		at += item->size;
	}
	if (!wrong && parser->first != parser->out->block_count)
		wrong = "blocks without a buffer";
	return wrong;
}

const char *published_parse(const void *bytes, size_t size,
			    struct published *out)
{
	const struct dray_publish_head *head = bytes;
	struct published_parser parser = { .out = out };
	const char *wrong;

	*out = (struct published){ 0 };
	if (size < sizeof(*head) || head->magic != DRAY_PUBLISH_MAGIC)
		return "no snapshot of a pool";
	if (head->version != DRAY_PUBLISH_VERSION)
		return "another version of the format";
	if (head->size != size)
		return "a size that is not its own";
	out->truncated = head->flags & DRAY_PUBLISH_TRUNCATED;
	wrong = add_items(&parser, (const char *)(head + 1),
			  (const char *)bytes + size);
	if (wrong)
		published_free(out);
	return wrong;
}

void published_free(struct published *published)
{
	free(published->blocks);
	free(published->regions);
	free(published->bytes);
	published->blocks = NULL;
	published->regions = NULL;
	published->bytes = NULL;
}

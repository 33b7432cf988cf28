// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * split: a handler over a pool that leaves small requests to another handler.
 *
 * Runtimes pass wrong sizes, so a table of the pool's blocks tells the two
 * handlers' blocks apart.  An address outside of dray's memory is not even looked
 * up: small blocks cost two loads more than the other handler's own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address_table.h"
#include "base/error.h"
#include "base/guard.h"
#include "base/number.h"
#include "memory/window.h"
#include "pool/check.h"
#include "pool/no_memory.h"
#include "pool/pool.h"

struct split {
	struct dray_handler handler;
	const struct dray_handler *large, *small;
	size_t limit; /* bytes; smaller requests are small */
	bool careful; /* the small handler is dray's: it sees wrong frees */
	struct dray_guard guard;
	/* With the guard: the large blocks, and their bytes plus 1. */
	struct dray_address_table table;
};

/* A handler of the library's said why it failed. */
static void *small_failed(const struct split *split, size_t size)
{
	return split->careful ? NULL : dray_no_memory("a block", size);
}

static void *split_noted(size_t size)
{
	return (void *)((uintptr_t)size + 1);
}

/* Whether @block came from the pool, and how many bytes were asked for. */
static bool is_large(struct split *split, const void *block, size_t *size)
{
	uintptr_t value;

	if (!dray_window_find(block))
		return false;
	dray_guard_take(&split->guard);
	value = (uintptr_t)dray_address_get(&split->table, (uintptr_t)block);
	dray_guard_give(&split->guard);
	*size = value - 1;
	return value;
}

/* Renames @old to @as in the table, which is large enough. */
static void rename_block(struct split *split, const void *old, const void *as,
			 size_t size)
{
	dray_guard_take(&split->guard);
	dray_address_take(&split->table, (uintptr_t)old);
	dray_address_put(&split->table, (uintptr_t)as, split_noted(size));
	dray_guard_give(&split->guard);
}

/* Enters a block of the pool, or passes NULL on. */
static void *split_note(struct split *split, void *block, size_t size)
{
	const struct dray_allocator *large = &split->large->allocator;
	bool room;

	if (!block) /* the pool said why */
		return NULL;
	dray_guard_take(&split->guard);
	room = dray_address_reserve(&split->table);
	if (room)
		dray_address_put(&split->table, (uintptr_t)block,
				 split_noted(size));
	dray_guard_give(&split->guard);
	if (room)
		return block;
	large->free(large->ctx, block, size);
	return dray_no_memory("a block", size);
}

static void split_free_large(struct split *split, void *block, size_t size)
{
	const struct dray_allocator *large = &split->large->allocator;

	dray_guard_take(&split->guard);
	dray_address_take(&split->table, (uintptr_t)block);
	dray_guard_give(&split->guard);
	large->free(large->ctx, block, size);
}

/*
 * Handles a free of an address outside the table.  A pool counts and ignores a
 * wrong free, which a C library's heap would not survive.
 */
static const struct dray_allocator *who_frees(const struct split *split,
					      const void *block)
{
	if (!split->careful && dray_window_find(block))
		return &split->large->allocator;
	return &split->small->allocator;
}

static void *malloc_small(struct split *split, size_t size)
{
	const struct dray_allocator *small = &split->small->allocator;
	void *block = small->malloc(small->ctx, size ? size : 1);

	return block ? block : small_failed(split, size);
}

static void *malloc_large(struct split *split, size_t size)
{
	const struct dray_allocator *large = &split->large->allocator;

	return split_note(split, large->malloc(large->ctx, size), size);
}

static void *split_malloc(void *ctx, size_t size)
{
	struct split *split = ctx;

	return size < split->limit ? malloc_small(split, size)
				   : malloc_large(split, size);
}

static void *split_calloc(void *ctx, size_t count, size_t size)
{
	struct split *split = ctx;
	const struct dray_allocator *small = &split->small->allocator;
	const struct dray_allocator *large = &split->large->allocator;
	size_t bytes;
	void *block;

	if (dray_mul_overflow(count, size, &bytes))
		return dray_no_elements(count, size);
	if (bytes >= split->limit)
		return split_note(split, large->calloc(large->ctx, 1, bytes),
				  bytes);
	block = small->calloc(small->ctx, 1, bytes ? bytes : 1);
	return block ? block : small_failed(split, bytes);
}

static void split_free(void *ctx, void *block, size_t size)
{
	struct split *split = ctx;
	const struct dray_allocator *with;
	size_t known;

	if (!block)
		return;
	if (is_large(split, block, &known)) {
		split_free_large(split, block, size);
		return;
	}
	with = who_frees(split, block);
	with->free(with->ctx, block, size);
}

/* Others may get its old place before it is noted at its new place. */
static void *resize_large(struct split *split, void *block, size_t old,
			  size_t size)
{
	const struct dray_allocator *large = &split->large->allocator;
	char on_its_way = 0; /* Its address alone is used. */
	void *moved;

	rename_block(split, block, &on_its_way, old);
	moved = large->realloc(large->ctx, block, size);
	rename_block(split, &on_its_way, moved ? moved : block,
		     moved ? size : old);
	return moved;
}

static void *make_small(struct split *split, void *block, size_t old,
			size_t size)
{
	void *moved = malloc_small(split, size);

	if (!moved)
		return NULL;
	memcpy(moved, block, size < old ? size : old);
	split_free_large(split, block, old);
	return moved;
}

/* Only the small handler knows the block's size, so it must grow it. */
static void *make_large(struct split *split, void *block, size_t size)
{
	const struct dray_allocator *small = &split->small->allocator;
	void *moved = malloc_large(split, size), *grown;
	int error;

	if (!moved)
		return NULL;
	grown = small->realloc(small->ctx, block, size);
	if (!grown) {
		small_failed(split, size);
		error = errno;
		split_free_large(split, moved, size);
		errno = error;
		return NULL;
	}
	memcpy(moved, grown, size);
	small->free(small->ctx, grown, size);
	return moved;
}

static void *split_realloc(void *ctx, void *block, size_t size)
{
	struct split *split = ctx;
	const struct dray_allocator *with;
	bool stays_small = size < split->limit;
	size_t old;
	void *moved;

	if (!block)
		return split_malloc(split, size);
	if (is_large(split, block, &old))
		return stays_small ? make_small(split, block, old, size)
				   : resize_large(split, block, old, size);
	with = who_frees(split, block);
	if (!stays_small && with == &split->small->allocator)
		return make_large(split, block, size);
	moved = with->realloc(with->ctx, block, size ? size : 1);
	if (moved || with == &split->large->allocator)
		return moved;
	return small_failed(split, size);
}

static struct split *split_of(const struct dray_handler *handler)
{
	return handler && handler->allocator.malloc == split_malloc
		       ? handler->allocator.ctx
		       : NULL;
}

int dray_handler_split(struct dray_pool *pool, size_t min_bytes,
		       const struct dray_handler *small,
		       const struct dray_handler **out)
{
	struct split *split;

	if (!pool || !small || !out)
		return dray_fail(
			-EINVAL,
			"the pool, the handler or the result pointer is NULL");
	if (dray_handler_usable(small))
		return -EINVAL; /* which left its sentence */
	split = calloc(1, sizeof(*split));
	if (!split)
		return dray_fail(-ENOMEM, "no memory for a handler's object");
	split->large = dray_handler_for(pool);
	split->small = small;
	split->limit = min_bytes;
	split->careful = dray_handler_is_pools(small) ||
			 dray_handler_checks(small) || split_of(small);
	snprintf(split->handler.name, sizeof(split->handler.name),
		 "%.80s from %zu bytes", split->large->name, min_bytes);
	split->handler.version = DRAY_HANDLER_VERSION;
	split->handler.allocator = (struct dray_allocator){
		.ctx = split,
		.malloc = split_malloc,
		.calloc = split_calloc,
		.realloc = split_realloc,
		.free = split_free,
	};
	dray_guard_init(&split->guard);
	*out = &split->handler;
	return 0;
}

const struct dray_handler *
dray_handler_behind(const struct dray_handler *handler, const void *block)
{
	struct split *split;
	size_t size;

	if (!dray_given(handler, __func__))
		return NULL;
	while ((split = split_of(handler)))
		handler = is_large(split, block, &size) ? split->large
							: split->small;
	return handler;
}

int dray_handler_split_end(const struct dray_handler *handler)
{
	struct split *split = split_of(handler);
	size_t out;

	if (!split)
		return dray_fail(
			-EINVAL,
			"handler \"%.126s\" is not from dray_handler_split()",
			handler ? handler->name : "");
	dray_guard_take(&split->guard);
	out = split->table.count;
	dray_guard_give(&split->guard);
	if (out)
		return dray_fail(-EBUSY, "%zu blocks of handler \"%s\" are out",
				 out, split->handler.name);
	dray_guard_end(&split->guard);
	dray_address_end(&split->table);
	free(split);
	return 0;
}

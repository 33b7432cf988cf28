// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A resource behind the four functions of NEP 49.  Runtimes free with wrong
 * sizes, and resources count those that they are told, so a table keeps the
 * size of each block.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address_table.h"
#include "base/error.h"
#include "base/guard.h"
#include "base/number.h"
#include "pool/no_memory.h"
#include "pool/watch.h"
#include "resource/resource.h"

struct served {
	struct dray_handler handler;
	struct dray_resource *resource;
	struct dray_guard guard;
	/* With the guard: the blocks, and their bytes plus 1. */
	struct dray_address_table table;
};

static bool served_note(struct served *served, const void *block, size_t size)
{
	bool room;

	dray_guard_take(&served->guard);
	room = dray_address_reserve(&served->table);
	if (room)
		dray_address_put(&served->table, (uintptr_t)block,
				 (void *)((uintptr_t)size + 1));
	dray_guard_give(&served->guard);
	return room;
}

/* Removes @block from the table; false, with a sentence, if it is not there. */
static bool served_forget(struct served *served, const void *block,
			  size_t *size)
{
	uintptr_t value;

	dray_guard_take(&served->guard);
	value = (uintptr_t)dray_address_take(&served->table, (uintptr_t)block);
	dray_guard_give(&served->guard);
	*size = value - 1;
	if (!value)
		dray_fail(-EINVAL, "%p is not a block of handler \"%.126s\"",
			  block, served->handler.name);
	return value;
}

static void *served_take(struct served *served, size_t size)
{
	void *block;
	int ret = dray_resource_allocate(served->resource, size, 0, 0, &block);

	if (ret)
		return dray_no_block(ret);
	if (served_note(served, block, size))
		return block;
	dray_resource_deallocate(served->resource, block, size, 0);
	return dray_no_memory("a block", size);
}

static void *served_malloc(void *ctx, size_t size)
{
	uint64_t grown;
	void *block;

	if (__builtin_expect(!dray_handler_is_watched(), 1))
		return served_take(ctx, size);
	grown = dray_watch_begin(NULL, size);
	block = served_take(ctx, size);
	dray_watch_end(NULL, block, size, block ? size : 0, grown);
	return block;
}

static void *served_calloc(void *ctx, size_t count, size_t size)
{
	size_t bytes;
	void *block;

	if (dray_mul_overflow(count, size, &bytes))
		return dray_no_elements(count, size);
	block = served_malloc(ctx, bytes);
	return block ? memset(block, 0, bytes) : NULL;
}

static void served_free(void *ctx, void *block, size_t hint)
{
	struct served *served = ctx;
	size_t size;

	(void)hint;
	if (!block || !served_forget(served, block, &size))
		return;
	if (dray_handler_is_watched())
		dray_watch_tell(NULL, DRAY_HANDLER_FREES, block, size, size);
	dray_resource_deallocate(served->resource, block, size, 0);
	if (dray_handler_is_watched())
		dray_watch_tell(NULL, DRAY_HANDLER_FREED, block, size, size);
}

static void *served_realloc(void *ctx, void *block, size_t size)
{
	struct served *served = ctx;
	uintptr_t value;
	void *moved;

	if (!block)
		return served_malloc(ctx, size);
	dray_guard_take(&served->guard);
	value = (uintptr_t)dray_address_get(&served->table, (uintptr_t)block);
	dray_guard_give(&served->guard);
	if (!value)
		return dray_no_block(dray_fail(
			-EINVAL, "%p is not a block of handler \"%.126s\"",
			block, served->handler.name));
	moved = served_malloc(ctx, size);
	if (!moved)
		return NULL;
	memcpy(moved, block, size < value - 1 ? size : value - 1);
	served_free(ctx, block, size);
	return moved;
}

int dray_resource_handler(struct dray_resource *resource,
			  const struct dray_handler **out)
{
	struct served *served;

	if (!dray_given(resource, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	served = calloc(1, sizeof(*served));
	if (!served)
		return dray_fail(-ENOMEM, "no memory for a handler's object");
	served->resource = dray_resource_ref(resource);
	snprintf(served->handler.name, sizeof(served->handler.name),
		 "dray resource %.80s", dray_resource_name(resource));
	served->handler.version = DRAY_HANDLER_VERSION;
	served->handler.allocator = (struct dray_allocator){
		.ctx = served,
		.malloc = served_malloc,
		.calloc = served_calloc,
		.realloc = served_realloc,
		.free = served_free,
	};
	dray_guard_init(&served->guard);
	*out = &served->handler;
	return 0;
}

int dray_resource_handler_end(const struct dray_handler *handler)
{
	struct served *served;
	size_t out;

	if (!handler || handler->allocator.malloc != served_malloc)
		return dray_fail(
			-EINVAL,
			"handler \"%.126s\" is not from dray_resource_handler()",
			handler ? handler->name : "");
	served = handler->allocator.ctx;
	dray_guard_take(&served->guard);
	out = served->table.count;
	dray_guard_give(&served->guard);
	if (out)
		return dray_fail(-EBUSY, "%zu blocks of handler \"%s\" are out",
				 out, served->handler.name);
	dray_guard_end(&served->guard);
	dray_address_end(&served->table);
	dray_resource_unref(served->resource);
	free(served);
	return 0;
}

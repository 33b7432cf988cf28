// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Blocks over one piece of memory: a buffer, a block of a pool or of an
 * allocator handle, or memory that comes with a function to release it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "block/block.h"
#include "pool/pool.h"

/* In front of the block, so that nothing is written to the memory itself. */
struct block_memory {
	void *data;
	size_t size;
	bool writable;
	void (*release)(void *owner);
	void *owner; /* the buffer, the pool, the handler, or the caller's */
	struct dray_block_front front;
	struct dray_block block;
}; /* Room of the maker may follow. */

static struct block_memory *memory_of(const struct dray_block *block)
{
	return dray_block_around(block, struct block_memory, block);
}

static void memory_range(const struct dray_block *block,
			 struct dray_block_range *out)
{
	const struct block_memory *memory = memory_of(block);

	out->data = memory->data;
	out->size = memory->size;
	out->writable = memory->writable;
}

static void buffer_destroy(struct dray_block *block)
{
	dray_buffer_unref(memory_of(block)->owner);
	free(memory_of(block));
}

static void buffer_dump(const struct dray_block *block, FILE *stream)
{
	const struct dray_buffer *buffer = memory_of(block)->owner;

	fprintf(stream, " buffer: %" PRIu64 " (%s)\n", dray_buffer_id(buffer),
		dray_node_backend(dray_buffer_node(buffer)));
}

static void pooled_destroy(struct dray_block *block)
{
	struct block_memory *memory = memory_of(block);

	dray_pool_free(memory->owner, memory->data);
	free(memory);
}

static void pooled_dump(const struct dray_block *block, FILE *stream)
{
	fprintf(stream, " pool: %p\n", memory_of(block)->owner);
}

static void handled_destroy(struct dray_block *block)
{
	struct block_memory *memory = memory_of(block);

	dray_handler_free(memory->owner, memory->data, memory->size);
	free(memory);
}

static void handled_dump(const struct dray_block *block, FILE *stream)
{
	const struct dray_handler *handler = memory_of(block)->owner;

	fprintf(stream, " handler: %.126s, version %u\n", handler->name,
		handler->version);
}

static void external_destroy(struct dray_block *block)
{
	struct block_memory *memory = memory_of(block);

	if (memory->release)
		memory->release(memory->owner);
	free(memory);
}

static void external_dump(const struct dray_block *block, FILE *stream)
{
	fprintf(stream, " owner: %p%s\n", memory_of(block)->owner,
		memory_of(block)->release ? "" : " (nothing to release)");
}

static const struct dray_block_class buffer_class = {
	.type = DRAY_BLOCK_BUFFER,
	.destroy = buffer_destroy,
	.range = memory_range,
	.dump = buffer_dump,
};

static const struct dray_block_class pooled_class = {
	.type = DRAY_BLOCK_POOLED,
	.destroy = pooled_destroy,
	.range = memory_range,
	.dump = pooled_dump,
};

static const struct dray_block_class handled_class = {
	.type = DRAY_BLOCK_HANDLED,
	.destroy = handled_destroy,
	.range = memory_range,
	.dump = handled_dump,
};

static const struct dray_block_class external_class = {
	.type = DRAY_BLOCK_EXTERNAL,
	.destroy = external_destroy,
	.range = memory_range,
	.dump = external_dump,
};

static struct block_memory *
new_memory_with(const struct dray_block_class *class, size_t room)
{
	struct block_memory *memory = malloc(sizeof(*memory) + room);

	if (!memory) {
		dray_fail(-ENOMEM, "no memory for a block's object");
		return NULL;
	}
	memset(memory, 0, sizeof(*memory));
	dray_block_init(&memory->block, class);
	return memory;
}

static struct block_memory *new_memory(const struct dray_block_class *class)
{
	return new_memory_with(class, 0);
}

void *dray_block_room(struct dray_block *block)
{
	return memory_of(block) + 1;
}

int dray_block_create_buffer(struct dray_buffer *buffer,
			     struct dray_block **out)
{
	struct block_memory *memory;

	if (!buffer || !out)
		return dray_fail(-EINVAL,
				 "the buffer or the result pointer is NULL");
	memory = new_memory(&buffer_class);
	if (!memory)
		return -ENOMEM;
	memory->data = dray_buffer_data(buffer);
	memory->size = (size_t)dray_buffer_size(buffer);
	memory->writable = dray_buffer_writable(buffer);
	memory->owner = dray_buffer_ref(buffer);
	*out = &memory->block;
	return 0;
}

int dray_block_create_pooled(struct dray_pool *pool, size_t size,
			     size_t alignment, struct dray_block **out)
{
	struct block_memory *memory;
	int ret;

	if (!pool || !out)
		return dray_fail(-EINVAL,
				 "the pool or the result pointer is NULL");
	memory = new_memory(&pooled_class);
	if (!memory)
		return -ENOMEM;
	memory->data = dray_pool_alloc(pool, size, alignment);
	if (!memory->data) { /* the pool left its sentence */
		ret = -errno;
		free(memory);
		return ret;
	}
	memory->size = size ? size : 1;
	memory->writable = true;
	memory->owner = pool;
	*out = &memory->block;
	return 0;
}

int dray_block_create_cleared(struct dray_pool *pool, size_t size, size_t room,
			      struct dray_block **out)
{
	struct block_memory *memory = new_memory_with(&pooled_class, room);

	if (!memory)
		return -ENOMEM;
	memory->data = dray_pool_calloc(pool, 1, size);
	if (!memory->data) { /* the pool left its sentence */
		free(memory);
		return -ENOMEM;
	}
	memory->size = size ? size : 1;
	memory->writable = true;
	memory->owner = pool;
	*out = &memory->block;
	return 0;
}

int dray_block_create_handled(const struct dray_handler *handler, size_t size,
			      bool zeroed, struct dray_block **out)
{
	int ret;

	if (!dray_given(handler, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_handler_usable(handler);
	return ret ? ret
		   : dray_block_create_current(handler, size, zeroed, 0, out);
}

int dray_block_create_current(const struct dray_handler *handler, size_t size,
			      bool zeroed, size_t room, struct dray_block **out)
{
	struct block_memory *memory = new_memory_with(&handled_class, room);

	if (!memory)
		return -ENOMEM;
	size = size ? size : 1;
	memory->data = zeroed ? dray_handler_zalloc(handler, size)
			      : dray_handler_alloc(handler, size);
	if (!memory->data) {
		free(memory);
		/* A handler of another library leaves no sentence. */
		return dray_fail(-ENOMEM, "handler \"%.126s\" has no %zu bytes",
				 handler->name, size);
	}
	memory->size = size;
	memory->writable = true;
	memory->owner = (void *)handler;
	*out = &memory->block;
	return 0;
}

const struct dray_handler *dray_block_handler(const struct dray_block *block)
{
	if (dray_block_type(block) != DRAY_BLOCK_HANDLED)
		return NULL;
	return memory_of(block)->owner;
}

int dray_block_create_foreign(void *data, size_t size, bool writable,
			      void (*release)(void *owner), void *owner,
			      size_t room, struct dray_block **out)
{
	struct block_memory *memory = new_memory_with(&external_class, room);

	if (!memory)
		return -ENOMEM;
	memory->data = data;
	memory->size = size;
	memory->writable = writable;
	memory->release = release;
	memory->owner = owner;
	*out = &memory->block;
	return 0;
}

int dray_block_create_external(void *data, size_t size, uint32_t flags,
			       void (*release)(void *owner), void *owner,
			       struct dray_block **out)
{
	if (!out || (!data && size))
		return dray_fail(
			-EINVAL,
			"%zu byte%s at NULL, or the result pointer is NULL",
			size, dray_plural(size));
	if ((flags | DRAY_WRITE) != (DRAY_READ | DRAY_WRITE))
		return dray_fail(-EINVAL,
				 "flags 0x%" PRIx32
				 ": DRAY_READ alone or with DRAY_WRITE",
				 flags);
	if (size > UINTPTR_MAX - (uintptr_t)data)
		return dray_fail(-EINVAL,
				 "%zu bytes at %p leave the address space",
				 size, data);
	return dray_block_create_foreign(data, size, flags & DRAY_WRITE,
					 release, owner, 0, out);
}

void dray_block_set_owner(struct dray_block *block,
			  void (*release)(void *owner), void *owner)
{
	struct block_memory *memory = memory_of(block);

	memory->release = release;
	memory->owner = owner;
}

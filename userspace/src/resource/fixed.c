// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Blocks of one size.  Chunks of upstream are cut into blocks; which of them
 * are free is written down beside the chunk, never into it.  Chunks are sorted
 * by address, so that a block that comes back finds its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/guard.h"
#include "base/number.h"
#include "resource/resource.h"

/* No two blocks share a line with any device that we know of. */
#define STEP 128
#define MOST_ALIGNMENT 4096

struct chunk {
	uintptr_t base;
	void *memory;
	struct chunk *next; /* with a free block too */
	uint32_t free_count;
	uint32_t *free; /* the numbers of the free blocks, a stack */
	bool *taken; /* for each block */
};

struct fixed {
	struct dray_resource *upstream;
	struct dray_guard guard;
	size_t block_size;
	size_t alignment; /* of each block */
	uint32_t blocks; /* in a chunk */
	struct chunk **chunks; /* by address */
	size_t count, room; /* of chunks */
	struct chunk *available;
};

static size_t chunk_size(const struct fixed *fixed)
{
	return fixed->block_size * fixed->blocks;
}

static struct chunk *new_chunk(const struct fixed *fixed)
{
	struct chunk *chunk = calloc(1, sizeof(*chunk));
	uint32_t i;

	if (!chunk)
		return NULL;
	chunk->free = calloc(fixed->blocks, sizeof(*chunk->free));
	chunk->taken = calloc(fixed->blocks, sizeof(*chunk->taken));
	if (!chunk->free || !chunk->taken) {
		free(chunk->free);
		free(chunk->taken);
		free(chunk);
		return NULL;
	}
	/* The lowest is on top. */
	for (i = 0; i < fixed->blocks; i++)
		chunk->free[i] = fixed->blocks - 1 - i;
	chunk->free_count = fixed->blocks;
	return chunk;
}

static void drop_chunk(const struct fixed *fixed, struct chunk *chunk)
{
	if (chunk->memory)
		dray_resource_deallocate(fixed->upstream, chunk->memory,
					 chunk_size(fixed), 0);
	free(chunk->free);
	free(chunk->taken);
	free(chunk);
}

/* With the guard: the number of chunks that begin at or below @address. */
static size_t chunks_below(const struct fixed *fixed, uintptr_t address)
{
	size_t low = 0, high = fixed->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (fixed->chunks[middle]->base <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* With the guard.  False where there is no memory for the list. */
static bool list_chunk(struct fixed *fixed, struct chunk *chunk)
{
	size_t at;

	if (fixed->count == fixed->room) {
		size_t room = fixed->room ? 2 * fixed->room : 16;
		struct chunk **chunks = calloc(room, sizeof(struct chunk *));

		if (!chunks)
			return false;
		if (fixed->count)
			memcpy(chunks, fixed->chunks,
			       fixed->count * sizeof(struct chunk *));
		free(fixed->chunks);
		fixed->chunks = chunks;
		fixed->room = room;
	}
	at = chunks_below(fixed, chunk->base);
	memmove(fixed->chunks + at + 1, fixed->chunks + at,
		(fixed->count - at) * sizeof(struct chunk *));
	fixed->chunks[at] = chunk;
	fixed->count++;
	chunk->next = fixed->available;
	fixed->available = chunk;
	return true;
}

/* Without the guard: upstream may be anything. */
static int grow(struct fixed *fixed, uint64_t stream)
{
	struct chunk *chunk = new_chunk(fixed);
	bool listed;
	int ret;

	if (!chunk)
		return dray_fail(-ENOMEM, "no memory for a chunk's books");
	ret = dray_resource_allocate(fixed->upstream, chunk_size(fixed),
				     fixed->alignment, stream, &chunk->memory);
	if (ret) {
		drop_chunk(fixed, chunk);
		return ret;
	}
	chunk->base = (uintptr_t)chunk->memory;
	dray_guard_take(&fixed->guard);
	listed = list_chunk(fixed, chunk);
	dray_guard_give(&fixed->guard);
	if (listed)
		return 0;
	drop_chunk(fixed, chunk);
	return dray_fail(-ENOMEM, "no memory for a list of chunks");
}

static void *take(struct fixed *fixed)
{
	struct chunk *chunk;
	void *block = NULL;
	uint32_t number;

	dray_guard_take(&fixed->guard);
	chunk = fixed->available;
	if (chunk) {
		number = chunk->free[--chunk->free_count];
		chunk->taken[number] = true;
		block = (void *)(chunk->base + number * fixed->block_size);
		if (!chunk->free_count)
			fixed->available = chunk->next;
	}
	dray_guard_give(&fixed->guard);
	return block;
}

static int fixed_allocate(void *ctx, size_t size, size_t alignment,
			  uint64_t stream, void **out)
{
	struct fixed *fixed = ctx;
	int ret = 0;

	if (size > fixed->block_size)
		return dray_fail(-EINVAL, "%zu bytes, blocks here have %zu",
				 size, fixed->block_size);
	if (alignment > fixed->alignment)
		return dray_fail(-EINVAL,
				 "an alignment of %zu, blocks here have %zu",
				 alignment, fixed->alignment);
	/*
	 * Another thread may take all of what one thread made; or give a block
	 * back while upstream refuses.
	 */
	for (;;) {
		*out = take(fixed);
		if (*out)
			return 0;
		if (ret)
			return ret;
		ret = grow(fixed, stream);
	}
}

/* With the guard: the chunk of a taken block, and its number there. */
static struct chunk *chunk_of(const struct fixed *fixed, const void *block,
			      uint32_t *number)
{
	uintptr_t address = (uintptr_t)block;
	size_t below = chunks_below(fixed, address), offset;
	struct chunk *chunk;

	if (!below)
		return NULL;
	chunk = fixed->chunks[below - 1];
	offset = address - chunk->base;
	if (offset >= chunk_size(fixed) || offset % fixed->block_size)
		return NULL;
	*number = (uint32_t)(offset / fixed->block_size);
	return chunk->taken[*number] ? chunk : NULL;
}

static int fixed_deallocate(void *ctx, void *block, size_t size,
			    uint64_t stream)
{
	struct fixed *fixed = ctx;
	struct chunk *chunk;
	uint32_t number;

	(void)size;
	(void)stream;
	dray_guard_take(&fixed->guard);
	chunk = chunk_of(fixed, block, &number);
	if (chunk) {
		chunk->taken[number] = false;
		chunk->free[chunk->free_count++] = number;
		if (chunk->free_count == 1) {
			chunk->next = fixed->available;
			fixed->available = chunk;
		}
	}
	dray_guard_give(&fixed->guard);
	return chunk ? 0
		     : dray_fail(-EINVAL,
				 "free of %p, which is no block of %zu bytes "
				 "that is out",
				 block, fixed->block_size);
}

static int fixed_capacity(void *ctx, struct dray_capacity *out)
{
	struct fixed *fixed = ctx;
	const struct chunk *chunk;
	int ret = dray_resource_capacity(fixed->upstream, out);

	if (ret)
		return ret;
	dray_guard_take(&fixed->guard);
	for (chunk = fixed->available; chunk; chunk = chunk->next)
		out->free += chunk->free_count * fixed->block_size;
	dray_guard_give(&fixed->guard);
	return 0;
}

static void fixed_destroy(void *ctx)
{
	struct fixed *fixed = ctx;
	size_t i;

	for (i = 0; i < fixed->count; i++)
		drop_chunk(fixed, fixed->chunks[i]);
	free(fixed->chunks);
	dray_guard_end(&fixed->guard);
	dray_upstream_destroy(ctx);
}

int dray_resource_fixed(struct dray_resource *upstream, size_t block_size,
			uint32_t blocks, struct dray_resource **out)
{
	static const struct dray_resource_ops ops = {
		.size = sizeof(ops),
		.name = "fixed",
		.allocate = fixed_allocate,
		.deallocate = fixed_deallocate,
		.capacity = fixed_capacity,
		.destroy = fixed_destroy,
	};
	struct fixed *fixed;
	uint64_t rounded;
	size_t bytes;
	int ret;

	if (!blocks)
		blocks = 128;
	if (!block_size || dray_round_up_overflow(block_size, STEP, &rounded) ||
	    dray_mul_overflow(rounded, blocks, &bytes) || bytes > PTRDIFF_MAX)
		return dray_fail(-EINVAL, "chunks of %u blocks of %zu bytes",
				 blocks, block_size);
	fixed = calloc(1, sizeof(*fixed));
	ret = dray_resource_stack(&ops, fixed, upstream, out);
	if (ret)
		return ret;
	fixed->block_size = (size_t)rounded;
	fixed->blocks = blocks;
	fixed->alignment = fixed->block_size & -fixed->block_size;
	if (fixed->alignment > MOST_ALIGNMENT)
		fixed->alignment = MOST_ALIGNMENT;
	dray_guard_init(&fixed->guard);
	return 0;
}

bool dray_fixed_owns(struct dray_resource *resource, const void *block)
{
	struct fixed *fixed =
		dray_resource_context(resource, fixed_allocate, "fixed");
	uint32_t number;
	bool owns;

	if (!fixed)
		return false;
	dray_guard_take(&fixed->guard);
	owns = chunk_of(fixed, block, &number);
	dray_guard_give(&fixed->guard);
	return owns;
}

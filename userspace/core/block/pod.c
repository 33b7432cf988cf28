// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arenas: elements of variable size, in a row in chunks that double, of which
 * only the last element may still change its size.
 *
 * The books of a chunk lie in ordinary memory, so that a pool's memory holds
 * only elements.  An arena over a pool always holds a block of it until it is
 * finalized, which keeps the pool's object alive.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "block/block.h"

#define FIRST_CHUNK ((size_t)2048)
#define HEAP_ALIGNMENT ((size_t)64) /* a cache line */

struct pod_chunk {
	struct pod_chunk *previous;
	char *data;
	size_t size;
	size_t used;
	size_t elements;
};

struct pod {
	struct dray_pool *pool; /* NULL: the heap */
	struct pod_chunk *last; /* NULL before the first */
	/* the last element: its start, and the bytes that resize() keeps */
	char *begin; /* NULL: there is none */
	size_t size;
	size_t alignment;
	bool finalized;
	struct dray_block_front front;
	struct dray_block block;
};

static struct pod *pod_of(const struct dray_block *block)
{
	return dray_block_around(block, struct pod, block);
}

static void *pod_take(struct dray_pool *pool, size_t size, size_t alignment)
{
	void *data;

	if (pool)
		return dray_pool_alloc(pool, size, alignment);
	if (alignment < HEAP_ALIGNMENT)
		alignment = HEAP_ALIGNMENT;
	if (!posix_memalign(&data, alignment, size))
		return data;
	dray_fail(-ENOMEM, "no memory for %zu bytes of an arena", size);
	return NULL;
}

static void drop_chunk(struct pod *pod, struct pod_chunk *chunk)
{
	if (pod->pool)
		dray_pool_free(pod->pool, chunk->data);
	else
		free(chunk->data);
	free(chunk);
}

/* Adds an element of @size bytes at @alignment behind the last; -ENOMEM. */
static int add_chunk(struct pod *pod, size_t size, size_t alignment)
{
	struct pod_chunk *chunk = malloc(sizeof(*chunk));
	size_t room = FIRST_CHUNK;

	if (!chunk)
		return dray_fail(-ENOMEM, "no memory for an arena's object");
	if (pod->last && dray_mul_overflow(pod->last->size, 2, &room))
		room = size;
	if (room < size)
		room = size;
	chunk->data = pod_take(pod->pool, room, alignment);
	/* If twice the need does not fit, the need alone may. */
	if (!chunk->data && size && size < room) {
		room = size;
		chunk->data = pod_take(pod->pool, room, alignment);
	}
	if (!chunk->data) { /* there is a sentence */
		free(chunk);
		return -ENOMEM;
	}
	chunk->size = room;
	chunk->used = 0;
	chunk->elements = 0;
	chunk->previous = pod->last;
	pod->last = chunk;
	return 0;
}

/* The arena that may still be filled, or a code and a sentence. */
static int open_pod(struct dray_block *block, struct pod **out)
{
	const struct dray_block_allocator *unused;
	int ret = dray_block_get_allocator(block, &unused);

	if (ret)
		return ret;
	*out = pod_of(block);
	if ((*out)->finalized)
		return dray_fail(-EPERM, "arena %p is finalized",
				 (void *)block);
	return 0;
}

static int pod_check_size(size_t size)
{
	if (size > PTRDIFF_MAX)
		return dray_fail(-EOVERFLOW,
				 "an element of %zu bytes, at most %td are "
				 "possible",
				 size, PTRDIFF_MAX);
	return 0;
}

/* The start of an element in the last chunk; false if it does not fit. */
static bool find_room(const struct pod *pod, size_t size, size_t alignment,
		      size_t *at)
{
	const struct pod_chunk *chunk = pod->last;
	uint64_t start;

	if (!chunk ||
	    dray_round_up_overflow((uintptr_t)chunk->data + chunk->used,
				   alignment, &start))
		return false;
	start -= (uintptr_t)chunk->data;
	if (start > chunk->size || size > chunk->size - start)
		return false;
	*at = (size_t)start;
	return true;
}

/* Makes the last element of @size bytes at @at in the last chunk. */
static void pod_place(struct pod *pod, size_t at, size_t size, size_t alignment)
{
	struct pod_chunk *chunk = pod->last;

	chunk->used = at + size;
	chunk->elements++;
	pod->begin = chunk->data + at;
	pod->size = size;
	pod->alignment = alignment;
}

static void pod_clear(const struct pod *pod, char *from, size_t size)
{
	if (pod->block.type == DRAY_BLOCK_ZEROED)
		memset(from, 0, size);
}

static int pod_allocate(struct dray_block *block, size_t size, size_t alignment,
			char **begin, char **end)
{
	struct pod *pod;
	size_t at = 0;
	int ret;

	if (!begin || !end)
		return dray_fail(-EINVAL, "a result pointer is NULL");
	ret = open_pod(block, &pod);
	if (!ret)
		ret = pod_check_size(size);
	if (ret)
		return ret;
	if (!alignment)
		alignment = 1;
	if (!dray_is_power_of_two(alignment))
		return dray_fail(
			-EINVAL,
			"an alignment of %zu bytes is not a power of two",
			alignment);
	if (!find_room(pod, size, alignment, &at)) {
		ret = add_chunk(pod, size, alignment);
		if (ret)
			return ret;
	}
	pod_place(pod, at, size, alignment);
	pod_clear(pod, pod->begin, size);
	*begin = pod->begin;
	*end = pod->begin + size;
	return 0;
}

/* Moves the last element into a chunk with @size bytes for it. */
static int pod_move(struct pod *pod, size_t size)
{
	struct pod_chunk *from = pod->last;
	const char *begin = pod->begin;
	size_t kept = pod->size;
	int ret = add_chunk(pod, size, pod->alignment);

	if (ret)
		return ret;
	pod_place(pod, 0, size, pod->alignment);
	memcpy(pod->begin, begin, kept);
	pod_clear(pod, pod->begin + kept, size - kept);
	/* An element that grows and grows leaves no row of dead chunks. */
	if (!--from->elements) {
		pod->last->previous = from->previous;
		drop_chunk(pod, from);
	} else {
		from->used = (size_t)(begin - from->data);
	}
	return 0;
}

static int pod_resize(struct dray_block *block, size_t size, char **begin,
		      char **end)
{
	struct pod_chunk *chunk;
	struct pod *pod;
	size_t at;
	int ret;

	if (!begin || !end)
		return dray_fail(-EINVAL, "a result pointer is NULL");
	ret = open_pod(block, &pod);
	if (!ret)
		ret = pod_check_size(size);
	if (ret)
		return ret;
	if (!pod->begin || *begin != pod->begin ||
	    *end != pod->begin + pod->size)
		return dray_fail(-EINVAL,
				 "[%p, %p) is not the last element of arena %p",
				 (void *)*begin, (void *)*end, (void *)block);
	chunk = pod->last;
	at = (size_t)(pod->begin - chunk->data);
	if (size > chunk->size - at) {
		ret = pod_move(pod, size);
		if (ret)
			return ret;
	} else {
		if (size > pod->size)
			pod_clear(pod, pod->begin + pod->size,
				  size - pod->size);
		chunk->used = at + size;
		pod->size = size;
	}
	*begin = pod->begin;
	*end = pod->begin + size;
	return 0;
}

static int pod_finalize(struct dray_block *block)
{
	struct pod_chunk *chunk;
	struct pod *pod;
	int ret = open_pod(block, &pod);

	if (ret)
		return ret == -EPERM ? 0 : ret;
	pod->finalized = true;
	chunk = pod->last;
	if (chunk && !chunk->elements) {
		pod->last = chunk->previous;
		drop_chunk(pod, chunk);
	}
	return 0;
}

static void drop_all_before(struct pod *pod, struct pod_chunk *chunk)
{
	while (chunk->previous) {
		struct pod_chunk *previous = chunk->previous;

		chunk->previous = previous->previous;
		drop_chunk(pod, previous);
	}
}

static int pod_reset(struct dray_block *block)
{
	struct pod *pod;
	int ret = open_pod(block, &pod);

	if (ret)
		return ret;
	pod->begin = NULL;
	if (pod->last) {
		drop_all_before(pod, pod->last);
		pod->last->used = 0;
		pod->last->elements = 0;
	}
	return 0;
}

static void pod_destroy(struct dray_block *block)
{
	struct pod *pod = pod_of(block);

	if (pod->last) {
		drop_all_before(pod, pod->last);
		drop_chunk(pod, pod->last);
	}
	free(pod);
}

static void pod_range(const struct dray_block *block,
		      struct dray_block_range *out)
{
	const struct pod_chunk *chunk;

	for (chunk = pod_of(block)->last; chunk; chunk = chunk->previous)
		out->size += chunk->size;
	out->writable = true;
}

static bool pod_holds(const struct dray_block *block, const char *data,
		      size_t size)
{
	const struct pod_chunk *chunk;

	for (chunk = pod_of(block)->last; chunk; chunk = chunk->previous) {
		if (dray_range_holds(chunk->data, chunk->used, data, size))
			return true;
	}
	return false;
}

static void pod_dump(const struct dray_block *block, FILE *stream)
{
	const struct pod *pod = pod_of(block);
	const struct pod_chunk *chunk;

	if (pod->pool)
		fprintf(stream, " pool: %p\n", (void *)pod->pool);
	fprintf(stream, " finalized: %s\n", pod->finalized ? "yes" : "no");
	for (chunk = pod->last; chunk; chunk = chunk->previous)
		fprintf(stream,
			" chunk: %p, %zu of %zu bytes used by %zu elements\n",
			(void *)chunk->data, chunk->used, chunk->size,
			chunk->elements);
}

static const struct dray_block_allocator pod_allocator = {
	.size = sizeof(pod_allocator),
	.allocate = pod_allocate,
	.resize = pod_resize,
	.finalize = pod_finalize,
	.reset = pod_reset,
};

#define ARENA_CLASS(tag)                                                   \
	{                                                                  \
		.type = (tag), .destroy = pod_destroy, .range = pod_range, \
		.holds = pod_holds, .dump = pod_dump,                      \
		.allocator = &pod_allocator,                               \
	}

static const struct dray_block_class pod_class = ARENA_CLASS(DRAY_BLOCK_POD);
static const struct dray_block_class zeroed_class =
	ARENA_CLASS(DRAY_BLOCK_ZEROED);

static int pod_create(struct dray_pool *pool,
		      const struct dray_block_class *class,
		      struct dray_block **out)
{
	struct pod *pod;
	int ret;

	if (!out)
		return dray_fail(-EINVAL, "the result pointer is NULL");
	pod = calloc(1, sizeof(*pod));
	if (!pod)
		return dray_fail(-ENOMEM, "no memory for a block's object");
	pod->pool = pool;
	dray_block_init(&pod->block, class);
	if (pool) {
		ret = add_chunk(pod, 0, 1);
		if (ret) {
			free(pod);
			return ret;
		}
	}
	*out = &pod->block;
	return 0;
}

int dray_block_create_pod(struct dray_pool *pool, struct dray_block **out)
{
	return pod_create(pool, &pod_class, out);
}

int dray_block_create_zeroed(struct dray_pool *pool, struct dray_block **out)
{
	return pod_create(pool, &zeroed_class, out);
}

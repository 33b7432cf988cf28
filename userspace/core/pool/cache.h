/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * cache: the blocks that a thread keeps of a pool, to be used again without
 * the pool's lock.
 *
 * A thread owns a cache for each pool that it uses: a magazine, a stack of blocks,
 * for each size in granules up to just above 4 KiB, and shelves of larger blocks, each
 * for sizes that differ by at most 1/8.  The
 * pool counts cached blocks as in use.  The cache's bounds are fractions of the
 * pool; a request that finds no memory first drains the caches of all threads.
 *
 * A cache is without a lock.  Its owner marks it busy by a plain store.  A drainer,
 * under the pool's lock, closes it, lets the kernel put a barrier into every
 * thread (membarrier) and waits until the owner is out.  While busy, the owner
 * never waits for a lock.  If the kernel lacks membarrier, there are no caches.
 * If membarrier fails later, all caches stay closed, and each owner returns its
 * blocks when it next enters the pool.
 *
 * Caches lie in memory that fork() wipes, so that a child starts with empty
 * caches.  Not for signal handlers.
 */
#ifndef DRAY_POOL_CACHE_H
#define DRAY_POOL_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pool/cache_bound.h"
#include "pool/marks.h"

#define DRAY_CACHED_POOLS 64	/* numbers of pools, from 1 on */
#define DRAY_MAGAZINE_ROOM 30	/* blocks: 256 bytes a magazine */
#define DRAY_SHELF_ROOM 8	/* large blocks */
#define DRAY_SHELF_ROW 8	/* shelves for a power of two */
#define DRAY_SHELVES 128
#define DRAY_SPARE_SHIFT 3	/* a request gets at most 1/8 more */

struct dray_pool;
struct dray_found;

struct dray_magazine {
	void **top;		/* behind the block that was freed last */
	uint32_t bytes;		/* of a block */
	uint32_t batch;		/* to fetch when it is empty next; 0: never */
	void *blocks[DRAY_MAGAZINE_ROOM];
};

/* Large blocks of about the same size. */
struct dray_shelf {
	uint32_t granules[DRAY_SHELF_ROOM];	/* the oldest first; 0: none */
	uint32_t count;
	void *blocks[DRAY_SHELF_ROOM];
};

struct dray_cache {
	_Atomic uint32_t busy;	/* its owner is in it */
	_Atomic uint32_t closed;	/* and must stay out */
	uint32_t shift;		/* log2 of the pool's granule */
	uint32_t number;	/* the pool's */
	/* Bytes that it may keep beyond its present bytes, and in all. */
	uint64_t room, most;
	uint64_t large_room, large_most;	/* in large blocks */
	_Atomic(struct dray_pool *) pool;	/* changes with its lock held */
	struct dray_cache *next;	/* of the pool, under its lock */
	bool used;	/* with the pool's lock, since the last sweep */
	bool drained;	/* it is empty and closed */
	uint32_t turn;	/* the magazine to evict from next */
	uint32_t overflows;	/* of magazines, since its owner took from the pool */
	/*
	 * The size that was freed last, and its magazine.  If the next free is of
	 * the same size, the processor continues before it read the block's mark.
	 */
	uint32_t recent_size;
	struct dray_magazine *recent;
	/*
	 * Large blocks are used again for the same size or a little less, while
	 * the pool has plenty of memory.  If the pool returns whole buffers to
	 * the node, only the size that was asked for last is kept, since any
	 * block keeps its buffer.
	 */
	uint64_t wanted;	/* granules; 0: any.  Only its owner looks */
	uint32_t spare;		/* log2 of a request by what may be left over */
	uint32_t large_top;	/* no shelf above it has a block */
	/* The index is the size in granules - 1. */
	struct dray_magazine magazines[DRAY_MARK_MOST];
	struct dray_shelf shelves[DRAY_SHELVES];
};

/* A thread's state; a free needs only the first line of it. */
struct dray_thread {
	uintptr_t base;		/* of the window */
	size_t lines;		/* marks of the window; 0: look nothing up */
	_Atomic uint8_t *marks;
	_Atomic uint8_t *numbers;
	/*
	 * The last pool that was locked.  A free that finds its number here need
	 * not wait for caches[].
	 */
	struct dray_cache *recent;
	uint32_t recent_number;	/* a number of no pool: there is none */
	uint32_t settled;	/* dray_caches_left, when it last looked */
	struct dray_cache *caches[DRAY_CACHED_POOLS];	/* [0] is always NULL */
};

extern struct dray_thread dray_thread_none; /* without caches, all zero */

/* Never NULL: a thread without caches points to a struct of zeros. */
extern _Thread_local struct dray_thread *dray_thread
	__attribute__((tls_model("initial-exec")));

static inline uint32_t
dray_magazine_count(const struct dray_magazine *magazine)
{
	return (uint32_t)(magazine->top - magazine->blocks);
}

/* The functions below run inside the cache, with room for the block. */
static inline void dray_magazine_push(struct dray_cache *cache,
				      struct dray_magazine *magazine,
				      void *block)
{
	void **top = magazine->top;

	cache->room -= magazine->bytes;
	*top = block;
	magazine->top = top + 1;
}

static inline void dray_shelf_push(struct dray_cache *cache,
				   struct dray_shelf *shelf, void *block,
				   uint64_t granules)
{
	uint32_t index = (uint32_t)(shelf - cache->shelves);

	shelf->granules[shelf->count] = (uint32_t)granules;
	shelf->blocks[shelf->count++] = block;
	cache->large_room -= granules << cache->shift;
	if (index > cache->large_top)
		cache->large_top = index;
}

/* As bins of free pieces, but wider.  The last is for all larger blocks, too. */
static inline struct dray_shelf *dray_cache_shelf(struct dray_cache *cache,
						  uint32_t granules)
{
	uint32_t width =
		((uint32_t)__builtin_clz(granules | DRAY_SHELF_ROW) ^ 31) - 3;
	uint32_t index = width * DRAY_SHELF_ROW + (granules >> width);

	return &cache->shelves[index < DRAY_SHELVES ? index : DRAY_SHELVES - 1];
}

/* False if the cache is closed: acquire the pool's lock instead. */
static inline bool dray_cache_enter(struct dray_cache *cache)
{
#ifdef __SANITIZE_THREAD__ /* which knows no barriers of other threads */
	atomic_exchange(&cache->busy, 1);
#else
	atomic_store_explicit(&cache->busy, 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
#endif
	if (__builtin_expect(!atomic_load_explicit(&cache->closed,
						   memory_order_acquire),
			     1))
		return true;
	atomic_store_explicit(&cache->busy, 0, memory_order_release);
	return false;
}

static inline void dray_cache_leave(struct dray_cache *cache)
{
	atomic_store_explicit(&cache->busy, 0, memory_order_release);
}

/* A small block that this thread keeps, or NULL; @index is its granules - 1. */
static inline void *dray_cache_take(const struct dray_thread *thread,
				    struct dray_cache *cache, size_t index)
{
	struct dray_magazine *magazine = &cache->magazines[index];
	void **top, *block;

	if (!dray_cache_enter(cache))
		return NULL;
	top = magazine->top;
	if (__builtin_expect(top == magazine->blocks, 0)) {
		dray_cache_leave(cache);
		return NULL;
	}
	block = *--top;
	/* So that callers look only for a magazine without any. */
	if (!block)
		__builtin_unreachable();
	magazine->top = top;
	cache->room += magazine->bytes;
	atomic_store_explicit(
		&thread->marks[((uintptr_t)block - thread->base) >>
			       DRAY_MARK_SHIFT],
		(uint8_t)(index + 1), memory_order_relaxed);
	dray_cache_leave(cache);
	return block;
}

/* Removes a block; the last moves to its place. */
static inline void *dray_shelf_remove(struct dray_cache *cache,
				      struct dray_shelf *shelf, uint32_t index)
{
	uint32_t last = --shelf->count;
	void *block = shelf->blocks[index];

	cache->large_room += (uint64_t)shelf->granules[index] << cache->shift;
	if (index < last) {
		shelf->blocks[index] = shelf->blocks[last];
		shelf->granules[index] = shelf->granules[last];
	}
	shelf->granules[last] = 0;
	return block;
}

/* Removes a block of @granules or, if the cache permits, a few more; or NULL. */
void *dray_shelf_take_near(struct dray_cache *cache, struct dray_shelf *shelf,
			   uint32_t granules);

/* A large block that the thread keeps, or NULL. */
static inline void *dray_cache_take_large(struct dray_cache *cache,
					  uint64_t granules)
{
	struct dray_shelf *shelf;
	uint32_t last;
	void *block;

	if (cache->wanted)
		cache->wanted = granules;
	if (granules > cache->large_most >> cache->shift ||
	    !dray_cache_enter(cache))
		return NULL;
	shelf = dray_cache_shelf(cache, (uint32_t)granules);
	last = shelf->count - 1;
	/* Mostly the block that was put there last, if a program repeats a size. */
	if (shelf->count && shelf->granules[last] == granules)
		block = dray_shelf_remove(cache, shelf, last);
	else
		block = dray_shelf_take_near(cache, shelf, (uint32_t)granules);
	if (block)
		dray_mark_set(block, DRAY_MARK_LARGE);
	dray_cache_leave(cache);
	return block;
}

/*
 * The caller's cache for the block that may begin at @block, and the block's
 * mark; NULL if the pool must be asked.
 */
static inline struct dray_cache *dray_cache_find(const void *block,
						 _Atomic uint8_t **mark)
{
	const struct dray_thread *thread = dray_thread;
	uintptr_t line = (uintptr_t)block - thread->base;
	uint32_t number;

	/*
	 * Rotated: low bits of a misaligned address become high bits and fail
	 * the bound check.
	 */
	line = line >> DRAY_MARK_SHIFT |
	       line << (8 * sizeof(line) - DRAY_MARK_SHIFT);
	if (__builtin_expect(line >= thread->lines, 0))
		return NULL;
	*mark = &thread->marks[line];
	number = atomic_load_explicit(
		&thread->numbers[line >> (DRAY_SLOT_SHIFT - DRAY_MARK_SHIFT)],
		memory_order_relaxed);
	if (__builtin_expect(number == thread->recent_number, 1))
		return thread->recent;
	return thread->caches[number];
}

/* Whether to keep large blocks of @granules. */
static inline bool dray_cache_wants(const struct dray_cache *cache,
				    uint64_t granules)
{
	return !cache->wanted || granules == cache->wanted;
}

/* Keeps a large block of @granules that is freed, with its mark. */
static inline bool dray_cache_put_large(struct dray_cache *cache, void *block,
					_Atomic uint8_t *mark,
					uint64_t granules)
{
	uint64_t bytes = granules << cache->shift;
	struct dray_shelf *shelf;
	bool kept = false;

	if (!dray_cache_wants(cache, granules) || !dray_cache_enter(cache))
		return false;
	shelf = dray_cache_shelf(cache, (uint32_t)granules);
	if (shelf->count < DRAY_SHELF_ROOM && bytes <= cache->large_room) {
		dray_shelf_push(cache, shelf, block, granules);
		atomic_store_explicit(mark, DRAY_MARK_KEPT,
				      memory_order_relaxed);
		kept = true;
	}
	dray_cache_leave(cache);
	return kept;
}

/* The magazine for blocks of @size granules. */
static inline struct dray_magazine *dray_cache_magazine(struct dray_cache *cache,
							uint32_t size)
{
	if (__builtin_expect(size == cache->recent_size, 1))
		return cache->recent;
	cache->recent_size = size;
	cache->recent = &cache->magazines[size - 1];
	return cache->recent;
}

/* Keeps a small block of @size granules that is freed, with its mark. */
static inline bool dray_cache_put(struct dray_cache *cache, void *block,
				  _Atomic uint8_t *mark, uint32_t size)
{
	struct dray_magazine *magazine;

	if (!dray_cache_enter(cache))
		return false;
	magazine = dray_cache_magazine(cache, size);
	if (__builtin_expect(magazine->top ==
					     magazine->blocks +
						     DRAY_MAGAZINE_ROOM ||
				     cache->room < magazine->bytes,
			     0)) {
		dray_cache_leave(cache);
		return false;
	}
	dray_magazine_push(cache, magazine, block);
	atomic_store_explicit(mark, DRAY_MARK_KEPT, memory_order_relaxed);
	dray_cache_leave(cache);
	return true;
}

/*
 * Bytes of the block that begins at @block, by its mark and without a lock; 0
 * if the pool must be asked.
 */
static inline size_t dray_cache_size(const void *block)
{
	_Atomic uint8_t *mark;
	const struct dray_cache *cache = dray_cache_find(block, &mark);
	uint32_t size;

	if (!cache)
		return 0;
	size = atomic_load_explicit(mark, memory_order_relaxed);
	if (size == DRAY_MARK_LARGE)
		size = dray_mark_size(mark);
	else if (size > DRAY_MARK_MOST)
		return 0;
	return (size_t)size << cache->shift;
}

/* A number that no pool used before; 0: the pool does without caches. */
uint32_t dray_cache_number(void);

/*
 * Acquires the pool's lock, and makes room for a block of @size granules if its
 * magazine is full.  False if the block must return to the pool.
 */
bool dray_cache_make_room(struct dray_cache *cache, uint32_t size);

/*
 * All functions from here on are called with the pool's lock held.
 *
 * Marks a block for its owner, or a block that a thread may cache again.  A block
 * without such a mark returns to the pool when it is freed.
 */
void dray_cache_mark(const struct dray_found *found);

/*
 * Marks a block that was allocated for the caller, and fetches a few more of a
 * small size, so that the next need no lock.  Returns the large blocks that the
 * caller's cache keeps if they are a few; returns the region to pass to
 * dray_pool_unlock_freed().
 */
struct dray_pool_region *dray_cache_taken(const struct dray_found *found);

/*
 * A small block of @granules that another thread left in the depot, and a few more for
 * the caller's cache; NULL: there is none.
 */
void *dray_cache_refill(struct dray_pool *pool, uint64_t granules);

/* Keeps a block, making room for it; false: it is to be freed. */
bool dray_cache_keep(const struct dray_found *found);

/*
 * Returns all threads' cached blocks to the pool; returns their bytes.  Each
 * cache stays closed until its owner enters the pool, so that it cannot fill
 * behind the drainer.  If an owner was stopped inside its cache, sets
 * pool->missed; @patiently waits for it for a good part of a second.
 */
uint64_t dray_caches_drain(struct dray_pool *pool);
uint64_t dray_caches_drain_patiently(struct dray_pool *pool);

/*
 * After @bytes were allocated from the pool: now and then drains caches of threads
 * that did not enter the pool for a while.  Left until a request fails, their
 * blocks would lie scattered between others' blocks.
 */
void dray_caches_sweep(struct dray_pool *pool, uint64_t bytes);

/* Returns all blocks of a cache; called by its owner or its closer. */
void dray_cache_empty(struct dray_cache *cache);

/* Bytes of its small blocks. */
static inline uint64_t dray_cache_held_small(const struct dray_cache *cache)
{
	return cache->most - cache->room;
}

/* Removes the oldest @count blocks of a magazine, which are elsewhere now. */
void dray_magazine_drop(struct dray_cache *cache,
			struct dray_magazine *magazine, uint32_t count);

/*
 * Returns the oldest @count blocks of a magazine, or of a shelf, or all large
 * blocks, to the pool.  The result is the last block's region, of large blocks a
 * region that is empty if there is any.
 */
struct dray_pool_region *dray_cache_flush(struct dray_cache *cache,
					  struct dray_magazine *magazine,
					  uint32_t count);
struct dray_pool_region *dray_shelf_flush(struct dray_cache *cache,
					  struct dray_shelf *shelf,
					  uint32_t count);
struct dray_pool_region *dray_cache_flush_large(struct dray_cache *cache);

/* Returns large blocks until there is room for @bytes; false: there is none. */
bool dray_cache_make_large_room(struct dray_cache *cache,
				const struct dray_shelf *shelf, uint64_t bytes);

/* Bytes of all its blocks. */
uint64_t dray_cache_held(const struct dray_cache *cache);

/* Adapts the bounds to the size of the pool. */
void dray_cache_set_bounds(struct dray_cache *cache, uint64_t reserved);

/* The caller's cache, open and with current bounds, or NULL. */
struct dray_cache *dray_cache_of_caller(struct dray_pool *pool);

/*
 * Ends the caches of all pools for good.  Called if only the owner of a cache
 * could drain it.
 */
void dray_caches_end(void);
bool dray_caches_are_off(void);

/* Prepares empty caches of the pool's earlier life for its granule. */
void dray_caches_adopt(struct dray_pool *pool);

/* With both locks: number and caches of an ended pool, to a new pool. */
void dray_caches_pass(struct dray_pool *from, struct dray_pool *to);

/* In a child of fork(), with a single thread and empty caches. */
void dray_caches_forget(struct dray_pool *pool);

#endif /* DRAY_POOL_CACHE_H */

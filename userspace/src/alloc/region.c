// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * region: from a buffer to a range that fit can cut, and the bits that save
 * clearing what is zero anyway.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "alloc/region.h"
#include "base/error.h"
#include "base/fork.h"
#include "memory/node.h"
#include "memory/unlocked.h"
#include "memory/window.h"

#define PAGE_SHIFT 12

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct dray_pool_region *unused;

static void take_lock(void)
{
	pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
	pthread_mutex_unlock(&lock);
}

static struct dray_fork_locks locks = {
	.rank = DRAY_FORK_UNUSED_REGIONS,
	.take = take_lock,
	.give = give_lock,
};

static struct dray_pool_region *new_region(void)
{
	struct dray_pool_region *region;

	pthread_mutex_lock(&lock);
	region = unused;
	if (region)
		unused = region->next;
	pthread_mutex_unlock(&lock);
	return region ? region : calloc(1, sizeof(*region));
}

static void drop_region(struct dray_pool_region *region)
{
	pthread_mutex_lock(&lock);
	region->next = unused;
	unused = region;
	pthread_mutex_unlock(&lock);
}

void dray_regions_enlist(void)
{
	dray_fork_enlist(&locks);
}

static int make_tables(struct dray_pool_region *region)
{
	uint64_t granules = region->reserved >> region->shift;
	uint64_t words = ((region->reserved >> PAGE_SHIFT) + 63) / 64;
	int ret;

	if (granules > UINT32_MAX)
		return dray_fail(-ENOMEM,
				 "%" PRIu64
				 " granules, a region has at most %u",
				 granules, UINT32_MAX);
	region->dirty_bytes = words * sizeof(*region->dirty);
	region->dirty =
		dray_map_unlocked(region->dirty_bytes, PROT_READ | PROT_WRITE);
	if (region->dirty == MAP_FAILED)
		goto no_memory;
	ret = dray_fit_init(&region->fit, (uint32_t)granules);
	if (ret)
		goto unmap_dirty;
	ret = dray_fit_extend(&region->fit,
			      (uint32_t)(region->size >> region->shift));
	if (!ret)
		return 0;
	dray_fit_fini(&region->fit);
unmap_dirty:
	munmap((void *)region->dirty, region->dirty_bytes);
no_memory:
	return dray_fail(-ENOMEM,
			 "no memory for the tables of a region of %" PRIu64
			 " bytes",
			 region->reserved);
}

int dray_region_create(const struct dray_region_request *request,
		       struct dray_pool_region **out)
{
	const struct dray_buffer_options options = {
		.heap = request->heap,
		.name = request->name,
		.alignment = request->alignment,
		.pages = request->pages,
	};
	struct dray_pool_region *region = new_region();
	uint64_t reserve = request->reserve;
	int ret;

	if (!region)
		return dray_fail(-ENOMEM, "no memory for a region's object");
	ret = dray_buffer_alloc_growing(request->node, request->size, reserve,
					&options, &region->buffer);
	if (ret)
		goto drop;
	region->base = (uintptr_t)dray_buffer_data(region->buffer);
	region->size = dray_buffer_size(region->buffer);
	region->reserved = reserve > region->size ? reserve : region->size;
	region->shift = request->shift;
	region->page = request->page;
	region->blocks = 0;
	region->freed = 0;
	region->own = false;
	region->inherited = false;
	region->shared = false;
	ret = make_tables(region);
	if (ret)
		goto unref;
	*out = region;
	return 0;
unref:
	dray_buffer_unref(region->buffer);
drop:
	drop_region(region);
	return ret;
}

void dray_region_publish(struct dray_pool_region *region,
			 struct dray_pool *pool)
{
	struct dray_span *span = dray_window_find((void *)region->base);

	atomic_store_explicit(&region->pool, pool, memory_order_release);
	atomic_store_explicit(&span->owner, region, memory_order_release);
}

void dray_region_withdraw(struct dray_pool_region *region)
{
	struct dray_span *span = dray_window_find((void *)region->base);

	atomic_store_explicit(&span->owner, NULL, memory_order_release);
	atomic_store_explicit(&region->pool, NULL, memory_order_release);
}

void dray_region_destroy(struct dray_pool_region *region)
{
	dray_fit_fini(&region->fit);
	munmap((void *)region->dirty, region->dirty_bytes);
	dray_buffer_unref(region->buffer);
	drop_region(region);
}

int dray_region_map(struct dray_pool_region *region, uint64_t more)
{
	if (more > region->reserved - region->size)
		return dray_fail(
			-ENOMEM,
			"%" PRIu64
			" bytes more, the region has room for %" PRIu64,
			more, region->reserved - region->size);
	return dray_buffer_grow(region->buffer, region->size + more);
}

int dray_region_extend(struct dray_pool_region *region, uint64_t more)
{
	int ret = dray_fit_extend(&region->fit,
				  (uint32_t)(more >> region->shift));

	if (ret)
		return dray_fail(ret, "no memory for the table of a region");
	region->size += more;
	return 0;
}

/* The bits of @word's pages from @page on, up to @end. */
static uint64_t bits_of(uint64_t page, uint64_t end)
{
	uint64_t bits = ~0ull << (page & 63);

	if (end - (page & ~63ull) < 64)
		bits &= ~(~0ull << (end & 63));
	return bits;
}

/* Neighbours share words, and mostly find them marked. */
static inline void mark_bits(_Atomic uint64_t *word, uint64_t bits)
{
	if (~atomic_load_explicit(word, memory_order_relaxed) & bits)
		atomic_fetch_or_explicit(word, bits, memory_order_relaxed);
}

void dray_region_mark(struct dray_pool_region *region, uint64_t offset,
		      uint64_t length)
{
	uint64_t page = offset >> PAGE_SHIFT;
	uint64_t last = (offset + length - 1) >> PAGE_SHIFT;
	_Atomic uint64_t *word = &region->dirty[page / 64];
	_Atomic uint64_t *end = &region->dirty[last / 64];
	uint64_t bits = ~0ull << page % 64;

	for (; word < end; word++, bits = ~0ull)
		mark_bits(word, bits);
	mark_bits(word, bits & ~0ull >> (63 - last % 64));
}

static bool is_dirty(struct dray_pool_region *region, uint64_t page)
{
	return atomic_load_explicit(&region->dirty[page / 64],
				    memory_order_relaxed) >>
		       (page & 63) &
	       1;
}

void dray_region_clear(struct dray_pool_region *region, uint64_t offset,
		       uint64_t length)
{
	uint64_t end = offset + length, from, to;
	bool all = dray_buffer_exposed(region->buffer);

	/* In runs of dirty pages, so that large ones are one memset. */
	for (from = offset; from < end; from = to) {
		bool dirty = all || is_dirty(region, from >> PAGE_SHIFT);

		to = from;
		do
			to = ((to >> PAGE_SHIFT) + 1) << PAGE_SHIFT;
		while (to < end &&
		       dirty == (all || is_dirty(region, to >> PAGE_SHIFT)));
		if (to > end)
			to = end;
		if (dirty)
			memset((char *)region->base + from, 0, to - from);
	}
	dray_region_mark(region, offset, length);
}

/* The whole pages of a range, those of the system; false if there are none. */
static bool whole_pages(const struct dray_pool_region *region, uint64_t offset,
			uint64_t length, uint64_t *from, uint64_t *to)
{
	*from = (offset + region->page - 1) & ~(region->page - 1);
	*to = (offset + length) & ~(region->page - 1);
	return *from < *to;
}

uint64_t dray_region_dirty(struct dray_pool_region *region, uint64_t offset,
			   uint64_t length)
{
	uint64_t from, to, page, end, pages = 0;

	if (!whole_pages(region, offset, length, &from, &to))
		return 0;
	if (dray_buffer_exposed(region->buffer))
		return to - from;
	end = to >> PAGE_SHIFT;
	for (page = from >> PAGE_SHIFT; page < end; page = (page | 63) + 1) {
		uint64_t dirty = atomic_load_explicit(&region->dirty[page / 64],
						      memory_order_relaxed) &
				 bits_of(page, end);

		pages += (uint64_t)__builtin_popcountll(dirty);
	}
	return pages << PAGE_SHIFT;
}

uint64_t dray_region_punch(struct dray_pool_region *region, uint64_t offset,
			   uint64_t length)
{
	uint64_t bytes = dray_region_dirty(region, offset, length);
	uint64_t from, to, page, end;

	if (!bytes || !whole_pages(region, offset, length, &from, &to) ||
	    dray_buffer_punch(region->buffer, from, to - from))
		return 0;
	/* What a child has of blocks that were freed here is these pages. */
	if (region->shared)
		return bytes;
	end = to >> PAGE_SHIFT;
	for (page = from >> PAGE_SHIFT; page < end; page = (page | 63) + 1)
		atomic_fetch_and_explicit(&region->dirty[page / 64],
					  ~bits_of(page, end),
					  memory_order_relaxed);
	return bytes;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * region: from a buffer to a range that fit can cut, and the bits that save
 * clearing of zero pages.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fork.h"
#include "memory/node.h"
#include "memory/pages.h"
#include "memory/unlocked.h"
#include "memory/window.h"
#include "pool/region.h"

#define PAGE_SHIFT 12
#define MIB ((uint64_t)1 << 20)

/*
 * The C library maps zeroed blocks anew from this size on: returning pages is
 * faster than clearing them, if not all are touched afterwards.
 */
#define CLEAR_MOST (32 * MIB)

/* A run for which the file is asked. */
#define SEEK_LEAST (1 * MIB)

/*
 * Blocks that get huge pages at once.  Larger blocks may be meant to stay mostly
 * untouched, which should use no memory.
 */
#define READY_LEAST (1 * MIB)
#define READY_MOST (256 * MIB)

DEFINE_FORK_LOCK(DRAY_FORK_UNUSED_REGIONS, lock);
static struct dray_pool_region *unused;

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
	uint64_t more = region->reserved / DRAY_PAGES_HUGE_SIZE / 64 + 1;
	int ret;

	if (granules > UINT32_MAX)
		return dray_fail(-ENOMEM,
				 "%" PRIu64
				 " granules, a region has at most %u",
				 granules, UINT32_MAX);
	region->dirty_bytes = (size_t)(words + more) * sizeof(*region->dirty);
	region->dirty =
		dray_map_unlocked(region->dirty_bytes, PROT_READ | PROT_WRITE);
	if (region->dirty == MAP_FAILED)
		goto no_memory;
	region->gathered = region->dirty + words;
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
	region->used = 0;
	atomic_store(&region->dirty_pages, 0);
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

/* Returns the bits of the pages in @page's word from @page on, up to @end. */
static uint64_t region_bits_of(uint64_t page, uint64_t end)
{
	uint64_t bits = ~0ull << (page & 63);

	if (end - (page & ~63ull) < 64)
		bits &= ~(~0ull << (end & 63));
	return bits;
}

static uint64_t count_bits(uint64_t bits)
{
	return bits == ~0ull ? 64 : (uint64_t)__builtin_popcountll(bits);
}

/*
 * Sets bits of a word, or clears them, and returns how many changed.  Other threads
 * may change other bits of the word meanwhile.
 */
static uint64_t change_bits(_Atomic uint64_t *word, uint64_t bits, bool set)
{
	uint64_t old = atomic_load_explicit(word, memory_order_relaxed);

	if (!((set ? ~old : old) & bits))
		return 0;
	if (bits == ~0ull)
		atomic_store_explicit(word, set ? bits : 0,
				      memory_order_relaxed);
	else if (set)
		old = atomic_fetch_or_explicit(word, bits,
					       memory_order_relaxed);
	else
		old = atomic_fetch_and_explicit(word, ~bits,
						memory_order_relaxed);
	return count_bits((set ? ~old : old) & bits);
}

void dray_region_mark(struct dray_pool_region *region, uint64_t offset,
		      uint64_t length)
{
	uint64_t page = offset >> PAGE_SHIFT;
	uint64_t last = (offset + length - 1) >> PAGE_SHIFT;
	_Atomic uint64_t *word = &region->dirty[page / 64];
	_Atomic uint64_t *end = &region->dirty[last / 64];
	uint64_t bits = ~0ull << page % 64, more = 0;

	for (; word < end; word++, bits = ~0ull)
		more += change_bits(word, bits, true);
	more += change_bits(word, bits & ~0ull >> (63 - last % 64), true);
	if (more)
		atomic_fetch_add_explicit(&region->dirty_pages, more,
					  memory_order_relaxed);
}

/* Private memory gets huge pages when it is touched first, a memfd when it is asked. */
static void gather_around(struct dray_pool_region *region, uint64_t offset,
			  uint64_t length)
{
	uint64_t page = offset / DRAY_PAGES_HUGE_SIZE;
	uint64_t end = (offset + length - 1) / DRAY_PAGES_HUGE_SIZE + 1;

	if (length >= READY_LEAST ||
	    dray_buffer_descriptor(region->buffer) < 0 ||
	    end * DRAY_PAGES_HUGE_SIZE > dray_buffer_size(region->buffer))
		return;
	for (; page < end; page++)
		if (change_bits(&region->gathered[page / 64], 1ull << page % 64,
				true))
			dray_buffer_gather(region->buffer,
					   page * DRAY_PAGES_HUGE_SIZE,
					   DRAY_PAGES_HUGE_SIZE);
}

void dray_region_ready(struct dray_pool_region *region, uint64_t offset,
		       uint64_t length)
{
	gather_around(region, offset, length);
	if (length >= READY_LEAST && length <= READY_MOST &&
	    dray_region_dirty(region, offset, length) + 2 * region->page <
		    length)
		dray_buffer_gather(region->buffer, offset, length);
	dray_region_mark(region, offset, length);
}

/* Finds the system's whole pages in a range; false if there are none. */
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
				 region_bits_of(page, end);

		pages += count_bits(dirty);
	}
	return pages << PAGE_SHIFT;
}

/* Returns the first page from @page to @end with a bit other than @dirty. */
static uint64_t run_end(const struct dray_pool_region *region, uint64_t page,
			uint64_t end, bool dirty)
{
	for (; page < end; page = (page | 63) + 1) {
		uint64_t word = atomic_load_explicit(&region->dirty[page / 64],
						     memory_order_relaxed);

		word = (dirty ? ~word : word) & region_bits_of(page, end);
		if (word)
			return (page & ~63ull) +
			       (uint64_t)__builtin_ctzll(word);
	}
	return end;
}

/*
 * Narrows a range of whole pages, some of them dirty, to the dirty pages at its ends: the
 * system walks over all that it is asked to free.
 */
static void narrow_to_dirty(const struct dray_pool_region *region,
			    uint64_t *from, uint64_t *to)
{
	uint64_t end = *to >> PAGE_SHIFT, page, last;
	uint64_t first = run_end(region, *from >> PAGE_SHIFT, end, false);

	while (end > first) {
		page = (end - 1) & ~63ull;
		if (run_end(region, page > first ? page : first, end, false) <
		    end)
			break;
		end = page;
	}
	last = ((end << PAGE_SHIFT) + region->page - 1) & ~(region->page - 1);
	*from = (first << PAGE_SHIFT) & ~(region->page - 1);
	*to = last < *to ? last : *to;
}

uint64_t dray_region_punch(struct dray_pool_region *region, uint64_t offset,
			   uint64_t length)
{
	uint64_t bytes = dray_region_dirty(region, offset, length);
	uint64_t from, to, page, end, fewer = 0;

	if (!bytes || !whole_pages(region, offset, length, &from, &to))
		return 0;
	if (!dray_buffer_exposed(region->buffer))
		narrow_to_dirty(region, &from, &to);
	if (dray_buffer_punch(region->buffer, from, to - from))
		return 0;
	/* A child may still use these pages as blocks that were freed here. */
	if (region->shared)
		return bytes;
	end = to >> PAGE_SHIFT;
	for (page = from >> PAGE_SHIFT; page < end; page = (page | 63) + 1)
		fewer += change_bits(&region->dirty[page / 64],
				     region_bits_of(page, end), false);
	page = (from + DRAY_PAGES_HUGE_SIZE - 1) / DRAY_PAGES_HUGE_SIZE;
	for (; page < to / DRAY_PAGES_HUGE_SIZE; page++)
		change_bits(&region->gathered[page / 64], 1ull << page % 64,
			    false);
	atomic_fetch_sub_explicit(&region->dirty_pages, fewer,
				  memory_order_relaxed);
	return bytes;
}

/*
 * Returns the pages of a large block that would need clearing.  In a memfd, where new
 * pages are far slower, they stay if the block will be written, as far as a sample
 * shows: 2 MiB near its front return, and are back only if its owner wrote there.
 */
static void drop_pages(struct dray_pool_region *region, uint64_t offset,
		       uint64_t length)
{
	int fd = dray_buffer_descriptor(region->buffer);
	uint64_t sample = (offset + DRAY_PAGES_HUGE_SIZE - 1) &
			  ~(DRAY_PAGES_HUGE_SIZE - 1);
	off_t data;

	if (length < CLEAR_MOST)
		return;
	if (fd >= 0) {
		data = lseek(fd, (off_t)sample, SEEK_DATA);
		if (data >= 0 &&
		    (uint64_t)data < sample + DRAY_PAGES_HUGE_SIZE) {
			offset = sample;
			length = DRAY_PAGES_HUGE_SIZE;
		}
	}
	dray_region_punch(region, offset, length);
}

/*
 * Clears a run of pages.  Only the file knows which of them were never written: a
 * program may leave a large block untouched, and holes are zeros.
 */
static void clear_run(struct dray_pool_region *region, uint64_t from,
		      uint64_t to)
{
	int fd = to - from < SEEK_LEAST
			 ? -1
			 : dray_buffer_descriptor(region->buffer);
	off_t data = (off_t)from, hole = (off_t)to;

	while (fd >= 0 && from < to) {
		data = lseek(fd, (off_t)from, SEEK_DATA);
		if (data < 0 && errno == ENXIO)
			return;
		hole = data < 0 ? data : lseek(fd, data, SEEK_HOLE);
		if (hole <= data)
			break;
		if ((uint64_t)data >= to)
			return;
		from = (uint64_t)data;
		if ((uint64_t)hole > to)
			hole = (off_t)to;
		memset((char *)region->base + from, 0,
		       (size_t)((uint64_t)hole - from));
		from = (uint64_t)hole;
	}
	memset((char *)region->base + from, 0, (size_t)(to - from));
}

static void clear_pages(struct dray_pool_region *region, uint64_t offset,
			uint64_t length)
{
	uint64_t page = offset >> PAGE_SHIFT, end = offset + length;
	uint64_t last = ((end - 1) >> PAGE_SHIFT) + 1, from, to;

	/* In runs of dirty pages, so that each is a single memset. */
	for (page = run_end(region, page, last, false); page < last;
	     page = run_end(region, page, last, false)) {
		from = page << PAGE_SHIFT;
		page = run_end(region, page, last, true);
		to = page << PAGE_SHIFT;
		from = from > offset ? from : offset;
		to = to < end ? to : end;
		clear_run(region, from, to);
	}
}

void dray_region_clear(struct dray_pool_region *region, uint64_t offset,
		       uint64_t length)
{
	gather_around(region, offset, length);
	if (dray_buffer_exposed(region->buffer)) {
		clear_run(region, offset, offset + length);
	} else {
		/* Pages at the edges stay: other blocks share them. */
		drop_pages(region, offset, length);
		clear_pages(region, offset, length);
	}
	dray_region_mark(region, offset, length);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The window: reserved at the first buffer, 256 GiB, or half of a limit on
 * addresses.  It is halved down to 128 MiB if a mapping fails, as under a
 * checker with its own map.  A first-fit search over spans finds room; it runs
 * once a buffer, not once a block.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/fork.h"
#include "base/number.h"
#include "memory/unlocked.h"
#include "memory/window.h"

#if UINTPTR_MAX > UINT32_MAX
#define WINDOW_LARGEST ((size_t)256 << 30)
#else
#define WINDOW_LARGEST ((size_t)1 << 30)
#endif
#define WINDOW_SMALLEST ((size_t)128 << 20)

struct dray_window dray_window;

DEFINE_FORK_LOCK(DRAY_FORK_WINDOW, lock);
static size_t lowest_free; /* no slot below it is free */
static size_t taken; /* slots */

/* Returns the largest window that leaves the process half of its addresses. */
static size_t largest_window(void)
{
	struct rlimit limit;
	size_t half;

	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	    limit.rlim_cur / 2 >= WINDOW_LARGEST)
		return WINDOW_LARGEST;
	half = (size_t)(limit.rlim_cur / 2) & ~(size_t)(DRAY_SLOT_SIZE - 1);
	return half > WINDOW_SMALLEST ? half : WINDOW_SMALLEST;
}

static int open_window(void)
{
	size_t size = largest_window();
	size_t slots, table, all;
	void *base = MAP_FAILED;
	char *side;

	for (; size >= WINDOW_SMALLEST; size /= 2) {
		size &= ~(size_t)(DRAY_SLOT_SIZE - 1);
		base = dray_map_unlocked(size, PROT_NONE);
		if (base != MAP_FAILED)
			break;
	}
	if (base == MAP_FAILED)
		return dray_fail(
			-ENOMEM,
			"the address space lacks %zu bytes for the window; raise ulimit -v",
			WINDOW_SMALLEST);

	slots = size >> DRAY_SLOT_SHIFT;
	table = slots * sizeof(*dray_window.table);
	all = table + slots * sizeof(*dray_window.spans);
	side = dray_map_unlocked(all, PROT_READ | PROT_WRITE);
	if (side == MAP_FAILED) {
		munmap(base, size);
		return dray_fail(-ENOMEM, "no %zu bytes for the window's table",
				 all);
	}

	/*
	 * The reservation need not start at a slot: bytes before it are lost.
	 */
	dray_window.base = ((uintptr_t)base + DRAY_SLOT_SIZE - 1) &
			   ~(uintptr_t)(DRAY_SLOT_SIZE - 1);
	if (dray_window.base != (uintptr_t)base)
		slots--;
	dray_window.table = (_Atomic uint32_t *)(void *)side;
	dray_window.spans = (struct dray_span *)(void *)(side + table);
	atomic_store_explicit(&dray_window.slots, slots, memory_order_release);
	return 0;
}

/* The first run of @want free slots at a multiple of @alignment, or slots. */
static size_t window_find_run(size_t slots, size_t want, uint64_t alignment)
{
	size_t run = lowest_free, slot = lowest_free;
	bool seen = false;

	while (slot < slots && slot - run < want) {
		uint32_t span = atomic_load_explicit(&dray_window.table[slot],
						     memory_order_relaxed);
		uintptr_t address;

		if (span) {
			slot = span - 1 + dray_window.spans[span - 1].slots;
			run = slot;
			continue;
		}
		if (!seen) {
			lowest_free = slot;
			seen = true;
		}
		address = dray_window.base + (slot << DRAY_SLOT_SHIFT);
		if (slot == run && (address & (alignment - 1))) {
			run = ++slot;
			continue;
		}
		slot++;
	}
	return slot - run < want ? slots : run;
}

void dray_window_enlist(void)
{
	dray_fork_enlist(&locks);
}

int dray_window_take(uint64_t size, uint64_t alignment, void **start)
{
	size_t slots, want, run, i;
	uint64_t rounded;
	int ret = 0;

	/* An imported buffer may be longer than this process's addresses. */
	if ((size_t)size != size || dray_add_overflow(size, 1, &rounded) ||
	    dray_round_up_overflow(rounded, DRAY_SLOT_SIZE, &rounded))
		return dray_fail(-ENOMEM,
				 "%" PRIu64 " bytes exceed the address space",
				 size);
	want = (size_t)(rounded >> DRAY_SLOT_SHIFT);

	pthread_mutex_lock(&lock);
	if (!atomic_load_explicit(&dray_window.slots, memory_order_relaxed))
		ret = open_window();
	if (ret)
		goto out;
	slots = atomic_load_explicit(&dray_window.slots, memory_order_relaxed);
	run = window_find_run(slots, want, alignment);
	if (run == slots) {
		ret = dray_fail(
			-ENOMEM,
			"%" PRIu64
			" bytes do not fit the free addresses of the window of %zu bytes",
			size, slots << DRAY_SLOT_SHIFT);
		goto out;
	}
	taken += want;
	dray_window.spans[run].slots = (uint32_t)want;
	for (i = run; i < run + want; i++)
		atomic_store_explicit(&dray_window.table[i], (uint32_t)run + 1,
				      memory_order_relaxed);
	*start = dray_span_start(&dray_window.spans[run]);
out:
	pthread_mutex_unlock(&lock);
	return ret;
}

void dray_window_publish(void *start, struct dray_buffer *buffer)
{
	struct dray_span *span = dray_window_find(start);

	atomic_store_explicit(&span->buffer, buffer, memory_order_release);
}

void dray_window_give(void *start)
{
	struct dray_span *span = dray_window_find(start);
	size_t first = (size_t)(span - dray_window.spans);
	size_t i;
	int ret;

	atomic_store_explicit(&span->owner, NULL, memory_order_release);
	atomic_store_explicit(&span->buffer, NULL, memory_order_release);
	ret = dray_window_clear(start, (size_t)span->slots << DRAY_SLOT_SHIFT);

	pthread_mutex_lock(&lock);
	/*
	 * If that fails (too many mappings) the old pages are still there: the
	 * slots stay taken for good.
	 */
	if (!ret) {
		taken -= span->slots;
		for (i = first; i < first + span->slots; i++)
			atomic_store_explicit(&dray_window.table[i], 0,
					      memory_order_release);
		if (first < lowest_free)
			lowest_free = first;
	}
	pthread_mutex_unlock(&lock);
}

int dray_window_clear(void *start, size_t size)
{
	return dray_unmap_to_addresses(start, size) ? -ENOMEM : 0;
}

size_t dray_window_room(void)
{
	size_t size = dray_window_size(), room;

	pthread_mutex_lock(&lock);
	room = size - (taken << DRAY_SLOT_SHIFT);
	pthread_mutex_unlock(&lock);
	return room;
}

size_t dray_window_size(void)
{
	pthread_mutex_lock(&lock);
	if (!atomic_load_explicit(&dray_window.slots, memory_order_relaxed))
		open_window();
	pthread_mutex_unlock(&lock);
	return atomic_load_explicit(&dray_window.slots, memory_order_acquire)
	       << DRAY_SLOT_SHIFT;
}

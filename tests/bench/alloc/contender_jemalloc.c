// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * jemalloc: an arena whose extents come out of the region, in three kinds:
 * with its own data there too, with METADATA_OUT in ordinary memory, and with
 * TCACHE also a cache for each thread.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <jemalloc/jemalloc.h>

#include "contender.h"
#include "region.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *start;
static size_t used, room;
static int flags;
#ifdef TCACHE
static _Thread_local int cache;
#else
static const int cache = MALLOCX_TCACHE_NONE;
#endif

/* Extents are cut off one by one; what jemalloc has, it keeps and merges. */
static void *extent_alloc(extent_hooks_t *hooks, void *wanted, size_t size,
			  size_t alignment, bool *zero, bool *commit,
			  unsigned int arena)
{
	void *extent = NULL;
	size_t at;

	pthread_mutex_lock(&lock);
	at = (used + alignment - 1) & ~(alignment - 1);
	if (at <= room && size <= room - at &&
	    (!wanted || wanted == start + at)) {
		extent = start + at;
		used = at + size;
		*zero = false;
		*commit = true;
	}
	pthread_mutex_unlock(&lock);
	return extent;
}

static bool extent_keep(extent_hooks_t *hooks, void *extent, size_t size,
			bool committed, unsigned int arena)
{
	return true;
}

static bool extent_split(extent_hooks_t *hooks, void *extent, size_t size,
			 size_t first, size_t second, bool committed,
			 unsigned int arena)
{
	return false;
}

static bool extent_merge(extent_hooks_t *hooks, void *first, size_t first_size,
			 void *second, size_t second_size, bool committed,
			 unsigned int arena)
{
	return false;
}

static extent_hooks_t extent_hooks = {
	.alloc = extent_alloc,
	.dalloc = extent_keep,
	.split = extent_split,
	.merge = extent_merge,
};

static int make_arena(unsigned int *arena)
{
	size_t size = sizeof(*arena);
#ifdef METADATA_OUT
	/* Of jemalloc's own headers: what the call below takes. */
	struct {
		extent_hooks_t *hooks;
		bool metadata_use_hooks;
	} config = { &extent_hooks, false };

	return mallctl("experimental.arenas_create_ext", arena, &size, &config,
		       sizeof(config));
#else
	extent_hooks_t *hooks = &extent_hooks;

	return mallctl("arenas.create", arena, &size, &hooks, sizeof(hooks));
#endif
}

int contender_open(size_t size, bool painted, void **region)
{
	unsigned int arena;
	int ret;

	*region = region_map(size, painted);
	if (!*region)
		return -errno;
	start = *region;
	room = size;
	ret = make_arena(&arena);
	if (ret)
		return -ret;
	flags = MALLOCX_ALIGN(BLOCK_ALIGNMENT) | MALLOCX_ARENA(arena);
	return 0;
}

int contender_thread(void)
{
#ifdef TCACHE
	unsigned int number;
	size_t size = sizeof(number);
	int ret = mallctl("tcache.create", &number, &size, NULL, 0);

	if (ret)
		return -ret;
	cache = MALLOCX_TCACHE(number);
#endif
	return 0;
}

void *contender_alloc(size_t size)
{
	return mallocx(size, flags | cache);
}

void contender_free(void *block)
{
	dallocx(block, cache);
}

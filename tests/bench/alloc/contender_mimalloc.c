// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * mimalloc: an arena of the region's memory, and a heap in it for each thread,
 * since only the thread that made a heap may allocate from it.
 */
#include <errno.h>
#include <mimalloc.h>

#include "contender.h"
#include "region.h"

static mi_arena_id_t arena;
static _Thread_local mi_heap_t *heap;

int contender_open(size_t size, bool painted, void **region)
{
	/* 2.0 crashes on memory that is not zero, whatever it is told. */
	region_pattern = 0;
	*region = region_map(size, painted);
	if (!*region)
		return -errno;
	/* Committed and "large": its pages are never given back. */
	if (!mi_manage_os_memory_ex(*region, size, true, true, false, -1, true,
				    &arena))
		return -ENOMEM;
	return 0;
}

int contender_thread(void)
{
	heap = mi_heap_new_in_arena(arena);
	return heap ? 0 : -ENOMEM;
}

void *contender_alloc(size_t size)
{
	return mi_heap_malloc_aligned(heap, size, BLOCK_ALIGNMENT);
}

void contender_free(void *block)
{
	mi_free(block);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * oneTBB: what tbb::fixed_pool is made of, which has no aligned allocation.
 */
#include <cerrno>
#include <cstdint>

#include <oneapi/tbb/scalable_allocator.h>

#include "contender.h"
#include "region.h"

static rml::MemoryPool *pool;
static void *start;
static std::size_t room;

/* Called once, for all there is. */
static void *take_all(std::intptr_t, std::size_t &bytes)
{
	void *all = start;

	start = nullptr;
	bytes = room;
	return all;
}

int contender_open(size_t size, bool painted, void **region)
{
	const rml::MemPoolPolicy policy(take_all, nullptr, size, true);

	*region = start = region_map(size, painted);
	if (!start)
		return -errno;
	room = size;
	return rml::pool_create_v1(0, &policy, &pool) == rml::POOL_OK ? 0
								      : -ENOMEM;
}

int contender_thread(void)
{
	return 0;
}

void *contender_alloc(size_t size)
{
	return rml::pool_aligned_malloc(pool, size, BLOCK_ALIGNMENT);
}

void contender_free(void *block)
{
	rml::pool_free(pool, block);
}

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The bounds of caches, as parts of their pool. */
#ifndef DRAY_POOL_CACHE_BOUND_H
#define DRAY_POOL_CACHE_BOUND_H

#include <stdint.h>

/* Bytes that one thread may keep, in small blocks, of a pool that has so many. */
static inline uint64_t dray_cache_bound(uint64_t reserved)
{
	return reserved / 256;
}

/* And all threads together, in the depot between their caches. */
static inline uint64_t dray_depot_bound(uint64_t reserved)
{
	return reserved / 512;
}

/*
 * The largest block that one thread may keep: of a small pool more, since a few lie
 * scattered nowhere, and one of 32 MiB is to keep an array of 100,000 doubles.
 */
static inline uint64_t dray_cache_block_bound(uint64_t reserved)
{
	uint64_t most = (uint64_t)4 << 20;

	if (reserved / 256 > most)
		return reserved / 256;
	return reserved / 16 < most ? reserved / 16 : most;
}

/* And all its large blocks together. */
static inline uint64_t dray_cache_large_bound(uint64_t reserved)
{
	uint64_t most = (uint64_t)16 << 20;
	uint64_t block = dray_cache_block_bound(reserved);

	if (reserved / 64 < most)
		most = reserved / 64;
	return most > block ? most : block;
}

#endif /* DRAY_POOL_CACHE_BOUND_H */

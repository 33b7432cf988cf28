/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A contender: an allocator that gives blocks out of one region.  Each is
 * linked into a program of its own with the same workloads, because some of
 * them take the place of malloc in every program that has them.
 *
 * Blocks begin on a multiple of 64 bytes, but those of plain malloc.
 */
#ifndef BENCH_ALLOC_CONTENDER_H
#define BENCH_ALLOC_CONTENDER_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BLOCK_ALIGNMENT ((size_t)64)

/*
 * Makes the allocator over a region of @size bytes, which it cannot leave, and
 * gives the region's first byte in @region; NULL there: it has none, and takes
 * what it likes from the system.  With @painted the region has been filled by
 * region_paint() and is touched by nobody else.  0 or a negative errno.
 */
int contender_open(size_t size, bool painted, void **region);

/* What a thread does before its first block; the first one too. */
int contender_thread(void);

/* NULL where nothing is left. */
void *contender_alloc(size_t size);
void contender_free(void *block);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_ALLOC_CONTENDER_H */

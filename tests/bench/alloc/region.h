/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A region: memory that peers are given to allocate from, and what the
 * workloads do with the bytes of any region.
 */
#ifndef BENCH_ALLOC_REGION_H
#define BENCH_ALLOC_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Anonymous memory in huge pages, where the system has them, as dray's private
 * memory of the host is; @painted: region_paint() has been there.  NULL and
 * errno where it cannot be had.
 */
void *region_map(size_t size, bool painted);

/* Touches every page for writing, so that no fault comes later. */
int region_touch(void *region, size_t size);

/*
 * Fills the region with a byte that nobody writes by chance, and counts the
 * lines that have lost it.
 */
extern uint8_t region_pattern;
void region_paint(void *region, size_t size);
size_t region_lost(const void *region, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_ALLOC_REGION_H */

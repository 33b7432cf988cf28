/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * unlocked: private mappings that mlockall(MCL_FUTURE) does not lock.
 *
 * The addresses of the window and the tables are far larger than what is ever
 * used of them.  In a program that locks all that it will map they would be
 * fetched as a whole, or refused, because they are beyond RLIMIT_MEMLOCK.
 */
#ifndef DRAY_MEMORY_UNLOCKED_H
#define DRAY_MEMORY_UNLOCKED_H

#include <stddef.h>
#include <stdint.h>

/*
 * @size zero bytes with this protection, which take memory as they are
 * written; MAP_FAILED with errno where there is no room.
 */
void *dray_map_unlocked(size_t size, int protection);

/* Takes @size bytes from @start on back as bare addresses.  0 or -1 and errno. */
int dray_unmap_to_addresses(void *start, size_t size);

/*
 * Why @size bytes of @what could not be mapped: a negative errno with a sentence.
 * Beyond the limit of locked memory there is no memory.
 */
int dray_map_refused(const char *what, uint64_t size, int error);

#endif /* DRAY_MEMORY_UNLOCKED_H */

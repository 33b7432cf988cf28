/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * unlocked: private mappings that mlockall(MCL_FUTURE) does not lock.
 *
 * The window and the tables reserve far more addresses than are ever used.  If
 * a program locks all future mappings, the kernel would fetch them whole, or
 * refuse them because they exceed RLIMIT_MEMLOCK.
 */
#ifndef DRAY_MEMORY_UNLOCKED_H
#define DRAY_MEMORY_UNLOCKED_H

#include <stddef.h>
#include <stdint.h>

/*
 * Maps @size zero bytes with this protection, which take memory as they are
 *	written, and are in no core file; MAP_FAILED with errno if there is no room.
 */
void *dray_map_unlocked(size_t size, int protection);

/* Takes @size bytes from @start on back as bare addresses.  0 or -1 and errno. */
int dray_unmap_to_addresses(void *start, size_t size);

/*
 * Explains a failed mapping of @size bytes of @subject: a negative errno with a
 * sentence.  Beyond the limit of locked memory it is -ENOMEM.
 */
int dray_map_refused(const char *subject, uint64_t size, int error);

#endif /* DRAY_MEMORY_UNLOCKED_H */

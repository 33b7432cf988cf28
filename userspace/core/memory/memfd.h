/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The memfd behind shareable host memory, for host.c. */
#ifndef DRAY_MEMORY_MEMFD_H
#define DRAY_MEMORY_MEMFD_H

#include "memory/backend.h"

/*
 * Makes the memfd of a new buffer, of @size bytes, with the buffer's name and
 * pages.
 * @grows: it will be made longer.  Errors: -ENOMEM (more than the machine's
 *	memory, or than a file can hold), and errors of memfd_create(),
 *	ftruncate() and fcntl().
 */
int dray_memfd_make(struct dray_buffer *buffer, uint64_t size, bool grows);

/*
 * Makes it long enough for @size bytes.  Errors: -ENOMEM (more than the machine's
 * memory, or than a file can hold), and errors of ftruncate().
 */
int dray_memfd_lengthen(const struct dray_buffer *buffer, uint64_t size);

/*
 * Checks a received descriptor, and duplicates it for the new @buffer; its
 * node knows the size of a page.
 * @need: as for dray_buffer_import_bytes()
 * @size: bytes to map
 * Errors: as dray_buffer_import().
 */
int dray_memfd_take(struct dray_buffer *buffer, int fd, uint64_t need,
		    uint64_t *size);

/* A descriptor for others, as dray_buffer_share(). */
int dray_memfd_share(struct dray_buffer *buffer, bool read_only, int *fd);

/* Its descriptor is known outside: how it may be passed on is settled. */
void dray_memfd_expose(struct dray_buffer *buffer);

#endif /* DRAY_MEMORY_MEMFD_H */

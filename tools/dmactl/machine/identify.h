/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Identifies the buffer of a descriptor, which libdray cannot. */
#ifndef DMACTL_IDENTIFY_H
#define DMACTL_IDENTIFY_H

#include <stdbool.h>
#include <stdint.h>

struct dray_segment;

/* Opens a node, for close(); returns -1 if that fails. */
int identify_open(const char *node);

/*
 * Returns the id of the buffer behind @fd, and whether @fd is read-only; 0 if
 * it is not a buffer of dray.
 */
uint64_t identify(int node, int fd, bool *read_only);

/*
 * Asks for the segments of the buffer behind @fd, for free().  Returns 0 or a
 * negative errno.  The module remembers that this process knows them.
 */
int identify_segments(int node, int fd, struct dray_segment **segments,
		      uint32_t *count);

/* The same for a descriptor of this process, by a node's name. */
uint64_t identify_own(const char *node, int fd);

#endif /* DMACTL_IDENTIFY_H */

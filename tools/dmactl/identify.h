/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Which buffer a file descriptor is: the one question that libdray has not. */
#ifndef DMACTL_IDENTIFY_H
#define DMACTL_IDENTIFY_H

#include <stdbool.h>
#include <stdint.h>

/* A node to ask, to be given to close(); -1 where it cannot be opened. */
int identify_open(const char *node);

/*
 * The id of the buffer that @fd is, and whether it can only be read through
 * that; or 0 where it is none of dray.
 */
uint64_t identify(int node, int fd, bool *read_only);

#endif /* DMACTL_IDENTIFY_H */

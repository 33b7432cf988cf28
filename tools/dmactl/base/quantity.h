/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Sizes and times with a unit, and fragmentation. */
#ifndef DMACTL_QUANTITY_H
#define DMACTL_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of the longest quantity with its terminating zero. */
#define QUANTITY_ROOM 32

/*
 * Formats a size as "512B" or "8.0M", in powers of 1024, rounded down: memory
 * that does not exist is not shown.  If @exact, prints the bytes only.
 */
const char *quantity_size(char out[QUANTITY_ROOM], uint64_t bytes, bool exact);

/* Formats a time as "7us", "250ms", "12s", "3m12s", "2h05m" or "4d03h". */
const char *quantity_time(char out[QUANTITY_ROOM], uint64_t nanoseconds);

/*
 * Returns in percent how far the longest free run falls short of the free memory,
 * or -1 if none is free.  It compares with the largest request if that is less:
 * runs of the page allocator are never longer.
 */
int quantity_fragmentation(uint64_t free, uint64_t longest, uint64_t request);

/*
 * Reads a size from the command line: bytes, or a number with K, M, G or T, which
 * may end in B or iB, in powers of 1024 ("4096", "8M", "1GiB").  Complains if it is
 * not a size, or does not fit into 64 bits.
 */
bool parse_size(const char *text, uint64_t *bytes);

/*
 * Reads a time: a whole number of seconds, or a number with us, ms, s, m, h or d
 * ("90", "250ms", "5m").  Complains if it is not a time, or does not fit into 64
 * bits of nanoseconds.
 */
bool parse_time(const char *text, uint64_t *nanoseconds);

/*
 * Reads the time between two samples, from 10 ms to 1 h; a second if @text is NULL.
 * Complains if it is none.
 */
bool parse_interval(const char *text, uint64_t *nanoseconds);

/*
 * Reads a mask of addresses: the highest address, as 0xffffffff, or a number of bits
 * from 1 to 64.  Complains if it is neither.
 */
bool parse_mask(const char *text, uint64_t *mask);

#endif /* DMACTL_QUANTITY_H */

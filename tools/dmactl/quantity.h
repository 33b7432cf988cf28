/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Numbers with a unit, for people: sizes and times. */
#ifndef DMACTL_QUANTITY_H
#define DMACTL_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

/* Room that any quantity fits into, the terminating zero included. */
#define QUANTITY_ROOM 32

/*
 * "512B", "8.0M"; powers of 1024, rounded down so that no size is shown that
 * is not there.  With @exact the number of bytes alone.
 */
const char *quantity_size(char out[QUANTITY_ROOM], uint64_t bytes, bool exact);

/* "7us", "250ms", "12s", "3m12s", "2h05m", "4d03h"; rounded down */
const char *quantity_time(char out[QUANTITY_ROOM], uint64_t nanoseconds);

#endif /* DMACTL_QUANTITY_H */

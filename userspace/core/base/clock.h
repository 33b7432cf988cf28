/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The clock of deadlines, ages and waits. */
#ifndef DRAY_BASE_CLOCK_H
#define DRAY_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t dray_clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif /* DRAY_BASE_CLOCK_H */

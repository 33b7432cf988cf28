/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The progress of long work on a terminal, and the time that work takes. */
#ifndef DMACTL_PROGRESS_H
#define DMACTL_PROGRESS_H

#include <stdint.h>

/* Returns CLOCK_MONOTONIC in nanoseconds. */
uint64_t clock_now(void);

/* Returns bytes per second. */
uint64_t rate_of(uint64_t bytes, uint64_t nanoseconds);

/*
 * Begins a bar of work on @all bytes, with @task in front.  Without a terminal
 * on standard error, nothing is ever shown.
 */
void progress_begin(const char *task, uint64_t all);
/* Shows that @done bytes are done, their rate and the time left. */
void progress_step(uint64_t done);
/* Removes the bar. */
void progress_end(void);

#endif /* DMACTL_PROGRESS_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The machine that dmactl runs on.  Tests replace it by a recorded one. */
#ifndef DMACTL_MACHINE_H
#define DMACTL_MACHINE_H

#include <stdint.h>

/* Returns the folder that has /proc and /sys: "". */
const char *machine_root(void);

/* Returns nanoseconds of CLOCK_MONOTONIC. */
uint64_t machine_clock(void);

#endif /* DMACTL_MACHINE_H */

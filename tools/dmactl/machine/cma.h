/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Contiguous memory (CMA) of the machine as the kernel tells of it, without the
 * dray module: /proc/meminfo, counters in /sys/kernel/mm/cma (CONFIG_CMA_SYSFS), sizes
 * in /sys/kernel/debug/cma (CONFIG_CMA_DEBUGFS), and failures in the kernel's log.
 */
#ifndef DMACTL_CMA_H
#define DMACTL_CMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CMA_UNKNOWN UINT64_MAX

/* An area; numbers in bytes, or CMA_UNKNOWN. */
struct cma_area {
	char *name;
	uint64_t total;
	uint64_t used;
	uint64_t largest_free;
	uint64_t allocated; /* since boot, successful */
	uint64_t failed; /* since boot, asked in vain */
};

/* A failed allocation in the kernel's log. */
struct cma_failure {
	uint64_t microseconds; /* since boot */
	char *text;
};

struct cma {
	bool present; /* the kernel has CMA; else all is empty */
	uint64_t total; /* bytes of all areas */
	uint64_t free;
	struct cma_area *areas;
	size_t area_count;
	bool has_counters; /* some area tells of failures */
	bool has_sizes; /* some area tells its size */
	struct cma_failure *failures; /* the latest last */
	size_t failure_count;
	int log_error; /* errno of the log, 0: it was read */
};

/* Reads all below @root, "" for the machine itself. */
void cma_gather(const char *root, struct cma *cma);
void cma_free(struct cma *cma);

#endif /* DMACTL_CMA_H */

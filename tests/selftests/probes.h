/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Probes at functions of the kernel that dray calls: what it asked of them is
 * read from an instance of the trace that nobody else uses.
 */
#ifndef SELFTEST_PROBES_H
#define SELFTEST_PROBES_H

#include "system.h"

struct probe {
	const char *name;
	const char *function;
	const char *arguments; /* as the kernel's kprobe_events has them */
};

/*
 * From here on the calls are noted; -ENODEV where the kernel has no such
 * probes.  One set at a time.
 */
int probes_begin(const struct probe *probes, int count);
void probes_end(const struct probe *probes, int count);

/* The lines of the trace. */
FILE *probes_open(void);

/* Which of the probes a line is from, or -1. */
int probes_find(const struct probe *probes, int count, const char *line);

/* The number behind "name=" in a line, or 0. */
uint64_t probe_field(const char *line, const char *name);

#endif

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Out-fences: sync_files that are waited for with poll().
 */
#ifndef SELFTEST_FENCE_H
#define SELFTEST_FENCE_H

#include "system.h"

/* 1 signalled, 0 not yet, or the negative errno that the fence carries. */
int fence_status(int fence);

/* Waits; the status, or -ETIME at the deadline of process.h. */
int fence_wait(int fence);

/* Whether poll() finds the fence signalled now. */
bool fence_is_readable(int fence);

/* One sync_file that signals when both have. */
int fence_merge(int a, int b);

/* The number of fences in a sync_file. */
int fence_count(int fence);

#endif

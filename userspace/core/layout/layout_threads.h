/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Work by several threads. */
#ifndef DRAY_LAYOUT_LAYOUT_THREADS_H
#define DRAY_LAYOUT_LAYOUT_THREADS_H

#include "layout/layout.h"
#include "base/shared.h"

/*
 * Bytes for each thread at least: to make a thread is about as slow as to copy half
 * as many.  Tests set it.
 */
extern uint64_t dray_threads_share;

#define DRAY_MOST_THREADS 64u

/* Does @length steps of some work, from step @at on; any but 0 ends it. */
typedef int dray_threads_part(void *context, uint64_t at, uint64_t length);

/*
 * Does @length steps in parts by up to @threads, the caller among them: fewer if no
 * more can be made.  Returns the failure nearest to the start, with its sentence.
 * @threads: 1 to DRAY_MOST_THREADS
 */
DRAY_PRIVATE int dray_threads_run(uint64_t length, unsigned int threads,
				  dray_threads_part *part, void *context);

/* Returns how many of @threads pay for so many bytes: 1 or more. */
DRAY_PRIVATE unsigned int dray_threads_for(uint64_t bytes,
					   unsigned int threads);

/* Returns the axis to cut: the first that is long enough, or the longest. */
DRAY_PRIVATE int dray_threads_axis(const struct dray_layout *layout,
				   unsigned int threads);

/*
 * Does the work of dray_layout_apply(), or of dray_layout_copy() if @loop is NULL, by
 * up to @threads, the caller among them: fewer for few bytes, if no more can be made,
 * and alone if elements of the destination may share bytes.  Returns the failure
 * nearest to the start.
 */
DRAY_PRIVATE int dray_layout_apply_threads(const struct dray_layout *layout,
					   dray_loop *loop, void *context,
					   unsigned int threads);

#endif /* DRAY_LAYOUT_LAYOUT_THREADS_H */

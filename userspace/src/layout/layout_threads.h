/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies by several threads. */
#ifndef DRAY_LAYOUT_LAYOUT_THREADS_H
#define DRAY_LAYOUT_LAYOUT_THREADS_H

#include "layout/layout.h"

/*
 * Bytes for each thread at least: it takes about as long to make one as to copy half
 * as many.  Tests set it.
 */
extern uint64_t dray_threads_share;

/*
 * Does the work of dray_layout_apply(), or of dray_layout_copy() if @loop is NULL, by
 * up to @threads, the caller among them: fewer for few bytes, if no more can be made,
 * and one if elements of the destination may share bytes.  Returns the failure
 * nearest to the start.
 */
int dray_layout_apply_threads(const struct dray_layout *layout,
			      dray_loop *loop, void *context,
			      unsigned int threads);

#endif /* DRAY_LAYOUT_LAYOUT_THREADS_H */

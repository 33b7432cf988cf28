/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A walk over the runs of one side of a transfer, in their order.  A stream has
 * one order of bytes, so nothing is sorted or turned around here.
 */
#ifndef DRAY_MEMORY_RUNS_H
#define DRAY_MEMORY_RUNS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <linux/dray.h>

struct dray_runs {
	unsigned char *first;	/* byte of this run */
	uint64_t run;		/* bytes */
	uint64_t done;		/* bytes of this run; run: behind the last one */
	bool source;		/* walks by src_stride, else by dst_stride */
	uint32_t axes_count;
	const struct dray_axis *axes;	/* borrowed */
	uint64_t position[DRAY_MAX_AXES];
};

static inline void dray_runs_begin(struct dray_runs *runs, void *first,
				   uint64_t run, const struct dray_axis *axes,
				   uint32_t axes_count, bool source)
{
	runs->first = first;
	runs->run = run;
	runs->done = 0;
	runs->source = source;
	runs->axes_count = axes_count;
	runs->axes = axes;
	memset(runs->position, 0, axes_count * sizeof(runs->position[0]));
}

/* Returns the next byte, and how many follow it without a gap; 0: none. */
static inline void *dray_runs_next(const struct dray_runs *runs,
				   uint64_t *length)
{
	*length = runs->run - runs->done;
	return runs->first + runs->done;
}

/* Goes to the next run; false behind the last. */
static inline bool dray_runs_step(struct dray_runs *runs)
{
	uintptr_t first = (uintptr_t)runs->first;
	uint32_t k;

	for (k = runs->axes_count; k-- > 0;) {
		const struct dray_axis *axis = &runs->axes[k];
		uintptr_t stride = (uintptr_t)(runs->source ? axis->src_stride
							    : axis->dst_stride);

		first += stride;
		if (++runs->position[k] < axis->count) {
			/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
			runs->first = (unsigned char *)first;
			runs->done = 0;
			return true;
		}
		first -= stride * (uintptr_t)axis->count;
		runs->position[k] = 0;
	}
	return false;
}

/* Passes @length bytes, at most those of dray_runs_next(); false at the end. */
static inline bool dray_runs_pass(struct dray_runs *runs, uint64_t length)
{
	runs->done += length;
	return runs->done < runs->run || dray_runs_step(runs);
}

#endif /* DRAY_MEMORY_RUNS_H */

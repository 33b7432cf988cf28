/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Slices: NumPy's bounds and steps become a start, a count and a step. */
#ifndef DRAY_VIEW_SLICE_H
#define DRAY_VIEW_SLICE_H

#include <dray/slice.h>

static inline int64_t dray_slice_clamp(int64_t value, int64_t low, int64_t high)
{
	return value < low ? low : value > high ? high : value;
}

/* Resolves a bound: negative ones count from the end, and all are clamped. */
static inline int64_t dray_slice_bound(int64_t bound, int64_t omitted,
				       int64_t extent, int64_t step)
{
	if (bound == DRAY_OMIT)
		return omitted;
	if (bound < 0)
		bound += extent;
	return step < 0 ? dray_slice_clamp(bound, -1, extent - 1)
			: dray_slice_clamp(bound, 0, extent);
}

/* Counts steps that begin within @distance, at a power of two without a division. */
static inline int64_t dray_slice_steps(uint64_t distance, int64_t step)
{
	uint64_t size = (uint64_t)step;

	if (size & (size - 1))
		return (int64_t)((distance - 1) / size) + 1;
	return (int64_t)((distance - 1) >> __builtin_ctzll(size)) + 1;
}

/* The elements of a slice, of which @step is not 0. */
struct dray_slice {
	int64_t start, count, step;
};

static inline struct dray_slice dray_slice_of(const struct dray_index *index,
					      int64_t extent)
{
	int64_t step = index->step == DRAY_OMIT ? 1 : index->step;
	int64_t start = dray_slice_bound(
		index->start, step < 0 ? extent - 1 : 0, extent, step);
	int64_t stop = dray_slice_bound(index->stop, step < 0 ? -1 : extent,
					extent, step);
	int64_t count = 0;

	if (step > 0 && start < stop)
		count = dray_slice_steps((uint64_t)(stop - start), step);
	else if (step < 0 && stop < start)
		count = dray_slice_steps((uint64_t)(start - stop), -step);
	if (count == 0) /* As in NumPy, an empty slice does not move. */
		return (struct dray_slice){ 0, 0, 1 };
	return (struct dray_slice){ start, count, step };
}

#endif /* DRAY_VIEW_SLICE_H */

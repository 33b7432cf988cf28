/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Loops that copy elements of one size between a source, where they lie at
 * listed places or at equal distances, and a row at equal distances.
 */
#ifndef DRAY_INDEX_MOVE_H
#define DRAY_INDEX_MOVE_H

#include "index/index.h"

/* Elements are at @step times their numbers; at their offsets if @step is 1. */
typedef void dray_move_listed(unsigned char *source, int64_t step,
			      const int64_t *numbers, unsigned char *row,
			      int64_t stride, size_t count, size_t size);
typedef void dray_move_strided(unsigned char *source, int64_t step,
			       unsigned char *row, int64_t stride, size_t count,
			       size_t size);

struct dray_mover {
	dray_move_listed *listed;
	dray_move_strided *strided;
	size_t size;
};

/* The loops for elements of @size bytes, from the source or to it. */
struct dray_mover dray_mover_for(enum dray_index_way way, size_t size);

/*
 * Writes the coordinates of true elements: an array for each of 1 or more axes.
 * -ERANGE if there are not @trues of them.
 */
int dray_mask_coordinates(const struct dray_view *mask, int64_t trues,
			  int64_t *const *out);

#endif /* DRAY_INDEX_MOVE_H */

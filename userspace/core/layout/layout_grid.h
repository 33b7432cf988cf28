/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Grids: two axes of runs, copied element by element. */
#ifndef DRAY_LAYOUT_LAYOUT_GRID_H
#define DRAY_LAYOUT_LAYOUT_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An axis of a pair: strides in bytes. */
struct dray_pair_axis {
	uint64_t count;
	int64_t dst;
	int64_t src;
};

struct dray_grid {
	unsigned char *dst;
	const unsigned char *src;
	struct dray_pair_axis rows;
	struct dray_pair_axis columns;
	size_t run; /* bytes */
};

void dray_grid_copy(const struct dray_grid *grid);

/*
 * Copies rows that are dense in the destination if each repeats one element, or
 * is dense and runs backwards in the source; else returns false.
 */
bool dray_grid_repeat(const struct dray_grid *grid);
bool dray_grid_reverse(const struct dray_grid *grid);

#endif /* DRAY_LAYOUT_LAYOUT_GRID_H */

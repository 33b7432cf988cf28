/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A tiling: how a layout is copied by tiles.
 *
 * A tile is a piece of two chains of axes.  Along runs the destination, across runs
 * the source.
 */
#ifndef DRAY_LAYOUT_LAYOUT_TILING_H
#define DRAY_LAYOUT_LAYOUT_TILING_H

#include "layout/layout.h"
#include "layout/layout_grid.h"
#include "layout/layout_row.h"
#include "layout/layout_turn.h"

/*
 * A tile is at most TILE_ROWS rows of about TILE_ROW bytes, in TILE_SPACE bytes of
 * near memory.  TILE_MARGIN is for elements of a row that are turned once more.
 */
#define TILE_ROWS 64ul
#define TILE_ROW DRAY_ROW
#define TILE_MARGIN 192ul
#define TILE_SPACE (TILE_ROWS * (TILE_ROW + TILE_MARGIN))
#define TILE_LINKS 8

/* Axes that continue each other in an operand. */
struct dray_chain {
	int links;
	struct {
		uint64_t count;
		int64_t stride; /* in the other operand */
	} axes[TILE_LINKS]; /* innermost first */
	uint64_t total; /* elements */
	int64_t step; /* bytes, in its own operand */
};

struct dray_tiling {
	unsigned char *dst;
	const unsigned char *src;
	size_t size; /* bytes of an element of the source */
	size_t item; /* the same, of the destination */
	struct dray_chain along;
	struct dray_chain across;
	int outer_count;
	struct dray_pair_axis outer[DRAY_MAX_NDIM];
	struct dray_turning turning;
	size_t rows; /* of a tile */
	size_t again; /* rows of the first tile that the second repeats */
	size_t panel; /* elements of a row of a tile */
	size_t first; /* the same, of the first tile of a row */
	size_t back; /* elements before a tile that are turned with it */
	size_t pitch; /* of rows in near memory */
	bool streams;
	dray_rows_write *write;
	dray_loop *loop; /* from near memory; NULL: copies */
	void *context;
};

/*
 * Plans how to copy a layout; false if tiles are not the best way.  The rest as
 * dray_tile_copy().
 */
bool dray_tiling_plan(struct dray_tiling *tiling,
		      const struct dray_layout *layout,
		      dray_loop *loop, void *context);

#endif /* DRAY_LAYOUT_LAYOUT_TILING_H */

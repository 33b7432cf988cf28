// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Elements have a loop for each size, over two axes at once, so that short rows
 * cost no call each.
 */
#include <string.h>

#include "layout/layout_grid.h"

/* Rows of fewer than SHORT elements are walked across, STRIP at a time. */
#define SHORT 8u
#define STRIP 128u
#define LONGEST 16u /* bytes of an element that has a loop of its own */

typedef void grid_copy(const struct dray_grid *grid);

/*
 * One loop nest for a run of a constant size: memcpy() becomes a load and a
 * store that need no alignment.
 */
#define DEFINE_GRID(size)                                                      \
	static void copy_grid_##size(const struct dray_grid *grid)             \
	{                                                                      \
		const size_t columns = (size_t)grid->columns.count;            \
		const ptrdiff_t ds = (ptrdiff_t)grid->columns.dst;             \
		const ptrdiff_t ss = (ptrdiff_t)grid->columns.src;             \
		unsigned char *dst_row = grid->dst;                            \
		const unsigned char *src_row = grid->src;                      \
		size_t i, j;                                                   \
                                                                               \
		for (i = 0; i < grid->rows.count; i++) {                       \
			unsigned char *restrict dst = dst_row;                 \
			const unsigned char *restrict src = src_row;           \
                                                                               \
			if (ds == (size)) {                                    \
				_Pragma("GCC unroll 8") for (j = 0;            \
							     j < columns; j++) \
				{                                              \
					memcpy(dst, src, size);                \
					dst += (size);                         \
					src += ss;                             \
				}                                              \
			} else {                                               \
				_Pragma("GCC unroll 8") for (j = 0;            \
							     j < columns; j++) \
				{                                              \
					memcpy(dst, src, size);                \
					dst += ds;                             \
					src += ss;                             \
				}                                              \
			}                                                      \
			dst_row += grid->rows.dst;                             \
			src_row += grid->rows.src;                             \
		}                                                              \
	}

DEFINE_GRID(1)
DEFINE_GRID(2)
DEFINE_GRID(3)
DEFINE_GRID(4)
DEFINE_GRID(6)
DEFINE_GRID(8)
DEFINE_GRID(12)
DEFINE_GRID(16)

static void copy_grid_any(const struct dray_grid *grid)
{
	unsigned char *dst_row = grid->dst;
	const unsigned char *src_row = grid->src;
	size_t i, j;

	for (i = 0; i < grid->rows.count; i++) {
		unsigned char *dst = dst_row;
		const unsigned char *src = src_row;

		for (j = 0; j < grid->columns.count; j++) {
			memcpy(dst, src, grid->run);
			dst += grid->columns.dst;
			src += grid->columns.src;
		}
		dst_row += grid->rows.dst;
		src_row += grid->rows.src;
	}
}

static grid_copy *grid_copy_for(uint64_t run)
{
	switch (run) {
	case 1:
		return copy_grid_1;
	case 2:
		return copy_grid_2;
	case 3:
		return copy_grid_3;
	case 4:
		return copy_grid_4;
	case 6:
		return copy_grid_6;
	case 8:
		return copy_grid_8;
	case 12:
		return copy_grid_12;
	case 16:
		return copy_grid_16;
	default:
		return copy_grid_any;
	}
}

static uint64_t grid_copy_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Swaps the axes: same elements, other order. */
static void grid_copy_turn(struct dray_grid *grid)
{
	struct dray_pair_axis rows = grid->rows;

	grid->rows = grid->columns;
	grid->columns = rows;
}

/* Walks short rows across, many at a time, to make the inner loop long. */
static void copy_strips(const struct dray_grid *grid, grid_copy *copy)
{
	struct dray_grid strip = *grid;
	uint64_t i;

	for (i = 0; i < grid->rows.count; i += STRIP) {
		strip.rows.count = grid_copy_least(STRIP, grid->rows.count - i);
		strip.dst = grid->dst + (int64_t)i * grid->rows.dst;
		strip.src = grid->src + (int64_t)i * grid->rows.src;
		grid_copy_turn(&strip);
		copy(&strip);
		grid_copy_turn(&strip);
	}
}

void dray_grid_copy(const struct dray_grid *grid)
{
	grid_copy *copy = grid_copy_for(grid->run);

	if (grid->columns.dst == (int64_t)grid->run && grid->columns.src <= 0 &&
	    (grid->columns.src ? dray_grid_reverse(grid)
			       : dray_grid_repeat(grid)))
		return;
	if (grid->columns.count < SHORT && grid->run <= LONGEST &&
	    grid->rows.count > grid->columns.count)
		copy_strips(grid, copy);
	else
		copy(grid);
}

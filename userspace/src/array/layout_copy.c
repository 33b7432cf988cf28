// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Copies with the CPU.  Long runs are memcpy() calls.  Elements have a loop for
 * each size, over two axes at once, so that short rows cost no call each.  If
 * source and destination run along different axes (a transpose), two axes are
 * walked in square tiles, so that each cache line of both sides is used whole
 * while it is cached.
 */
#include <string.h>

#include "array/layout.h"

/* Bytes of a cache line, and of a first-level cache. */
#define LINE 64ul
#define NEAREST 32768u

/*
 * A tile's source is EDGE pieces of EDGE bytes.  They are fetched to a buffer
 * PITCH bytes apart, which is not a power of two.  Rows of fewer than SHORT
 * elements are walked across.
 */
#define EDGE 128u
#define PITCH (EDGE + 16u)
#define SHORT 8u
#define LONGEST 16u /* bytes of an element that has a loop of its own */

/* Two axes of runs: rows of columns. */
struct grid {
	unsigned char *dst;
	const unsigned char *src;
	struct dray_layout_axis rows;
	struct dray_layout_axis columns;
	size_t run;
};

typedef void grid_copy(const struct grid *grid);
typedef void grid_walk(const struct grid *grid, grid_copy *copy);

/*
 * One loop nest for a run of a constant size: memcpy() becomes a load and a
 * store that need no alignment.
 */
#define DEFINE_GRID(size)                                                      \
	static void copy_grid_##size(const struct grid *grid)                  \
	{                                                                      \
		const size_t columns = grid->columns.count;                    \
		const ptrdiff_t ds =                                           \
			(ptrdiff_t)grid->columns.strides[DRAY_DST];            \
		const ptrdiff_t ss =                                           \
			(ptrdiff_t)grid->columns.strides[DRAY_SRC];            \
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
			dst_row += grid->rows.strides[DRAY_DST];               \
			src_row += grid->rows.strides[DRAY_SRC];               \
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

static void copy_grid_any(const struct grid *grid)
{
	unsigned char *dst_row = grid->dst;
	const unsigned char *src_row = grid->src;
	size_t i, j;

	for (i = 0; i < grid->rows.count; i++) {
		unsigned char *dst = dst_row;
		const unsigned char *src = src_row;

		for (j = 0; j < grid->columns.count; j++) {
			memcpy(dst, src, grid->run);
			dst += grid->columns.strides[DRAY_DST];
			src += grid->columns.strides[DRAY_SRC];
		}
		dst_row += grid->rows.strides[DRAY_DST];
		src_row += grid->rows.strides[DRAY_SRC];
	}
}

/*
 * Fills rows without gaps by repeating one element, if its size divides a line.
 */
static void repeat_grid(const struct grid *grid)
{
	const size_t bytes = grid->columns.count * grid->run;
	unsigned char *dst = grid->dst;
	const unsigned char *src = grid->src;
	unsigned char line[LINE];
	size_t i, at;

	for (i = 0; i < grid->rows.count; i++) {
		size_t done = 0;

		memcpy(line, src, grid->run);
		for (at = grid->run; at < LINE; at *= 2)
			memcpy(line + at, line, at);
		for (; bytes - done >= LINE; done += LINE)
			memcpy(dst + done, line, LINE);
		memcpy(dst + done, line, bytes - done);
		dst += grid->rows.strides[DRAY_DST];
		src += grid->rows.strides[DRAY_SRC];
	}
}

static void repeat_grid_1(const struct grid *grid)
{
	size_t i;

	for (i = 0; i < grid->rows.count; i++)
		memset(grid->dst + (int64_t)i * grid->rows.strides[DRAY_DST],
		       grid->src[(int64_t)i * grid->rows.strides[DRAY_SRC]],
		       grid->columns.count);
}

static bool repeats(const struct grid *grid)
{
	return grid->columns.strides[DRAY_SRC] == 0 &&
	       grid->columns.strides[DRAY_DST] == (int64_t)grid->run &&
	       LINE % grid->run == 0 && grid->columns.count * grid->run >= LINE;
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

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Swaps the axes: same elements, other order. */
static void turn(struct grid *grid)
{
	struct dray_layout_axis rows = grid->rows;

	grid->rows = grid->columns;
	grid->columns = rows;
}

/* Walks short rows across, many at a time, to make the inner loop long. */
static void copy_strips(const struct grid *grid, grid_copy *copy)
{
	struct grid strip = *grid;
	uint64_t i;

	for (i = 0; i < grid->rows.count; i += EDGE) {
		strip.rows.count = least(EDGE, grid->rows.count - i);
		strip.dst =
			grid->dst + (int64_t)i * grid->rows.strides[DRAY_DST];
		strip.src =
			grid->src + (int64_t)i * grid->rows.strides[DRAY_SRC];
		turn(&strip);
		copy(&strip);
		turn(&strip);
	}
}

static void fetch(unsigned char *fetched, const struct grid *tile)
{
	const unsigned char *src = tile->src;
	size_t bytes = tile->rows.count * tile->run;
	size_t j;

	for (j = 0; j < tile->columns.count; j++) {
		if (bytes == EDGE)
			memcpy(fetched, src, EDGE);
		else
			memcpy(fetched, src, bytes);
		fetched += PITCH;
		src += tile->columns.strides[DRAY_SRC];
	}
}

/*
 * Copies a grid with rows dense in the source and columns dense in the
 * destination.  Each tile's source is first fetched whole, line by line: if its
 * lines lie a power of two apart, a cache can hold only a few at a time.
 */
static void copy_tiles(const struct grid *grid, grid_copy *copy)
{
	unsigned char fetched[EDGE * PITCH];
	uint64_t edge = EDGE / grid->run;
	bool dense = grid->rows.strides[DRAY_SRC] == (int64_t)grid->run;
	uint64_t i, j;

	for (i = 0; i < grid->rows.count; i += edge) {
		for (j = 0; j < grid->columns.count; j += EDGE) {
			struct grid tile = *grid;

			tile.rows.count = least(edge, grid->rows.count - i);
			tile.columns.count =
				least(EDGE, grid->columns.count - j);
			tile.dst +=
				(int64_t)i * grid->rows.strides[DRAY_DST] +
				(int64_t)j * grid->columns.strides[DRAY_DST];
			tile.src +=
				(int64_t)i * grid->rows.strides[DRAY_SRC] +
				(int64_t)j * grid->columns.strides[DRAY_SRC];
			if (dense) {
				fetch(fetched, &tile);
				tile.src = fetched;
				tile.columns.strides[DRAY_SRC] = PITCH;
			}
			if (tile.columns.count < SHORT)
				turn(&tile);
			copy(&tile);
		}
	}
}

static uint64_t step_of(const struct dray_layout_axis *axis)
{
	return axis->strides[DRAY_SRC] < 0 ? (uint64_t)-axis->strides[DRAY_SRC]
					   : (uint64_t)axis->strides[DRAY_SRC];
}

/*
 * Returns the axis along which the source is densest, or -1 if it is the last.
 */
static int find_crossing(const struct dray_layout *layout)
{
	int last = layout->axes_count - 1, found = last;
	int i;

	if (layout->run * 2 > EDGE || layout->bytes <= NEAREST ||
	    step_of(&layout->axes[last]) < LINE)
		return -1;
	for (i = last - 1; i >= 0; i--) {
		if (layout->axes[i].strides[DRAY_SRC] &&
		    step_of(&layout->axes[i]) < step_of(&layout->axes[found]))
			found = i;
	}
	if (found == last)
		return -1;
	/*
	 * Few elements share a line: tiles pay only if lines evict each other.
	 */
	if (layout->run >= LINE / 4 &&
	    step_of(&layout->axes[last]) % (16 * LINE))
		return -1;
	return found;
}

static void copy_whole(const struct grid *grid, grid_copy *copy)
{
	copy(grid);
}

/* Chooses the order in which to walk a grid, and its loop. */
static grid_walk *choose_walk(const struct grid *grid, bool crossing,
			      grid_copy **copy)
{
	*copy = grid_copy_for(grid->run);
	if (crossing)
		return copy_tiles;
	if (repeats(grid)) {
		*copy = grid->run == 1 ? repeat_grid_1 : repeat_grid;
		return copy_whole;
	}
	if (grid->columns.count < SHORT && grid->run <= LONGEST &&
	    grid->rows.count > grid->columns.count)
		return copy_strips;
	return copy_whole;
}

void dray_layout_copy(const struct dray_layout *layout)
{
	struct dray_layout_axis axes[DRAY_MAX_NDIM];
	uint64_t position[DRAY_MAX_NDIM];
	struct grid grid = {
		.dst = layout->data[DRAY_DST],
		.src = layout->data[DRAY_SRC],
		.rows.count = 1,
		.columns.count = 1,
		.run = layout->run,
	};
	int outer = layout->axes_count, crossing = -1;
	grid_walk *walk;
	grid_copy *copy;

	if (outer == 0) {
		memcpy(layout->data[DRAY_DST], layout->data[DRAY_SRC],
		       layout->run);
		return;
	}
	memcpy(axes, layout->axes, (size_t)outer * sizeof(axes[0]));
	grid.columns = axes[--outer];
	if (outer > 0) {
		crossing = find_crossing(layout);
		if (crossing >= 0) { /* Any order of axes will do. */
			struct dray_layout_axis taken = axes[crossing];

			memmove(&axes[crossing], &axes[crossing + 1],
				(size_t)(outer - 1 - crossing) *
					sizeof(axes[0]));
			axes[outer - 1] = taken;
		}
		grid.rows = axes[--outer];
	}
	walk = choose_walk(&grid, crossing >= 0, &copy);
	memset(position, 0, (size_t)outer * sizeof(position[0]));
	for (;;) {
		int k = outer - 1;

		walk(&grid, copy);
		for (; k >= 0; k--) {
			grid.dst += axes[k].strides[DRAY_DST];
			grid.src += axes[k].strides[DRAY_SRC];
			if (++position[k] < axes[k].count)
				break;
			grid.dst -= (int64_t)axes[k].count *
				    axes[k].strides[DRAY_DST];
			grid.src -= (int64_t)axes[k].count *
				    axes[k].strides[DRAY_SRC];
			position[k] = 0;
		}
		if (k < 0)
			return;
	}
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Walks a layout with a cast's loop.  The layout gives the order: its innermost
 * axis is the destination's densest.  If the source is dense along another axis
 * (a transpose), pieces are converted along that one, into a tile that stays in
 * the cache and is then copied to its place.
 */
#include <string.h>

#include "cast/cast.h"
#include "layout/layout.h"

#define LINE 64 /* bytes of a cache line */
#define NEAREST 32768 /* bytes of a first-level cache */
#define SHORT 16 /* elements that make a poor inner loop */

/* A tile's columns are EDGE bytes each; PITCH is not a power of two. */
#define EDGE 256
#define PITCH (EDGE + LINE)
#define COLUMNS 64

/* Two axes of elements: rows of columns. */
struct grid {
	char *data[2];
	struct dray_layout_axis rows;
	struct dray_layout_axis columns;
};

typedef int grid_walk(const struct grid *grid, const struct dray_cast *cast);

static int64_t least(uint64_t a, uint64_t b)
{
	return (int64_t)(a < b ? a : b);
}

static int walk_rows(const struct grid *grid, const struct dray_cast *cast)
{
	char *data[2] = { grid->data[0], grid->data[1] };
	uint64_t i;
	int ret = 0;

	for (i = 0; !ret && i < grid->rows.count; i++) {
		ret = cast->loop(data, grid->columns.strides,
				 (int64_t)grid->columns.count,
				 (void *)(uintptr_t)cast);
		data[0] += grid->rows.strides[0];
		data[1] += grid->rows.strides[1];
	}
	return ret;
}

/* Swaps the axes to make the inner loop long. */
static int walk_columns(const struct grid *grid, const struct dray_cast *cast)
{
	struct grid turned = *grid;

	turned.rows = grid->columns;
	turned.columns = grid->rows;
	return walk_rows(&turned, cast);
}

static void copy_tile(const struct grid *tile, char *from, uint32_t size)
{
	struct dray_layout layout = {
		.operands = 2,
		.axes_count = 2,
		.nested = true,
		.run = size,
		.runs = tile->rows.count * tile->columns.count,
		.bytes = tile->rows.count * tile->columns.count * size,
		.data = { (unsigned char *)tile->data[0],
			  (unsigned char *)from },
	};

	layout.axes[0] = tile->rows;
	layout.axes[0].strides[DRAY_SRC] = size;
	layout.axes[1] = tile->columns;
	layout.axes[1].strides[DRAY_SRC] = PITCH;
	dray_layout_copy(&layout);
}

/* Rows are dense in the source, columns in the destination. */
static int walk_tiles(const struct grid *grid, const struct dray_cast *cast)
{
	_Alignas(LINE) char converted[COLUMNS * PITCH];
	const uint32_t size = dray_dtype_itemsize(cast->to);
	const uint64_t edge = EDGE / size;
	uint64_t i, j, k;
	int ret = 0;

	for (i = 0; i < grid->rows.count; i += edge) {
		for (j = 0; j < grid->columns.count; j += COLUMNS) {
			struct grid tile = *grid;

			tile.rows.count =
				(uint64_t)least(edge, grid->rows.count - i);
			tile.columns.count = (uint64_t)least(
				COLUMNS, grid->columns.count - j);
			for (k = 0; k < 2; k++)
				tile.data[k] +=
					(int64_t)i * grid->rows.strides[k] +
					(int64_t)j * grid->columns.strides[k];
			for (k = 0; !ret && k < tile.columns.count; k++)
				ret = dray_cast_run(
					cast, converted + k * PITCH, size,
					tile.data[1] +
						(int64_t)k *
							grid->columns.strides[1],
					grid->rows.strides[1],
					(int64_t)tile.rows.count);
			if (ret)
				return ret;
			copy_tile(&tile, converted, size);
		}
	}
	return 0;
}

static uint64_t step_of(const struct dray_layout_axis *axis)
{
	const int64_t step = axis->strides[DRAY_SRC];

	return step < 0 ? (uint64_t)-step : (uint64_t)step;
}

/* Returns the axis along which the source is densest, or -1 if it is the last. */
static int find_crossing(const struct dray_layout *layout, uint32_t size)
{
	int last = layout->axes_count - 1, found = last;
	int i;

	if (size > EDGE / 16 || layout->runs * size <= NEAREST ||
	    step_of(&layout->axes[last]) < LINE)
		return -1;
	for (i = last - 1; i >= 0; i--) {
		if (layout->axes[i].strides[DRAY_SRC] &&
		    step_of(&layout->axes[i]) < step_of(&layout->axes[found]))
			found = i;
	}
	return found == last ? -1 : found;
}

/* Moves @axis next to the last one. */
static void move_axis(struct dray_layout *layout, int axis)
{
	const struct dray_layout_axis moved = layout->axes[axis];
	int i;

	for (i = axis; i < layout->axes_count - 2; i++)
		layout->axes[i] = layout->axes[i + 1];
	layout->axes[i] = moved;
}

/* Steps to the next grid; false after the last. */
static bool advance(struct grid *grid, const struct dray_layout *layout,
		    uint64_t *position, int outer)
{
	int k, o;

	for (k = outer - 1; k >= 0; k--) {
		const struct dray_layout_axis *axis = &layout->axes[k];

		position[k]++;
		for (o = 0; o < 2; o++)
			grid->data[o] += axis->strides[o];
		if (position[k] < axis->count)
			return true;
		for (o = 0; o < 2; o++)
			grid->data[o] -=
				(int64_t)axis->count * axis->strides[o];
		position[k] = 0;
	}
	return false;
}

int dray_cast_layout(struct dray_layout *layout, const struct dray_cast *cast)
{
	char *const dst = (char *)layout->data[DRAY_DST];
	const char *const src = (const char *)layout->data[DRAY_SRC];
	const struct dray_layout_axis *const only = layout->axes;
	uint64_t position[DRAY_MAX_NDIM];
	int outer = layout->axes_count;
	grid_walk *walk = walk_rows;
	struct grid grid;
	int ret, crossing;

	if (!outer)
		return dray_cast_run(cast, dst, 0, src, 0, 1);
	if (outer == 1)
		return dray_cast_run(cast, dst, only->strides[DRAY_DST], src,
				     only->strides[DRAY_SRC],
				     (int64_t)only->count);
	crossing = find_crossing(layout, dray_dtype_itemsize(cast->to));
	if (crossing >= 0) {
		move_axis(layout, crossing);
		walk = walk_tiles;
	} else if (layout->axes[outer - 1].count < SHORT &&
		   layout->axes[outer - 2].count >
			   layout->axes[outer - 1].count) {
		walk = walk_columns;
	}
	grid.data[0] = dst;
	grid.data[1] = (char *)(uintptr_t)src;
	grid.columns = layout->axes[--outer];
	grid.rows = layout->axes[--outer];
	memset(position, 0, (size_t)outer * sizeof(position[0]));
	do {
		ret = walk(&grid, cast);
	} while (!ret && advance(&grid, layout, position, outer));
	return ret;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Copies with the CPU, and functions of rows in its place.  A layout whose sides
 * run along different axes is copied by tiles, any other by grids of its two
 * innermost axes.  Long runs are memcpy() calls.
 */
#include <string.h>

#include "array/layout_grid.h"
#include "array/layout_tile.h"

/* Rows of a function are at least that long, if an axis is. */
#define SHORT 16u

typedef void pair_work(const void *work, unsigned char *dst,
		       const unsigned char *src);

/* Does the work at each position of the axes. */
static void walk(const struct dray_layout *layout,
		 const struct dray_pair_axis *axes, int axes_count,
		 pair_work *work, const void *with)
{
	unsigned char *dst = layout->data[DRAY_DST];
	const unsigned char *src = layout->data[DRAY_SRC];
	uint64_t position[DRAY_MAX_NDIM];
	int k;

	memset(position, 0, (size_t)axes_count * sizeof(position[0]));
	do {
		work(with, dst, src);
		for (k = axes_count - 1; k >= 0; k--) {
			dst += axes[k].dst;
			src += axes[k].src;
			if (++position[k] < axes[k].count)
				break;
			dst -= (int64_t)axes[k].count * axes[k].dst;
			src -= (int64_t)axes[k].count * axes[k].src;
			position[k] = 0;
		}
	} while (k >= 0);
}

static void list_axes(const struct dray_layout *layout,
		      struct dray_pair_axis *axes)
{
	int i;

	for (i = 0; i < layout->axes_count; i++)
		axes[i] = (struct dray_pair_axis){
			layout->axes[i].count,
			layout->axes[i].strides[DRAY_DST],
			layout->axes[i].strides[DRAY_SRC],
		};
}

static void copy_grid(const void *work, unsigned char *dst,
		      const unsigned char *src)
{
	struct dray_grid grid = *(const struct dray_grid *)work;

	grid.dst = dst;
	grid.src = src;
	dray_grid_copy(&grid);
}

void dray_layout_copy(const struct dray_layout *layout)
{
	struct dray_pair_axis axes[DRAY_MAX_NDIM];
	struct dray_grid grid = { .rows.count = 1, .run = layout->run };
	int outer = layout->axes_count;

	if (outer == 0) {
		memcpy(layout->data[DRAY_DST], layout->data[DRAY_SRC],
		       layout->run);
		return;
	}
	if (dray_tile_copy(layout, NULL, NULL))
		return;
	list_axes(layout, axes);
	grid.columns = axes[--outer];
	if (outer > 0)
		grid.rows = axes[--outer];
	walk(layout, axes, outer, copy_grid, &grid);
}

/* A function on its way along an axis. */
struct row {
	dray_layout_function *function;
	const void *data;
	struct dray_pair_axis axis;
};

static void apply_row(const void *work, unsigned char *dst,
		      const unsigned char *src)
{
	const struct row *row = work;

	row->function(dst, row->axis.dst, src, row->axis.src, row->axis.count,
		      row->data);
}

/* Returns the axis for rows: the last one, or the longest if that is short. */
static int row_axis(const struct dray_layout *layout)
{
	int last = layout->axes_count - 1, longest = last;
	int i;

	for (i = last - 1; i >= 0; i--) {
		if (layout->axes[i].count > layout->axes[longest].count)
			longest = i;
	}
	return layout->axes[last].count >= SHORT ? last : longest;
}

void dray_layout_apply(const struct dray_layout *layout,
		       dray_layout_function *function, const void *data)
{
	struct dray_pair_axis axes[DRAY_MAX_NDIM];
	struct row row = { function, data, { 1, 0, 0 } };
	int outer = layout->axes_count;

	if (outer == 0) {
		apply_row(&row, layout->data[DRAY_DST], layout->data[DRAY_SRC]);
		return;
	}
	if (dray_tile_copy(layout, function, data))
		return;
	list_axes(layout, axes);
	int taken = row_axis(layout);
	row.axis = axes[taken];
	outer--;
	memmove(&axes[taken], &axes[taken + 1],
		(size_t)(outer - taken) * sizeof(axes[0]));
	walk(layout, axes, outer, apply_row, &row);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Copies with the CPU, as it is or by a loop.  If the sides run along different axes,
 * a layout is copied by tiles, any other by grids of its two innermost axes.  Long
 * runs are memcpy() calls.
 */
#include <string.h>

#include "layout/layout_grid.h"
#include "layout/layout_planes.h"
#include "layout/layout_row.h"
#include "layout/layout_tile.h"
#include "base/number.h"

/* Elements of a row of a loop at least, if an axis has them. */
#define SHORT 16u

typedef int pair_work(const void *work, unsigned char *dst,
		      const unsigned char *src);

/* Does the work at each position of the axes, until it fails. */
static int layout_copy_walk(const struct dray_layout *layout,
			    const struct dray_pair_axis *axes, int axes_count,
			    pair_work *work, const void *with)
{
	unsigned char *dst = layout->data[DRAY_DST];
	const unsigned char *src = layout->data[DRAY_SRC];
	uint64_t left[DRAY_MAX_NDIM];
	int ret, k;

	for (k = 0; k < axes_count; k++)
		left[k] = axes[k].count;
	do {
		ret = work(with, dst, src);
		for (k = axes_count - 1; k >= 0; k--) {
			dst += axes[k].dst;
			src += axes[k].src;
			if (--left[k])
				break;
			dst -= (int64_t)axes[k].count * axes[k].dst;
			src -= (int64_t)axes[k].count * axes[k].src;
			left[k] = axes[k].count;
		}
	} while (!ret && k >= 0);
	return ret;
}

static struct dray_pair_axis axis_of(const struct dray_layout *layout, int k)
{
	return (struct dray_pair_axis){
		layout->axes[k].count,
		dray_alone(layout->axes[k].strides[DRAY_DST]),
		dray_alone(layout->axes[k].strides[DRAY_SRC]),
	};
}

static int copy_grid(const void *work, unsigned char *dst,
		     const unsigned char *src)
{
	struct dray_grid grid = *(const struct dray_grid *)work;

	grid.dst = dst;
	grid.src = src;
	dray_grid_copy(&grid);
	return 0;
}

/* Copies grids at all positions of the other axes. */
static void copy_grids(const struct dray_layout *layout,
		       const struct dray_grid *grid)
{
	struct dray_pair_axis axes[DRAY_MAX_NDIM];
	int outer = layout->axes_count - 2, k;

	for (k = 0; k < outer; k++)
		axes[k] = axis_of(layout, k);
	layout_copy_walk(layout, axes, outer, copy_grid, grid);
}

/* Planes at all positions of the other axes. */
struct copy_planes {
	struct dray_planes planes;
	bool streams;
};

static int copy_planes_at(const void *work, unsigned char *dst,
			  const unsigned char *src)
{
	const struct copy_planes *copy = work;

	dray_planes_copy(&copy->planes, dst, src, copy->streams);
	return 0;
}

/* Finds the axis of a pixel's elements: next to each other in an operand; or -1. */
static int find_planes(const struct dray_layout *layout, int pixels)
{
	const int64_t run = (int64_t)layout->run;
	int k;

	for (k = layout->axes_count - 1; k >= 0; k--) {
		const struct dray_pair_axis axis = axis_of(layout, k);

		if (k != pixels && axis.count <= PLANES_MOST &&
		    (axis.dst == run || axis.src == run || axis.src == -run))
			return k;
	}
	return -1;
}

/* Copies a layout of planes; false if it has none. */
static bool copy_planes(const struct dray_layout *layout)
{
	const int last = layout->axes_count - 1;
	struct dray_pair_axis axes[DRAY_MAX_NDIM], planes = { 1, 0, 0 }, axis;
	struct copy_planes copy = {
		.streams = layout->bytes >= dray_tile_stream_from,
	};
	int pixels = last, of_pixel, outer = 0, k;

	/* The axis of pixels is the last, or just outside of a pixel. */
	if (last > 0 && layout->axes[last].count <= PLANES_MOST)
		pixels = last - 1;
	of_pixel = find_planes(layout, pixels);
	if (of_pixel >= 0)
		planes = axis_of(layout, of_pixel);
	axis = axis_of(layout, pixels);
	if (!dray_planes_plan(&copy.planes, (size_t)layout->run, &axis,
			      &planes))
		return false;
	for (k = 0; k <= last; k++)
		if (k != pixels && k != of_pixel)
			axes[outer++] = axis_of(layout, k);
	layout_copy_walk(layout, axes, outer, copy_planes_at, &copy);
	return true;
}

void dray_layout_copy(const struct dray_layout *layout)
{
	struct dray_grid grid = {
		.dst = layout->data[DRAY_DST],
		.src = layout->data[DRAY_SRC],
		.rows.count = 1,
		.run = (size_t)layout->run,
	};
	int last = layout->axes_count - 1;

	if (last < 0) {
		memcpy(grid.dst, grid.src, grid.run);
		return;
	}
	if (layout->run <= PLANES_WIDEST && layout->bytes >= PLANES_LEAST &&
	    copy_planes(layout))
		return;
	if (dray_tile_may_pay(layout) &&
	    dray_tile_copy(layout, NULL, NULL, NULL))
		return;
	grid.columns = axis_of(layout, last);
	if (last > 0)
		grid.rows = axis_of(layout, last - 1);
	if (last > 1)
		copy_grids(layout, &grid);
	else
		dray_grid_copy(&grid);
}

/*
 * Returns the axis for rows: the last, or the longest if that is short; -1 if
 * there is none.
 */
static int row_axis(const struct dray_layout *layout)
{
	int last = layout->axes_count - 1, longest = last;
	int i;

	if (last < 0 || layout->axes[last].count >= SHORT)
		return last;
	for (i = last - 1; i >= 0; i--) {
		if (layout->axes[i].count > layout->axes[longest].count)
			longest = i;
	}
	return longest;
}

/* A loop on its way along an axis. */
struct copy_row {
	dray_loop *loop;
	void *context;
	int64_t count;
	int64_t strides[2];
};

static int apply_row(const void *work, unsigned char *dst,
		     const unsigned char *src)
{
	const struct copy_row *row = work;
	char *const data[2] = { (char *)dst, (char *)(uintptr_t)src };

	return row->loop(data, row->strides, row->count, row->context);
}

int dray_layout_apply(const struct dray_layout *layout, dray_loop *loop,
		      void *context)
{
	struct copy_row row = { loop, context, 1, { 0, 0 } };
	struct dray_pair_axis axes[DRAY_MAX_NDIM];
	int outer = 0, taken, ret, k;

	if (!loop) {
		dray_layout_copy(layout);
		return 0;
	}
	if (dray_tile_may_pay(layout) &&
	    dray_tile_copy(layout, loop, context, &ret))
		return ret;
	taken = row_axis(layout);
	for (k = 0; k < layout->axes_count; k++) {
		const struct dray_pair_axis axis = axis_of(layout, k);

		if (k != taken) {
			axes[outer++] = axis;
			continue;
		}
		row.count = (int64_t)axis.count;
		row.strides[DRAY_DST] = axis.dst;
		row.strides[DRAY_SRC] = axis.src;
	}
	return layout_copy_walk(layout, axes, outer, apply_row, &row);
}

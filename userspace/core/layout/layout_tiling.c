// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Plans tilings: finds the chains, orders the other axes, and chooses sizes. */
#include <string.h>

#include "layout/layout_tiling.h"
#include "base/number.h"

#define NEAREST 32768ul /* bytes of a first-level cache */
#define CROWDED 1024ul /* lines so far apart evict each other */
#define EDGE 512ul /* bytes of a line that a tile reads at most */
#define FEW 8ul /* tiles of which another costs too much */
#define WIDEST (DRAY_LINE / 4) /* bytes that a loop writes of an element */

static uint64_t layout_tiling_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Removes an axis from the outer axes. */
static struct dray_pair_axis layout_tiling_take(struct dray_tiling *tiling,
						int k)
{
	struct dray_pair_axis axis = tiling->outer[k];

	tiling->outer_count--;
	memmove(&tiling->outer[k], &tiling->outer[k + 1],
		(size_t)(tiling->outer_count - k) * sizeof(axis));
	return axis;
}

static void link_axis(struct dray_chain *chain, uint64_t count, int64_t stride)
{
	if (!chain->links)
		chain->total = 1;
	chain->axes[chain->links].count = count;
	chain->axes[chain->links++].stride = stride;
	chain->total *= count;
}

/* Moves an axis across, in the direction in which the source rises. */
static void take_across(struct dray_tiling *tiling, int k)
{
	struct dray_pair_axis axis = layout_tiling_take(tiling, k);

	if (axis.src < 0) {
		int64_t last = (int64_t)axis.count - 1;

		tiling->dst += last * axis.dst;
		tiling->src += last * axis.src;
		axis.dst = -axis.dst;
		axis.src = -axis.src;
	}
	if (!tiling->across.links)
		tiling->across.step = axis.src;
	link_axis(&tiling->across, axis.count, axis.dst);
}

static void take_along(struct dray_tiling *tiling, int k)
{
	struct dray_pair_axis axis = layout_tiling_take(tiling, k);

	if (!tiling->along.links)
		tiling->along.step = axis.dst;
	link_axis(&tiling->along, axis.count, axis.src);
}

/* Extends along until a row is long enough for a panel, and across by the rest. */
static void layout_tiling_extend(struct dray_tiling *tiling)
{
	struct dray_chain *along = &tiling->along, *across = &tiling->across;
	int k;

	for (k = tiling->outer_count - 1;
	     k >= 0 && along->links < TILE_LINKS &&
	     along->total * tiling->item < TILE_ROW;
	     k--) {
		if (tiling->outer[k].dst ==
		    (int64_t)along->total * along->step) {
			take_along(tiling, k);
			k = tiling->outer_count;
		}
	}
	for (k = tiling->outer_count - 1; k >= 0 && across->links < TILE_LINKS;
	     k--) {
		if (dray_magnitude(tiling->outer[k].src) ==
		    across->total * (uint64_t)across->step) {
			take_across(tiling, k);
			k = tiling->outer_count;
		}
	}
}

/* Returns the shorter of an axis' steps: how near its elements are. */
static uint64_t layout_tiling_nearness(const struct dray_pair_axis *axis)
{
	uint64_t dst = dray_magnitude(axis->dst),
		 src = dray_magnitude(axis->src);

	return src && src < dst ? src : dst;
}

/* Orders the outer axes, so that neighbours are copied soon. */
static void sort_outer(struct dray_tiling *tiling)
{
	int i, at;

	for (i = 1; i < tiling->outer_count; i++) {
		struct dray_pair_axis axis = tiling->outer[i];

		for (at = i;
		     at > 0 && layout_tiling_nearness(&tiling->outer[at - 1]) <
				       layout_tiling_nearness(&axis);
		     at--)
			tiling->outer[at] = tiling->outer[at - 1];
		tiling->outer[at] = axis;
	}
}

/* Returns the axis along which the source is densest, or -1 if it is the last. */
static int find_across(const struct dray_layout *layout)
{
	int last = layout->axes_count - 1, found = last;
	int i;

	for (i = last - 1; i >= 0; i--) {
		int64_t step = layout->axes[i].strides[DRAY_SRC];

		if (step &&
		    dray_magnitude(step) <
			    dray_magnitude(
				    layout->axes[found].strides[DRAY_SRC]))
			found = i;
	}
	return found == last ? -1 : found;
}

/* Whether tiles are better than rows of single elements. */
static bool layout_tiling_pays(const struct dray_tiling *tiling,
			       const struct dray_layout *layout)
{
	uint64_t jump = dray_magnitude(tiling->along.axes[0].stride);

	if (tiling->turning.lines > 1 && tiling->size < DRAY_LINE / 4)
		return true;
	if (layout->bytes <= NEAREST || jump < DRAY_LINE)
		return false;
	/*
	 * If few elements share a line, tiles pay only if lines evict each other,
	 * or if rows are streamed.
	 */
	return tiling->size < DRAY_LINE / 4 || jump % CROWDED == 0 ||
	       layout->bytes >= dray_tile_stream_from;
}

/* Returns bits that are set in some step between rows of the destination. */
static uint64_t layout_tiling_steps(const struct dray_tiling *tiling)
{
	uint64_t bits = 0;
	int i;

	for (i = 0; i < tiling->across.links; i++)
		bits |= (uint64_t)tiling->across.axes[i].stride;
	for (i = 0; i < tiling->outer_count; i++)
		bits |= (uint64_t)tiling->outer[i].dst;
	return bits;
}

/*
 * Streams whole lines.  If all rows begin at the same place in a line, the first
 * tile of each is shorter, so that others begin with a line.
 */
static void prepare_streams(struct dray_tiling *tiling)
{
	const size_t size = tiling->item;
	size_t place = (uintptr_t)tiling->dst % DRAY_LINE;

	if (TILE_ROW % size == 0 && place % size == 0 &&
	    layout_tiling_steps(tiling) % DRAY_LINE == 0 &&
	    tiling->panel - place / size >= tiling->turning.lines)
		tiling->first -= place / size;
	else
		tiling->back = (DRAY_LINE + size - 1) / size;
}

/* Chooses how long rows are, and how they are written. */
static void measure_rows(struct dray_tiling *tiling,
			 const struct dray_layout *layout)
{
	const bool is_dense = tiling->along.step == (int64_t)tiling->item;

	tiling->panel = (size_t)layout_tiling_least(
		TILE_ROW / tiling->item, 2 * TILE_ROW / tiling->size);
	tiling->first = tiling->panel;
	tiling->back = 0;
	tiling->streams = is_dense && layout->bytes >= dray_tile_stream_from &&
			  dray_rows_stream();
	tiling->write = tiling->streams ? dray_rows_stream() : dray_rows_copy();
	if (tiling->streams)
		prepare_streams(tiling);
}

/*
 * Lets the second tile begin with a cache line of the source, so that it and the
 * tiles behind it read each line once.  It then repeats some rows of the first.
 */
static size_t choose_again(const struct dray_tiling *tiling)
{
	const struct dray_chain *along = &tiling->along;
	const size_t size = tiling->size, piece = tiling->rows * size;
	size_t place = ((uintptr_t)tiling->src + piece) % DRAY_LINE;
	uint64_t bits = place % size;
	int i;

	for (i = 0; i < along->links; i++)
		bits |= (uint64_t)along->axes[i].stride % DRAY_LINE;
	for (i = 0; i < tiling->outer_count; i++)
		bits |= (uint64_t)tiling->outer[i].src % DRAY_LINE;
	if (bits || tiling->across.step != (int64_t)size || piece < DRAY_LINE ||
	    tiling->across.total < FEW * tiling->rows)
		return 0;
	return place / size;
}

/* Chooses the number of rows of a tile: as many as others, in whole squares. */
static void measure_tiles(struct dray_tiling *tiling)
{
	const uint64_t total = tiling->across.total;
	const size_t size = tiling->size, square = tiling->turning.rows;
	size_t pitch, most, tiles;

	/* An odd number of lines, so that rows do not evict each other. */
	pitch = (tiling->panel + tiling->back + tiling->turning.lines) * size;
	pitch = (pitch + DRAY_LINE - 1) / DRAY_LINE | 1;
	tiling->pitch = pitch * DRAY_LINE;
	most = (size_t)layout_tiling_least(layout_tiling_least(TILE_ROWS,
							       EDGE / size),
					   TILE_SPACE / tiling->pitch);
	most = most / square * square;
	tiles = (size_t)((total + most - 1) / most);
	tiling->rows = (size_t)((total + tiles - 1) / tiles);
	tiling->rows = (tiling->rows + square - 1) / square * square;
	tiling->again = choose_again(tiling);
}

/* Copies elements that are not dense in the destination. */
static int copy_row(char *const *data, const int64_t *strides, int64_t count,
		    void *context)
{
	struct dray_grid grid = {
		.dst = (unsigned char *)data[0],
		.src = (const unsigned char *)data[1],
		.rows = { 1, 0, 0 },
		.columns = { (uint64_t)count, strides[0], strides[1] },
		.run = *(const size_t *)context,
	};

	dray_grid_copy(&grid);
	return 0;
}

static void layout_tiling_begin(struct dray_tiling *tiling,
				const struct dray_layout *layout, int across)
{
	int i;

	tiling->dst = layout->data[DRAY_DST];
	tiling->src = layout->data[DRAY_SRC];
	tiling->along.links = 0;
	tiling->across.links = 0;
	tiling->outer_count = layout->axes_count;
	for (i = 0; i < layout->axes_count; i++)
		tiling->outer[i] = (struct dray_pair_axis){
			layout->axes[i].count,
			layout->axes[i].strides[DRAY_DST],
			layout->axes[i].strides[DRAY_SRC],
		};
	take_along(tiling, layout->axes_count - 1);
	take_across(tiling, across);
}

bool dray_tiling_plan(struct dray_tiling *tiling,
		      const struct dray_layout *layout, dray_loop *loop,
		      void *context)
{
	size_t size = (size_t)(loop ? layout->sizes[DRAY_SRC] : layout->run);
	int across;

	if (!size || size > DRAY_LINE || (loop && layout->run > WIDEST))
		return false;
	across = find_across(layout);
	if (across < 0)
		return false;
	layout_tiling_begin(tiling, layout, across);
	tiling->size = size;
	tiling->item = (size_t)layout->run;
	tiling->loop = loop;
	tiling->context = context;
	if (!loop && tiling->along.step != (int64_t)size) {
		tiling->loop = copy_row;
		tiling->context = &tiling->size;
	}
	layout_tiling_extend(tiling);
	dray_turn_choose(&tiling->turning, size, tiling->across.step,
			 tiling->along.total, tiling->across.total);
	if (!layout_tiling_pays(tiling, layout))
		return false;
	sort_outer(tiling);
	measure_rows(tiling, layout);
	measure_tiles(tiling);
	return true;
}

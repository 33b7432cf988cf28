// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A tile is a piece of two chains of axes.  Along runs the destination, across runs
 * the source.  A tile's source is turned in near memory, so that each line of it
 * is read once, and rows of the destination are written whole.  Then it does not
 * matter if lines lie a power of two apart, of which a cache holds only a few.
 */
#include <string.h>

#include "array/layout_grid.h"
#include "array/layout_row.h"
#include "array/layout_tile.h"
#include "array/layout_turn.h"
#include "array/view.h"

#define NEAREST 32768u /* bytes of a first-level cache */
#define SMALLEST 512u /* bytes for which tiles are worth their preparation */

/*
 * A tile has at most ROWS rows of about PANEL bytes, and reads EDGE bytes at once.
 * MARGIN is for elements of a row that are turned once more.
 */
#define ROWS DRAY_BLOCK_ROWS
#define PANEL DRAY_ROW
#define EDGE 512u
#define MARGIN 128u
#define LINKS 8

uint64_t dray_tile_stream_from = 4u << 20;

/* Axes that continue each other in one operand. */
struct chain {
	int links;
	struct {
		uint64_t count;
		int64_t stride; /* in the other operand */
	} axes[LINKS]; /* innermost first */
	uint64_t total; /* elements */
	int64_t step; /* bytes, in its own operand */
};

struct tiling {
	unsigned char *dst;
	const unsigned char *src;
	size_t size; /* bytes of an element of the source */
	struct chain along;
	struct chain across;
	int outer_count;
	struct dray_pair_axis outer[DRAY_MAX_NDIM];
	dray_turn *turn;
	size_t square; /* least elements of a tile in each direction */
	size_t rows; /* of a tile */
	size_t panel; /* elements of a row of a tile */
	size_t first; /* the same, of the first tile of a row */
	size_t back; /* elements before a tile that are turned with it */
	size_t pitch; /* of rows in near memory */
	bool streams;
	dray_rows_write *write;
	dray_layout_function *function; /* NULL: writes */
	const void *data;
};

/* Near memory, and offsets of a tile's lines and rows. */
struct near {
	uint64_t lines_from, lines_count; /* of along */
	uint64_t places_from; /* of across */
	int64_t lines[PANEL + MARGIN]; /* in the source */
	int64_t places[ROWS]; /* in the destination */
	_Alignas(DRAY_LINE) unsigned char space[ROWS * (PANEL + MARGIN)];
};

static uint64_t magnitude(int64_t n)
{
	return n < 0 ? (uint64_t)-n : (uint64_t)n;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Writes the offsets of elements in the other operand. */
static void offsets(int64_t *out, const struct chain *chain, uint64_t from,
		    size_t count)
{
	uint64_t at[LINKS];
	int64_t offset = 0;
	int k;

	for (k = 0; k < chain->links; k++) {
		at[k] = from % chain->axes[k].count;
		from /= chain->axes[k].count;
		offset += (int64_t)at[k] * chain->axes[k].stride;
	}
	for (;;) {
		size_t run = least(count, chain->axes[0].count - at[0]);
		size_t i;

		for (i = 0; i < run; i++)
			out[i] = offset + (int64_t)i * chain->axes[0].stride;
		out += run;
		count -= run;
		if (!count)
			return;
		offset -= (int64_t)at[0] * chain->axes[0].stride;
		at[0] = 0;
		for (k = 1; k < chain->links; k++) {
			offset += chain->axes[k].stride;
			if (++at[k] < chain->axes[k].count)
				break;
			offset -= (int64_t)at[k] * chain->axes[k].stride;
			at[k] = 0;
		}
	}
}

/* Writes turned rows: elements from @from to @to of along. */
static void write_rows(const struct tiling *tiling, const struct near *near,
		       unsigned char *dst, size_t count, uint64_t from,
		       uint64_t to)
{
	const size_t size = tiling->size;
	const int64_t step = tiling->along.step;
	struct dray_rows rows = {
		.dst = dst + (int64_t)from * step,
		.places = near->places,
		.near = near->space + (from - near->lines_from) * size,
		.pitch = tiling->pitch,
		.count = count,
		.bytes = (to - from) * size,
		.joins_last = tiling->back && from,
		.joins_next = tiling->back && to < tiling->along.total,
	};
	size_t r;

	if (!tiling->function) {
		tiling->write(&rows);
		return;
	}
	for (r = 0; r < count; r++)
		tiling->function(rows.dst + rows.places[r], step,
				 rows.near + r * rows.pitch, (int64_t)size,
				 to - from, tiling->data);
}

/* Copies the tiles of a panel: elements from @from to @to of along. */
static void copy_panel(const struct tiling *tiling, struct near *near,
		       unsigned char *dst, const unsigned char *src,
		       uint64_t from, uint64_t to)
{
	const uint64_t total = tiling->across.total;
	uint64_t start = from - least(from, tiling->back), at, next;

	if (near->lines_count != to - start || near->lines_from != start) {
		near->lines_from = start;
		near->lines_count = to - start;
		offsets(near->lines, &tiling->along, start, to - start);
	}
	for (at = 0; at < total; at = next) {
		size_t rows = least(tiling->rows, total);
		struct dray_tile block;

		next = at + rows;
		if (next > total) { /* some rows again */
			next = total;
			at = total - rows;
		}
		block = (struct dray_tile){
			.out = near->space,
			.pitch = tiling->pitch,
			.src = src + (int64_t)at * tiling->across.step,
			.lines = near->lines,
			.count = to - start,
			.rows = rows,
			.step = tiling->across.step,
			.size = tiling->size,
			.ahead = next < total ? (int64_t)(rows * tiling->size)
					      : 0,
		};
		tiling->turn(&block);
		if (near->places_from != at) {
			near->places_from = at;
			offsets(near->places, &tiling->across, at, rows);
		}
		write_rows(tiling, near, dst, rows, from, to);
	}
}

static void copy_panels(const struct tiling *tiling, struct near *near,
			unsigned char *dst, const unsigned char *src)
{
	const uint64_t total = tiling->along.total;
	uint64_t from, to;

	for (from = 0; from < total; from = to) {
		to = from + (from ? tiling->panel : tiling->first);
		if (to + tiling->square > total)
			to = total;
		copy_panel(tiling, near, dst, src, from, to);
	}
}

/* Copies the panels of all positions of the outer axes. */
static void copy_all(const struct tiling *tiling)
{
	unsigned char *dst = tiling->dst;
	const unsigned char *src = tiling->src;
	uint64_t position[DRAY_MAX_NDIM];
	struct near near;
	int k;

	near.lines_count = 0;
	near.places_from = UINT64_MAX;
	memset(position, 0, (size_t)tiling->outer_count * sizeof(position[0]));
	do {
		copy_panels(tiling, &near, dst, src);
		for (k = tiling->outer_count - 1; k >= 0; k--) {
			const struct dray_pair_axis *axis = &tiling->outer[k];

			dst += axis->dst;
			src += axis->src;
			if (++position[k] < axis->count)
				break;
			dst -= (int64_t)axis->count * axis->dst;
			src -= (int64_t)axis->count * axis->src;
			position[k] = 0;
		}
	} while (k >= 0);
	if (tiling->streams)
		dray_rows_order();
}

/* Takes an axis out of the outer ones. */
static struct dray_pair_axis take(struct tiling *tiling, int k)
{
	struct dray_pair_axis axis = tiling->outer[k];

	tiling->outer_count--;
	memmove(&tiling->outer[k], &tiling->outer[k + 1],
		(size_t)(tiling->outer_count - k) * sizeof(axis));
	return axis;
}

static void link_axis(struct chain *chain, uint64_t count, int64_t stride)
{
	if (!chain->links)
		chain->total = 1;
	chain->axes[chain->links].count = count;
	chain->axes[chain->links++].stride = stride;
	chain->total *= count;
}

/* Moves an axis across, in the direction in which the source rises. */
static void take_across(struct tiling *tiling, int k)
{
	struct dray_pair_axis axis = take(tiling, k);

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

static void take_along(struct tiling *tiling, int k)
{
	struct dray_pair_axis axis = take(tiling, k);

	if (!tiling->along.links)
		tiling->along.step = axis.dst;
	link_axis(&tiling->along, axis.count, axis.src);
}

/* Extends along until a row is long enough for a panel, and across by the rest. */
static void extend(struct tiling *tiling)
{
	struct chain *along = &tiling->along, *across = &tiling->across;
	int k;

	for (k = tiling->outer_count - 1; k >= 0 && along->links < LINKS &&
					  along->total * tiling->size < PANEL;
	     k--) {
		if (tiling->outer[k].dst ==
		    (int64_t)along->total * along->step) {
			take_along(tiling, k);
			k = tiling->outer_count;
		}
	}
	for (k = tiling->outer_count - 1; k >= 0 && across->links < LINKS;
	     k--) {
		if (magnitude(tiling->outer[k].src) ==
		    across->total * (uint64_t)across->step) {
			take_across(tiling, k);
			k = tiling->outer_count;
		}
	}
}

/* Returns the shorter of an axis' steps: how near its elements are. */
static uint64_t nearness(const struct dray_pair_axis *axis)
{
	uint64_t dst = magnitude(axis->dst), src = magnitude(axis->src);

	return src && src < dst ? src : dst;
}

/* Orders the outer axes, so that neighbours are copied soon. */
static void sort_outer(struct tiling *tiling)
{
	int i, at;

	for (i = 1; i < tiling->outer_count; i++) {
		struct dray_pair_axis axis = tiling->outer[i];

		for (at = i; at > 0 &&
			     nearness(&tiling->outer[at - 1]) < nearness(&axis);
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
		    magnitude(step) <
			    magnitude(layout->axes[found].strides[DRAY_SRC]))
			found = i;
	}
	return found == last ? -1 : found;
}

/* Whether tiles are better than rows of elements one by one. */
static bool pays(const struct tiling *tiling, const struct dray_layout *layout)
{
	uint64_t jump = magnitude(tiling->along.axes[0].stride);

	if (tiling->square > 1 && tiling->size < DRAY_LINE / 4)
		return true;
	/*
	 * If few elements share a line, tiles pay only if lines evict each other.
	 */
	if (layout->bytes >= dray_tile_stream_from && jump >= DRAY_LINE)
		return true;
	return layout->bytes > NEAREST && jump >= DRAY_LINE &&
	       (tiling->size < DRAY_LINE / 4 || jump % (16 * DRAY_LINE) == 0);
}

/* Returns bits that are set in some step between rows of the destination. */
static uint64_t steps(const struct tiling *tiling)
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
static void prepare_streams(struct tiling *tiling)
{
	const size_t size = tiling->size;
	size_t place = (uintptr_t)tiling->dst % DRAY_LINE;

	if (PANEL % size == 0 && place % size == 0 &&
	    steps(tiling) % DRAY_LINE == 0) {
		tiling->first -= place / size;
		return;
	}
	tiling->back = (DRAY_LINE + size - 1) / size;
}

/* Chooses the sizes of tiles. */
static void measure(struct tiling *tiling, const struct dray_layout *layout)
{
	const uint64_t total = tiling->across.total;
	const size_t size = tiling->size, square = tiling->square;
	size_t most = least(ROWS, EDGE / size), tiles;

	/* Tiles of one height, in whole squares. */
	tiles = (total + most - 1) / most;
	tiling->rows = (total + tiles - 1) / tiles;
	tiling->rows = (tiling->rows + square - 1) / square * square;
	tiling->panel = PANEL / size;
	tiling->first = tiling->panel;
	tiling->back = 0;
	tiling->streams = !tiling->function &&
			  layout->bytes >= dray_tile_stream_from &&
			  dray_rows_stream();
	tiling->write = tiling->streams ? dray_rows_stream() : dray_rows_copy();
	if (tiling->streams)
		prepare_streams(tiling);
	tiling->pitch = tiling->panel * size + MARGIN;
}

/* Copies elements that are not dense in the destination. */
static void copy_row(unsigned char *dst, int64_t dst_stride,
		     const unsigned char *src, int64_t src_stride, size_t count,
		     const void *data)
{
	struct dray_grid grid = {
		.dst = dst,
		.src = src,
		.rows = { 1, 0, 0 },
		.columns = { count, dst_stride, src_stride },
		.run = *(const size_t *)data,
	};

	dray_grid_copy(&grid);
}

/* Tiles a layout whose source runs along the axis @across. */
static bool copy_across(const struct dray_layout *layout, int across,
			dray_layout_function *function, const void *data)
{
	struct tiling tiling;
	size_t size = function ? layout->sizes[DRAY_SRC] : layout->run;
	int i;

	if (size > DRAY_LINE)
		return false;
	tiling.dst = layout->data[DRAY_DST];
	tiling.src = layout->data[DRAY_SRC];
	tiling.size = size;
	tiling.function = function;
	tiling.data = data;
	tiling.along.links = 0;
	tiling.across.links = 0;
	tiling.outer_count = layout->axes_count;
	for (i = 0; i < layout->axes_count; i++)
		tiling.outer[i] = (struct dray_pair_axis){
			layout->axes[i].count,
			layout->axes[i].strides[DRAY_DST],
			layout->axes[i].strides[DRAY_SRC],
		};
	take_along(&tiling, layout->axes_count - 1);
	take_across(&tiling, across);
	if (!function && tiling.along.step != (int64_t)size) {
		tiling.function = copy_row;
		tiling.data = &tiling.size;
	}
	extend(&tiling);
	tiling.turn =
		dray_turn_for(size, tiling.across.step,
			      least(tiling.along.total, tiling.across.total),
			      &tiling.square);
	if (!pays(&tiling, layout))
		return false;
	sort_outer(&tiling);
	measure(&tiling, layout);
	copy_all(&tiling);
	return true;
}

bool dray_tile_copy(const struct dray_layout *layout,
		    dray_layout_function *function, const void *data)
{
	int across;

	if (layout->bytes < SMALLEST)
		return false;
	across = find_across(layout);
	return across >= 0 && copy_across(layout, across, function, data);
}

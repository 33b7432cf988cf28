// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A tile's source is turned in near memory, so that each line of it is read once,
 * and rows of the destination are written whole.  Then it does not matter if
 * lines lie a power of two apart, of which a cache holds only a few.
 */
#include <string.h>

#include "base/holds.h"
#include "layout/layout_tile.h"
#include "layout/layout_tiling.h"

/* Near memory, and offsets of a tile's lines and rows. */
struct near {
	uint64_t lines_from, lines_count; /* of along */
	uint64_t places_from; /* of across */
	int64_t lines[TILE_ROW + TILE_MARGIN]; /* in the source */
	int64_t places[TILE_ROWS]; /* in the destination */
	_Alignas(DRAY_LINE) unsigned char space[TILE_SPACE];
};

static uint64_t layout_tile_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Writes the offsets of elements in the other operand. */
static void layout_tile_offsets(int64_t *out, const struct dray_chain *chain,
				uint64_t from, size_t count)
{
	uint64_t at[TILE_LINKS];
	int64_t offset = 0;
	int k;

	DRAY_HOLDS(chain->links > 0);
	for (k = 0; k < chain->links; k++) {
		at[k] = from % chain->axes[k].count;
		from /= chain->axes[k].count;
		offset += (int64_t)at[k] * chain->axes[k].stride;
	}
	for (;;) {
		size_t run = (size_t)layout_tile_least(
			count, chain->axes[0].count - at[0]);
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

/*
 * Converts turned rows, straight to the destination, or a row in near memory that is
 * streamed then.
 * @start: the first element that was turned
 */
static int convert_rows(const struct dray_tiling *tiling,
			const struct dray_layout_rows *rows, uint64_t start,
			uint64_t from, uint64_t to)
{
	const int64_t strides[2] = { tiling->along.step,
				     (int64_t)tiling->size };
	_Alignas(DRAY_LINE) char space[2 * TILE_ROW + TILE_MARGIN];
	const uint64_t back = tiling->streams ? from - start : 0;
	struct dray_layout_rows row = *rows;
	size_t r;
	int ret;

	row.count = 1;
	for (r = 0; r < rows->count; r++) {
		const unsigned char *turned =
			rows->near + r * rows->pitch - back * tiling->size;
		char *data[2] = { (char *)rows->dst + rows->places[r],
				  (char *)(uintptr_t)turned };

		if (tiling->streams)
			data[0] = space;
		ret = tiling->loop(data, strides, (int64_t)(to - from + back),
				   tiling->context);
		if (ret)
			return ret;
		if (!tiling->streams)
			continue;
		row.near = (unsigned char *)space + back * tiling->item;
		row.places = &rows->places[r];
		tiling->write(&row);
	}
	return 0;
}

/* Writes turned rows: elements from @from to @to of along. */
static int write_rows(const struct dray_tiling *tiling, const struct near *near,
		      unsigned char *dst, size_t count, uint64_t from,
		      uint64_t to)
{
	const int64_t step = tiling->along.step;
	struct dray_layout_rows rows = {
		.dst = dst + (int64_t)from * step,
		.places = near->places,
		.near = near->space + (from - near->lines_from) * tiling->size,
		.pitch = tiling->pitch,
		.count = count,
		.bytes = (size_t)(to - from) * tiling->item,
		.joins_last = tiling->back && from,
		.joins_next = tiling->back && to < tiling->along.total,
	};

	if (tiling->loop)
		return convert_rows(tiling, &rows, near->lines_from, from, to);
	tiling->write(&rows);
	return 0;
}

/*
 * Returns by how many elements across the tile after the next is ahead, or the next
 * tile; 0 if there is none, or if lines are in a cache.
 * @next: first row of the next tile
 */
static int64_t layout_tile_ahead(const struct dray_tiling *tiling,
				 uint64_t next)
{
	const uint64_t rows = tiling->rows, total = tiling->across.total;

	if (!tiling->streams)
		return 0;
	if (next + rows < total)
		return (int64_t)(2 * rows);
	return next < total ? (int64_t)rows : 0;
}

/* Copies the tiles of a panel: elements from @from to @to of along. */
static int copy_panel(const struct dray_tiling *tiling, struct near *near,
		      unsigned char *dst, const unsigned char *src,
		      uint64_t from, uint64_t to)
{
	const uint64_t total = tiling->across.total;
	const int64_t step = tiling->across.step;
	uint64_t start = from - layout_tile_least(from, tiling->back), at, next;
	int ret = 0;

	if (near->lines_count != to - start || near->lines_from != start) {
		near->lines_from = start;
		near->lines_count = to - start;
		layout_tile_offsets(near->lines, &tiling->along, start,
				    (size_t)(to - start));
	}
	for (at = 0; !ret && at < total; at = next) {
		size_t rows = (size_t)layout_tile_least(tiling->rows, total);
		struct dray_tile block;

		next = at + rows - (at ? 0 : tiling->again);
		if (next > total) { /* some rows again */
			next = total;
			at = total - rows;
		}
		block = (struct dray_tile){
			.out = near->space,
			.pitch = tiling->pitch,
			.src = src + (int64_t)at * step,
			.lines = near->lines,
			.count = (size_t)(to - start),
			.rows = rows,
			.step = step,
			.size = tiling->size,
			.ahead = layout_tile_ahead(tiling, next) * step,
		};
		tiling->turning.turn(&block);
		if (near->places_from != at) {
			near->places_from = at;
			layout_tile_offsets(near->places, &tiling->across, at,
					    rows);
		}
		ret = write_rows(tiling, near, dst, rows, from, to);
	}
	return ret;
}

static int copy_panels(const struct dray_tiling *tiling, struct near *near,
		       unsigned char *dst, const unsigned char *src)
{
	const uint64_t total = tiling->along.total;
	uint64_t from, to;
	int ret = 0;

	for (from = 0; !ret && from < total; from = to) {
		to = from + (from ? tiling->panel : tiling->first);
		if (to + tiling->turning.lines > total)
			to = total;
		ret = copy_panel(tiling, near, dst, src, from, to);
	}
	return ret;
}

/* Copies the panels of all positions of the outer axes. */
static int tile_copy_all(const struct dray_tiling *tiling)
{
	unsigned char *dst = tiling->dst;
	const unsigned char *src = tiling->src;
	uint64_t position[DRAY_MAX_NDIM];
	struct near near;
	int ret, k;

	near.lines_from = 0;
	near.lines_count = 0;
	near.places_from = UINT64_MAX;
	memset(position, 0, (size_t)tiling->outer_count * sizeof(position[0]));
	do {
		ret = copy_panels(tiling, &near, dst, src);
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
	} while (!ret && k >= 0);
	if (tiling->streams)
		dray_rows_order();
	return ret;
}

bool dray_tile_copy(const struct dray_layout *layout, dray_loop *loop,
		    void *context, int *ret)
{
	struct dray_tiling tiling;
	int copied;

	if (!dray_tiling_plan(&tiling, layout, loop, context))
		return false;
	copied = tile_copy_all(&tiling);
	if (loop)
		*ret = copied;
	return true;
}

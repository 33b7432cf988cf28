// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Fills rows with one element, if its size divides a line. */
#include <string.h>

#include "layout/layout_grid.h"
#include "layout/layout_row.h"

#define BATCH 16u /* rows that are written by one call */

/* Repeats the element until @bytes are full; a multiple of its size. */
static void layout_repeat(unsigned char *out, size_t bytes,
			  const unsigned char *element, size_t size)
{
	size_t at, more;

	memcpy(out, element, size);
	for (at = size; at < bytes; at += more) {
		more = at < bytes - at ? at : bytes - at;
		memcpy(out + at, out, more);
	}
}

/* Fills a long row: its beginning, whole lines, and its end. */
static void layout_repeat_fill(unsigned char *dst, size_t bytes,
			       const unsigned char *element, size_t size)
{
	bool streams = bytes >= dray_tile_stream_from && dray_rows_stream();
	dray_rows_write *write =
		streams ? dray_rows_stream() : dray_rows_copy();
	unsigned char near[DRAY_ROW + DRAY_LINE];
	int64_t places[BATCH];
	struct dray_layout_rows rows = { .places = places, .bytes = DRAY_ROW };
	size_t at = -(uintptr_t)dst % DRAY_LINE, r;

	layout_repeat(near, sizeof(near), element, size);
	memcpy(dst, near, at);
	rows.near = near + at % size;
	for (r = 0; r < BATCH; r++)
		places[r] = (int64_t)(r * DRAY_ROW);
	while (bytes - at >= DRAY_ROW) {
		rows.dst = dst + at;
		rows.count = (bytes - at) / DRAY_ROW;
		if (rows.count > BATCH)
			rows.count = BATCH;
		write(&rows);
		at += rows.count * DRAY_ROW;
	}
	memcpy(dst + at, rows.near, bytes - at);
	if (streams)
		dray_rows_order();
}

bool dray_grid_repeat(const struct dray_grid *grid)
{
	const size_t bytes = (size_t)grid->columns.count * grid->run;
	size_t i;

	if (grid->columns.src || DRAY_LINE % grid->run || bytes < DRAY_LINE)
		return false;
	for (i = 0; i < grid->rows.count; i++) {
		unsigned char *dst = grid->dst + (int64_t)i * grid->rows.dst;
		const unsigned char *src =
			grid->src + (int64_t)i * grid->rows.src;

		if (grid->run == 1)
			memset(dst, *src, bytes);
		else if (bytes < 2 * DRAY_ROW)
			layout_repeat(dst, bytes, src, grid->run);
		else
			layout_repeat_fill(dst, bytes, src, grid->run);
	}
	return true;
}

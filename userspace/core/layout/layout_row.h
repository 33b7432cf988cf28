/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Rows without gaps, copied from near memory to the destination, or streamed past
 * the caches if the processor can: lines that are written whole need not be read
 * before.
 */
#ifndef DRAY_LAYOUT_LAYOUT_ROW_H
#define DRAY_LAYOUT_LAYOUT_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout/layout_turn.h"

#define DRAY_ROW 512ul /* bytes of most rows */

struct dray_layout_rows {
	unsigned char *dst; /* row r goes to dst + places[r] */
	const int64_t *places;
	const unsigned char *near; /* row r begins at near + r * pitch */
	size_t pitch;
	size_t count;
	size_t bytes; /* of a row */
	/*
	 * Streams write whole lines: they take the bytes before a row along, and
	 * leave the bytes behind its last line.
	 */
	bool joins_last;
	bool joins_next;
};

typedef void dray_rows_write(const struct dray_layout_rows *rows);

/* Returns the function that copies rows. */
dray_rows_write *dray_rows_copy(void);

/* Returns the function that streams rows; NULL: the processor cannot. */
dray_rows_write *dray_rows_stream(void);

/* Orders streamed bytes before later ones. */
void dray_rows_order(void);

/*
 * Copies of that many bytes are streamed past the caches, which they leave
 * anyway.  Tests set it.
 */
extern uint64_t dray_tile_stream_from;

#endif /* DRAY_LAYOUT_LAYOUT_ROW_H */

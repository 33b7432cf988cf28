/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Turns blocks: lines of a source become columns of rows in near memory.  For
 * elements of 1, 2, 4, 8 and 16 bytes that are dense in the lines, vectors of 16
 * bytes do it, a square at a time.
 */
#ifndef DRAY_LAYOUT_LAYOUT_TURN_H
#define DRAY_LAYOUT_LAYOUT_TURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DRAY_BLOCK_ROWS 64ul /* of most blocks */

struct dray_tile {
	unsigned char *out; /* row r begins at out + r * pitch, without gaps */
	size_t pitch;
	const unsigned char *src; /* line i begins at src + lines[i] */
	const int64_t *lines; /* bytes */
	size_t count; /* lines: elements of each row */
	size_t rows; /* elements of each line */
	int64_t step; /* bytes from one element of a line to the next */
	size_t size; /* bytes of an element */
	int64_t ahead; /* bytes to a later block, to fetch it; 0: none */
};

typedef void dray_turn(const struct dray_tile *block);

/*
 * Returns the function that turns blocks of such elements, and writes to @square
 * how many lines and rows a block must have at least.
 * @extent: elements that there are in each direction at least
 */
dray_turn *dray_turn_for(size_t size, int64_t step, uint64_t extent,
			 size_t *square);

#endif /* DRAY_LAYOUT_LAYOUT_TURN_H */

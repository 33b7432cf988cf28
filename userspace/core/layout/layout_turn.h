/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Turns blocks: lines of a source become columns of rows in near memory.  For
 * elements of 1, 2, 4, 8 and 16 bytes that are dense in the lines, vectors do it, a
 * square at a time.
 */
#ifndef DRAY_LAYOUT_LAYOUT_TURN_H
#define DRAY_LAYOUT_LAYOUT_TURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DRAY_LINE 64ul /* bytes of a cache line */

struct dray_tile {
	unsigned char *out; /* row r begins at out + r * pitch, without gaps */
	size_t pitch;
	const unsigned char *src; /* line i begins at src + lines[i] */
	const int64_t *lines; /* bytes */
	size_t count; /* lines: elements of each row */
	size_t rows; /* elements of each line */
	int64_t step; /* bytes from an element of a line to the next */
	size_t size; /* bytes of an element */
	int64_t ahead; /* bytes to a later block, to fetch it; 0: none */
};

typedef void dray_turn(const struct dray_tile *block);

/* A function that turns blocks, and the fewest lines and rows that it turns. */
struct dray_turning {
	dray_turn *turn;
	size_t lines;
	size_t rows;
};

/*
 * Chooses the function for elements of @size bytes, @step bytes apart in a line.
 * @lines, @rows: elements in each direction
 */
void dray_turn_choose(struct dray_turning *turning, size_t size, int64_t step,
		      uint64_t lines, uint64_t rows);

#endif /* DRAY_LAYOUT_LAYOUT_TURN_H */

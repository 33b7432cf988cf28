// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Copies of planes.  Bytes between elements are read, never written: they lie between
 * two elements of the layout, so in its memory.
 */
#include <string.h>

#include "base/number.h"
#include "layout/layout_planes.h"
#include "layout/layout_row.h"

/* Notes where a byte of a written vector is from. */
static void planes_note(struct dray_planes *planes, size_t to, size_t vector,
			size_t lane)
{
	const size_t out = to / PLANES_VECTOR, at = to % PLANES_VECTOR;

	planes->vectors[out][at] = (unsigned char)vector;
	planes->lanes[out][at] = (unsigned char)lane;
}

/* Fills the network for vectors of a power of two. */
static void planes_fill(struct dray_planes *planes)
{
	const size_t run = planes->run, width = planes->width;
	const size_t count = width / run, step = planes->pixel * run;
	const unsigned int bits = (unsigned int)__builtin_ctzl(width);
	const bool back = planes->planes.src < 0;
	const size_t each = (size_t)planes->planes.count;
	size_t e, p, w;

	memset(planes->vectors, PLANES_NONE, sizeof(planes->vectors));
	for (e = 0; e < count; e++)
		for (p = 0; p < each; p++)
			for (w = 0; w < run; w++) {
				size_t place = planes->splits && back
						       ? each - 1 - p
						       : p;
				size_t pixel = e * step + place * run + w;
				size_t plane = e * run + w;

				if (planes->splits)
					planes_note(planes,
						    p * PLANES_VECTOR + plane,
						    pixel >> bits,
						    pixel & (width - 1));
				else
					planes_note(
						planes,
						(pixel >> bits) *
								PLANES_VECTOR +
							(pixel & (width - 1)),
						p, plane);
			}
}

/* Whether elements are this many, up to PLANES_MOST, apart in an operand. */
static bool planes_apart(const struct dray_planes *planes, int64_t dense,
			 int64_t sparse)
{
	return dense == (int64_t)planes->run && sparse > dense &&
	       sparse % dense == 0 && sparse / dense <= PLANES_MOST;
}

bool dray_planes_plan(struct dray_planes *planes, size_t run,
		      const struct dray_pair_axis *pixels,
		      const struct dray_pair_axis *of_pixel)
{
	int64_t step;

	if (!run || run > PLANES_WIDEST || run & (run - 1))
		return false;
	planes->run = run;
	planes->pixels = *pixels;
	planes->planes = *of_pixel;
	planes->splits = planes_apart(planes, pixels->dst, pixels->src);
	if (!planes->splits && !planes_apart(planes, pixels->src, pixels->dst))
		return false;
	planes->pixel =
		(planes->splits ? (size_t)pixels->src : (size_t)pixels->dst) /
		run;
	step = planes->splits ? of_pixel->src : of_pixel->dst;
	if (of_pixel->count > planes->pixel ||
	    (of_pixel->count > 1 &&
	     (planes->splits ? dray_magnitude(step) != run
			     : step != (int64_t)run)) ||
	    pixels->count * of_pixel->count * run < PLANES_LEAST)
		return false;
	planes->inputs =
		(int)(planes->splits ? planes->pixel : of_pixel->count);
	planes->outputs =
		(int)(planes->splits ? of_pixel->count : planes->pixel);
	if (!dray_planes_choose(planes))
		return false;
	planes_fill(planes);
	return true;
}

/* Copies @count pixels from @at on, element by element. */
static void planes_singly(const struct dray_planes *planes, unsigned char *dst,
			  const unsigned char *src, uint64_t at, uint64_t count)
{
	const struct dray_grid grid = {
		.dst = dst + (int64_t)at * planes->pixels.dst,
		.src = src + (int64_t)at * planes->pixels.src,
		.rows = planes->planes,
		.columns = { count, planes->pixels.dst, planes->pixels.src },
		.run = planes->run,
	};

	if (count)
		dray_grid_copy(&grid);
}

/*
 * Returns the pixels before lines of the destination begin, if they do so at once
 * in all that is written; else -1.
 */
static int64_t planes_before_line(const struct dray_planes *planes,
				  const unsigned char *dst)
{
	const size_t step = (size_t)planes->pixels.dst;
	size_t pixels, place = (uintptr_t)dst % DRAY_LINE;

	if (planes->splits && planes->planes.count > 1 &&
	    planes->planes.dst % DRAY_LINE)
		return -1;
	for (pixels = 0; pixels < DRAY_LINE; pixels++)
		if ((place + pixels * step) % DRAY_LINE == 0)
			return (int64_t)pixels;
	return -1;
}

void dray_planes_copy(const struct dray_planes *planes, unsigned char *dst,
		      const unsigned char *src, bool streams)
{
	const uint64_t count = planes->pixels.count;
	const size_t each = planes->width / planes->run;
	const unsigned char *from[PLANES_MOST];
	unsigned char *to[PLANES_MOST];
	/* Vectors that cross lines are written at half the rate. */
	int64_t before = planes_before_line(planes, dst);
	/* The last pixel is left out: a vector would pass its end. */
	uint64_t turns, at;
	int i;

	if (before < 0 || (uint64_t)before >= count) {
		before = 0;
		streams = false;
	}
	at = (uint64_t)before;
	turns = (count - 1 - at) / each;
	planes_singly(planes, dst, src, 0, at);
	for (i = 0; i < planes->inputs; i++)
		from[i] = src + (int64_t)at * planes->pixels.src +
			  (planes->splits ? (int64_t)planes->width * i
					  : planes->planes.src * i);
	if (planes->splits && planes->planes.src < 0)
		for (i = 0; i < planes->inputs; i++)
			from[i] += (int64_t)(planes->planes.count - 1) *
				   planes->planes.src;
	for (i = 0; i < planes->outputs; i++)
		to[i] = dst + (int64_t)at * planes->pixels.dst +
			(planes->splits ? planes->planes.dst * i
					: (int64_t)planes->width * i);
	planes->network(planes, to, from, (size_t)turns, streams);
	at += turns * each;
	planes_singly(planes, dst, src, at, count - at);
	if (streams)
		dray_rows_order();
}

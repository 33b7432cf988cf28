/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Planes: elements side by side in an operand, 2 to 4 elements apart in the other. */
#ifndef DRAY_LAYOUT_LAYOUT_PLANES_H
#define DRAY_LAYOUT_LAYOUT_PLANES_H

#include "layout/layout_grid.h"

#define PLANES_MOST 4 /* elements of a pixel */
#define PLANES_VECTOR 64 /* bytes of the longest vectors */
#define PLANES_NONE 0xff /* of no vector */
#define PLANES_WIDEST 8u /* bytes of an element */
#define PLANES_LEAST 2048u /* bytes that pay for a plan */

struct dray_planes;

typedef void planes_network(const struct dray_planes *planes,
			    unsigned char *const *to,
			    const unsigned char *const *from, size_t turns,
			    bool streams);

/*
 * A plane is every second, third or fourth element.  Vectors of as many elements of
 * each plane change places with vectors of whole pixels: each byte of a vector that
 * is written has a vector that was read, and a lane of it.
 */
struct dray_planes {
	bool splits; /* pixels to planes; else planes to pixels */
	size_t run; /* bytes of an element */
	size_t pixel; /* elements of a pixel, 2 to 4 */
	struct dray_pair_axis pixels;
	struct dray_pair_axis planes; /* of a pixel; often a single plane */
	int inputs, outputs; /* vectors of a turn */
	size_t width; /* bytes of a vector */
	planes_network *network;
	unsigned char vectors[PLANES_MOST][PLANES_VECTOR];
	unsigned char lanes[PLANES_MOST][PLANES_VECTOR];
};

/*
 * Plans a copy; false if it has not that form, if it is short, or if the processor
 * lacks vectors for it.
 * @pixels, @planes: axes; the latter may be of a single element
 */
bool dray_planes_plan(struct dray_planes *planes, size_t run,
		      const struct dray_pair_axis *pixels,
		      const struct dray_pair_axis *of_pixel);

/* Copies; @streams: past the caches, if places permit that. */
void dray_planes_copy(const struct dray_planes *planes, unsigned char *dst,
		      const unsigned char *src, bool streams);

/* Chooses vectors; false if there are none. */
bool dray_planes_choose(struct dray_planes *planes);

#endif /* DRAY_LAYOUT_LAYOUT_PLANES_H */

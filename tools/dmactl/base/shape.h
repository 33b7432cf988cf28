/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The shapes of a picture, as picture_draw.c keeps them and svg.c and png.c draw them. */
#ifndef DMACTL_SHAPE_H
#define DMACTL_SHAPE_H

#include "output.h"
#include "picture.h"

enum shape_kind {
	SHAPE_RECTANGLE, /* from, size */
	SHAPE_LINES, /* points, measure: thickness */
	SHAPE_TEXT, /* from, text, anchor, measure: size */
	SHAPE_GROUP, /* text: title */
	SHAPE_GROUP_END,
};

struct shape {
	enum shape_kind kind;
	uint32_t colour;
	enum picture_anchor anchor;
	struct picture_point from;
	struct picture_point size;
	double measure;
	char *text; /* valid XML characters in UTF-8 */
	struct picture_point *points;
	size_t count; /* of points */
};

struct picture {
	struct picture_size size;
	struct shape *shapes;
	size_t count;
	size_t room;
};

/* Both complain if they fail, except about errors that output_end() tells. */
bool svg_write(const struct picture *picture, FILE *stream);
bool png_write(const struct picture *picture, FILE *stream);

#endif /* DMACTL_SHAPE_H */

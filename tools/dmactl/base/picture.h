/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Pictures: shapes in an area of pixels, drawn in their order on white, written
 * as SVG or PNG.  Coordinates are pixels from the upper left corner, colours are
 * 0xRRGGBB.
 */
#ifndef DMACTL_PICTURE_H
#define DMACTL_PICTURE_H

#include "command.h"

/* Pixels that a side may have. */
#define PICTURE_LEAST 64
#define PICTURE_MOST 16384

/* Width of a character, as a part of its size: all are equally wide. */
#define PICTURE_CHARACTER 0.6

enum picture_anchor {
	PICTURE_LEFT, /* the text begins at x */
	PICTURE_MIDDLE,
	PICTURE_RIGHT, /* it ends there */
};

struct picture_point {
	double x;
	double y;
};

struct picture_size {
	unsigned int width; /* pixels */
	unsigned int height;
};

struct picture;

struct picture *picture_create(struct picture_size size);
void picture_destroy(struct picture *picture);

/* Adds a filled rectangle. */
void picture_rectangle(struct picture *picture, double x, double y,
		       double width, double height, uint32_t colour);

/* Adds lines from each point to the next, @thickness pixels wide. */
void picture_lines(struct picture *picture, const struct picture_point *points,
		   size_t count, double thickness, uint32_t colour);
void picture_line(struct picture *picture, double x1, double y1, double x2,
		  double y2, double thickness, uint32_t colour);

/*
 * Adds one line of text with its baseline at @y.  Bytes that are not UTF-8 and
 * control characters become U+FFFD.  In a PNG only ASCII has a shape.
 */
void picture_text(struct picture *picture, double x, double y, double size,
		  enum picture_anchor anchor, uint32_t colour,
		  const char *format, ...)
	__attribute__((format(printf, 7, 8)));

/*
 * Groups the shapes up to picture_group_end(), also nested.  A viewer of the SVG
 * shows @title if the pointer is over one of them.
 */
void picture_group(struct picture *picture, const char *title);
void picture_group_end(struct picture *picture);

/* "--output FILE", "--width PIXELS" and "--height PIXELS" */
extern const struct command_option picture_output_option;
extern const struct command_option picture_width_option;
extern const struct command_option picture_height_option;

/*
 * Reads the size that the request gives; sides that it does not give keep their
 * value.  Returns false after a complaint about a wrong command line.
 */
bool picture_size_given(const struct request *request,
			struct picture_size *size);

/*
 * Tells whether a picture can be written to a file of that name: it ends in .svg
 * or .png, or is "-", an SVG to standard output.  Complains if not: EXIT_USAGE.
 */
enum exit_code picture_check(const char *file);

/* Writes it to a file, or nothing after a complaint. */
enum exit_code picture_write(const struct picture *picture, const char *file);

#endif /* DMACTL_PICTURE_H */

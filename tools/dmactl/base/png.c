// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A picture as PNG by cairo, which is loaded at run time: it needs libraries of X
 * that a board does not have.  The font is cairo's own, so that a picture has the
 * same pixels on every machine.
 */
#include "shape.h"

#ifdef DMACTL_HAS_CAIRO

#include <cairo/cairo.h>
#include <dlfcn.h>

#define LIBRARY "libcairo.so.2"

/* Width of a character of cairo's font, as a part of its size. */
#define FONT_CHARACTER 0.5

/* The functions of cairo that are called here: X(name). */
#define FUNCTIONS(X)                     \
	X(create)                        \
	X(destroy)                       \
	X(fill)                          \
	X(font_options_create)           \
	X(font_options_destroy)          \
	X(font_options_set_hint_metrics) \
	X(image_surface_create)          \
	X(line_to)                       \
	X(move_to)                       \
	X(new_path)                      \
	X(paint)                         \
	X(rectangle)                     \
	X(select_font_face)              \
	X(set_font_options)              \
	X(set_font_size)                 \
	X(set_line_width)                \
	X(set_source_rgb)                \
	X(show_text)                     \
	X(status)                        \
	X(status_to_string)              \
	X(stroke)                        \
	X(surface_destroy)               \
	X(surface_write_to_png_stream)   \
	X(text_extents)

#define DECLARE(name) __typeof__(cairo_##name) *name;

struct cairo {
	FUNCTIONS(DECLARE)
};

static bool png_load(struct cairo *cairo)
{
	/* It stays loaded until the program ends. */
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	const char *missing = NULL;

	if (!library) {
		complain("PNG needs " LIBRARY
			 ": install libcairo2, or write an .svg");
		return false;
	}
#define FIND(name)                                               \
	*(void **)&cairo->name = dlsym(library, "cairo_" #name); \
	if (!cairo->name)                                        \
		missing = "cairo_" #name;
	FUNCTIONS(FIND)
	if (missing)
		complain("PNG needs another " LIBRARY
			 ": this one has no %s; write an .svg",
			 missing);
	return !missing;
}

static void set_colour(const struct cairo *cairo, cairo_t *drawing,
		       uint32_t colour)
{
	cairo->set_source_rgb(drawing, (colour >> 16 & 255) / 255.0,
			      (colour >> 8 & 255) / 255.0,
			      (colour & 255) / 255.0);
}

static void set_font(const struct cairo *cairo, cairo_t *drawing)
{
	cairo_font_options_t *options = cairo->font_options_create();

	cairo->font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
	cairo->set_font_options(drawing, options);
	cairo->font_options_destroy(options);
	cairo->select_font_face(drawing, "@cairo:monospace",
				CAIRO_FONT_SLANT_NORMAL,
				CAIRO_FONT_WEIGHT_NORMAL);
}

static void png_draw_text(const struct cairo *cairo, cairo_t *drawing,
			  const struct shape *shape)
{
	cairo_text_extents_t extents;
	double x = shape->from.x;

	cairo->set_font_size(drawing, shape->measure * PICTURE_CHARACTER /
					      FONT_CHARACTER);
	cairo->text_extents(drawing, shape->text, &extents);
	if (shape->anchor == PICTURE_MIDDLE)
		x -= extents.x_advance / 2;
	else if (shape->anchor == PICTURE_RIGHT)
		x -= extents.x_advance;
	cairo->move_to(drawing, x, shape->from.y);
	cairo->show_text(drawing, shape->text);
}

static void png_draw(const struct cairo *cairo, cairo_t *drawing,
		     const struct shape *shape)
{
	size_t i;

	set_colour(cairo, drawing, shape->colour);
	switch (shape->kind) {
	case SHAPE_RECTANGLE:
		cairo->rectangle(drawing, shape->from.x, shape->from.y,
				 shape->size.x, shape->size.y);
		cairo->fill(drawing);
		break;
	case SHAPE_LINES:
		cairo->set_line_width(drawing, shape->measure);
		/* text left its end as the current point */
		cairo->new_path(drawing);
		for (i = 0; i < shape->count; i++)
			cairo->line_to(drawing, shape->points[i].x,
				       shape->points[i].y);
		cairo->stroke(drawing);
		break;
	case SHAPE_TEXT:
		png_draw_text(cairo, drawing, shape);
		break;
	case SHAPE_GROUP:
	case SHAPE_GROUP_END:
		break;
	}
}

static cairo_status_t put_bytes(void *stream, const unsigned char *bytes,
				unsigned int count)
{
	if (fwrite(bytes, 1, count, stream) < count)
		return CAIRO_STATUS_WRITE_ERROR;
	return CAIRO_STATUS_SUCCESS;
}

/* Errors of the stream are output_end()'s to tell. */
static bool png_finish(const struct cairo *cairo, cairo_t *drawing,
		       cairo_surface_t *surface, FILE *stream)
{
	cairo_status_t status = cairo->status(drawing);

	if (!status)
		status = cairo->surface_write_to_png_stream(surface, put_bytes,
							    stream);
	if (!status || status == CAIRO_STATUS_WRITE_ERROR)
		return true;
	complain("cannot draw the PNG: %s", cairo->status_to_string(status));
	return false;
}

bool png_write(const struct picture *picture, FILE *stream)
{
	struct cairo cairo;
	cairo_surface_t *surface;
	cairo_t *drawing;
	size_t i;
	bool good;

	if (!png_load(&cairo))
		return false;
	surface = cairo.image_surface_create(CAIRO_FORMAT_RGB24,
					     (int)picture->size.width,
					     (int)picture->size.height);
	drawing = cairo.create(surface);
	set_colour(&cairo, drawing, 0xffffff);
	cairo.paint(drawing);
	set_font(&cairo, drawing);
	for (i = 0; i < picture->count; i++)
		png_draw(&cairo, drawing, &picture->shapes[i]);
	good = png_finish(&cairo, drawing, surface, stream);
	cairo.destroy(drawing);
	cairo.surface_destroy(surface);
	return good;
}

#else

bool png_write(const struct picture *picture, FILE *stream)
{
	(void)picture;
	(void)stream;
	complain("this dmactl was built without cairo's headers and writes no "
		 "PNG: write an .svg");
	return false;
}

#endif

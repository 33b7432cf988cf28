// SPDX-License-Identifier: Apache-2.0 OR MIT
/* A picture as SVG 1.1: text stays text, and titles of groups are tooltips. */
#include <inttypes.h>
#include <string.h>

#include "shape.h"

/* Writes a number with at most two decimals, and no needless zero. */
static void svg_put_number(FILE *stream, double number)
{
	char figures[64];
	size_t length;

	snprintf(figures, sizeof(figures), "%.2f", number);
	length = strlen(figures);
	while (figures[length - 1] == '0')
		length--;
	if (figures[length - 1] == '.')
		length--;
	figures[length] = '\0';
	fputs(strcmp(figures, "-0") ? figures : "0", stream);
}

static void put_attribute(FILE *stream, const char *name, double number)
{
	fprintf(stream, " %s=\"", name);
	svg_put_number(stream, number);
	putc('"', stream);
}

static void put_colour(FILE *stream, const char *name, uint32_t colour)
{
	fprintf(stream, " %s=\"#%06" PRIx32 "\"", name, colour);
}

static void svg_put_text(FILE *stream, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", stream);
			break;
		case '<':
			fputs("&lt;", stream);
			break;
		case '>':
			fputs("&gt;", stream);
			break;
		default:
			putc(*text, stream);
		}
	}
}

static void put_rectangle(FILE *stream, const struct shape *shape)
{
	fputs("<rect", stream);
	put_attribute(stream, "x", shape->from.x);
	put_attribute(stream, "y", shape->from.y);
	put_attribute(stream, "width", shape->size.x);
	put_attribute(stream, "height", shape->size.y);
	put_colour(stream, "fill", shape->colour);
	fputs("/>\n", stream);
}

static void put_lines(FILE *stream, const struct shape *shape)
{
	size_t i;

	fputs("<polyline fill=\"none\"", stream);
	put_colour(stream, "stroke", shape->colour);
	put_attribute(stream, "stroke-width", shape->measure);
	fputs(" points=\"", stream);
	for (i = 0; i < shape->count; i++) {
		if (i)
			putc(' ', stream);
		svg_put_number(stream, shape->points[i].x);
		putc(',', stream);
		svg_put_number(stream, shape->points[i].y);
	}
	fputs("\"/>\n", stream);
}

static void put_words(FILE *stream, const struct shape *shape)
{
	static const char *const anchors[] = {
		[PICTURE_LEFT] = "",
		[PICTURE_MIDDLE] = " text-anchor=\"middle\"",
		[PICTURE_RIGHT] = " text-anchor=\"end\"",
	};

	fputs("<text", stream);
	put_attribute(stream, "x", shape->from.x);
	put_attribute(stream, "y", shape->from.y);
	put_attribute(stream, "font-size", shape->measure);
	put_colour(stream, "fill", shape->colour);
	fprintf(stream, "%s>", anchors[shape->anchor]);
	svg_put_text(stream, shape->text);
	fputs("</text>\n", stream);
}

static void put_shape(FILE *stream, const struct shape *shape)
{
	switch (shape->kind) {
	case SHAPE_RECTANGLE:
		put_rectangle(stream, shape);
		break;
	case SHAPE_LINES:
		put_lines(stream, shape);
		break;
	case SHAPE_TEXT:
		put_words(stream, shape);
		break;
	case SHAPE_GROUP:
		fputs("<g><title>", stream);
		svg_put_text(stream, shape->text);
		fputs("</title>\n", stream);
		break;
	case SHAPE_GROUP_END:
		fputs("</g>\n", stream);
		break;
	}
}

bool svg_write(const struct picture *picture, FILE *stream)
{
	unsigned int width = picture->size.width;
	unsigned int height = picture->size.height;
	size_t i;

	fprintf(stream,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" "
		"height=\"%u\" viewBox=\"0 0 %u %u\" "
		"font-family=\"monospace\" xml:space=\"preserve\">\n"
		"<rect width=\"%u\" height=\"%u\" fill=\"#ffffff\"/>\n",
		width, height, width, height, width, height);
	for (i = 0; i < picture->count; i++)
		put_shape(stream, &picture->shapes[i]);
	fputs("</svg>\n", stream);
	return true;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Keeps the shapes of a picture, and writes it in the form that the file's name
 * asks for.  Text is made valid here, once for both forms.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shape.h"

const struct command_option picture_output_option = {
	.name = "output",
	.letter = 'o',
	.value = "FILE",
	.offers = "file",
	.text = "draw a picture into FILE: .svg or .png;\n"
		"'-' is an SVG to standard output",
};

const struct command_option picture_width_option = {
	.name = "width",
	.value = "PIXELS",
	.text = "width of the picture",
};

const struct command_option picture_height_option = {
	.name = "height",
	.value = "PIXELS",
	.text = "height of the picture",
};

struct picture *picture_create(struct picture_size size)
{
	struct picture *picture = memory_new(1, sizeof(*picture));

	picture->size = size;
	return picture;
}

void picture_destroy(struct picture *picture)
{
	size_t i;

	for (i = 0; i < picture->count; i++) {
		free(picture->shapes[i].text);
		free(picture->shapes[i].points);
	}
	free(picture->shapes);
	free(picture);
}

static void picture_draw_add(struct picture *picture, const struct shape *shape)
{
	assert(isfinite(shape->from.x) && isfinite(shape->from.y));
	assert(isfinite(shape->size.x) && isfinite(shape->size.y));
	if (picture->count == picture->room) {
		picture->room = picture->room ? 2 * picture->room : 64;
		picture->shapes = memory_resize(picture->shapes, picture->room,
						sizeof(*picture->shapes));
	}
	picture->shapes[picture->count++] = *shape;
}

void picture_rectangle(struct picture *picture, double x, double y,
		       double width, double height, uint32_t colour)
{
	picture_draw_add(picture, &(struct shape){
					  .kind = SHAPE_RECTANGLE,
					  .colour = colour,
					  .from = { x, y },
					  .size = { width, height },
				  });
}

void picture_lines(struct picture *picture, const struct picture_point *points,
		   size_t count, double thickness, uint32_t colour)
{
	struct shape shape = {
		.kind = SHAPE_LINES,
		.colour = colour,
		.measure = thickness,
		.points = memory_resize(NULL, count, sizeof(*points)),
		.count = count,
	};
	size_t i;

	for (i = 0; i < count; i++) {
		assert(isfinite(points[i].x) && isfinite(points[i].y));
		shape.points[i] = points[i];
	}
	picture_draw_add(picture, &shape);
}

void picture_line(struct picture *picture, double x1, double y1, double x2,
		  double y2, double thickness, uint32_t colour)
{
	struct picture_point points[] = { { x1, y1 }, { x2, y2 } };

	picture_lines(picture, points, 2, thickness, colour);
}

/* Returns the bytes of the first character, or 0 if XML does not allow it. */
static size_t character_bytes(const char *text)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char first = (unsigned char)*text;
	uint32_t character = first;
	size_t bytes = 1, i;

	if (first >= 0xc0 && first < 0xf8) {
		bytes = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
		character = first & (0x7fu >> bytes);
	}
	for (i = 1; i < bytes; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		character = character << 6 | (text[i] & 0x3f);
	}
	/* neither control characters, nor surrogates, nor other non-characters */
	if (character < 0x20 || (character >= 0x7f && character < 0xa0) ||
	    (bytes == 1 && first >= 0x80) || character < least[bytes] ||
	    (character >= 0xd800 && character < 0xe000) ||
	    (character & 0xfffe) == 0xfffe || character > 0x10ffff)
		return 0;
	return bytes;
}

static char *valid_text(const char *text)
{
	static const char replacement[] = { '\xef', '\xbf', '\xbd' };
	/* one byte becomes at most three */
	char *valid = memory_resize(NULL, strlen(text) + 1, 3);
	char *end = valid;

	while (*text) {
		size_t bytes = character_bytes(text);

		memcpy(end, bytes ? text : replacement, bytes ? bytes : 3);
		end += bytes ? bytes : 3;
		text += bytes ? bytes : 1;
	}
	*end = '\0';
	return valid;
}

void picture_text(struct picture *picture, double x, double y, double size,
		  enum picture_anchor anchor, uint32_t colour,
		  const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = text_format_list(format, args);
	va_end(args);
	picture_draw_add(picture, &(struct shape){
					  .kind = SHAPE_TEXT,
					  .colour = colour,
					  .anchor = anchor,
					  .from = { x, y },
					  .measure = size,
					  .text = valid_text(text),
				  });
	free(text);
}

void picture_group(struct picture *picture, const char *title)
{
	picture_draw_add(picture, &(struct shape){
					  .kind = SHAPE_GROUP,
					  .text = valid_text(title),
				  });
}

void picture_group_end(struct picture *picture)
{
	picture_draw_add(picture, &(struct shape){ .kind = SHAPE_GROUP_END });
}

static bool side_given(const struct request *request,
		       const struct command_option *option, unsigned int *side)
{
	const char *text = option_value(request, option);
	const char *end;
	uint64_t pixels;

	if (!text)
		return true;
	end = parse_number(text, 10, &pixels);
	if (end && !*end && pixels >= PICTURE_LEAST && pixels <= PICTURE_MOST) {
		*side = (unsigned int)pixels;
		return true;
	}
	complain("--%s: '%s' is not a number of pixels from %d to %d",
		 option->name, text, PICTURE_LEAST, PICTURE_MOST);
	return false;
}

bool picture_size_given(const struct request *request,
			struct picture_size *size)
{
	return side_given(request, &picture_width_option, &size->width) &&
	       side_given(request, &picture_height_option, &size->height);
}

static bool draw_ends_in(const char *name, const char *ending)
{
	size_t length = strlen(name);
	size_t bytes = strlen(ending);

	return length > bytes && !strcmp(name + length - bytes, ending);
}

enum exit_code picture_check(const char *file)
{
	if (!strcmp(file, "-") || draw_ends_in(file, ".svg") ||
	    draw_ends_in(file, ".png"))
		return EXIT_FINE;
	complain("cannot draw a picture into '%s': the name must end in .svg "
		 "or .png, or be '-' for an SVG to standard output",
		 file);
	return EXIT_USAGE;
}

enum exit_code picture_write(const struct picture *picture, const char *file)
{
	enum exit_code status = picture_check(file);
	struct output output;
	bool good;

	if (status)
		return status;
	if (!output_open(&output, file))
		return EXIT_FAILED;
	if (draw_ends_in(file, ".png"))
		good = png_write(picture, output.stream);
	else
		good = svg_write(picture, output.stream);
	return output_end(&output, good) ? EXIT_FINE : EXIT_FAILED;
}

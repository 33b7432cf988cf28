// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A map as a picture: the range in rows, one below the other, with offsets, and a
 * legend.  Neighbouring cells that show the same are one rectangle, so that the
 * picture has a bounded size.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "map.h"
#include "base/quantity.h"

#define ROWS_MOST 16
#define COLUMNS_MOST 1024 /* cells of a row: they bound the size of the file */
#define ROW_LEAST 14 /* pixels of a row with its gap */
#define ROW_MOST 32
#define ROWS_LEAST 4
#define GAP 4 /* pixels between rows */
#define MARGIN 16
#define TITLE_SIZE 16
#define TEXT_SIZE 12
#define LINE (TEXT_SIZE + 4)
#define CHARACTER (TEXT_SIZE * PICTURE_CHARACTER)
#define ENTRY 44 /* characters of an entry of the legend */
#define TICKS 4 /* of the scale above the rows */

#define BLACK 0x202020
#define GREY 0x808080

static const uint32_t hues[MAP_HUES] = {
	0x1f77b4, 0x2ca02c, 0x9467bd, 0xff7f0e,
	0x17becf, 0x8c564b, 0xe377c2, 0xbcbd22,
};

static const uint32_t colours[MAP_KINDS] = {
	[MAP_MORE] = 0x9a9a9a,	      [MAP_OTHERS] = 0x606060,
	[MAP_ENDED] = 0xd8c8c8,	      [MAP_HELD] = 0xd62728,
	[MAP_QUARANTINED] = 0xf0c000, [MAP_CONDEMNED] = 0x000000,
	[MAP_SYSTEM] = 0xc4ccd4,      [MAP_UNKNOWN] = 0x404080,
	[MAP_FREE] = 0xeeeeee,
};

/* The place of a map, and its measures. */
struct sheet {
	const struct map *map;
	bool bytes; /* exact sizes */
	struct picture *picture;
	double left; /* of the rows */
	double width;
	double top; /* of the first row */
	double row; /* height with the gap */
	size_t columns; /* cells in a row */
	uint64_t cell; /* bytes */
};

static uint32_t picture_colour_of(const struct map_group *group)
{
	return group->kind == MAP_OWNER ? hues[group->hue]
					: colours[group->kind];
}

/* Returns a darker shade, which tells a buffer from its neighbour. */
static uint32_t map_picture_shade(uint32_t colour)
{
	uint32_t red = (colour >> 16 & 255) * 13 / 16;
	uint32_t green = (colour >> 8 & 255) * 13 / 16;
	uint32_t blue = (colour & 255) * 13 / 16;

	return red << 16 | green << 8 | blue;
}

/* A run of cells that look the same. */
struct picture_run {
	const struct map_group *group; /* NULL: free */
	size_t part; /* undefined if it is mixed */
	bool mixed;
	unsigned int eighths;
};

static struct picture_run run_of(const struct sheet *sheet,
				 const struct map_cell *cell)
{
	struct picture_run run = {
		.group = map_cell_group(sheet->map, cell),
		.part = cell->parts ? cell->part : 0,
		.mixed = cell->parts > 1,
		.eighths = map_eighths(cell, sheet->cell),
	};

	/* the system's memory is not measured, but its ground */
	if (!run.eighths)
		run.eighths = 8;
	if (run.mixed)
		run.part = 0;
	return run;
}

static bool picture_is_same(const struct picture_run *a,
			    const struct picture_run *b)
{
	return a->group == b->group && a->part == b->part &&
	       a->mixed == b->mixed && a->eighths == b->eighths;
}

/* Returns the text that a viewer shows for a run. */
static char *map_picture_tooltip(const struct sheet *sheet,
				 const struct picture_run *run)
{
	const struct map *map = sheet->map;
	const struct dray_part *part = &map->parts[run->part];
	char size[QUANTITY_ROOM];
	char offset[QUANTITY_ROOM];
	char *name;
	char *text;

	if (!run->group)
		return text_format("free");
	if (run->mixed)
		return text_format("several, the largest of %s",
				   run->group->label);
	if (run->group->kind == MAP_SYSTEM)
		return text_format("%s", run->group->label);
	text = text_format("%s: %s at %s", run->group->label,
			   quantity_size(size, part->length, sheet->bytes),
			   quantity_size(offset, part->offset, sheet->bytes));
	if (part->id)
		text_append(&text, ", id %" PRIu64, (uint64_t)part->id);
	name = escape(map->infos[run->part].name,
		      sizeof(map->infos[run->part].name), ESCAPE_NAME);
	if (*name)
		text_append(&text, ", %s", name);
	free(name);
	return text;
}

/* Returns the edge of a column in whole pixels: rectangles meet without a seam. */
static double map_picture_edge(const struct sheet *sheet, size_t column)
{
	return sheet->left + (double)(long)(sheet->width * (double)column /
					    (double)sheet->columns);
}

/* Draws cells @first up to @end, which lie in one row. */
static void draw_run(const struct sheet *sheet, const struct picture_run *run,
		     size_t first, size_t end)
{
	size_t column = first % sheet->columns;
	double x = map_picture_edge(sheet, column);
	double width = map_picture_edge(sheet, column + end - first) - x;
	double full = sheet->row - GAP;
	double height = (double)(long)(full * run->eighths / 8 + 0.5);
	size_t row = first / sheet->columns;
	double bottom = sheet->top + sheet->row * (double)row + full;
	uint32_t colour = colours[MAP_FREE];
	char *text = map_picture_tooltip(sheet, run);

	if (run->group)
		colour = picture_colour_of(run->group);
	if (run->part % 2)
		colour = map_picture_shade(colour);
	picture_group(sheet->picture, text);
	picture_rectangle(sheet->picture, x, bottom - height, width, height,
			  colour);
	picture_group_end(sheet->picture);
	free(text);
}

/* Draws one row of cells; returns the cell behind it. */
static size_t picture_draw_row(const struct sheet *sheet,
			       const struct map_cell *cells, size_t first,
			       size_t count)
{
	size_t end =
		first + sheet->columns < count ? first + sheet->columns : count;
	size_t row = first / sheet->columns;
	double y = sheet->top + sheet->row * (double)row;
	char offset[QUANTITY_ROOM];

	picture_text(sheet->picture, sheet->left - CHARACTER,
		     y + (sheet->row - GAP + TEXT_SIZE * 0.7) / 2, TEXT_SIZE,
		     PICTURE_RIGHT, BLACK, "%s",
		     quantity_size(offset, first * sheet->cell, sheet->bytes));
	picture_rectangle(sheet->picture, sheet->left, y,
			  map_picture_edge(sheet, end - first) - sheet->left,
			  sheet->row - GAP, colours[MAP_FREE]);
	while (first < end) {
		struct picture_run run = run_of(sheet, &cells[first]);
		size_t start = first;
		struct picture_run next;

		do {
			first++;
			if (first < end)
				next = run_of(sheet, &cells[first]);
		} while (first < end && picture_is_same(&run, &next));
		draw_run(sheet, &run, start, first);
	}
	return end;
}

/* Draws marks with offsets from the start of a row. */
static void draw_scale(const struct sheet *sheet)
{
	uint64_t row = sheet->cell * sheet->columns;
	char offset[QUANTITY_ROOM];
	size_t i;

	for (i = 0; i < TICKS; i++) {
		double x = map_picture_edge(sheet, sheet->columns * i / TICKS);

		picture_line(sheet->picture, x + 0.5, sheet->top - 6, x + 0.5,
			     sheet->top - 1, 1, GREY);
		picture_text(sheet->picture, x, sheet->top - 9, TEXT_SIZE,
			     PICTURE_LEFT, GREY, "+%s",
			     quantity_size(offset, row / TICKS * i,
					   sheet->bytes));
	}
}

/* Draws lines of text; returns the y behind them. */
static double draw_lines(const struct sheet *sheet, double y, char *text)
{
	char *rest = text;
	const char *line;

	while ((line = strsep(&rest, "\n"))) {
		y += LINE;
		picture_text(sheet->picture, MARGIN, y, TEXT_SIZE, PICTURE_LEFT,
			     BLACK, "%s", line);
	}
	return y;
}

/* The legend's lines, in columns from left to right. */
static size_t legend_columns(struct picture_size size)
{
	size_t columns =
		(size_t)((size.width - 2 * MARGIN) / (ENTRY * CHARACTER));

	return columns ? columns : 1;
}

/* Returns the lines of the legend: all, or fewer if @height is too low. */
static size_t legend_lines(const struct map *map, struct picture_size size,
			   double height)
{
	size_t columns = legend_columns(size);
	size_t lines = (map->group_count + columns - 1) / columns;
	size_t room = height < LINE ? 1 : (size_t)(height / LINE);

	return lines < room ? lines : room;
}

static void draw_legend(const struct sheet *sheet, struct picture_size size,
			double y, size_t lines)
{
	size_t columns = legend_columns(size);
	char figures[QUANTITY_ROOM];
	size_t i;

	for (i = 0; i < sheet->map->group_count && i < lines * columns; i++) {
		const struct map_group *group = &sheet->map->groups[i];
		double x = MARGIN + (double)(i % columns) * ENTRY * CHARACTER;
		size_t line = i / columns + 1;
		double baseline = y + (double)line * LINE;
		size_t room = ENTRY - 3;
		char *text = text_format("%s %s",
					 quantity_size(figures, group->bytes,
						       sheet->bytes),
					 group->label);

		text[escape_cut(text, room)] = '\0';
		picture_rectangle(sheet->picture, x, baseline - 10, 11, 11,
				  picture_colour_of(group));
		picture_text(sheet->picture, x + 11 + CHARACTER, baseline,
			     TEXT_SIZE, PICTURE_LEFT, BLACK, "%s", text);
		free(text);
	}
}

/* Chooses cells and rows for the pixels between @top and @bottom. */
static void lay_out(struct sheet *sheet, struct picture_size size, double top,
		    double bottom)
{
	const struct map *map = sheet->map;
	char figures[QUANTITY_ROOM];
	size_t label =
		strlen(quantity_size(figures, map->size - 1, sheet->bytes));
	size_t rows = (size_t)((bottom - top) / ROW_LEAST);
	uint64_t bytes =
		map_cell_bytes(map, 1, rows < ROWS_MOST ? rows : ROWS_MOST);

	rows = (size_t)((map->size - 1) / bytes) + 1;
	sheet->left = MARGIN + (double)(long)((double)(label + 1) * CHARACTER);
	sheet->width = size.width - MARGIN - sheet->left;
	sheet->top = top;
	sheet->row = (double)(long)((bottom - top) / (double)rows);
	if (sheet->row > ROW_MOST)
		sheet->row = ROW_MOST;
	sheet->columns = 1;
	while ((double)sheet->columns * 2 <= sheet->width &&
	       sheet->columns < COLUMNS_MOST &&
	       bytes / sheet->columns > map->node->info.page_size)
		sheet->columns *= 2;
	sheet->cell = bytes / sheet->columns;
}

static void picture_draw_rows(struct sheet *sheet)
{
	size_t count, i = 0;
	struct map_cell *cells = map_cells(sheet->map, sheet->cell, &count);

	while (i < count)
		i = picture_draw_row(sheet, cells, i, count);
	free(cells);
	draw_scale(sheet);
}

void map_draw(const struct map *map, bool bytes, struct picture *picture,
	      struct picture_size size, double top)
{
	struct sheet sheet = {
		.map = map,
		.bytes = bytes,
		.picture = picture,
	};
	size_t characters = (size_t)((size.width - 2 * MARGIN) / CHARACTER);
	double bottom = top + size.height - MARGIN;
	size_t lines;
	double y = top + MARGIN + TITLE_SIZE * 0.8;
	char *title = map_title(map, bytes);
	char *facts = map_facts(map, bytes);

	picture_text(picture, MARGIN, y, TITLE_SIZE, PICTURE_LEFT, BLACK, "%s",
		     title);
	map_wrap(facts, characters);
	y = draw_lines(&sheet, y, facts);
	y += 2 * LINE;
	lines = legend_lines(map, size,
			     bottom - y - LINE - ROWS_LEAST * ROW_LEAST);
	bottom -= (double)lines * LINE;
	if (map->size) {
		lay_out(&sheet, size, y, bottom - LINE);
		picture_draw_rows(&sheet);
	}
	draw_legend(&sheet, size, bottom, lines);
	free(title);
	free(facts);
}

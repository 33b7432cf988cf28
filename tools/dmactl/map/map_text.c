// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A map for a terminal: lines of cells with the offset of each line, and a legend.
 * With colours a cell is a block, as high as the cell is full.  Without them it is a
 * letter, as there is nothing else to tell owners apart.
 */
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"
#include "base/quantity.h"
#include "base/table.h"

#define ROWS_MOST 8
#define COLUMNS_LEAST 8
#define WIDTH_UNKNOWN 80

/* The form that the terminal can show. */
struct style {
	const struct request *request;
	bool blocks;
	size_t columns; /* cells in a line */
};

static const enum table_colour colours[MAP_KINDS] = {
	[MAP_OWNER] = TABLE_HUE,       [MAP_MORE] = TABLE_FAINT,
	[MAP_OTHERS] = TABLE_PLAIN,    [MAP_ENDED] = TABLE_FAINT,
	[MAP_HELD] = TABLE_BAD,	       [MAP_QUARANTINED] = TABLE_WARNING,
	[MAP_CONDEMNED] = TABLE_BAD,   [MAP_SYSTEM] = TABLE_FAINT,
	[MAP_UNKNOWN] = TABLE_WARNING, [MAP_FREE] = TABLE_FAINT,
};

/* Marks of groups without a letter. */
static const char marks[MAP_KINDS] = {
	[MAP_MORE] = '+',   [MAP_OTHERS] = 'o',	     [MAP_ENDED] = '-',
	[MAP_HELD] = '#',   [MAP_QUARANTINED] = '!', [MAP_CONDEMNED] = 'x',
	[MAP_SYSTEM] = '~', [MAP_UNKNOWN] = '?',     [MAP_FREE] = '.',
};

static enum table_colour text_colour_of(const struct map_group *group)
{
	return colours[group->kind] + group->hue;
}

/* Tells a group that a full block shows; free memory stays a dot. */
static bool is_block(const struct style *style, const struct map_group *group)
{
	return style->blocks && group->kind != MAP_FREE &&
	       group->kind != MAP_SYSTEM;
}

static char text_letter_of(const struct map_group *group)
{
	return group->kind == MAP_OWNER ? (char)('A' + group->hue)
					: marks[group->kind];
}

static void text_print_cell(const struct map *map, const struct style *style,
			    const struct map_cell *cell, uint64_t bytes)
{
	static const char *const blocks[] = { "▁", "▂", "▃", "▄",
					      "▅", "▆", "▇", "█" };
	const struct map_group *group = map_cell_group(map, cell);
	bool several = cell->parts > 1;
	enum table_colour colour;

	if (!group) {
		putchar(marks[MAP_FREE]);
		return;
	}
	colour = text_colour_of(group);
	fputs(colour_on(style->request, colour), stdout);
	if (is_block(style, group)) {
		if (several)
			fputs("\033[4m", stdout);
		fputs(blocks[map_eighths(cell, bytes) - 1], stdout);
		if (several)
			fputs("\033[24m", stdout);
	} else if (several && group->kind == MAP_OWNER) {
		putchar('a' + (int)group->hue);
	} else {
		putchar(text_letter_of(group));
	}
	fputs(colour_off(style->request, colour), stdout);
}

/* Prints the lines; returns whether a cell has several parts. */
static bool print_cells(const struct map *map, const struct style *style,
			uint64_t bytes, int label_width)
{
	size_t count, i;
	struct map_cell *cells = map_cells(map, bytes, &count);
	bool several = false;
	char offset[QUANTITY_ROOM];

	for (i = 0; i < count; i++) {
		if (i % style->columns == 0)
			printf("%*s ", label_width,
			       quantity_size(offset, i * bytes,
					     style->request->bytes));
		text_print_cell(map, style, &cells[i], bytes);
		several = several || cells[i].parts > 1;
		if ((i + 1) % style->columns == 0 || i + 1 == count)
			putchar('\n');
	}
	free(cells);
	return several;
}

static void print_legend(const struct map *map, const struct style *style)
{
	struct table *table = table_create("KEY >SIZE >BUFFERS ~OWNER");
	size_t i;

	for (i = 0; i < map->group_count; i++) {
		const struct map_group *group = &map->groups[i];

		if (is_block(style, group))
			table_cell(table, text_colour_of(group), "█");
		else
			table_cell(table, text_colour_of(group), "%c",
				   text_letter_of(group));
		table_size(table, style->request, group->bytes);
		if (group->kind <= MAP_MORE || group->kind == MAP_HELD ||
		    group->kind == MAP_ENDED)
			table_cell(table, TABLE_PLAIN, "%zu", group->parts);
		else
			table_cell(table, TABLE_PLAIN, "-");
		table_cell(table, TABLE_PLAIN, "%s", group->label);
	}
	table_print(table, style->request);
	table_destroy(table);
}

/* Prints text in lines that fit. */
static void map_print_lines(char *text, size_t width)
{
	map_wrap(text, width);
	puts(text);
	free(text);
}

static void print_range(const struct map *map, struct style *style,
			size_t width)
{
	char figures[QUANTITY_ROOM];
	size_t label = strlen(
		quantity_size(figures, map->size - 1, style->request->bytes));
	uint64_t bytes;
	bool several;

	style->columns = COLUMNS_LEAST;
	while (style->columns * 2 + label + 1 <= width)
		style->columns *= 2;
	bytes = map_cell_bytes(map, style->columns, ROWS_MOST);
	several = print_cells(map, style, bytes, (int)label);
	map_print_lines(
		text_format("one character: %s%s%s",
			    quantity_size(figures, bytes,
					  style->request->bytes),
			    several ? "; of several buffers the largest, " : "",
			    !several	    ? ""
			    : style->blocks ? "underlined"
					    : "a small letter"),
		width);
}

void map_print(const struct map *map, const struct request *request)
{
	size_t width = request->width ? request->width : WIDTH_UNKNOWN;
	struct style style = {
		.request = request,
		.blocks = request->colour &&
			  !strcmp(nl_langinfo(CODESET), "UTF-8"),
	};

	map_print_lines(map_title(map, request->bytes), width);
	if (map->size)
		print_range(map, &style, width);
	map_print_lines(map_facts(map, request->bytes), width);
	if (map->group_count)
		print_legend(map, &style);
}

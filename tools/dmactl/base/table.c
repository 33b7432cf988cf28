// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Keeps cells in one array, row by row, and measures them in columns of the
 * terminal, not in bytes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "quantity.h"
#include "table.h"

#define COLUMN_GAP 2 /* spaces between two columns */
#define SHRUNK_LEAST 8 /* columns that a cut column keeps */

struct column {
	char *title;
	bool number; /* right-aligned */
	bool shrinks; /* may be cut */
};

struct cell {
	char *text;
	size_t width; /* columns of the terminal */
	enum table_colour colour;
};

struct table {
	char *titles; /* of all columns */
	struct column *columns;
	size_t column_count;
	struct cell *cells;
	size_t cell_count;
	size_t row_count; /* complete ones */
	size_t column; /* of the next cell */
	size_t room; /* allocated cells */
};

struct table *table_create(const char *columns)
{
	struct table *table = memory_new(1, sizeof(*table));
	char *title;
	char *rest;

	table->titles = text_format("%s", columns);
	rest = table->titles;
	while ((title = strsep(&rest, " "))) {
		table->columns =
			memory_resize(table->columns, table->column_count + 1,
				      sizeof(*table->columns));
		table->columns[table->column_count++] = (struct column){
			.title = title + strspn(title, ">~"),
			.number = *title == '>',
			.shrinks = *title == '~',
		};
	}
	return table;
}

void table_destroy(struct table *table)
{
	size_t i;

	for (i = 0; i < table->cell_count; i++)
		free(table->cells[i].text);
	free(table->cells);
	free(table->columns);
	free(table->titles);
	free(table);
}

static void add_cell(struct table *table, enum table_colour colour, char *text)
{
	if (!*text) {
		free(text);
		text = text_format("-");
	}
	if (table->cell_count == table->room) {
		table->room = table->room ? 2 * table->room : 64;
		table->cells = memory_resize(table->cells, table->room,
					     sizeof(*table->cells));
	}
	table->cells[table->cell_count++] = (struct cell){
		.text = text,
		.width = escape_width(text, strlen(text)),
		.colour = colour,
	};
	if (++table->column == table->column_count) {
		table->column = 0;
		table->row_count++;
	}
}

void table_cell(struct table *table, enum table_colour colour,
		const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_cell(table, colour, text_format_list(format, args));
	va_end(args);
}

void table_name(struct table *table, enum table_colour colour, const char *name,
		size_t room)
{
	bool last = table->column == table->column_count - 1;

	add_cell(table, colour,
		 escape(name, room, last ? ESCAPE_NAME : ESCAPE_WORD));
}

void table_size(struct table *table, const struct request *request,
		unsigned long long bytes)
{
	char size[QUANTITY_ROOM];

	table_cell(table, TABLE_PLAIN, "%s",
		   quantity_size(size, bytes, request->bytes));
}

void table_owner(struct table *table, const struct dray_buffer_info *info)
{
	if (info->flags & DRAY_BUFFER_HELD)
		table_cell(table, TABLE_BAD, "held");
	else if (info->flags & DRAY_BUFFER_ORPHAN)
		table_cell(table, TABLE_BAD, "gone");
	else if (info->pid)
		table_cell(table, TABLE_PLAIN, "%" PRId32, info->pid);
	else
		table_cell(table, TABLE_PLAIN, "-");
}

size_t table_rows(const struct table *table)
{
	return table->row_count;
}

const char *colour_on(const struct request *request, enum table_colour colour)
{
	static const char *const codes[] = {
		[TABLE_PLAIN] = "",
		[TABLE_GOOD] = "\033[32m",
		[TABLE_WARNING] = "\033[33m",
		[TABLE_BAD] = "\033[31m",
		[TABLE_FAINT] = "\033[90m",
		/* those without a meaning of their own */
		[TABLE_HUE] = "\033[36m",
		[TABLE_HUE + 1] = "\033[32m",
		[TABLE_HUE + 2] = "\033[35m",
		[TABLE_HUE + 3] = "\033[34m",
		[TABLE_HUE + 4] = "\033[96m",
		[TABLE_HUE + 5] = "\033[92m",
		[TABLE_HUE + 6] = "\033[95m",
		[TABLE_HUE + 7] = "\033[94m",
	};

	return request->colour ? codes[colour] : "";
}

const char *colour_off(const struct request *request, enum table_colour colour)
{
	return request->colour && colour != TABLE_PLAIN ? "\033[0m" : "";
}

/* Narrows the widest column that may be cut until all fit. */
static void table_shrink(const struct table *table, size_t *widths,
			 size_t limit)
{
	size_t sum = COLUMN_GAP * (table->column_count - 1);
	size_t i;

	for (i = 0; i < table->column_count; i++)
		sum += widths[i];
	while (sum > limit) {
		size_t widest = table->column_count;

		for (i = 0; i < table->column_count; i++) {
			if (!table->columns[i].shrinks ||
			    widths[i] <= SHRUNK_LEAST)
				continue;
			if (widest == table->column_count ||
			    widths[i] > widths[widest])
				widest = i;
		}
		if (widest == table->column_count)
			return;
		widths[widest]--;
		sum--;
	}
}

static size_t *table_measure(const struct table *table,
			     const struct request *request)
{
	size_t *widths =
		memory_resize(NULL, table->column_count, sizeof(*widths));
	size_t row, i;

	for (i = 0; i < table->column_count; i++)
		widths[i] =
			request->header ? strlen(table->columns[i].title) : 0;
	for (row = 0; row < table->row_count; row++) {
		const struct cell *cells =
			table->cells + row * table->column_count;

		for (i = 0; i < table->column_count; i++)
			if (cells[i].width > widths[i])
				widths[i] = cells[i].width;
	}
	if (request->width)
		table_shrink(table, widths, request->width);
	return widths;
}

static void table_pad(FILE *out, size_t count)
{
	while (count--)
		putc(' ', out);
}

static void table_print_cell(const struct table *table, const struct cell *cell,
			     size_t column, size_t width,
			     const struct request *request, FILE *out)
{
	bool last = column == table->column_count - 1;
	size_t bytes = strlen(cell->text);
	size_t columns = cell->width;
	bool cut = columns > width;

	if (cut) {
		bytes = escape_cut(cell->text, width - 1);
		columns = escape_width(cell->text, bytes) + 1;
	}
	if (column)
		table_pad(out, COLUMN_GAP);
	if (table->columns[column].number)
		table_pad(out, width - columns);
	fputs(colour_on(request, cell->colour), out);
	fwrite(cell->text, 1, bytes, out);
	if (cut)
		putc('+', out);
	fputs(colour_off(request, cell->colour), out);
	if (!last && !table->columns[column].number)
		table_pad(out, width - columns);
	if (last)
		putc('\n', out);
}

void table_write(const struct table *table, const struct request *request,
		 FILE *out)
{
	size_t *widths = table_measure(table, request);
	size_t row, i;

	for (i = 0; request->header && i < table->column_count; i++) {
		struct cell title = {
			.text = table->columns[i].title,
			.width = strlen(table->columns[i].title),
		};

		table_print_cell(table, &title, i, widths[i], request, out);
	}
	for (row = 0; row < table->row_count; row++) {
		const struct cell *cells =
			table->cells + row * table->column_count;

		for (i = 0; i < table->column_count; i++)
			table_print_cell(table, &cells[i], i, widths[i],
					 request, out);
	}
	free(widths);
}

void table_print(const struct table *table, const struct request *request)
{
	table_write(table, request, stdout);
}

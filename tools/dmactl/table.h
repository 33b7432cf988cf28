/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Aligned columns.  All rows are taken first, so that each column is as wide
 * as its widest cell.  On a terminal that is too narrow, columns marked so are
 * cut, and end in '+'; elsewhere nothing is ever cut.
 */
#ifndef DMACTL_TABLE_H
#define DMACTL_TABLE_H

#include "command.h"

struct table;

struct table_column {
	const char *title;
	bool number; /* right-aligned */
	bool shrinks; /* may be cut */
};

enum table_colour {
	TABLE_PLAIN,
	TABLE_GOOD,
	TABLE_WARNING,
	TABLE_BAD,
};

/* @columns ends with a title of NULL and must outlive the table. */
struct table *table_create(const struct table_column *columns);
void table_destroy(struct table *table);

/*
 * Sets the next cell; after the last of a row comes the first of the next.
 * The text is safe for a terminal.  "" is shown as "-".
 */
void table_cell(struct table *table, enum table_colour colour,
		const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A name from outside, up to @room bytes, escaped; one word unless last. */
void table_name(struct table *table, enum table_colour colour, const char *name,
		size_t room);

/* A size, as the request wants it. */
void table_size(struct table *table, const struct request *request,
		unsigned long long bytes);

/* Rows so far. */
size_t table_rows(const struct table *table);

/* Prints to standard output: the header, where asked for, and the rows. */
void table_print(const struct table *table, const struct request *request);

/* The codes that switch a colour on and off; "" where none is wanted. */
const char *colour_on(const struct request *request, enum table_colour colour);
const char *colour_off(const struct request *request, enum table_colour colour);

#endif /* DMACTL_TABLE_H */

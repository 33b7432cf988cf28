/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Aligned columns, each as wide as its widest cell.  If the terminal is too
 * narrow, columns marked so are cut and end in '+'; other output is never cut.
 */
#ifndef DMACTL_TABLE_H
#define DMACTL_TABLE_H

#include <stdio.h>

#include <linux/dray.h>

#include "command.h"

struct table;

enum table_colour {
	TABLE_PLAIN,
	TABLE_GOOD,
	TABLE_WARNING,
	TABLE_BAD,
	TABLE_FAINT,
	TABLE_HUE, /* the first of TABLE_HUES that distinguish things */
};

#define TABLE_HUES 8

/*
 * Creates a table.  @columns lists the titles, with spaces between them; '>' before
 * a title aligns its column to the right, '~' lets it be cut.
 */
struct table *table_create(const char *columns);
void table_destroy(struct table *table);

/*
 * Sets the next cell, row by row.  The text must be safe for a terminal; "" is
 * shown as "-".
 */
void table_cell(struct table *table, enum table_colour colour,
		const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Sets a cell to up to @room bytes of a name, escaped; a word unless last. */
void table_name(struct table *table, enum table_colour colour, const char *name,
		size_t room);

/* Sets a cell to a size, in bytes if the request says so. */
void table_size(struct table *table, const struct request *request,
		unsigned long long bytes);

/* Sets a cell to the pid of a buffer's owner, "gone" or "held". */
void table_owner(struct table *table, const struct dray_buffer_info *info);

/* Counts the complete rows. */
size_t table_rows(const struct table *table);

/* Prints the header, unless suppressed, and the rows. */
void table_print(const struct table *table, const struct request *request);

/* The same to any file. */
void table_write(const struct table *table, const struct request *request,
		 FILE *out);

/* Return the codes that switch a colour on and off; "" without colours. */
const char *colour_on(const struct request *request, enum table_colour colour);
const char *colour_off(const struct request *request, enum table_colour colour);

#endif /* DMACTL_TABLE_H */

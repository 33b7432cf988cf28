/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Columns that the caller chooses, orders and sorts by: --columns and --sort.
 * They decide about tables and JSON alike.
 */
#ifndef DMACTL_COLUMNS_H
#define DMACTL_COLUMNS_H

#include <jansson.h>

#include "table.h"

#define COLUMNS_MOST 24

struct row_column {
	const char *name; /* for --columns and --sort, as "size" */
	const char *title; /* as for table_create() */
	const char *members; /* of the row in JSON, with spaces between */
	bool extra; /* only shown if it is asked for */
	void (*add)(struct table *table, const struct request *request,
		    const void *row);
	/* The key to sort by, a number or a text; the text is for free(). */
	uint64_t (*number)(const void *row);
	char *(*text)(const void *row);
};

struct row_view {
	const struct row_column *columns[COLUMNS_MOST];
	size_t count;
	bool chosen; /* by the caller */
	const struct row_column *sort; /* NULL: the order of the rows */
	bool descending;
};

extern const struct command_option columns_option;
extern const struct command_option sort_option;

/*
 * Chooses among the columns @all, up to a column without a name.  Returns false
 * after a complaint that names them.
 */
bool row_view_make(const struct request *request, const struct row_column *all,
		   struct row_view *view);

/* Sorts the rows; those with the same key keep their order. */
void row_view_sort(const struct row_view *view, const void **rows,
		   size_t count);

/* Returns a table of the rows, for table_destroy(). */
struct table *row_view_table(const struct row_view *view,
			     const struct request *request,
			     const void *const *rows, size_t count);

/*
 * Returns the members of @object that the chosen columns stand for, in their
 * order; consumes its reference.
 */
json_t *row_view_trim(const struct row_view *view, json_t *object);

#endif /* DMACTL_COLUMNS_H */

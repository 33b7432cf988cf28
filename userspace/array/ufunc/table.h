/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A table of loops: one row for each signature.  A table never changes after it
 * is published, so that calls read it without a lock; a new one replaces it.
 */
#ifndef DRAY_UFUNC_TABLE_H
#define DRAY_UFUNC_TABLE_H

#include "loops/loops.h"
#include "ufunc/class.h"

/* One signature. */
struct dray_ufunc_row {
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS]; /* each one reference */
	uint8_t classes[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_ufunc_loop loop;
};

struct dray_ufunc_table {
	struct dray_ufunc_table *replaced; /* lives on with its ufunc */
	size_t count;
	/* 1 + the row of which all inputs have this class; 0: none of the first */
	uint8_t uniform[DRAY_LOOP_CLASSES];
	struct dray_ufunc_row rows[];
};

/* Makes a table of empty rows, or returns NULL. */
struct dray_ufunc_table *dray_table_create(size_t count);

/* Makes the table of a builtin ufunc, or returns NULL. */
struct dray_ufunc_table *
dray_table_define(const struct dray_ufunc_definition *definition);

/* Fills in classes, when all rows have their types. */
void dray_table_index(struct dray_ufunc_table *table, int inputs, int operands);

/* The row of a signature, or the number of rows. */
size_t dray_table_find(const struct dray_ufunc_table *table, int operands,
		       const dray_dtype *dtypes);

/* Frees a table and those that it replaced. */
void dray_table_free(struct dray_ufunc_table *table, int operands);

/* Fills dray_loop_safe, once. */
void dray_loop_prepare(void);

#endif /* DRAY_UFUNC_TABLE_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A walk in C order over views of one shape, a row at a time: axes of one element
 * are left out, and neighbours that chain in all views are one axis.
 */
#ifndef DRAY_INDEX_ROWS_H
#define DRAY_INDEX_ROWS_H

#include <dray/view.h>

#define DRAY_ROWS_OPERANDS 4

struct dray_rows_axis {
	int64_t count;
	int64_t strides[DRAY_ROWS_OPERANDS];
};

struct dray_index_rows {
	/* the row; strides in bytes */
	int64_t count;
	int64_t strides[DRAY_ROWS_OPERANDS];
	unsigned char *data[DRAY_ROWS_OPERANDS];
	/* of the walk */
	int operands;
	int ndim; /* axes outside of the row */
	int64_t position[DRAY_MAX_NDIM];
	struct dray_rows_axis axes[DRAY_MAX_NDIM];
};

/* Begins at the first row; false if there is none. */
bool dray_rows_start(struct dray_index_rows *rows,
		     const struct dray_view *const *views, int operands);

/* Goes on to the next row; false behind the last. */
bool dray_rows_next(struct dray_index_rows *rows);

#endif /* DRAY_INDEX_ROWS_H */

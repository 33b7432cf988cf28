// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Walks views row by row, in C order. */
#include "index/rows.h"
#include "private.h"

static bool rows_chains(const struct dray_rows_axis *outer,
			const struct dray_rows_axis *inner, int operands)
{
	int64_t end;
	int o;

	for (o = 0; o < operands; o++) {
		if (dray_mul_overflow(inner->strides[o], inner->count, &end) ||
		    outer->strides[o] != end)
			return false;
	}
	return true;
}

static void rows_append(struct dray_index_rows *rows,
			const struct dray_view *const *views, int from)
{
	struct dray_rows_axis *axis = &rows->axes[rows->ndim];
	int o;

	axis->count = views[0]->shape[from];
	for (o = 0; o < rows->operands; o++)
		axis->strides[o] = views[o]->strides[from];
	if (rows->ndim && rows_chains(axis - 1, axis, rows->operands)) {
		axis->count *= axis[-1].count;
		axis[-1] = *axis;
		return;
	}
	rows->ndim++;
}

bool dray_rows_start(struct dray_index_rows *rows,
		     const struct dray_view *const *views, int operands)
{
	int i, o;

	if (dray_view_is_empty(views[0]))
		return false;
	rows->operands = operands;
	rows->ndim = 0;
	rows->count = 1;
	for (o = 0; o < operands; o++) {
		rows->data[o] = views[o]->data;
		rows->strides[o] = 0;
	}
	for (i = 0; i < views[0]->ndim; i++) {
		if (views[0]->shape[i] > 1)
			rows_append(rows, views, i);
	}
	if (!rows->ndim)
		return true;
	rows->ndim--;
	rows->count = rows->axes[rows->ndim].count;
	for (o = 0; o < operands; o++)
		rows->strides[o] = rows->axes[rows->ndim].strides[o];
	for (i = 0; i < rows->ndim; i++)
		rows->position[i] = 0;
	return true;
}

bool dray_rows_next(struct dray_index_rows *rows)
{
	int k, o;

	for (k = rows->ndim - 1; k >= 0; k--) {
		const struct dray_rows_axis *axis = &rows->axes[k];

		if (++rows->position[k] < axis->count) {
			for (o = 0; o < rows->operands; o++)
				rows->data[o] += axis->strides[o];
			return true;
		}
		rows->position[k] = 0;
		for (o = 0; o < rows->operands; o++)
			rows->data[o] -= (axis->count - 1) * axis->strides[o];
	}
	return false;
}

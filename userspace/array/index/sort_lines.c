// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Sorts views, a line along the axis at a time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"
#include "index/rows.h"
#include "index/sort.h"

/* Without allocation up to here. */
#define ROOM 2048

/* Lines of a view, and of one or no other. */
struct sort_lines {
	struct dray_view first; /* of each line */
	struct dray_view other;
	int axis;
	struct dray_sort_line line;
};

void dray_view_without_axis(struct dray_view *out, const struct dray_view *view,
			    int axis)
{
	int i, n = 0;

	memcpy(out, view, offsetof(struct dray_view, shape));
	for (i = 0; i < view->ndim; i++) {
		if (i == axis)
			continue;
		out->shape[n] = view->shape[i];
		out->strides[n++] = view->strides[i];
	}
	out->ndim = n;
}

/* Prepares lines along an axis; memory is @space if that is enough.  -ENOMEM. */
static int sort_lines_start(struct sort_lines *lines,
			    const struct dray_view *view, int axis,
			    const struct dray_sorting *order, void *space)
{
	size_t room;

	lines->axis = axis;
	lines->line.count = view->shape[axis];
	lines->line.stride = view->strides[axis];
	lines->line.memory = space;
	dray_view_without_axis(&lines->first, view, axis);
	if (dray_line_room_overflow(order, lines->line.count, &room))
		return dray_fail(-ENOMEM, "no memory to sort %lld elements",
				 (long long)lines->line.count);
	if (room > ROOM)
		lines->line.memory = malloc(room);
	if (!lines->line.memory)
		return dray_fail(-ENOMEM, "no memory for %zu bytes to sort in",
				 room);
	return 0;
}

static void sort_lines_end(struct sort_lines *lines, void *space)
{
	if (lines->line.memory != space)
		free(lines->line.memory);
}

int dray_sort(const struct dray_view *view, int axis)
{
	uint64_t space[ROOM / sizeof(uint64_t)];
	const struct dray_view *first;
	struct dray_operand operand;
	struct dray_sorting order;
	struct dray_index_rows rows;
	struct sort_lines lines;
	int64_t i;
	int ret;

	ret = dray_operand_init(&operand, view, "the view");
	if (!ret)
		ret = dray_operand_check_writable(&operand);
	if (ret)
		return ret;
	dray_sorting_of(&order, view->dtype);
	axis = dray_axis_resolve(axis, view->ndim);
	if (axis < 0)
		return -EINVAL;
	/* Lines without elements may be very many. */
	if (!operand.extent.elements)
		return 0;
	ret = sort_lines_start(&lines, view, axis, &order, space);
	if (ret)
		return ret;
	first = &lines.first;
	if (dray_rows_start(&rows, &first, 1)) {
		do {
			for (i = 0; i < rows.count; i++)
				dray_line_sort(&order, &lines.line,
					       rows.data[0] +
						       i * rows.strides[0]);
		} while (dray_rows_next(&rows));
	}
	sort_lines_end(&lines, space);
	return 0;
}

/* Writes the order of each line to the same line of @out. */
static void argsort_lines(struct sort_lines *lines,
			  const struct dray_sorting *order,
			  const struct dray_view *out)
{
	const struct dray_view *views[] = { &lines->first, &lines->other };
	int64_t step = out->strides[lines->axis], i;
	struct dray_index_rows rows;

	dray_view_without_axis(&lines->other, out, lines->axis);
	if (!lines->line.count || !dray_rows_start(&rows, views, 2))
		return;
	do {
		for (i = 0; i < rows.count; i++)
			dray_line_argsort(order, &lines->line,
					  rows.data[0] + i * rows.strides[0],
					  rows.data[1] + i * rows.strides[1],
					  step);
	} while (dray_rows_next(&rows));
}

int dray_sort_check(const struct dray_view *view, struct dray_sorting *order)
{
	int ret = dray_view_check(view, "the view", NULL);

	if (!ret && !(view->flags & DRAY_READ))
		ret = dray_fail(-EPERM, "the view may not be read");
	if (!ret)
		dray_sorting_of(order, view->dtype);
	return ret;
}

int dray_argsort(const struct dray_view *view, int axis,
		 struct dray_array **out)
{
	uint64_t space[ROOM / sizeof(uint64_t)];
	struct dray_sorting order;
	struct dray_view found;
	struct sort_lines lines;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = dray_sort_check(view, &order);
	if (ret)
		return ret;
	axis = dray_axis_resolve(axis, view->ndim);
	if (axis < 0)
		return -EINVAL;
	/* Lines may be long even if there are none. */
	if (!dray_view_size(view))
		return dray_array_empty(DRAY_INT64, view->ndim, view->shape,
					out);
	ret = sort_lines_start(&lines, view, axis, &order, space);
	if (ret)
		return ret;
	ret = dray_array_empty(DRAY_INT64, view->ndim, view->shape, out);
	if (!ret)
		argsort_lines(&lines, &order, dray_array_view(*out, &found));
	sort_lines_end(&lines, space);
	return ret;
}

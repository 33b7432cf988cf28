// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The usual index at once: one row of a few integers or booleans, all of them in
 * range and none below 0, over a usual view of one axis.  All else, and each error,
 * takes the way of a prepared index, with the same results.
 */
#include <string.h>

#include "index/index_line.h"
#include "index/move.h"
#include "private.h"

/* Whether a view is usual, has @flags, and at most one axis; finds its addresses. */
static bool is_row(const struct dray_view *view, uint32_t flags,
		   struct dray_addresses *span)
{
	struct dray_extent extent;

	if (!dray_view_is_usual(view, &extent) || view->ndim > 1 ||
	    (view->flags & flags) != flags)
		return false;
	span->low = (uintptr_t)view->data + (uintptr_t)extent.low;
	span->high = (uintptr_t)view->data + (uintptr_t)extent.high;
	return true;
}

static bool take_integers(struct dray_index_line *line,
			  const struct dray_view *array)
{
	if (!dray_index_is_plain(array->dtype) ||
	    array->strides[0] != sizeof(int64_t))
		return false;
	line->count = array->shape[0];
	memcpy(line->integers, array->data,
	       (size_t)line->count * sizeof(int64_t));
	dray_index_copied();
	return dray_index_are_inside(line->integers, (size_t)line->count, 0,
				     line->view->shape[0]);
}

static bool take_booleans(struct dray_index_line *line,
			  const struct dray_view *array)
{
	if (array->shape[0] != line->view->shape[0])
		return false;
	line->count = (int64_t)dray_list_trues(array->data, array->strides[0],
					       (size_t)array->shape[0], 0, 1,
					       line->integers);
	return line->count;
}

static bool index_is_line(const struct dray_view *view, uint32_t flags,
			  struct dray_addresses *span)
{
	return is_row(view, flags, span) && view->ndim;
}

bool dray_index_line_start(struct dray_index_line *line,
			   const struct dray_view *view,
			   const struct dray_view *array, uint32_t flags)
{
	if (!index_is_line(view, flags, &line->span) ||
	    !index_is_line(array, DRAY_READ, &line->array_span) ||
	    array->shape[0] > DRAY_INDEX_CHUNK)
		return false;
	line->view = view;
	return array->dtype == DRAY_BOOL ? take_booleans(line, array)
					 : take_integers(line, array);
}

int dray_index_line_get(const struct dray_index_line *line,
			struct dray_array **out)
{
	const struct dray_view *view = line->view;
	size_t size = dray_dtype_itemsize(view->dtype);
	struct dray_mover mover = dray_mover_for(DRAY_INDEX_GATHER, size);
	int ret;

	ret = dray_array_empty(view->dtype, 1, &line->count, out);
	if (!ret)
		mover.listed(view->data, view->strides[0], line->integers,
			     (unsigned char *)(*out)->data, (int64_t)size,
			     (size_t)line->count, size);
	return ret;
}

bool dray_index_line_set(const struct dray_index_line *line,
			 const struct dray_view *values, bool more)
{
	const struct dray_view *view = line->view;
	size_t size = dray_dtype_itemsize(view->dtype);
	struct dray_addresses span;
	struct dray_mover mover;
	bool one;

	if (!is_row(values, DRAY_READ, &span) || values->dtype != view->dtype ||
	    !view->strides[0] || dray_addresses_meet(line->span, span) ||
	    dray_addresses_meet(line->span, line->array_span))
		return false;
	one = !values->ndim || values->shape[0] == 1;
	if (!one && values->shape[0] != line->count &&
	    !(more && values->shape[0] > line->count))
		return false;
	mover = dray_mover_for(DRAY_INDEX_SCATTER, size);
	mover.listed(view->data, view->strides[0], line->integers, values->data,
		     one ? 0 : values->strides[0], (size_t)line->count, size);
	return true;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Elements taken and put by arrays of integers, with modes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "index/index_line.h"
#include "private.h"

static int index_take_prepare(struct dray_operand *source,
			      struct dray_index_plan *plan,
			      const struct dray_view *view,
			      const struct dray_view *indices, int axis,
			      enum dray_index_mode mode)
{
	int ret = dray_operand_init(source, view, "the view");

	if (!ret && !(view->flags & DRAY_READ))
		ret = dray_fail(-EPERM, "the view may not be read");
	return ret ? ret
		   : dray_index_prepare_one(plan, view, indices, axis, mode);
}

static bool is_mode(enum dray_index_mode mode)
{
	return mode >= DRAY_INDEX_RAISE && mode <= DRAY_INDEX_CLIP;
}

int dray_take(const struct dray_view *view, const struct dray_view *indices,
	      int axis, enum dray_index_mode mode, struct dray_array **out)
{
	struct dray_index_plan plan;
	struct dray_operand source;
	struct dray_index_line line;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	if ((axis == 0 || axis == -1 || axis == DRAY_FLAT) && is_mode(mode) &&
	    dray_index_line_start(&line, view, indices, DRAY_READ))
		return dray_index_line_get(&line, out);
	ret = index_take_prepare(&source, &plan, view, indices, axis, mode);
	return ret ? ret : dray_index_fetch_new(&plan, view, true, out);
}

int dray_take_into(const struct dray_view *view,
		   const struct dray_view *indices, int axis,
		   enum dray_index_mode mode, const struct dray_view *dst)
{
	struct dray_index_plan plan;
	struct dray_operand source;
	int ret;

	ret = index_take_prepare(&source, &plan, view, indices, axis, mode);
	return ret ? ret : dray_index_fetch_into(&plan, &source, dst);
}

/* Repeats the first @have of @bytes bytes. */
static void index_take_repeat(unsigned char *memory, size_t have, size_t bytes)
{
	while (have < bytes) {
		size_t more = bytes - have < have ? bytes - have : have;

		memcpy(memory + have, memory, more);
		have += more;
	}
}

int dray_values_in_row(const struct dray_view *values, int64_t least,
		       struct dray_row *row)
{
	int64_t size = dray_view_size(values), count;
	size_t item = dray_dtype_itemsize(values->dtype), bytes;
	struct dray_view dense;
	int ret;

	row->own = NULL;
	row->data = values->data;
	row->count = size;
	row->stride = (int64_t)item;
	if (size >= least && dray_view_is_contiguous(values))
		return 0;
	count = size > least ? size : least;
	if (dray_mul_overflow((uint64_t)count, item, &bytes) ||
	    bytes > PTRDIFF_MAX)
		return dray_fail(-EOVERFLOW,
				 "values repeated exceed the address space");
	row->own = malloc(bytes ? bytes : 1);
	if (!row->own)
		return dray_fail(-ENOMEM, "no memory for %zu bytes of values",
				 bytes);
	ret = dray_view_init_closed(&dense, row->own, values->dtype,
				    values->ndim, values->shape, NULL);
	if (!ret)
		ret = dray_view_assign(&dense, values);
	if (ret) {
		free(row->own);
		return ret;
	}
	row->data = row->own;
	if (size)
		index_take_repeat(row->own, (size_t)size * item, bytes);
	return 0;
}

/* The values as a view of the indices' shape. */
static void shape_values(struct dray_view *other,
			 const struct dray_index_plan *plan,
			 const struct dray_row *row)
{
	int64_t stride = row->count == 1 ? 0 : row->stride;
	int i;

	other->data = row->data;
	other->ndim = plan->broadcast_ndim;
	for (i = plan->broadcast_ndim - 1; i >= 0; i--) {
		other->shape[i] = plan->broadcast[i];
		other->strides[i] = stride;
		stride *= plan->broadcast[i];
	}
}

static int index_take_put(const struct dray_operand *to,
			  const struct dray_view *indices,
			  const struct dray_view *values,
			  enum dray_index_mode mode)
{
	struct dray_index_plan plan;
	struct dray_view other;
	struct dray_row row;
	int64_t least = 1;
	int ret;

	ret = dray_index_prepare_one(&plan, to->view, indices, DRAY_FLAT, mode);
	if (ret || !dray_view_size(values))
		return ret;
	ret = dray_index_check_bounds(&plan);
	if (ret)
		return ret;
	if (dray_view_size(values) > 1)
		least = dray_index_size(&plan);
	ret = dray_values_in_row(values, least, &row);
	if (ret)
		return ret;
	shape_values(&other, &plan, &row);
	ret = dray_index_move(&plan, &other, DRAY_INDEX_SCATTER, false);
	free(row.own);
	return ret;
}

/* Puts indices aside if they share memory with the elements. */
static int put_apart(const struct dray_operand *to,
		     const struct dray_view *indices,
		     const struct dray_view *values, enum dray_index_mode mode)
{
	struct dray_view aside;
	int ret;

	if (!dray_index_shares(to, indices))
		return index_take_put(to, indices, values, mode);
	ret = dray_view_put_aside(indices, indices->dtype, &aside);
	if (ret)
		return ret;
	ret = index_take_put(to, &aside, values, mode);
	free(aside.data);
	return ret;
}

int dray_put(const struct dray_view *view, const struct dray_view *indices,
	     const struct dray_view *values, enum dray_index_mode mode)
{
	struct dray_values used;
	struct dray_operand to;
	struct dray_index_line line;
	int ret;

	if (!dray_given(indices, __func__))
		return -EINVAL;
	if (is_mode(mode) &&
	    dray_index_line_start(&line, view, indices, DRAY_WRITE) &&
	    dray_index_line_set(&line, values, true))
		return 0;
	ret = dray_index_check_values(&to, view, values);
	if (!ret)
		ret = dray_view_check(indices, "an indexing array", NULL);
	if (!ret)
		ret = dray_values_use(&to, values, false, &used);
	if (ret)
		return ret;
	ret = put_apart(&to, indices, used.view, mode);
	free(used.own);
	return ret;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Copies the elements that an index leads to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dray/array/cast.h>

#include "index/index_line.h"
#include "private.h"

/* Measures the source, and prepares the index. */
static int index_get_prepare(struct dray_operand *source,
			     struct dray_index_plan *plan,
			     const struct dray_view *view,
			     const struct dray_index *index, size_t count,
			     bool read)
{
	int ret = dray_operand_init(source, view, "the indexed view");

	if (!ret && read && !(view->flags & DRAY_READ))
		ret = dray_fail(-EPERM, "the indexed view may not be read");
	return ret ? ret : dray_index_prepare(plan, view, index, count);
}

int dray_index_shape(const struct dray_view *view,
		     const struct dray_index *index, size_t count, int *ndim,
		     int64_t shape[DRAY_MAX_NDIM])
{
	struct dray_index_plan plan;
	struct dray_operand source;
	int ret;

	if (!dray_given(ndim, __func__) || !dray_given(shape, __func__))
		return -EINVAL;
	ret = index_get_prepare(&source, &plan, view, index, count, false);
	return ret ? ret : dray_index_result(&plan, ndim, shape);
}

/*
 * Copies elements to a view of the result's shape that shares no memory.
 * @first: checks all integers before the first copy
 */
static int index_get_fetch(struct dray_index_plan *plan,
			   const struct dray_view *view,
			   const struct dray_view *dst, bool first)
{
	int ret;

	if (plan->mask)
		return dray_index_move_masked(view, plan->mask, dst->data,
					      dst->strides[0], plan->mask_trues,
					      DRAY_INDEX_GATHER);
	ret = dray_index_expand(plan);
	if (!ret)
		ret = dray_index_move(plan, dst, DRAY_INDEX_GATHER, first);
	dray_index_end(plan);
	return ret;
}

int dray_index_fetch_new(struct dray_index_plan *plan,
			 const struct dray_view *view, bool c_order,
			 struct dray_array **out)
{
	int axes[DRAY_MAX_NDIM], ndim, ret;
	int64_t shape[DRAY_MAX_NDIM];
	struct dray_array *array;
	struct dray_view dst;

	ret = dray_index_result(plan, &ndim, shape);
	if (ret)
		return ret;
	if (c_order) {
		ret = dray_array_empty(view->dtype, ndim, shape, &array);
	} else {
		dray_index_order(plan, axes);
		ret = dray_array_ordered(view->dtype, ndim, shape, axes,
					 &array);
	}
	if (ret)
		return ret;
	dray_array_view_closed(array, view->dtype, ndim, &dst);
	ret = index_get_fetch(plan, view, &dst, false);
	if (ret)
		dray_array_unref(array);
	else
		*out = array;
	return ret;
}

int dray_index_get(const struct dray_view *view, const struct dray_index *index,
		   size_t count, struct dray_array **out)
{
	struct dray_index_plan plan;
	struct dray_operand source;
	struct dray_index_line line;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	if (count == 1 && index && index->kind == DRAY_INDEX_ARRAY &&
	    dray_index_line_start(&line, view, index->array, DRAY_READ))
		return dray_index_line_get(&line, out);
	ret = index_get_prepare(&source, &plan, view, index, count, true);
	return ret ? ret : dray_index_fetch_new(&plan, view, false, out);
}

/* Checks a destination against the result. */
static int index_get_check(const struct dray_index_plan *plan,
			   const struct dray_operand *dst)
{
	char wanted[DRAY_SHAPE_TEXT], given[DRAY_SHAPE_TEXT];
	int64_t shape[DRAY_MAX_NDIM];
	int ndim, ret;

	ret = dray_index_result(plan, &ndim, shape);
	if (!ret)
		ret = dray_operand_check_writable(dst);
	if (ret)
		return ret;
	if (ndim == dst->view->ndim &&
	    !memcmp(shape, dst->view->shape, (size_t)ndim * sizeof(shape[0])))
		return 0;
	dray_shape_format(wanted, ndim, shape);
	dray_shape_format(given, dst->view->ndim, dst->view->shape);
	return dray_fail(
		-EINVAL,
		"the destination of shape %s does not match the result of shape %s",
		given, wanted);
}

/* Whether a conversion may fail at an element, after others were written. */
static bool may_fail(dray_dtype from, dray_dtype to)
{
	return !dray_dtype_is_builtin(from) || !dray_dtype_is_builtin(to) ||
	       strchr("SU", dray_dtype_kind(from)) ||
	       strchr("SU", dray_dtype_kind(to));
}

/* Converts to memory aside first, so that a failure writes nothing. */
static int convert_whole(const struct dray_view *dst,
			 const struct dray_view *src)
{
	struct dray_view converted;
	int ret;

	if (dray_dtype_equal(src->dtype, dst->dtype) ||
	    !may_fail(src->dtype, dst->dtype))
		return dray_view_convert(dst, src, DRAY_CASTING_UNSAFE);
	ret = dray_view_put_aside(src, dst->dtype, &converted);
	if (ret)
		return ret;
	ret = dray_view_assign(dst, &converted);
	free(converted.data);
	return ret;
}

/* Copies through memory aside, and converts. */
static int fetch_through(struct dray_index_plan *plan,
			 const struct dray_view *view,
			 const struct dray_view *dst)
{
	struct dray_array *array;
	struct dray_view aside;
	int ret;

	ret = dray_index_fetch_new(plan, view, false, &array);
	if (ret)
		return ret;
	dray_array_view_closed(array, view->dtype, dst->ndim, &aside);
	ret = convert_whole(dst, &aside);
	dray_array_unref(array);
	return ret;
}

int dray_index_fetch_into(struct dray_index_plan *plan,
			  const struct dray_operand *source,
			  const struct dray_view *dst)
{
	const struct dray_view *view = source->view;
	struct dray_operand to;
	bool aside; /* of another type, or sharing memory */
	int ret, i;

	ret = dray_operand_init(&to, dst, "the destination");
	if (!ret)
		ret = index_get_check(plan, &to);
	if (ret)
		return ret;
	aside = !dray_dtype_equal(view->dtype, dst->dtype) ||
		dray_operands_share(&to, source) ||
		(plan->mask && dray_index_shares(&to, plan->mask));
	for (i = 0; i < plan->arrays_count && !aside; i++)
		aside = dray_index_shares(&to, plan->arrays[i].from);
	if (aside)
		return fetch_through(plan, view, dst);
	return index_get_fetch(plan, view, dst, true);
}

int dray_index_get_into(const struct dray_view *view,
			const struct dray_index *index, size_t count,
			const struct dray_view *dst)
{
	struct dray_index_plan plan;
	struct dray_operand source;
	int ret;

	ret = index_get_prepare(&source, &plan, view, index, count, true);
	return ret ? ret : dray_index_fetch_into(&plan, &source, dst);
}

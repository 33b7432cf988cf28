// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes to the elements of an index.  Everything is checked, and put aside if it
 * shares memory with the elements, before the first is written.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <dray/array/cast.h>

#include "private.h"
#include "index/index_line.h"

static bool value_is_single(const struct dray_view *value)
{
	return !value->ndim || value->shape[0] == 1;
}

static int check_masked(const struct dray_index_plan *plan,
			const struct dray_view *value)
{
	if (value->ndim > 1)
		return dray_fail(
			-EINVAL,
			"boolean array indexing assignment requires a 0 or 1-dimensional input, input has %d dimensions",
			value->ndim);
	if (!value_is_single(value) && value->shape[0] != plan->mask_trues)
		return dray_fail(
			-EINVAL,
			"boolean array indexing assignment cannot assign %" PRId64
			" input values to the %" PRId64
			" output values where the mask is true",
			value->shape[0], plan->mask_trues);
	return 0;
}

static int store_masked(const struct dray_view *view,
			const struct dray_index_plan *plan,
			const struct dray_view *value)
{
	int ret = check_masked(plan, value);

	if (ret)
		return ret;
	if (!value_is_single(value))
		return dray_index_move_masked(view, plan->mask, value->data,
					      value->strides[0],
					      plan->mask_trues,
					      DRAY_INDEX_SCATTER);
	dray_index_fill_masked(view, plan->mask, value->data);
	return 0;
}

static int fail_value(const struct dray_index_plan *plan,
		      const struct dray_view *value, int ndim,
		      const int64_t *shape)
{
	char from[DRAY_SHAPE_TEXT], to[DRAY_SHAPE_TEXT];

	dray_shape_format(from, value->ndim, value->shape);
	dray_shape_format(to, ndim, shape);
	return dray_fail(
		-EINVAL,
		plan->arrays_count
			? "shape mismatch: value array of shape %s could not be broadcast to indexing result of shape %s"
			: "could not broadcast input array from shape %s into shape %s",
		from, to);
}

/* Gives a value the shape of the indexed elements. */
static int fit_value(const struct dray_index_plan *plan,
		     const struct dray_view *value, struct dray_view *whole)
{
	int64_t shape[DRAY_MAX_NDIM];
	int ndim, ret;

	ret = dray_index_result(plan, &ndim, shape);
	if (!ret && !dray_index_broadcast(value, ndim, shape, whole))
		ret = fail_value(plan, value, ndim, shape);
	return ret;
}

/* Writes values that share no memory with the view. */
static int index_set_store(struct dray_index_plan *plan,
			   const struct dray_view *view,
			   const struct dray_view *value)
{
	struct dray_view whole;
	int ret;

	if (plan->mask)
		return store_masked(view, plan, value);
	ret = fit_value(plan, value, &whole);
	if (ret)
		return ret;
	if (!plan->arrays_count)
		return dray_view_assign(&plan->rest, &whole);
	ret = dray_index_expand(plan);
	if (!ret)
		ret = dray_index_move(plan, &whole, DRAY_INDEX_SCATTER, true);
	dray_index_end(plan);
	return ret;
}

/* Writes with arrays that share no memory with the view. */
static int convert_and_store(const struct dray_operand *to,
			     struct dray_index_plan *plan,
			     const struct dray_view *value)
{
	struct dray_values used;
	int ret;

	/* Without arrays, the assignment sees to shared memory. */
	ret = dray_values_use(to, value, !plan->arrays_count && !plan->mask,
			      &used);
	if (ret)
		return ret;
	ret = index_set_store(plan, to->view, used.view);
	free(used.own);
	return ret;
}

/* An index of which some arrays are copies. */
struct copies {
	struct dray_index *index;
	struct dray_view *views;
	size_t count;
};

static void end_copies(struct copies *copies)
{
	size_t i;

	for (i = 0; copies->views && i < copies->count; i++)
		free(copies->views[i].data);
	free(copies->views);
	free(copies->index);
}

static int make_copies(struct copies *copies, const struct dray_operand *to,
		       const struct dray_index *index, size_t count)
{
	size_t i;
	int ret;

	copies->count = count;
	copies->index = calloc(count, sizeof(*copies->index));
	copies->views = calloc(count, sizeof(*copies->views));
	if (!copies->index || !copies->views)
		return dray_fail(-ENOMEM, "no memory for %zu indices", count);
	DRAY_HOLDS(index);
	memcpy(copies->index, index, count * sizeof(*index));
	for (i = 0; i < count; i++) {
		if (index[i].kind != DRAY_INDEX_ARRAY ||
		    !dray_index_shares(to, index[i].array))
			continue;
		ret = dray_view_put_aside(index[i].array, index[i].array->dtype,
					  &copies->views[i]);
		if (ret) {
			copies->views[i].data = NULL;
			return ret;
		}
		copies->index[i].array = &copies->views[i];
	}
	return 0;
}

static bool shares_any(const struct dray_operand *to,
		       const struct dray_index_plan *plan)
{
	int i;

	if (plan->mask)
		return dray_index_shares(to, plan->mask);
	for (i = 0; i < plan->arrays_count; i++) {
		if (dray_index_shares(to, plan->arrays[i].from))
			return true;
	}
	return false;
}

int dray_index_check_values(struct dray_operand *to,
			    const struct dray_view *view,
			    const struct dray_view *values)
{
	int ret;

	ret = dray_operand_init(to, view, "the indexed view");
	if (!ret)
		ret = dray_operand_check_writable(to);
	if (!ret)
		ret = dray_view_check(values, "the value", NULL);
	if (!ret && !(values->flags & DRAY_READ))
		ret = dray_fail(-EPERM, "the value may not be read");
	return ret;
}

/* Writes whole elements. */
static int index_set(const struct dray_operand *to,
		     const struct dray_index *index, size_t count,
		     const struct dray_view *value)
{
	struct dray_index_plan plan;
	struct copies copies;
	int ret;

	ret = dray_index_prepare(&plan, to->view, index, count);
	if (ret)
		return ret;
	if (!shares_any(to, &plan))
		return convert_and_store(to, &plan, value);
	ret = make_copies(&copies, to, index, count);
	if (!ret)
		ret = dray_index_prepare(&plan, to->view, copies.index, count);
	if (!ret)
		ret = convert_and_store(to, &plan, value);
	end_copies(&copies);
	return ret;
}

/*
 * Writes to structures with gaps, which may belong to other fields: elements are
 * taken, their fields are set, and they are put back.
 */
static int set_fields(const struct dray_operand *to,
		      const struct dray_index *index, size_t count,
		      const struct dray_view *value)
{
	struct dray_index_plan plan;
	struct dray_array *elements;
	struct dray_view taken;
	struct dray_cast cast;
	int ret;

	ret = dray_index_prepare(&plan, to->view, index, count);
	if (!ret)
		ret = dray_cast_find(to->view->dtype, value->dtype, &cast);
	if (!ret)
		ret = plan.mask ? check_masked(&plan, value)
				: fit_value(&plan, value, &taken);
	if (!ret)
		ret = dray_index_get(to->view, index, count, &elements);
	if (ret)
		return ret;
	dray_array_view(elements, &taken);
	ret = dray_view_convert(&taken, value, DRAY_CASTING_UNSAFE);
	if (!ret)
		ret = index_set(to, index, count, &taken);
	dray_array_unref(elements);
	return ret;
}

int dray_index_set(const struct dray_view *view, const struct dray_index *index,
		   size_t count, const struct dray_view *value)
{
	struct dray_index_line line;
	struct dray_operand to;
	int ret;

	if (count == 1 && index && index->kind == DRAY_INDEX_ARRAY &&
	    dray_index_line_start(&line, view, index->array, DRAY_WRITE) &&
	    dray_index_line_set(&line, value, false))
		return 0;
	ret = dray_index_check_values(&to, view, value);
	if (ret)
		return ret;
	return dray_dtype_has_gaps(view->dtype)
		       ? set_fields(&to, index, count, value)
		       : index_set(&to, index, count, value);
}

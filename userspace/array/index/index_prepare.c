// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Prepares indices: the walk over the steps makes a view, the rest, and lists the
 * arrays, which are broadcast.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "index/index.h"
#include "private.h"

/* A walk, and the plan that its arrays are added to. */
struct array_walk {
	struct dray_index_steps walk;
	struct dray_index_plan *plan;
};

static struct dray_index_plan *plan_of(struct dray_index_steps *walk)
{
	return ((struct array_walk *)walk)->plan;
}

static int use_integers(struct dray_index_steps *walk,
			const struct dray_view *from)
{
	struct dray_index_array *array =
		dray_index_put_array(plan_of(walk), walk->axis, from);

	if (!array)
		return -ERANGE;
	dray_index_use_integers(array, from);
	array->extent = walk->view->shape[walk->axis];
	array->stride = walk->view->strides[walk->axis];
	walk->axis++;
	return 0;
}

/* An axis of 1 or 0 elements, which takes no axis of the view. */
static int use_boolean(struct dray_index_steps *walk,
		       const struct dray_view *from)
{
	static const int64_t zero;
	struct dray_index_array *array =
		dray_index_put_array(plan_of(walk), walk->axis, from);

	if (!array)
		return -ERANGE;
	dray_index_use_coordinates(array,
				   *(const unsigned char *)from->data != 0);
	array->data = (const unsigned char *)&zero;
	array->extent = 1;
	array->stride = 0;
	return 0;
}

static int prepare_check_mask(const struct dray_index_steps *walk,
			      const struct dray_view *from)
{
	int i;

	for (i = 0; i < from->ndim; i++) {
		int64_t extent = walk->view->shape[walk->axis + i];

		/* NumPy lets booleans without an element pass. */
		if (from->shape[i] && from->shape[i] != extent)
			return dray_fail(
				-ERANGE,
				"boolean index did not match indexed array along axis %d; size of axis is %" PRId64
				" but size of corresponding boolean axis is %" PRId64,
				walk->axis + i, extent, from->shape[i]);
	}
	return 0;
}

static int use_mask(struct dray_index_steps *walk, const struct dray_view *from)
{
	int64_t trues;
	int ret, i;

	ret = prepare_check_mask(walk, from);
	if (ret)
		return ret;
	trues = dray_count_trues(from);
	for (i = 0; i < from->ndim; i++) {
		struct dray_index_array *array =
			dray_index_put_array(plan_of(walk), walk->axis, from);

		if (!array)
			return -ERANGE;
		dray_index_use_coordinates(array, trues);
		array->extent = walk->view->shape[walk->axis];
		array->stride = walk->view->strides[walk->axis];
		walk->axis++;
	}
	return 0;
}

static int integer_of(const struct dray_view *from, int64_t *out)
{
	dray_index_load_for(from->dtype)(from->data, 0, 1, out);
	if (*out < 0 && dray_dtype_kind(from->dtype) == 'u')
		return dray_fail(-ERANGE, "index %" PRIu64 " is out of bounds",
				 (uint64_t)*out);
	return 0;
}

static int use_array(struct dray_index_steps *walk,
		     const struct dray_view *from)
{
	int64_t at;
	int ret;

	if (dray_dtype_is_bool(from->dtype))
		return from->ndim ? use_mask(walk, from)
				  : use_boolean(walk, from);
	if (from->ndim)
		return use_integers(walk, from);
	ret = integer_of(from, &at);
	return ret ? ret : dray_steps_integer(walk, at);
}

/* Whether an index is one array of booleans, of all of the view's axes. */
static bool is_whole_mask(const struct dray_view *view,
			  const struct dray_index *index, size_t count)
{
	return count == 1 && index->kind == DRAY_INDEX_ARRAY &&
	       dray_dtype_is_bool(index->array->dtype) &&
	       index->array->ndim == view->ndim &&
	       !memcmp(index->array->shape, view->shape,
		       (size_t)view->ndim * sizeof(view->shape[0]));
}

int dray_index_prepare(struct dray_index_plan *plan,
		       const struct dray_view *view,
		       const struct dray_index *index, size_t count)
{
	struct array_walk walk = {
		.walk = { .view = view,
			  .rest = &plan->rest,
			  .check_array = dray_index_check_array,
			  .use_array = use_array },
		.plan = plan,
	};
	int ret;

	if (count && !dray_given(index, __func__))
		return -EINVAL;
	dray_index_start(plan, view);
	ret = dray_steps_begin(&walk.walk, index, count);
	if (ret)
		return ret;
	if (is_whole_mask(view, index, count)) {
		plan->mask = index->array;
		plan->mask_trues = dray_count_trues(index->array);
		plan->broadcast_ndim = 1;
		plan->broadcast[0] = plan->mask_trues;
		return 0;
	}
	ret = dray_steps_walk(&walk.walk, index, count);
	plan->at = walk.walk.at;
	if (ret)
		return ret;
	return plan->arrays_count ? dray_index_broadcast_arrays(plan) : 0;
}

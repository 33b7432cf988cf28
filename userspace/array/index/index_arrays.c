// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arrays of a prepared index: their checks, their broadcast shape, and the
 * preparation of one array along one axis.
 */
#include <errno.h>
#include <string.h>

#include "index/index.h"
#include "private.h"

/* Checks an array; *taken grows by its axes. */
int dray_index_check_array(const struct dray_view *array, size_t *taken)
{
	char type[DRAY_DTYPE_TYPESTR_SIZE] = "";
	int ret;

	ret = dray_view_check(array, "an indexing array", NULL);
	if (ret)
		return ret;
	if (!(array->flags & DRAY_READ))
		return dray_fail(-EPERM, "an indexing array may not be read");
	if (dray_dtype_is_bool(array->dtype)) {
		*taken += (size_t)array->ndim;
		return 0;
	}
	*taken += 1;
	if (dray_index_load_for(array->dtype))
		return 0;
	dray_dtype_format(array->dtype, type, sizeof(type));
	return dray_fail(
		-ERANGE,
		"arrays used as indices must be of integer (or boolean) type, not %s",
		type);
}

void dray_index_start(struct dray_index_plan *plan,
		      const struct dray_view *view)
{
	memcpy(&plan->rest, view, offsetof(struct dray_view, shape));
	plan->rest.ndim = 0;
	plan->arrays_count = 0;
	plan->broadcast_ndim = 0;
	plan->at = 0;
	plan->mode = DRAY_INDEX_RAISE;
	plan->mask = NULL;
	plan->coordinates = NULL;
}

/* Adds an array for the next axis; @from: its integers or booleans. */
struct dray_index_array *dray_index_put_array(struct dray_index_plan *plan,
					      int axis,
					      const struct dray_view *from)
{
	struct dray_index_array *array;

	if (plan->arrays_count == DRAY_MAX_NDIM) {
		dray_fail(-ERANGE, "more than %d indexing arrays",
			  DRAY_MAX_NDIM);
		return NULL;
	}
	array = &plan->arrays[plan->arrays_count++];
	array->from = from;
	array->flat = NULL;
	array->trues = 0; /* Only masks have some. */
	array->axis = axis;
	array->data = from->data;
	array->shape = from->shape;
	array->strides = from->strides;
	array->ndim = from->ndim;
	return array;
}

void dray_index_use_integers(struct dray_index_array *array,
			     const struct dray_view *from)
{
	array->load = dray_index_load_for(from->dtype);
	array->plain = dray_index_is_plain(from->dtype);
}

/* The shape and stride of the coordinates of true elements. */
void dray_index_use_coordinates(struct dray_index_array *array, int64_t trues)
{
	static const int64_t step = sizeof(int64_t);

	array->data = NULL;
	array->trues = trues;
	array->shape = &array->trues;
	array->strides = &step;
	array->ndim = 1;
	array->load = dray_index_load_for(DRAY_INT64);
	array->plain = true;
}

static int arrays_fail_broadcast(const struct dray_index_plan *plan)
{
	char texts[4 * DRAY_SHAPE_TEXT] = "", one[DRAY_SHAPE_TEXT];
	int i;

	for (i = 0; i < plan->arrays_count && i < 4; i++) {
		dray_shape_format(one, plan->arrays[i].ndim,
				  plan->arrays[i].shape);
		strncat(texts, " ", sizeof(texts) - strlen(texts) - 1);
		strncat(texts, one, sizeof(texts) - strlen(texts) - 1);
	}
	return dray_fail(
		-ERANGE,
		"shape mismatch: indexing arrays could not be broadcast together with shapes%s",
		texts);
}

/* Checks that 63 bits count the elements of the broadcast shape. */
static int arrays_check_size(const struct dray_index_plan *plan)
{
	bool overflow = false, empty = false;
	int64_t size = 1;
	int k;

	for (k = 0; k < plan->broadcast_ndim; k++) {
		empty |= !plan->broadcast[k];
		overflow |= dray_mul_overflow(size, plan->broadcast[k], &size);
	}
	return overflow && !empty
		       ? dray_fail(
				 -EOVERFLOW,
				 "indexing arrays broadcast together have more elements than 63 bits count")
		       : 0;
}

/* Finds the shape that all arrays have after broadcasting. */
int dray_index_broadcast_arrays(struct dray_index_plan *plan)
{
	int i, k, ndim = 0;

	for (i = 0; i < plan->arrays_count; i++) {
		if (plan->arrays[i].ndim > ndim)
			ndim = plan->arrays[i].ndim;
	}
	plan->broadcast_ndim = ndim;
	for (k = 0; k < ndim; k++)
		plan->broadcast[k] = 1;
	for (i = 0; i < plan->arrays_count; i++) {
		const struct dray_index_array *array = &plan->arrays[i];
		int64_t *to = &plan->broadcast[ndim - array->ndim];

		for (k = 0; k < array->ndim; k++) {
			if (to[k] == 1)
				to[k] = array->shape[k];
			else if (array->shape[k] != 1 &&
				 array->shape[k] != to[k])
				return arrays_fail_broadcast(plan);
		}
	}
	return arrays_check_size(plan);
}

int dray_index_result(const struct dray_index_plan *plan, int *ndim,
		      int64_t *shape)
{
	int fancy = plan->broadcast_ndim, rest = plan->rest.ndim;
	int i;

	if (fancy + rest > DRAY_MAX_NDIM)
		return dray_index_fail_axes(fancy + rest);
	*ndim = fancy + rest;
	for (i = 0; i < rest; i++)
		shape[i < plan->at ? i : i + fancy] = plan->rest.shape[i];
	for (i = 0; i < fancy; i++)
		shape[plan->at + i] = plan->broadcast[i];
	return 0;
}

/* Leaves all axes but one to the rest. */
static void arrays_take_axis(struct dray_index_plan *plan,
			     struct dray_index_array *array,
			     const struct dray_view *view, int axis)
{
	struct dray_view *rest = &plan->rest;
	int i;

	plan->at = axis;
	array->extent = view->shape[axis];
	array->stride = view->strides[axis];
	for (i = 0; i < view->ndim; i++) {
		if (i == axis)
			continue;
		rest->shape[rest->ndim] = view->shape[i];
		rest->strides[rest->ndim++] = view->strides[i];
	}
}

int dray_index_prepare_one(struct dray_index_plan *plan,
			   const struct dray_view *view,
			   const struct dray_view *indices, int axis,
			   enum dray_index_mode mode)
{
	bool flat = axis == DRAY_FLAT;
	struct dray_index_array *array;
	size_t taken = 0;
	int ret;

	if (mode < DRAY_INDEX_RAISE || mode > DRAY_INDEX_CLIP)
		return dray_fail(-EINVAL, "mode %d of indices is unknown",
				 (int)mode);
	ret = dray_index_check_array(indices, &taken);
	if (ret)
		return ret;
	if (!dray_index_load_for(indices->dtype))
		return dray_fail(-EINVAL, "the indices are booleans");
	axis = flat ? 0 : dray_axis_resolve(axis, view->ndim);
	if (axis < 0)
		return -EINVAL;
	dray_index_start(plan, view);
	plan->mode = mode;
	array = dray_index_put_array(plan, axis, indices);
	dray_index_use_integers(array, indices);
	if (flat) {
		array->extent = dray_view_size(view);
		array->stride = dray_dtype_itemsize(view->dtype);
		array->flat = dray_view_is_contiguous(view) ? NULL : view;
	} else {
		arrays_take_axis(plan, array, view, axis);
	}
	return dray_index_broadcast_arrays(plan);
}

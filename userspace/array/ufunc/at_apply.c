// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Results in place: indices of the first axis are copied and checked; indices of
 * another kind become offsets of elements, by the offsets along each axis, which are
 * indexed as the target would be.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"
#include "cast/fp_state.h"
#include "cast/cast.h"
#include "index/index.h"
#include "ufunc/at.h"

static int at_apply_check(struct dray_placing *placing,
			  const struct dray_view *values)
{
	const struct dray_ufunc *ufunc = placing->ufunc;
	struct dray_operand target;
	int ret;

	if (ufunc->inputs > 2 || ufunc->outputs != 1)
		return dray_fail(
			-EINVAL,
			"%s has %d input%s and %d output%s: there is at only of 1 or 2 and 1",
			ufunc->name, ufunc->inputs, dray_plural(ufunc->inputs),
			ufunc->outputs, dray_plural(ufunc->outputs));
	if (ufunc->inputs != 1 + !!values)
		return dray_fail(-EINVAL, "%s %s", ufunc->name,
				 values ? "has one input: it takes no values"
					: "has two inputs: it needs values");
	ret = dray_operand_init(&target, placing->target, "the target");
	if (!ret && values)
		ret = dray_view_check(values, "the values", NULL);
	if (!ret)
		ret = dray_operand_check_writable(&target);
	if (ret)
		return ret;
	if (!(placing->target->flags & DRAY_READ))
		return dray_fail(-EPERM, "the target may not be read");
	if (values && !(values->flags & DRAY_READ))
		return dray_fail(-EPERM, "the values may not be read");
	return 0;
}

static int at_apply_end(struct dray_placing *placing, int ret)
{
	if (!ret && (placing->buffer ||
		     !(placing->resolved.loop.flags & DRAY_LOOP_NO_FP_ERRORS)))
		placing->errors |= dray_fp_take();
	if (!ret && placing->errors)
		ret = dray_fp_report("at", placing->errors);
	free(placing->buffer);
	dray_array_unref(placing->values);
	return ret;
}

/* Writes indices of @extent elements, from their end those below 0. */
static int at_apply_load(const struct dray_view *indices, int64_t extent,
			 struct dray_array **out)
{
	struct dray_view view;
	int64_t *numbers, count, i;
	uint64_t wrong = 0;
	int ret = dray_array_like(indices, DRAY_INT64, DRAY_ORDER_C, out);

	if (!ret)
		ret = dray_view_cast(dray_array_view(*out, &view), indices,
				     DRAY_CASTING_SAME_KIND);
	if (ret)
		return ret;
	numbers = view.data;
	count = dray_view_size(&view);
	for (i = 0; i < count; i++) {
		numbers[i] += numbers[i] < 0 ? extent : 0;
		wrong |= (uint64_t)numbers[i] >= (uint64_t)extent;
	}
	for (i = 0; wrong && i < count; i++)
		if ((uint64_t)numbers[i] >= (uint64_t)extent)
			return dray_fail(-ERANGE,
					 "index %" PRId64
					 " is not one of %" PRId64 " elements",
					 numbers[i] -
						 (numbers[i] < 0 ? extent : 0),
					 extent);
	return 0;
}

/* Stretches values to the elements that the indices name. */
static int at_apply_spread(struct dray_placing *placing,
			   const struct dray_view *values,
			   const struct dray_view *indices, int parts,
			   struct dray_view *out)
{
	const struct dray_view *target = placing->target;
	int64_t shape[2 * DRAY_MAX_NDIM];
	const int ndim = indices->ndim + parts;
	struct dray_view apart;
	int ret;

	dray_axes_copy(shape, indices->shape, indices->ndim);
	dray_axes_copy(shape + indices->ndim,
		       target->shape + target->ndim - parts, parts);
	dray_fp_clear();
	/* Without values, the shape is all that counts. */
	if (!values)
		return dray_view_init(&apart, target->data, target->dtype, 0,
				      NULL, NULL)
			       ?: dray_view_broadcast(&apart, ndim, shape, out);
	ret = dray_place_values(placing, values, &apart);
	placing->errors = dray_fp_take();
	return ret ? ret : dray_view_broadcast(&apart, ndim, shape, out);
}

/* Whether dense indices lie in a line of elements, before any element changes. */
static bool are_numbers(const struct dray_view *indices,
			const struct dray_view *target)
{
	struct dray_operand of_target, of_indices;

	return indices->ndim == 1 && target->ndim == 1 &&
	       dray_view_is_ready(indices, DRAY_INT64) &&
	       dray_view_is_packed(indices, true) &&
	       !dray_operand_init(&of_indices, indices, "the indices") &&
	       !dray_operand_init(&of_target, target, "the target") &&
	       !(of_indices.extent.elements && of_target.extent.elements &&
		 dray_overlap_find(&of_target, &of_indices) !=
			 DRAY_OVERLAP_NONE) &&
	       dray_index_are_inside(indices->data, (size_t)indices->shape[0],
				     0, target->shape[0]);
}

/* Places elements by copies of some indices at a time, which are checked again. */
static int place_chunks(struct dray_placing *placing,
			const struct dray_view *indices,
			const struct dray_view *values)
{
	const struct dray_view *target = placing->target;
	const int64_t count = indices->shape[0];
	int64_t numbers[DRAY_INDEX_CHUNK], done, piece;
	struct dray_view part;
	int ret = 0;

	dray_view_copy(&part, values);
	for (done = 0; done < count && !ret; done += piece) {
		piece = count - done < DRAY_INDEX_CHUNK ? count - done
							: DRAY_INDEX_CHUNK;
		memcpy(numbers, (const int64_t *)indices->data + done,
		       (size_t)piece * sizeof(numbers[0]));
		dray_index_copied();
		if (!dray_index_are_inside(numbers, (size_t)piece, 0,
					   target->shape[0]))
			return dray_fail(
				-ERANGE,
				"the indices were changed, by another thread or process, while they were used");
		part.data = (char *)values->data + done * values->strides[0];
		part.shape[0] = piece;
		ret = dray_place_elements(placing, target->data,
					  target->strides[0], numbers, &part);
	}
	return ret;
}

/* Indices of the first axis. */
static int at_apply_place(struct dray_placing *placing,
			  const struct dray_view *indices,
			  const struct dray_view *values)
{
	const struct dray_view *target = placing->target;
	struct dray_array *numbers = NULL;
	struct dray_view loaded, spreaded;
	int ret;

	if (!target->ndim)
		return dray_fail(-ERANGE,
				 "an element without axes has no index");
	if (are_numbers(indices, target)) {
		ret = dray_place_loop(placing, values);
		if (!ret)
			ret = at_apply_spread(placing, values, indices, 0,
					      &spreaded);
		return ret ?: place_chunks(placing, indices, &spreaded);
	}
	/* A copy, which no other process changes once it was checked. */
	ret = at_apply_load(indices, target->shape[0], &numbers);
	if (!ret)
		dray_array_view(numbers, &loaded);
	if (!ret)
		ret = dray_place_loop(placing, values);
	if (!ret)
		ret = at_apply_spread(placing, values, indices,
				      target->ndim - 1, &spreaded);
	if (!ret && !dray_view_is_empty(&spreaded))
		ret = target->ndim == 1
			      ? dray_place_elements(placing, target->data,
						    target->strides[0],
						    loaded.data, &spreaded)
			      : dray_place_parts(placing, loaded.data,
						 &spreaded);
	dray_array_unref(numbers);
	return ret;
}

/*
 * Makes an array of a view's shape, of the offset of each element.  The stride of an
 * axis of length 1 may be any number, so sums may wrap on their way.
 */
static int make_offsets(const struct dray_view *view, struct dray_array **out)
{
	int64_t at[DRAY_MAX_NDIM] = { 0 }, *offsets, i, count;
	uint64_t offset = 0;
	int k, ret = dray_array_empty(DRAY_INT64, view->ndim, view->shape, out);

	if (ret)
		return ret;
	offsets = (*out)->data;
	count = dray_view_size(view);
	for (i = 0; i < count; i++) {
		offsets[i] = (int64_t)offset;
		for (k = view->ndim - 1; k >= 0; k--) {
			offset += (uint64_t)view->strides[k];
			if (++at[k] < view->shape[k])
				break;
			offset -= (uint64_t)view->strides[k] *
				  (uint64_t)view->shape[k];
			at[k] = 0;
		}
	}
	return 0;
}

/* Adds the offsets along an axis to the sums of the indexed elements. */
static int add_offsets(const struct dray_view *target, int axis,
		       const struct dray_index *index, size_t count,
		       const struct dray_view *part, int64_t *sums)
{
	int64_t strides[DRAY_MAX_NDIM] = { 0 }, *offsets, i;
	const int64_t size = dray_view_size(part);
	struct dray_array *array;
	struct dray_view along;
	int ret = dray_array_empty(DRAY_INT64, 1, &target->shape[axis], &array);

	if (ret)
		return ret;
	offsets = array->data;
	/* The strides of an empty target may be any numbers: the product may wrap. */
	for (i = 0; i < target->shape[axis]; i++)
		offsets[i] = (int64_t)((uint64_t)i *
				       (uint64_t)target->strides[axis]);
	/* They are the same along all other axes. */
	strides[axis] = sizeof(int64_t);
	ret = dray_view_init(&along, offsets, DRAY_INT64, target->ndim,
			     target->shape, strides);
	if (!ret)
		ret = dray_index_get_into(&along, index, count, part);
	offsets = part->data;
	for (i = 0; !ret && i < size; i++)
		sums[i] += offsets[i];
	dray_array_unref(array);
	return ret;
}

/* Makes an array of the offsets of the elements that an index with arrays names. */
static int find_offsets(const struct dray_view *target,
			const struct dray_index *index, size_t count,
			struct dray_array **out)
{
	int64_t shape[DRAY_MAX_NDIM];
	struct dray_array *part = NULL;
	struct dray_view view;
	int ndim, axis;
	int ret = dray_index_shape(target, index, count, &ndim, shape);

	if (!ret)
		ret = dray_array_zeros(DRAY_INT64, ndim, shape, out);
	if (!ret)
		ret = dray_array_empty(DRAY_INT64, ndim, shape, &part);
	for (axis = 0; !ret && axis < target->ndim; axis++)
		ret = add_offsets(target, axis, index, count,
				  dray_array_view(part, &view), (*out)->data);
	dray_array_unref(part);
	return ret;
}

static bool has_arrays(const struct dray_index *index, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (index[i].kind == DRAY_INDEX_ARRAY)
			return true;
	return false;
}

static int place_index(struct dray_placing *placing,
		       const struct dray_index *index, size_t count,
		       const struct dray_view *values)
{
	struct dray_array *array = NULL;
	const struct dray_view *target = placing->target;
	struct dray_view part, offsets, spreaded;
	int ret;

	part.data = target->data;
	if (has_arrays(index, count)) {
		ret = find_offsets(target, index, count, &array);
	} else {
		ret = dray_view_index(target, index, count, &part);
		if (!ret)
			ret = make_offsets(&part, &array);
	}
	if (!ret)
		ret = dray_place_loop(placing, values);
	if (!ret)
		ret = at_apply_spread(placing, values,
				      dray_array_view(array, &offsets), 0,
				      &spreaded);
	if (!ret && !dray_view_is_empty(&spreaded))
		ret = dray_place_elements(placing, part.data, 1, offsets.data,
					  &spreaded);
	dray_array_unref(array);
	return ret;
}

/* Whether the index is a single array of integers. */
static bool apply_is_array(const struct dray_index *index, size_t count)
{
	char kind;

	if (count != 1 || index->kind != DRAY_INDEX_ARRAY || !index->array)
		return false;
	kind = dray_dtype_kind(index->array->dtype);
	return kind == 'i' || kind == 'u';
}

int dray_ufunc_at_index(struct dray_ufunc *ufunc,
			const struct dray_view *target,
			const struct dray_index *index, size_t count,
			const struct dray_view *values)
{
	struct dray_placing placing = { .ufunc = ufunc, .target = target };
	int ret;

	if (!dray_given(ufunc, __func__) || !dray_given(target, __func__) ||
	    (count && !dray_given(index, __func__)))
		return -EINVAL;
	ret = at_apply_check(&placing, values);
	if (!ret && apply_is_array(index, count)) {
		ret = dray_view_check(index->array, "the indices", NULL);
		if (!ret && !(index->array->flags & DRAY_READ))
			ret = dray_fail(-EPERM, "the indices may not be read");
		if (!ret)
			ret = at_apply_place(&placing, index->array, values);
	} else if (!ret) {
		ret = place_index(&placing, index, count, values);
	}
	return at_apply_end(&placing, ret);
}

int dray_ufunc_at(struct dray_ufunc *ufunc, const struct dray_view *target,
		  const struct dray_view *indices,
		  const struct dray_view *values)
{
	const struct dray_index index = DRAY_BY(indices);

	if (!dray_given(ufunc, __func__) || !dray_given(target, __func__) ||
	    !dray_given(indices, __func__))
		return -EINVAL;
	return dray_ufunc_at_index(ufunc, target, &index, 1, values);
}

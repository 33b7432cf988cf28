// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Questions about an iterator. */
#include <errno.h>
#include <string.h>

#include "iterator/nditer.h"
#include "private.h"

static const int64_t one = 1;

bool dray_nditer_next(struct dray_nditer *iter)
{
	return dray_given(iter, __func__) && iter->next(iter);
}

dray_nditer_step_fn *dray_nditer_step(const struct dray_nditer *iter)
{
	return dray_given(iter, __func__) ? iter->next : NULL;
}

int dray_nditer_error(const struct dray_nditer *iter)
{
	return dray_given(iter, __func__) ? iter->error : -EINVAL;
}

char **dray_nditer_data(struct dray_nditer *iter)
{
	if (!dray_given(iter, __func__))
		return NULL;
	return iter->flags & (DRAY_NDITER_BUFFERED | DRAY_NDITER_EXTERNAL_LOOP)
		       ? iter->user
		       : iter->data;
}

const int64_t *dray_nditer_strides(const struct dray_nditer *iter)
{
	if (!dray_given(iter, __func__))
		return NULL;
	return iter->flags & DRAY_NDITER_BUFFERED ? iter->inner_strides
						  : iter->axes[0].strides;
}

const int64_t *dray_nditer_count(const struct dray_nditer *iter)
{
	if (!dray_given(iter, __func__))
		return NULL;
	if (!(iter->flags & DRAY_NDITER_EXTERNAL_LOOP))
		return &one;
	return iter->flags & DRAY_NDITER_BUFFERED ? &iter->buffered
						  : &iter->axes[0].count;
}

int64_t dray_nditer_size(const struct dray_nditer *iter)
{
	return dray_given(iter, __func__) ? iter->size : 0;
}

int64_t dray_nditer_position(const struct dray_nditer *iter)
{
	int64_t position = 0;
	int i;

	if (!dray_given(iter, __func__))
		return 0;
	if (iter->flags & (DRAY_NDITER_RANGED | DRAY_NDITER_BUFFERED))
		return iter->position;
	for (i = iter->ndim - 1; i >= 0; i--)
		position = nditer_product(position, iter->axes[i].count) +
			   iter->axes[i].at;
	return position;
}

int64_t dray_nditer_index(const struct dray_nditer *iter)
{
	int64_t index, rest;
	int i;

	if (!dray_given(iter, __func__) || !(iter->flags & NDITER_INDEX))
		return -1;
	if (!(iter->flags & DRAY_NDITER_BUFFERED))
		return iter->index;
	/* The axes are at the first element of the buffers. */
	rest = iter->position;
	index = iter->first_index;
	for (i = 0; i < iter->ndim && rest; i++) {
		index +=
			rest % iter->axes[i].count * iter->axes[i].index_stride;
		rest /= iter->axes[i].count;
	}
	return index;
}

int dray_nditer_ndim(const struct dray_nditer *iter)
{
	return dray_given(iter, __func__) ? iter->ndim : 0;
}

int dray_nditer_operands(const struct dray_nditer *iter)
{
	return dray_given(iter, __func__) ? iter->operands : 0;
}

uint32_t dray_nditer_flags(const struct dray_nditer *iter)
{
	return dray_given(iter, __func__) ? iter->flags & NDITER_PUBLIC : 0;
}

int64_t dray_nditer_buffer_size(const struct dray_nditer *iter)
{
	return dray_given(iter, __func__) &&
			       (iter->flags & DRAY_NDITER_BUFFERED)
		       ? iter->buffer_size
		       : 0;
}

/* The place of an axis, as callers number them; -1 if there is none. */
static int find_axis(const struct dray_nditer *iter, int axis)
{
	int i;

	for (i = 0; i < iter->ndim; i++) {
		if (axis == (iter->flags & DRAY_NDITER_MULTI_INDEX
				     ? iter->axes[i].axis
				     : i))
			return i;
	}
	return -1;
}

void dray_nditer_shape(const struct dray_nditer *iter, int64_t *shape)
{
	int i;

	if (!dray_given(iter, __func__) || !dray_given(shape, __func__))
		return;
	for (i = 0; i < iter->ndim; i++)
		shape[i] = iter->axes[find_axis(iter, i)].count;
}

int dray_nditer_axis_strides(const struct dray_nditer *iter, int axis,
			     int64_t *strides)
{
	int i;

	if (!dray_given(iter, __func__) || !dray_given(strides, __func__))
		return -EINVAL;
	i = find_axis(iter, axis);
	if (i < 0)
		return dray_fail(
			-EINVAL,
			"axis %d is out of bounds for an iterator of %d axes",
			axis, iter->ndim);
	memcpy(strides, iter->axes[i].strides,
	       (size_t)iter->operands * sizeof(strides[0]));
	return 0;
}

int dray_nditer_multi_index(const struct dray_nditer *iter,
			    int64_t *coordinates)
{
	int64_t rest;
	int i;

	if (!dray_given(iter, __func__) || !dray_given(coordinates, __func__))
		return -EINVAL;
	if (!(iter->flags & DRAY_NDITER_MULTI_INDEX))
		return dray_fail(-EINVAL,
				 "Iterator is not tracking a multi-index");
	/* With buffers, the axes are at the first element of these. */
	rest = dray_nditer_position(iter);
	for (i = 0; i < iter->ndim; i++) {
		const struct nditer_axis *axis = &iter->axes[i];
		int64_t at = axis->count ? rest % axis->count : 0;

		rest = axis->count ? rest / axis->count : 0;
		coordinates[axis->axis] =
			axis->flipped ? axis->count - 1 - at : at;
	}
	return 0;
}

static bool has_operand(const struct dray_nditer *iter, int operand)
{
	if (operand >= 0 && operand < iter->operands)
		return true;
	dray_fail(-EINVAL, "operand %d is not one of %d", operand,
		  iter->operands);
	return false;
}

int dray_nditer_operand(const struct dray_nditer *iter, int operand,
			struct dray_view *view)
{
	if (!dray_given(iter, __func__) || !dray_given(view, __func__) ||
	    !has_operand(iter, operand))
		return -EINVAL;
	dray_nditer_view_of(iter, operand, view);
	dray_view_set_facts(view);
	return 0;
}

struct dray_array *dray_nditer_array(const struct dray_nditer *iter,
				     int operand)
{
	if (!dray_given(iter, __func__) || !has_operand(iter, operand))
		return NULL;
	return iter->operand[operand].array;
}

dray_dtype dray_nditer_dtype(const struct dray_nditer *iter, int operand)
{
	if (!dray_given(iter, __func__) || !has_operand(iter, operand))
		return 0;
	return iter->operand[operand].dtype;
}

bool dray_nditer_needs_buffers(const struct dray_nditer *iter)
{
	int o;

	if (!dray_given(iter, __func__) ||
	    !(iter->flags & DRAY_NDITER_BUFFERED))
		return false;
	for (o = 0; o < iter->operands; o++) {
		if (iter->operand[o].flags & OPERAND_CONVERTS)
			return true;
	}
	return false;
}

bool dray_nditer_is_first_visit(const struct dray_nditer *iter, int operand)
{
	int i;

	if (!dray_given(iter, __func__) || !has_operand(iter, operand))
		return false;
	for (i = 0; i < iter->ndim; i++) {
		if (!iter->axes[i].strides[operand] && iter->axes[i].at)
			return false;
	}
	/* In a double loop, the coordinates are those of its start. */
	return !(iter->flags & DRAY_NDITER_BUFFERED) || !iter->reduce_at ||
	       iter->operand[operand].outer_stride;
}

void dray_nditer_range(const struct dray_nditer *iter, int64_t *start,
		       int64_t *end)
{
	if (!dray_given(iter, __func__) || !dray_given(start, __func__) ||
	    !dray_given(end, __func__))
		return;
	*start = iter->start;
	*end = iter->end;
}

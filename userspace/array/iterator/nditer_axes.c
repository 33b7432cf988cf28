// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Axes of an iterator: the operands' shapes are broadcast, by their last axes or
 * by the caller's map, and each axis gets the strides of all operands.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "iterator/iterator.h"
#include "iterator/nditer.h"
#include "private.h"

static int check_map_of(int o, int ndim, const int *map)
{
	uint64_t taken = 0;
	bool reduces;
	int i;

	for (i = 0; i < ndim; i++) {
		int axis = nditer_mapped_axis(map[i], &reduces);

		if (axis < 0)
			continue;
		if (axis >= DRAY_MAX_NDIM)
			return dray_fail(
				-EINVAL,
				"The 'operand_axes' provided for operand %d contained invalid value %d",
				o, axis);
		if (taken & (UINT64_C(1) << axis))
			return dray_fail(
				-EINVAL,
				"The 'operand_axes' provided for operand %d contained duplicate value %d",
				o, axis);
		taken |= UINT64_C(1) << axis;
	}
	return 0;
}

int dray_nditer_check_map(int count, const struct dray_nditer_options *options)
{
	int o, ret = 0;

	if (!options->operand_axes && !options->shape)
		return 0;
	if (options->ndim < 0 || options->ndim > DRAY_MAX_NDIM)
		return dray_fail(
			-EINVAL,
			"operand_axes and shape have %d axes, 0 to %d are possible",
			options->ndim, DRAY_MAX_NDIM);
	for (o = 0; o < count && !ret; o++)
		if (nditer_map_of(options, o))
			ret = check_map_of(o, options->ndim,
					   options->operand_axes[o]);
	return ret;
}

/* Appends shapes to a sentence, as far as there is room. */
struct list {
	char text[260];
	size_t length;
};

static void nditer_axes_append(struct list *list, const char *before, int ndim,
			       const int64_t *shape)
{
	size_t room = sizeof(list->text) - list->length;
	struct dray_shape_text text;
	int wanted;

	wanted = snprintf(list->text + list->length, room, "%s%s", before,
			  dray_shape_say(&text, ndim, shape));
	if (wanted > 0 && (size_t)wanted < room)
		list->length += (size_t)wanted;
	else
		list->text[list->length] = '\0';
}

static void append_remapped(struct list *list, const struct dray_nditer *iter,
			    const struct nditer_operand *operand,
			    const int *map)
{
	int64_t remapped[DRAY_MAX_NDIM];
	bool reduces;
	int i;

	for (i = 0; i < iter->ndim; i++) {
		int axis = nditer_mapped_axis(map[i], &reduces);

		remapped[i] = axis >= 0 && axis < operand->ndim
				      ? nditer_extent(iter, operand, axis)
				      : -1;
	}
	nditer_axes_append(list, "->", iter->ndim, remapped);
}

static int axes_fail_broadcast(const struct dray_nditer *iter,
			       const struct dray_nditer_options *options)
{
	struct list shapes = { .length = 0 }, wanted = { .length = 0 };
	int o;

	for (o = 0; o < iter->operands; o++) {
		const struct nditer_operand *operand = &iter->operand[o];

		if (!nditer_exists(operand))
			continue;
		nditer_axes_append(&shapes, " ", operand->ndim,
				   iter->extents + operand->extents_at);
		if (nditer_map_of(options, o))
			append_remapped(&shapes, iter, operand,
					nditer_map_of(options, o));
	}
	if (options->shape)
		nditer_axes_append(&wanted, " and requested shape ", iter->ndim,
				   options->shape);
	return dray_fail(-EINVAL,
			 "operands could not be broadcast together with %s%s%s",
			 options->operand_axes
				 ? "remapped shapes [original->remapped]:"
				 : "shapes",
			 shapes.text, wanted.text);
}

/* Broadcasts the shape of an operand with a map into @shape. */
static int broadcast_mapped(const struct dray_nditer *iter, int o,
			    const struct dray_nditer_options *options,
			    int64_t *shape)
{
	const struct nditer_operand *operand = &iter->operand[o];
	const int *map = options->operand_axes[o];
	int64_t extent;
	bool reduces;
	int i;

	for (i = 0; i < iter->ndim; i++) {
		int axis = nditer_mapped_axis(map[i], &reduces);

		if (axis < 0)
			continue;
		if (axis >= operand->ndim)
			return dray_fail(
				-EINVAL,
				"Iterator input operand_axes[%d][%d] (==%d) is not a valid axis of operand %d, which has %d dimensions",
				o, i, axis, o, operand->ndim);
		extent = nditer_extent(iter, operand, axis);
		if (shape[i] == 1)
			shape[i] = extent;
		else if (extent != 1 && extent != shape[i])
			return axes_fail_broadcast(iter, options);
	}
	return 0;
}

static int nditer_axes_broadcast(const struct dray_nditer *iter,
				 const struct dray_nditer_options *options,
				 int64_t *shape)
{
	int ret, i, o;

	for (i = 0; i < iter->ndim; i++)
		shape[i] = options->shape && options->shape[i] >= 0
				   ? options->shape[i]
				   : 1;
	for (o = 0; o < iter->operands; o++) {
		const struct nditer_operand *operand = &iter->operand[o];

		if (!nditer_exists(operand))
			continue;
		if (nditer_map_of(options, o)) {
			ret = broadcast_mapped(iter, o, options, shape);
			if (ret)
				return ret;
			continue;
		}
		if (operand->ndim > iter->ndim)
			return dray_fail(
				-EINVAL,
				"input operand %d is of %d dimensions, more than the %d allowed by the axis remapping",
				o, operand->ndim, iter->ndim);
		if (dray_broadcast_into(iter->ndim, shape, operand->ndim,
					iter->extents + operand->extents_at) >=
		    0)
			return axes_fail_broadcast(iter, options);
	}
	for (i = 0; i < iter->ndim && options->shape; i++) {
		if (options->shape[i] == 1 && shape[i] != 1)
			return axes_fail_broadcast(iter, options);
	}
	return 0;
}

static int fail_stretched(const struct dray_nditer *iter, int o,
			  const int64_t *shape)
{
	const struct nditer_operand *operand = &iter->operand[o];
	struct dray_shape_text own, whole;

	return dray_fail(
		-EINVAL,
		"non-broadcastable %soperand %d with shape %s doesn't match the broadcast shape %s",
		operand->flags & DRAY_OPERAND_WRITE ? "output " : "", o,
		dray_shape_say(&own, operand->ndim,
			       iter->extents + operand->extents_at),
		dray_shape_say(&whole, iter->ndim, shape));
}

/* Lets an operand that is written be stretched only for a reduction. */
static int check_reduction(struct dray_nditer *iter, int o, int axis)
{
	struct nditer_operand *operand = &iter->operand[o];

	if (!(operand->flags & DRAY_OPERAND_WRITE))
		return 0;
	if (!(iter->flags & DRAY_NDITER_REDUCE_OK))
		return dray_fail(
			-EINVAL,
			"output operand %d requires a reduction along dimension %d, but the reduction is not enabled. The dimension size of 1 does not match the expected output shape.",
			o, axis);
	if (!(operand->flags & DRAY_OPERAND_READ))
		return dray_fail(
			-EINVAL,
			"output operand %d requires a reduction, but is flagged as write-only, not read-write",
			o);
	if (o == iter->mask)
		return dray_fail(
			-EINVAL,
			"output operand %d requires a reduction, but is flagged as the MASK operand which is not permitted to be the result of a reduction",
			o);
	operand->flags |= OPERAND_REDUCES;
	return 0;
}

/* Whether an operand's elements are without bytes, and lie nowhere. */
static bool stands_still(const struct nditer_operand *operand)
{
	return operand->stored && !operand->array && !operand->data;
}

/* Sets the stride along axis @i of the broadcast, @own of the operand. */
static int set_stride(struct dray_nditer *iter, int o, int i, int own,
		      const int64_t *shape)
{
	struct nditer_axis *axis = &iter->axes[iter->ndim - 1 - i];
	struct nditer_operand *operand = &iter->operand[o];
	bool exists = nditer_exists(operand);

	axis->strides[o] = 0;
	/* An operand to be allocated is stretched only where it lacks an axis. */
	if (shape[i] == 1 || (own >= 0 && !exists))
		return 0;
	if (own >= 0 && nditer_extent(iter, operand, own) != 1) {
		if (!stands_still(operand))
			axis->strides[o] = nditer_stride(iter, operand, own);
		return 0;
	}
	if (own >= 0 && (operand->flags & DRAY_OPERAND_NO_BROADCAST))
		return fail_stretched(iter, o, shape);
	return check_reduction(iter, o, i);
}

/* Sets up a reduction that the map asks for. */
static int set_reduction(struct dray_nditer *iter, int o, int i, int own)
{
	struct nditer_operand *operand = &iter->operand[o];

	if (own >= 0 && nditer_exists(operand) &&
	    nditer_extent(iter, operand, own) != 1)
		return dray_fail(
			-EINVAL,
			"operand %d was set up as a reduction along axis %d, but the length of the axis is %" PRId64
			" (it has to be 1)",
			o, own, nditer_extent(iter, operand, own));
	iter->axes[iter->ndim - 1 - i].strides[o] = 0;
	operand->flags |= OPERAND_REDUCES;
	return 0;
}

/* Finds the operand's axis along axis @i of the broadcast, and its stride. */
static int axes_set_operand(struct dray_nditer *iter, int o, int i,
			    const int *map, const int64_t *shape)
{
	const struct nditer_operand *operand = &iter->operand[o];
	bool reduces;
	int own = i;

	if (map) {
		own = nditer_mapped_axis(map[i], &reduces);
		return reduces ? set_reduction(iter, o, i, own)
			       : set_stride(iter, o, i, own, shape);
	}
	if (nditer_exists(operand))
		own -= iter->ndim - operand->ndim;
	if (own < 0 && (operand->flags & DRAY_OPERAND_NO_BROADCAST))
		return fail_stretched(iter, o, shape);
	return set_stride(iter, o, i, own, shape);
}

/*
 * Sets the strides of an operand with its own axes.  False if it does not exist,
 * uses a map, or is stretched and may not be.
 */
static bool set_own_strides(struct dray_nditer *iter, int o, const int *map,
			    const int64_t *shape)
{
	const struct nditer_operand *operand = &iter->operand[o];
	const int64_t *extents = iter->extents + operand->extents_at;
	const int64_t *strides = extents + operand->ndim;
	int added = iter->ndim - operand->ndim, last = iter->ndim - 1, i;
	bool exact = operand->flags &
		     (DRAY_OPERAND_WRITE | DRAY_OPERAND_NO_BROADCAST);

	if (map || !operand->stored || operand->array || (exact && added))
		return false;
	for (i = 0; i < added; i++)
		iter->axes[last - i].strides[o] = 0;
	for (; i <= last; i++) {
		if (exact && extents[i - added] != shape[i])
			return false;
		iter->axes[last - i].strides[o] =
			extents[i - added] == 1 || stands_still(operand)
				? 0
				: strides[i - added];
	}
	return true;
}

/* Sets the strides of all operands, and marks those that are reduced. */
static int axes_set_strides(struct dray_nditer *iter,
			    const struct dray_nditer_options *options,
			    const int64_t *shape)
{
	int ret, i, o = 0;

	while (o < iter->operands &&
	       set_own_strides(iter, o, nditer_map_of(options, o), shape))
		o++;
	if (o == iter->operands)
		return 0;
	for (i = iter->ndim; i-- > 0;) {
		for (o = 0; o < iter->operands; o++) {
			ret = axes_set_operand(
				iter, o, i, nditer_map_of(options, o), shape);
			if (ret)
				return ret;
		}
	}
	return 0;
}

int dray_nditer_measure(struct dray_nditer *iter)
{
	bool overflow = false;
	int64_t size = 1;
	int i;

	for (i = 0; i < iter->ndim && size; i++) {
		if (!iter->axes[i].count)
			size = 0, overflow = false;
		else
			overflow |= dray_mul_overflow(size, iter->axes[i].count,
						      &size);
	}
	iter->size = overflow ? -1 : size;
	iter->start = 0;
	iter->end = iter->size;
	/* With coordinates, axes may be removed before the first step. */
	if (overflow && (!(iter->flags & DRAY_NDITER_MULTI_INDEX) ||
			 (iter->flags & (NDITER_INDEX | DRAY_NDITER_BUFFERED))))
		return dray_fail(
			-EOVERFLOW,
			"iterator is too large: the count of its elements exceeds 63 bits");
	return 0;
}

int dray_nditer_fill_axes(struct dray_nditer *iter,
			  const struct dray_nditer_options *options)
{
	int64_t shape[DRAY_MAX_NDIM];
	int ret, i;

	ret = nditer_axes_broadcast(iter, options, shape);
	if (ret)
		return ret;
	/* Without axes, the iteration is an axis of length 1. */
	if (!iter->ndim)
		iter->axes[0] = (struct nditer_axis){ .count = 1 };
	for (i = 0; i < iter->ndim; i++) {
		struct nditer_axis *axis = &iter->axes[iter->ndim - 1 - i];

		axis->count = shape[i];
		axis->at = 0;
		axis->index_stride = 0;
		axis->axis = (int16_t)i;
		axis->flipped = false;
	}
	ret = axes_set_strides(iter, options, shape);
	return ret ? ret : dray_nditer_measure(iter);
}

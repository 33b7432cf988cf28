// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Broadcasting, and the iterator over views that are broadcast.  One set of
 * coordinates moves all operands; along an axis that an operand is stretched
 * over, its stride is 0.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "iterator/iterator.h"
#include "private.h"

const char *dray_shape_say(struct dray_shape_text *out, int ndim,
			   const int64_t *shape)
{
	size_t at = 1, room = sizeof(out->text);
	int first = 0;
	int i;

	out->text[0] = '(';
	out->text[1] = '\0';
	while (first < ndim && shape[first] < 0)
		first++;
	for (i = first; i < ndim; i++) {
		char extent[24] = "newaxis";

		if (shape[i] >= 0)
			snprintf(extent, sizeof(extent), "%" PRId64, shape[i]);
		if (room - at < sizeof(extent) + sizeof(",...)")) {
			at += (size_t)snprintf(out->text + at, room - at,
					       ",...");
			break;
		}
		at += (size_t)snprintf(out->text + at, room - at, "%s%s",
				       i > first ? "," : "", extent);
	}
	snprintf(out->text + at, room - at, "%s", ndim == 1 ? ",)" : ")");
	return out->text;
}

int dray_broadcast_into(int ndim, int64_t *shape, int operand_ndim,
			const int64_t *operand_shape)
{
	int added = ndim - operand_ndim;
	int i;

	for (i = 0; i < operand_ndim; i++) {
		if (shape[added + i] == 1)
			shape[added + i] = operand_shape[i];
		else if (operand_shape[i] != 1 &&
			 operand_shape[i] != shape[added + i])
			return added + i;
	}
	return -1;
}

/* The extent of an operand along an axis of the broadcast. */
static int64_t extent_of(const struct dray_view *view, int ndim, int axis)
{
	int own = axis - (ndim - view->ndim);

	return own < 0 ? 1 : view->shape[own];
}

/* Names the first operand that set the axis, and the one that differs. */
static int fail_mismatch(const struct dray_view *const *views, int ndim,
			 int axis, int wrong)
{
	struct dray_shape_text of_first, of_wrong;
	int first = 0;

	while (extent_of(views[first], ndim, axis) == 1)
		first++;
	return dray_fail(
		-EINVAL,
		"shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between arg %d with shape %s and arg %d with shape %s: axis %d has %" PRId64
		" and %" PRId64 " elements",
		first,
		dray_shape_say(&of_first, views[first]->ndim,
			       views[first]->shape),
		wrong,
		dray_shape_say(&of_wrong, views[wrong]->ndim,
			       views[wrong]->shape),
		axis, extent_of(views[first], ndim, axis),
		extent_of(views[wrong], ndim, axis));
}

const char *const dray_operand_names[DRAY_MAX_OPERANDS] = {
	"operand 0", "operand 1", "operand 2", "operand 3",
	"operand 4", "operand 5", "operand 6", "operand 7",
};

int dray_operands_check_count(int count)
{
	if (count >= 1 && count <= DRAY_MAX_OPERANDS)
		return 0;
	return dray_fail(-EINVAL,
			 "%d operands were given, 1 to %d are possible", count,
			 DRAY_MAX_OPERANDS);
}

/* Checks a shape alone: an operand may lack a type and elements. */
static int multi_check_shape(const struct dray_view *view, int o)
{
	int i;

	if (!view)
		return dray_fail(-EINVAL, "operand %d is NULL", o);
	if (view->ndim < 0 || view->ndim > DRAY_MAX_NDIM)
		return dray_fail(-EINVAL,
				 "operand %d has %d axes, 0 to %d are possible",
				 o, view->ndim, DRAY_MAX_NDIM);
	for (i = 0; i < view->ndim; i++) {
		if (view->shape[i] < 0)
			return dray_fail(-EINVAL,
					 "axis %d of operand %d has %" PRId64
					 " elements",
					 i, o, view->shape[i]);
	}
	return 0;
}

static int multi_count_elements(int ndim, const int64_t *shape, int64_t *size)
{
	struct dray_shape_text text;
	bool overflow = false;
	int64_t product = 1;
	int i;

	for (i = 0; i < ndim; i++) {
		if (!shape[i]) {
			*size = 0;
			return 0;
		}
		overflow |= dray_mul_overflow(product, shape[i], &product);
	}
	if (overflow)
		return dray_fail(
			-EOVERFLOW,
			"broadcast dimensions too large: shape %s has more elements than 63 bits count",
			dray_shape_say(&text, ndim, shape));
	*size = product;
	return 0;
}

/* Finds shape and size of operands that were checked. */
static int iterator_multi_broadcast(const struct dray_view *const *views,
				    int count, int32_t *ndim, int64_t *shape,
				    int64_t *size)
{
	int axis, o, i;

	*ndim = 0;
	for (o = 0; o < count; o++) {
		if (views[o]->ndim > *ndim)
			*ndim = views[o]->ndim;
	}
	for (i = 0; i < *ndim; i++)
		shape[i] = 1;
	for (o = 0; o < count; o++) {
		axis = dray_broadcast_into(*ndim, shape, views[o]->ndim,
					   views[o]->shape);
		if (axis >= 0)
			return fail_mismatch(views, *ndim, axis, o);
	}
	return multi_count_elements(*ndim, shape, size);
}

int dray_broadcast_shape(const struct dray_view *const *views, int count,
			 int32_t *ndim, int64_t *shape)
{
	int64_t found[DRAY_MAX_NDIM];
	int32_t found_ndim;
	int64_t size;
	int ret, i;

	if (!dray_given(views, __func__) || !dray_given(ndim, __func__) ||
	    !dray_given(shape, __func__))
		return -EINVAL;
	ret = dray_operands_check_count(count);
	for (i = 0; i < count && !ret; i++)
		ret = multi_check_shape(views[i], i);
	if (!ret)
		ret = iterator_multi_broadcast(views, count, &found_ndim, found,
					       &size);
	if (ret)
		return ret;
	*ndim = found_ndim;
	for (i = 0; i < found_ndim; i++)
		shape[i] = found[i];
	return 0;
}

/*
 * Computes the strides of one checked operand.  A broadcast without elements has
 * none: those of an operand may be anything.  Nor has an operand at NULL, whose
 * elements have no bytes.
 */
static void multi_set_operand(struct dray_multi *it, int o,
			      const struct dray_view *view)
{
	int added = it->ndim - view->ndim;
	int i;

	for (i = 0; i < it->ndim; i++) {
		struct dray_multi_axis *axis = &it->axes[i];
		bool moves = it->size && view->data && i >= added &&
			     view->shape[i - added] != 1;

		axis->strides[o] = moves ? view->strides[i - added] : 0;
		axis->backstrides[o] = axis->last * axis->strides[o];
	}
	it->base[o] = view->data;
}

int dray_multi_init(struct dray_multi *it, const struct dray_view *const *views,
		    int count)
{
	int ret, i, o;

	if (!dray_given(it, __func__) || !dray_given(views, __func__))
		return -EINVAL;
	ret = dray_operands_check_count(count);
	for (o = 0; o < count && !ret; o++)
		ret = dray_view_check(views[o], dray_operand_names[o], NULL);
	if (!ret)
		ret = iterator_multi_broadcast(views, count, &it->ndim,
					       it->shape, &it->size);
	if (ret)
		return ret;
	it->operands = count;
	for (i = 0; i < it->ndim; i++)
		it->axes[i].last = it->shape[i] - 1;
	for (o = 0; o < count; o++)
		multi_set_operand(it, o, views[o]);
	dray_multi_reset(it);
	return 0;
}

void dray_multi_reset(struct dray_multi *it)
{
	int i;

	if (!dray_given(it, __func__))
		return;
	for (i = 0; i < it->ndim; i++)
		it->axes[i].coordinate = 0;
	for (i = 0; i < it->operands; i++)
		it->data[i] = it->base[i];
	it->index = 0;
}

/* Goes to @ndim checked coordinates. */
static void iterator_multi_go(struct dray_multi *it, const int64_t *coordinates,
			      int ndim)
{
	int i, o;

	dray_multi_reset(it);
	for (i = 0; i < ndim; i++) {
		struct dray_multi_axis *axis = &it->axes[i];

		axis->coordinate = coordinates[i];
		it->index = it->index * it->shape[i] + coordinates[i];
		for (o = 0; o < it->operands; o++)
			it->data[o] += coordinates[i] * axis->strides[o];
	}
}

int dray_multi_go(struct dray_multi *it, const int64_t *coordinates)
{
	int i;

	if (!dray_given(it, __func__) ||
	    (it->ndim && !dray_given(coordinates, __func__)))
		return -EINVAL;
	for (i = 0; i < it->ndim; i++) {
		if (coordinates[i] < 0 || coordinates[i] >= it->shape[i])
			return dray_iterator_fail_coordinate(coordinates[i], i,
							     it->shape[i]);
	}
	iterator_multi_go(it, coordinates, it->ndim);
	return 0;
}

int dray_multi_go_flat(struct dray_multi *it, int64_t index)
{
	int64_t coordinates[DRAY_MAX_NDIM];
	int64_t rest = index;
	int i, ndim;

	if (!dray_given(it, __func__))
		return -EINVAL;
	ndim = it->ndim;
	if (index < 0 || index >= it->size)
		return dray_iterator_fail_index(index, it->size);
	for (i = ndim; i-- > 0;) {
		coordinates[i] = rest % it->shape[i];
		rest /= it->shape[i];
	}
	iterator_multi_go(it, coordinates, ndim);
	return 0;
}

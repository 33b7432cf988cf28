// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The order of an iterator's axes, innermost first.  Order 'K' sorts them by the
 * operands' strides; where operands disagree, C order wins.  Axes that run
 * backwards in all operands are flipped, and neighbours that chain in all become
 * one.
 *
 * (Source: NumPy's nditer, which defines this order.  It is not that of
 * layout.c, where the first operand decides and axes of one element vanish.)
 */
#include "iterator/nditer.h"
#include "private.h"

void dray_nditer_number(struct dray_nditer *iter)
{
	int64_t stride = 1;
	int i;

	iter->first_index = 0;
	iter->index = 0;
	if (!(iter->flags & NDITER_INDEX))
		return;
	for (i = 0; i < iter->ndim; i++) {
		struct nditer_axis *axis =
			&iter->axes[iter->flags & DRAY_NDITER_C_INDEX
					    ? i
					    : iter->ndim - 1 - i];

		axis->index_stride = axis->count == 1 ? 0 : stride;
		stride = nditer_product(stride, axis->count);
	}
}

static void nditer_order_reverse(struct dray_nditer *iter)
{
	int i, last = iter->ndim - 1;

	for (i = 0; i < last; i++, last--) {
		struct nditer_axis held = iter->axes[i];

		iter->axes[i] = iter->axes[last];
		iter->axes[last] = held;
	}
}

void dray_nditer_force_order(struct dray_nditer *iter, char order,
			     bool all_fortran)
{
	if (order == 'K' || !order)
		return;
	iter->flags |= NDITER_FORCED_ORDER;
	if (order == 'F' || (order == 'A' && all_fortran))
		nditer_order_reverse(iter);
}

/* Where an axis goes, as far as one other axis tells. */
enum order_place {
	PLACE_UNKNOWN,
	PLACE_OUTSIDE,
	PLACE_INSIDE
};

/* Operands that move along both axes decide; one for outside is enough. */
static enum order_place nditer_order_compare(const struct dray_nditer *iter,
					     const struct nditer_axis *axis,
					     const struct nditer_axis *other)
{
	enum order_place place = PLACE_UNKNOWN;
	int o;

	for (o = 0; o < iter->operands; o++) {
		if (!axis->strides[o] || !other->strides[o])
			continue;
		if (dray_magnitude(other->strides[o]) <=
		    dray_magnitude(axis->strides[o]))
			return PLACE_OUTSIDE;
		place = PLACE_INSIDE;
	}
	return place;
}

void dray_nditer_find_order(struct dray_nditer *iter)
{
	int i, k;

	for (i = 1; i < iter->ndim; i++) {
		const struct nditer_axis *axis = &iter->axes[i];
		struct nditer_axis held;
		int to = i;

		for (k = i - 1; k >= 0; k--) {
			enum order_place place = nditer_order_compare(
				iter, axis, &iter->axes[k]);

			if (place == PLACE_OUTSIDE)
				break;
			if (place == PLACE_INSIDE)
				to = k;
		}
		if (to == i)
			continue;
		held = *axis;
		for (k = i; k > to; k--)
			iter->axes[k] = iter->axes[k - 1];
		iter->axes[to] = held;
	}
}

/* Whether some operand runs backwards along an axis, and none forwards. */
static bool order_runs_back(const struct dray_nditer *iter,
			    const struct nditer_axis *axis)
{
	bool back = false;
	int o;

	for (o = 0; o < iter->operands; o++) {
		if (axis->strides[o] > 0)
			return false;
		back |= axis->strides[o] < 0;
	}
	return back;
}

void dray_nditer_flip(struct dray_nditer *iter)
{
	int i, o;

	for (i = 0; i < iter->ndim; i++) {
		struct nditer_axis *axis = &iter->axes[i];
		int64_t last = axis->count - 1;

		if (!order_runs_back(iter, axis))
			continue;
		for (o = 0; o < iter->operands; o++) {
			int64_t reach = nditer_product(last, axis->strides[o]);

			dray_add_overflow(iter->offsets[o], reach,
					  &iter->offsets[o]);
			iter->first[o] =
				dray_address_add(iter->first[o], reach);
			axis->strides[o] = nditer_product(-1, axis->strides[o]);
		}
		iter->first_index += nditer_product(last, axis->index_stride);
		axis->index_stride = -axis->index_stride;
		axis->flipped = true;
	}
}

/* Whether a step of @outer continues where those of @inner end. */
static bool nditer_order_chains(int64_t outer,
				const struct nditer_axis *outer_axis,
				int64_t inner,
				const struct nditer_axis *inner_axis)
{
	if ((inner_axis->count == 1 && !inner) ||
	    (outer_axis->count == 1 && !outer))
		return true;
	return nditer_product(inner, inner_axis->count) == outer;
}

static bool can_merge(const struct dray_nditer *iter,
		      const struct nditer_axis *inner,
		      const struct nditer_axis *outer)
{
	int o;

	for (o = 0; o < iter->operands; o++) {
		if (!nditer_order_chains(outer->strides[o], outer,
					 inner->strides[o], inner))
			return false;
	}
	return nditer_order_chains(outer->index_stride, outer,
				   inner->index_stride, inner);
}

void dray_nditer_merge(struct dray_nditer *iter)
{
	struct nditer_axis *inner = iter->axes;
	int i, o;

	iter->flags &= ~DRAY_NDITER_MULTI_INDEX;
	for (i = 1; i < iter->ndim; i++) {
		const struct nditer_axis *outer = &iter->axes[i];

		if (!can_merge(iter, inner, outer)) {
			*++inner = *outer;
			continue;
		}
		inner->count = nditer_product(inner->count, outer->count);
		for (o = 0; o < iter->operands; o++) {
			if (!inner->strides[o])
				inner->strides[o] = outer->strides[o];
		}
		if (!inner->index_stride)
			inner->index_stride = outer->index_stride;
	}
	if (iter->ndim)
		iter->ndim = (int)(inner - iter->axes) + 1;
}

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Random views as indexing makes them, and walking any view the slow way:
 * element by element, from nothing but shape and strides.
 */
#ifndef DRAY_TESTS_RANDOM_VIEW_H
#define DRAY_TESTS_RANDOM_VIEW_H

#include "unit.h"

/* Steps to the next element; false after the last. */
static inline bool walk_on(const struct dray_view *view, int64_t *position)
{
	for (int i = view->ndim - 1; i >= 0; i--) {
		if (++position[i] < view->shape[i])
			return true;
		position[i] = 0;
	}
	return false;
}

static inline unsigned char *walk_at(const struct dray_view *view,
				     const int64_t *position)
{
	unsigned char *at = view->data;

	for (int i = 0; i < view->ndim; i++)
		at += position[i] * view->strides[i];
	return at;
}

/* A slice of an axis that leaves @extent elements of it, some step. */
static inline struct dray_index random_slice(struct dice *dice, int64_t extent,
					     int64_t parent)
{
	int64_t most = extent > 1 ? (parent - 1) / (extent - 1) : parent;
	int64_t step = 1 + (int64_t)roll(dice, (uint64_t)most);
	int64_t span = (extent - 1) * step + 1;
	int64_t first = (int64_t)roll(dice, (uint64_t)(parent - span) + 1);

	if (roll(dice, 2)) /* backwards; stop before 0 has to be left out */
		return DRAY_SLICE(first + span - 1,
				  first ? first - 1 : DRAY_OMIT, -step);
	return DRAY_SLICE(first, first + span, step);
}

/*
 * A view of @shape with elements of @itemsize in @memory of @room bytes: a
 * transposed, sliced piece of a C-ordered parent.  False where it does not
 * fit.
 */
static inline bool random_view(struct dice *dice, struct dray_view *out,
			       unsigned char *memory, size_t room, int ndim,
			       const int64_t *shape, uint32_t itemsize)
{
	dray_dtype dtype = DRAY_DTYPE('V', '|', itemsize);
	struct dray_index index[8];
	int64_t parent[8];
	int order[8], back[8];
	size_t bytes = itemsize, gap;

	for (int i = 0; i < ndim; i++)
		order[i] = i;
	for (int i = ndim - 1; i > 0; i--) {
		int other = (int)roll(dice, (uint64_t)i + 1);
		int held = order[i];

		order[i] = order[other];
		order[other] = held;
	}
	for (int i = 0; i < ndim; i++) {
		int64_t extent = shape[order[i]];

		back[order[i]] = i;
		parent[i] = extent;
		if (roll(dice, 2))
			parent[i] +=
				(int64_t)roll(dice, 2 * (uint64_t)extent + 2);
		index[i] = random_slice(dice, extent, parent[i]);
		if (parent[i] == extent && roll(dice, 2))
			index[i] = DRAY_ALL;
		bytes *= (size_t)parent[i];
	}
	if (bytes > room)
		return false;
	gap = roll(dice, room - bytes + 1);
	assert_works(
		dray_view_init(out, memory + gap, dtype, ndim, parent, NULL));
	assert_works(dray_view_index(out, index, (size_t)ndim, out));
	assert_works(dray_view_transpose(out, back, out));
	for (int i = 0; i < ndim; i++)
		assert_int_equal(out->shape[i], shape[i]);
	return true;
}

/* 0 to 4 axes of 1 to 7 elements. */
static inline int random_shape(struct dice *dice, int64_t *shape)
{
	int ndim = (int)roll(dice, 5);

	for (int i = 0; i < ndim; i++)
		shape[i] = 1 + (int64_t)roll(dice, 7);
	return ndim;
}

#endif /* DRAY_TESTS_RANDOM_VIEW_H */

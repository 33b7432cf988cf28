// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * index: basic indexing, against a slow way that keeps a list of the
 * positions left in each axis and removes them one by one.  test_numpy.py
 * compares with NumPy itself.
 */
#include "node.h"
#include "random_view.h"

static unsigned char memory[65536];

/*
 * The positions of start:stop:step in an axis, found by trying each position
 * that the step can reach from far outside.
 */
static int slow_slice(const struct dray_index *index, int64_t extent,
		      int64_t *positions)
{
	int64_t step = index->step == DRAY_OMIT ? 1 : index->step;
	int64_t start = index->start, stop = index->stop;
	int count = 0;

	if (start == DRAY_OMIT)
		start = step > 0 ? 0 : extent - 1;
	else if (start < 0)
		start += extent;
	if (stop == DRAY_OMIT)
		stop = step > 0 ? extent : -1;
	else if (stop < 0)
		stop += extent;
	/* the bounds come to the edge of the axis, the step then counts */
	while (start < (step > 0 ? 0 : -1))
		start++;
	while (start > (step > 0 ? extent : extent - 1))
		start--;
	for (int64_t at = start; at >= 0 && at < extent; at += step) {
		if (step > 0 ? at >= stop : at <= stop)
			break;
		positions[count++] = at;
	}
	return count;
}

static int64_t random_bound(struct dice *dice, int64_t extent)
{
	if (roll(dice, 4) == 0)
		return DRAY_OMIT;
	return (int64_t)roll(dice, 4 * (uint64_t)extent + 7) - 2 * extent - 3;
}

static struct dray_index random_index(struct dice *dice, int64_t extent)
{
	int64_t step = (int64_t)roll(dice, 9) - 4;

	if (extent && roll(dice, 4) == 0)
		return DRAY_AT((int64_t)roll(dice, 2 * (uint64_t)extent) -
			       extent);
	return DRAY_SLICE(random_bound(dice, extent),
			  random_bound(dice, extent), step ? step : DRAY_OMIT);
}

FACT(random_indices_give_what_the_slow_way_gives)
{
	struct dice dice = { 77 };

	for (int round = 0; round < rounds(20000); round++) {
		int64_t shape[4], left[4][8], expected[9], position[9] = { 0 };
		int lefts[4], axis_of[9], ndim, count = 0, axis = 0;
		struct dray_index index[9];
		struct dray_view view, out;
		int dimensions = 0, ellipsis;

		ndim = random_shape(&dice, shape);
		if (ndim && roll(&dice, 20) == 0)
			shape[roll(&dice, (uint64_t)ndim)] = 0;
		assert_works(
			dray_view_init(&view, memory, u2, ndim, shape, NULL));
		/* whole axes in the middle, with or without an ellipsis */
		int first = (int)roll(&dice, (uint64_t)ndim + 1);
		int last =
			first + (int)roll(&dice, (uint64_t)(ndim - first) + 1);

		ellipsis = last < ndim || roll(&dice, 2);
		for (axis = 0; axis < ndim; axis++) {
			bool whole = axis >= first && axis < last;

			if (ellipsis && axis == first)
				index[count++] = DRAY_ELLIPSIS;
			if (roll(&dice, 6) == 0 && !whole && count < 8) {
				index[count++] = DRAY_NEWAXIS;
				axis_of[dimensions] = -1;
				expected[dimensions++] = 1;
			}
			if (whole) {
				lefts[axis] = 0;
				for (int64_t i = 0; i < shape[axis]; i++)
					left[axis][lefts[axis]++] = i;
				axis_of[dimensions] = axis;
				expected[dimensions++] = shape[axis];
				continue;
			}
			index[count] = random_index(&dice, shape[axis]);
			if (index[count].kind == DRAY_INDEX_INTEGER) {
				int64_t at = index[count].start;

				lefts[axis] = 1;
				left[axis][0] = at < 0 ? at + shape[axis] : at;
			} else {
				lefts[axis] = slow_slice(
					&index[count], shape[axis], left[axis]);
				axis_of[dimensions] = axis;
				expected[dimensions++] = lefts[axis];
			}
			count++;
		}
		assert_works(
			dray_view_index(&view, index, (size_t)count, &out));
		assert_int_equal(out.ndim, dimensions);
		for (int i = 0; i < dimensions; i++)
			assert_int_equal(out.shape[i], expected[i]);
		if (dray_view_size(&out) == 0)
			continue;
		do {
			int64_t in_parent[4];

			for (int i = 0; i < ndim; i++)
				in_parent[i] = left[i][0];
			for (int i = 0; i < dimensions; i++) {
				if (axis_of[i] >= 0)
					in_parent[axis_of[i]] =
						left[axis_of[i]][position[i]];
			}
			assert_ptr_equal(walk_at(&out, position),
					 walk_at(&view, in_parent));
		} while (walk_on(&out, position));
	}
}

static void make(struct dray_view *view, int64_t rows, int64_t columns)
{
	assert_works(
		dray_view_init(view, memory, u2, 2, DIMS(rows, columns), NULL));
}

FACT(a_step_of_0_is_refused)
{
	struct dray_view view;

	make(&view, 4, 5);
	assert_fails(dray_view_index(&view, &DRAY_SLICE(0, 4, 0), 1, &view),
		     -EINVAL, "step");
	assert_int_equal(view.shape[0], 4);
}

FACT(an_integer_outside_its_axis_is_out_of_range)
{
	static const int64_t outside[] = { 5, -6, INT64_MAX, INT64_MIN };
	struct dray_view view;

	make(&view, 4, 5);
	for (size_t i = 0; i < 4; i++) {
		struct dray_index index[] = { DRAY_ALL, DRAY_AT(outside[i]) };

		assert_fails(dray_view_index(&view, index, 2, &view), -ERANGE,
			     "is out of bounds for axis 1 with size 5");
	}
}

FACT(one_ellipsis_at_most)
{
	struct dray_index index[] = { DRAY_ELLIPSIS, DRAY_ELLIPSIS };
	struct dray_view view;

	make(&view, 4, 5);
	assert_fails(dray_view_index(&view, index, 2, &view), -ERANGE,
		     "single ellipsis, not 2");
}

FACT(more_indices_than_axes_are_refused)
{
	struct dray_index index[] = { DRAY_ALL, DRAY_AT(0), DRAY_ALL };
	struct dray_view view;

	make(&view, 4, 5);
	assert_fails(dray_view_index(&view, index, 3, &view), -ERANGE,
		     "array is 2-dimensional, but 3 were indexed");
	index[2].kind = (enum dray_index_kind)17;
	assert_fails(dray_view_index(&view, index, 3, &view), -EINVAL,
		     "kind 17");
}

FACT(more_axes_than_there_may_be_are_refused)
{
	struct dray_index index[DRAY_MAX_NDIM];
	struct dray_view view;

	make(&view, 4, 5);
	for (int i = 0; i < DRAY_MAX_NDIM; i++)
		index[i] = DRAY_NEWAXIS;
	assert_fails(dray_view_index(&view, index, DRAY_MAX_NDIM, &view),
		     -ERANGE, "[0, 64], indexing result would have 65");
	assert_works(dray_view_index(&view, index, DRAY_MAX_NDIM - 2, &view));
	assert_int_equal(view.ndim, DRAY_MAX_NDIM);
	assert_int_equal(view.shape[63], 5);
	assert_int_equal(view.shape[0], 1);
}

FACT(a_view_is_not_believed)
{
	struct dray_view view;

	make(&view, 4, 5);
	view.strides[0] = INT64_MAX;
	assert_fails(dray_view_index(&view, &DRAY_ALL, 1, &view), -EOVERFLOW,
		     "63 bits");
	view.strides[0] = 10;
	view.ndim = 65;
	assert_fails(dray_view_index(&view, &DRAY_ALL, 1, &view), -EINVAL,
		     "65 axes");
}

FACT(bounds_of_63_bits_are_kept_in_the_axis)
{
	struct dray_view view, out;

	make(&view, 4, 5);
	assert_works(dray_view_index(
		&view, &DRAY_SLICE(-INT64_MAX, INT64_MAX, INT64_MAX), 1, &out));
	assert_int_equal(out.shape[0], 1);
	assert_ptr_equal(out.data, memory);
	assert_works(dray_view_index(
		&view, &DRAY_SLICE(INT64_MAX, -INT64_MAX, -INT64_MAX), 1,
		&out));
	assert_int_equal(out.shape[0], 1);
	assert_ptr_equal(out.data, memory + 30);
}

FACT(being_read_only_is_inherited)
{
	struct dray_view view, out;

	make(&view, 4, 5);
	view.flags = DRAY_READ;
	assert_works(dray_view_index(&view, &DRAY_AT(1), 1, &out));
	assert_int_equal(out.flags & PERMISSIONS, DRAY_READ);
}

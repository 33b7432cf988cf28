// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The iterator over one view, against a walk by shape and strides alone. */
#include <dray/array.h>

#include "random_view.h"

static int16_t numbers[4 * 5 * 6];

/* Makes a view of @numbers in C order. */
static struct dray_view make(int ndim, const int64_t *shape)
{
	struct dray_view view;

	assert_works(
		dray_view_init(&view, numbers, DRAY_INT16, ndim, shape, NULL));
	return view;
}

static void check_coordinates(const struct dray_iterator *it,
			      const int64_t *expected, int ndim)
{
	int64_t coordinates[DRAY_MAX_NDIM];

	dray_iterator_coordinates(it, coordinates);
	for (int i = 0; i < ndim; i++)
		assert_int_equal(coordinates[i], expected[i]);
}

/* Every element in C order, by steps and by both ways to go. */
static void walk(const struct dray_view *view)
{
	int64_t position[DRAY_MAX_NDIM] = { 0 };
	struct dray_iterator it, other, copy;
	int64_t index = 0;

	assert_works(dray_iterator_init(&it, view));
	assert_works(dray_iterator_init(&other, view));
	assert_int_equal(it.size, dray_view_size(view));
	do {
		assert_true(dray_iterator_more(&it));
		assert_int_equal(it.index, index);
		assert_ptr_equal(it.data, walk_at(view, position));
		check_coordinates(&it, position, view->ndim);
		assert_works(dray_iterator_go(&other, position));
		assert_ptr_equal(other.data, it.data);
		assert_int_equal(other.index, index);
		assert_works(dray_iterator_go_flat(&other, index));
		assert_ptr_equal(other.data, it.data);
		/* From there, a step leads to the same place. */
		dray_iterator_copy(&copy, &other);
		dray_iterator_next(&copy);
		DRAY_ITERATOR_NEXT(&it);
		if (dray_iterator_more(&it))
			assert_ptr_equal(copy.data, it.data);
		index++;
	} while (walk_on(view, position));
	assert_false(dray_iterator_more(&it));
	dray_iterator_reset(&it);
	assert_ptr_equal(it.data, view->data);
	assert_int_equal(it.index, 0);
}

FACT(random_views_are_walked_in_c_order)
{
	static unsigned char memory[1 << 16];
	struct dice dice = { 4711 };
	struct dray_view view;
	int64_t shape[8];

	for (int i = 0; i < 3000; i++) {
		int ndim = random_shape(&dice, shape);

		if (random_view(&dice, &view, memory, sizeof(memory), ndim,
				shape, 1 + (uint32_t)roll(&dice, 8)))
			walk(&view);
	}
}

FACT(one_element_without_axes)
{
	struct dray_view view = make(0, NULL);
	struct dray_iterator it;

	walk(&view);
	assert_works(dray_iterator_init(&it, &view));
	assert_true(it.contiguous);
	assert_works(dray_iterator_go(&it, NULL));
}

FACT(only_c_order_without_gaps_is_contiguous)
{
	static const struct {
		struct dray_index index[2];
		int contiguous;
	} cases[] = {
		{ { DRAY_ALL, DRAY_ALL }, 1 },
		{ { DRAY_SLICE(1, 3, 1), DRAY_ALL }, 1 },
		{ { DRAY_ALL, DRAY_SLICE(0, 5, 1) }, 0 },
		{ { DRAY_ALL, DRAY_STEP(-1) }, 0 },
		{ { DRAY_STEP(2), DRAY_ALL }, 0 },
		{ { DRAY_SLICE(2, 3, 1), DRAY_SLICE(1, 3, 1) }, 1 },
	};
	struct dray_view whole = make(2, DIMS(4, 6)), view;
	struct dray_iterator it;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_works(dray_view_index(&whole, cases[i].index, 2, &view));
		assert_works(dray_iterator_init(&it, &view));
		assert_int_equal(it.contiguous, cases[i].contiguous);
	}
}

FACT(a_view_without_elements_has_no_steps)
{
	static const int64_t wide[] = { INT64_MAX, 0, INT64_MAX };
	struct dray_iterator it;
	struct dray_view view;
	int axis = 2;

	assert_works(dray_view_init(&view, NULL, u1, 3, wide, wide));
	assert_works(dray_iterator_init(&it, &view));
	assert_false(dray_iterator_more(&it));
	assert_int_equal(it.size, 0);
	check_coordinates(&it, DIMS(0, 0, 0), 3);
	assert_fails(dray_iterator_go_flat(&it, 0), -ERANGE,
		     "index 0 is out of bounds for size 0");
	assert_fails(dray_iterator_go(&it, DIMS(0, 0, 0)), -ERANGE,
		     "index 0 is out of bounds for axis 1 with size 0");
	assert_works(dray_iterator_init_lines(&it, &view, &axis));
	assert_false(dray_iterator_more(&it));
}

FACT(going_outside_is_refused_and_moves_nothing)
{
	static const struct {
		int64_t coordinates[2];
		const char *sentence;
	} cases[] = {
		{ { 4, 0 }, "index 4 is out of bounds for axis 0 with size 4" },
		{ { 3, 6 }, "index 6 is out of bounds for axis 1 with size 6" },
		{ { -1, 0 },
		  "index -1 is out of bounds for axis 0 with size 4" },
		{ { 0, INT64_MIN }, "is out of bounds for axis 1 with size 6" },
	};
	struct dray_view view = make(2, DIMS(4, 6));
	struct dray_iterator it;

	assert_works(dray_iterator_init(&it, &view));
	assert_works(dray_iterator_go_flat(&it, 9));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_fails(dray_iterator_go(&it, cases[i].coordinates),
			     -ERANGE, cases[i].sentence);
		assert_int_equal(it.index, 9);
		assert_ptr_equal(it.data, &numbers[9]);
	}
	assert_fails(dray_iterator_go_flat(&it, 24), -ERANGE,
		     "index 24 is out of bounds for size 24");
	assert_fails(dray_iterator_go_flat(&it, -1), -ERANGE, "index -1 is");
	assert_int_equal(it.index, 9);
}

/* The start of each line along @axis, in C order of the others. */
static void walk_lines(const struct dray_view *view, int axis)
{
	int64_t position[DRAY_MAX_NDIM] = { 0 };
	struct dray_view starts;
	struct dray_iterator it, other;
	int64_t index = 0;
	int given = axis;

	dray_view_copy(&starts, view);
	starts.shape[axis] = 1;
	assert_works(dray_iterator_init_lines(&it, view, &given));
	assert_works(dray_iterator_init_lines(&other, view, &given));
	assert_int_equal(given, axis);
	assert_int_equal(it.size, dray_view_size(&starts));
	do {
		assert_true(dray_iterator_more(&it));
		assert_ptr_equal(it.data, walk_at(view, position));
		check_coordinates(&it, position, view->ndim);
		assert_works(dray_iterator_go_flat(&other, index++));
		assert_ptr_equal(other.data, it.data);
		assert_works(dray_iterator_go(&other, position));
		assert_ptr_equal(other.data, it.data);
		dray_iterator_next(&it);
	} while (walk_on(&starts, position));
	assert_false(dray_iterator_more(&it));
}

FACT(lines_leave_one_axis_out)
{
	static unsigned char memory[1 << 16];
	struct dice dice = { 815 };
	struct dray_view view;
	int64_t shape[8];

	for (int i = 0; i < 3000; i++) {
		int ndim = random_shape(&dice, shape);

		if (random_view(&dice, &view, memory, sizeof(memory), ndim,
				shape, 1 + (uint32_t)roll(&dice, 8)) &&
		    ndim)
			walk_lines(&view, (int)roll(&dice, (uint64_t)ndim));
	}
}

FACT(the_axis_of_the_smallest_stride_is_found)
{
	static const struct {
		int64_t strides[3];
		int axis;
	} cases[] = {
		{ { 60, 12, 2 }, 2 }, { { 2, 8, 40 }, 0 },
		{ { 12, 2, 60 }, 1 }, { { 0, 4, 2 }, 2 },
		{ { 40, -2, 8 }, 2 }, { { 0, 0, 0 }, 0 },
		{ { 2, 2, 2 }, 0 },
	};
	struct dray_view view = make(3, DIMS(2, 2, 2));
	struct dray_iterator it;
	int axis;

	view.data = numbers + 20;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memcpy(view.strides, cases[i].strides, sizeof(int64_t[3]));
		axis = -1;
		assert_works(dray_iterator_init_lines(&it, &view, &axis));
		assert_int_equal(axis, cases[i].axis);
		assert_int_equal(it.size, 4);
	}
}

FACT(bad_views_and_axes_are_refused)
{
	struct dray_view view = make(2, DIMS(4, 6)), none = make(0, NULL);
	struct dray_iterator it;
	int axis = 2;

	assert_fails(dray_iterator_init_lines(&it, &view, &axis), -EINVAL,
		     "axis 2 is out of bounds for a view of 2 axes");
	assert_int_equal(axis, 2);
	axis = -1;
	assert_fails(dray_iterator_init_lines(&it, &none, &axis), -EINVAL,
		     "a view of 0 axes");
	view.shape[1] = -3;
	assert_fails(dray_iterator_init(&it, &view), -EINVAL,
		     "axis 1 of the view has -3 elements");
	view.ndim = 65;
	assert_fails(dray_iterator_init(&it, &view), -EINVAL,
		     "the view has 65 axes, 0 to 64 are possible");
	view.ndim = 2;
	view.shape[0] = view.shape[1] = INT64_C(1) << 40;
	assert_fails(dray_iterator_init(&it, &view), -EOVERFLOW, "63 bits");
}

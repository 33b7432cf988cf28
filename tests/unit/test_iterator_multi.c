// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Broadcasting, and the iterator over views that are broadcast. */
#include <dray/array.h>

#include "random_view.h"

struct shape {
	int ndim;
	int64_t extents[4];
};

static unsigned char memory[1 << 16];

static void make(struct dray_view *view, const struct shape *shape)
{
	assert_works(dray_view_init(view, memory, u2, shape->ndim,
				    shape->extents, NULL));
}

FACT(shapes_are_broadcast_from_the_last_axis)
{
	static const struct {
		int count;
		struct shape of[3], result;
	} cases[] = {
		{ 1, { { 0, { 0 } } }, { 0, { 0 } } },
		{ 1, { { 2, { 3, 4 } } }, { 2, { 3, 4 } } },
		{ 2, { { 1, { 4 } }, { 2, { 3, 4 } } }, { 2, { 3, 4 } } },
		{ 2, { { 2, { 3, 1 } }, { 1, { 4 } } }, { 2, { 3, 4 } } },
		{ 3,
		  { { 3, { 8, 1, 6 } }, { 2, { 7, 1 } }, { 0, { 0 } } },
		  { 3, { 8, 7, 6 } } },
		{ 2, { { 1, { 0 } }, { 2, { 3, 1 } } }, { 2, { 3, 0 } } },
		{ 2, { { 1, { 1 } }, { 1, { 0 } } }, { 1, { 0 } } },
		{ 3,
		  { { 1, { 1 } }, { 1, { 1 } }, { 2, { 1, 1 } } },
		  { 2, { 1, 1 } } },
	};
	const struct dray_view *views[3];
	struct dray_view of[3];
	int64_t shape[DRAY_MAX_NDIM];
	int32_t ndim;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int o = 0; o < cases[i].count; o++) {
			make(&of[o], &cases[i].of[o]);
			views[o] = &of[o];
		}
		assert_works(dray_broadcast_shape(views, cases[i].count, &ndim,
						  shape));
		assert_int_equal(ndim, cases[i].result.ndim);
		for (int k = 0; k < ndim; k++)
			assert_int_equal(shape[k], cases[i].result.extents[k]);
	}
}

/* The first part of each sentence is NumPy's. */
FACT(shapes_that_differ_are_named)
{
	static const struct {
		struct shape of[3];
		const char *sentence;
	} cases[] = {
		{ { { 1, { 3 } }, { 1, { 4 } }, { 0, { 0 } } },
		  "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between arg 0 with shape (3,) and arg 1 with shape (4,): axis 0 has 3 and 4 elements" },
		{ { { 2, { 2, 1 } }, { 3, { 5, 2, 6 } }, { 1, { 4 } } },
		  "Mismatch is between arg 1 with shape (5,2,6) and arg 2 with shape (4,): axis 2 has 6 and 4" },
		{ { { 1, { 0 } }, { 0, { 0 } }, { 1, { 2 } } },
		  "Mismatch is between arg 0 with shape (0,) and arg 2 with shape (2,): axis 0 has 0 and 2" },
	};
	const struct dray_view *views[3];
	struct dray_view of[3];
	int64_t shape[DRAY_MAX_NDIM];
	struct dray_multi it;
	int32_t ndim = 77;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int o = 0; o < 3; o++) {
			make(&of[o], &cases[i].of[o]);
			views[o] = &of[o];
		}
		assert_fails(dray_broadcast_shape(views, 3, &ndim, shape),
			     -EINVAL, cases[i].sentence);
		assert_int_equal(ndim, 77);
		assert_fails(dray_multi_init(&it, views, 3), -EINVAL,
			     cases[i].sentence);
	}
}

FACT(a_long_shape_is_cut_in_sentences)
{
	struct dray_view many = { .ndim = 64 }, one = { .ndim = 1 };
	const struct dray_view *views[] = { &many, &one };
	int64_t shape[DRAY_MAX_NDIM];
	int32_t ndim;

	for (int i = 0; i < 64; i++)
		many.shape[i] = 1000000;
	one.shape[0] = 2;
	assert_fails(dray_broadcast_shape(views, 2, &ndim, shape), -EINVAL,
		     ",1000000,...) and arg 1 with shape (2,)");
	assert_fails(dray_broadcast_shape(views, 1, &ndim, shape), -EOVERFLOW,
		     "broadcast dimensions too large");
}

FACT(bad_operands_are_refused)
{
	struct dray_view good = { .ndim = 1, .shape = { 3 } };
	struct dray_view deep = { .ndim = 65 };
	struct dray_view less = { .ndim = 2, .shape = { 2, -1 } };
	const struct dray_view *views[9] = { &good, &good, &good, &good, &good,
					     &good, &good, &good, &good };
	int64_t shape[DRAY_MAX_NDIM];
	struct dray_multi it;
	int32_t ndim;

	assert_fails(dray_broadcast_shape(views, 9, &ndim, shape), -EINVAL,
		     "9 operands were given, 1 to 8 are possible");
	assert_fails(dray_broadcast_shape(views, 0, &ndim, shape), -EINVAL,
		     "0 operands were given");
	views[1] = &deep;
	assert_fails(dray_broadcast_shape(views, 2, &ndim, shape), -EINVAL,
		     "operand 1 has 65 axes, 0 to 64 are possible");
	views[1] = &less;
	assert_fails(dray_broadcast_shape(views, 2, &ndim, shape), -EINVAL,
		     "axis 1 of operand 1 has -1 elements");
	views[1] = NULL;
	assert_fails(dray_broadcast_shape(views, 2, &ndim, shape), -EINVAL,
		     "operand 1 is NULL");
	/* Without a type it has a shape, but no elements. */
	assert_works(dray_broadcast_shape(views, 1, &ndim, shape));
	assert_int_equal(dray_multi_init(&it, views, 1), -EINVAL);
}

/* Walks a broadcast beside dray_view_broadcast() of each operand. */
static void walk(const struct dray_view *const *views, int count)
{
	struct dray_view wide[DRAY_MAX_OPERANDS];
	int64_t position[DRAY_MAX_NDIM] = { 0 };
	struct dray_multi it, other;

	assert_works(dray_multi_init(&it, views, count));
	assert_works(dray_multi_init(&other, views, count));
	for (int o = 0; o < count; o++)
		assert_works(dray_view_broadcast(views[o], it.ndim, it.shape,
						 &wide[o]));
	assert_int_equal(it.size, dray_view_size(&wide[0]));
	for (int64_t index = 0; index < it.size; index++) {
		assert_true(dray_multi_more(&it));
		assert_int_equal(it.index, index);
		if (index & 1)
			assert_works(dray_multi_go(&other, position));
		else
			assert_works(dray_multi_go_flat(&other, index));
		assert_int_equal(other.index, index);
		for (int o = 0; o < count; o++) {
			assert_ptr_equal(it.data[o],
					 walk_at(&wide[o], position));
			assert_ptr_equal(other.data[o], it.data[o]);
		}
		for (int i = 0; i < it.ndim; i++) {
			assert_int_equal(it.axes[i].coordinate, position[i]);
			assert_int_equal(other.axes[i].coordinate, position[i]);
		}
		dray_multi_next(&it);
		walk_on(&wide[0], position);
	}
	assert_false(dray_multi_more(&it));
	dray_multi_reset(&it);
	for (int o = 0; o < count; o++)
		assert_ptr_equal(it.data[o], views[o]->data);
}

FACT(random_broadcasts_are_walked_in_c_order)
{
	struct dice dice = { 31 };
	struct dray_view of[DRAY_MAX_OPERANDS];
	const struct dray_view *views[DRAY_MAX_OPERANDS];

	for (int i = 0; i < 2000; i++) {
		int count = 1 + (int)roll(&dice, DRAY_MAX_OPERANDS);
		int64_t whole[8], shape[8];
		int ndim = random_shape(&dice, whole);
		bool fits = true;

		for (int o = 0; o < count; o++) {
			int left_out = (int)roll(&dice, (uint64_t)ndim + 1);

			for (int k = left_out; k < ndim; k++)
				shape[k - left_out] =
					roll(&dice, 3) ? whole[k] : 1;
			views[o] = &of[o];
			fits = fits &&
			       random_view(&dice, &of[o], memory,
					   sizeof(memory), ndim - left_out,
					   shape, 1 + (uint32_t)roll(&dice, 8));
		}
		if (fits)
			walk(views, count);
	}
}

FACT(a_broadcast_without_elements_has_no_steps)
{
	struct dray_view empty = { .dtype = DRAY_UINT8,
				   .ndim = 2,
				   .shape = { 0, INT64_MAX },
				   .strides = { INT64_MAX, INT64_MAX } };
	struct dray_view one = { .dtype = DRAY_UINT8, .data = memory };
	const struct dray_view *views[] = { &empty, &one };
	struct dray_multi it;

	assert_works(dray_multi_init(&it, views, 2));
	assert_int_equal(it.size, 0);
	assert_false(dray_multi_more(&it));
	assert_fails(dray_multi_go_flat(&it, 0), -ERANGE,
		     "index 0 is out of bounds for size 0");
	assert_fails(dray_multi_go(&it, DIMS(0, 0)), -ERANGE,
		     "index 0 is out of bounds for axis 0 with size 0");
}

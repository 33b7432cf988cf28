// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The order of iterators and their merged axes.  The tables have the expectations
 * of NumPy's test_nditer.py.
 */
#include <dray/array.h>

#include "nditer.h"
#include "random_view.h"

static const struct {
	int ndim;
	int64_t shape[5];
} shapes[] = {
	{ 1, { 5 } },	       { 2, { 3, 4 } },		 { 3, { 2, 3, 4 } },
	{ 4, { 2, 3, 4, 3 } }, { 5, { 2, 3, 2, 2, 3 } },
};

/* Numbers in C order, axes reversed by the bits of @back, then transposed. */
static struct dray_view turn(int shape, unsigned int back, int transposed)
{
	struct dray_index index[5];
	struct dray_view view;
	int ndim = shapes[shape].ndim;

	assert_works(dray_view_init(&view, numbers, DRAY_INT32, ndim,
				    shapes[shape].shape, NULL));
	for (int i = 0; i < ndim; i++)
		index[i] = back >> i & 1 ? DRAY_STEP(-1) : DRAY_ALL;
	assert_works(dray_view_index(&view, index, (size_t)ndim, &view));
	if (transposed == 1)
		assert_works(dray_view_transpose(&view, NULL, &view));
	if (transposed == 2 && ndim > 2)
		assert_works(dray_view_transpose(
			&view, (const int[]){ 1, 0, 2, 3, 4 }, &view));
	return view;
}

/* Runs @check with every direction of axes, in three orders of them. */
static void each_turn(void (*check)(const struct dray_view *view))
{
	count_up();
	for (int shape = 0; shape < 5; shape++) {
		for (unsigned int back = 0; back < 1u << shapes[shape].ndim;
		     back++) {
			for (int transposed = 0; transposed < 3; transposed++) {
				struct dray_view view =
					turn(shape, back, transposed);

				check(&view);
			}
		}
	}
}

static void goes_up(const struct dray_view *view)
{
	struct dray_nditer *iter = iterate(view, 1, NULL);
	char **data = dray_nditer_data(iter);
	int32_t expected = 0;

	assert_int_equal(dray_nditer_ndim(iter), 1);
	do {
		assert_int_equal(int_at(data[0]), expected);
		assert_int_equal(dray_nditer_position(iter), expected);
		expected++;
	} while (dray_nditer_next(iter));
	assert_int_equal(expected, dray_nditer_size(iter));
	assert_works(dray_nditer_destroy(iter));
}

BRIEF(FACT(order_k_goes_up_in_memory), each_turn(goes_up));

/* Walks @like in C order beside an iterator of @order over @view. */
static void follows(const struct dray_view *view, char order,
		    const struct dray_view *like)
{
	struct dray_nditer *iter = iterate(
		view, 1,
		&(struct dray_nditer_options){
			.order = order,
			.flags = DRAY_NDITER_MULTI_INDEX |
				 (order == 'F' ? DRAY_NDITER_F_INDEX
					       : DRAY_NDITER_C_INDEX) });
	int64_t position[DRAY_MAX_NDIM] = { 0 }, found[DRAY_MAX_NDIM];
	char **data = dray_nditer_data(iter);
	int64_t index = 0;
	bool more;

	do {
		assert_ptr_equal(data[0], walk_at(like, position));
		if (order != 'A')
			assert_int_equal(dray_nditer_index(iter), index);
		assert_works(dray_nditer_multi_index(iter, found));
		assert_ptr_equal(data[0], walk_at(view, found));
		index++;
		more = walk_on(like, position);
		assert_int_equal(dray_nditer_next(iter), more);
	} while (more);
	assert_int_equal(index, dray_nditer_size(iter));
	assert_works(dray_nditer_destroy(iter));
}

static void forced(const struct dray_view *view)
{
	struct dray_view reversed;

	assert_works(dray_view_transpose(view, NULL, &reversed));
	follows(view, 'C', view);
	follows(view, 'F', &reversed);
	follows(view, 'A', view->flags & DRAY_F_CONTIGUOUS ? &reversed : view);
}

BRIEF(FACT(forced_orders_follow_the_axes), each_turn(forced));

FACT(indices_tell_where_elements_were)
{
	static const struct {
		struct form form;
		int indices[6][4]; /* C, F, and coordinates */
	} cases[] = {
		{ { 2, { 2, 3 }, { 3, 1 }, 0 },
		  { { 0, 0, 0, 0 },
		    { 1, 2, 0, 1 },
		    { 2, 4, 0, 2 },
		    { 3, 1, 1, 0 },
		    { 4, 3, 1, 1 },
		    { 5, 5, 1, 2 } } },
		{ { 2, { 2, 3 }, { 1, 2 }, 0 },
		  { { 0, 0, 0, 0 },
		    { 3, 1, 1, 0 },
		    { 1, 2, 0, 1 },
		    { 4, 3, 1, 1 },
		    { 2, 4, 0, 2 },
		    { 5, 5, 1, 2 } } },
		{ { 2, { 2, 3 }, { -3, 1 }, 3 },
		  { { 3, 1, 1, 0 },
		    { 4, 3, 1, 1 },
		    { 5, 5, 1, 2 },
		    { 0, 0, 0, 0 },
		    { 1, 2, 0, 1 },
		    { 2, 4, 0, 2 } } },
		{ { 2, { 2, 3 }, { 3, -1 }, 2 },
		  { { 2, 4, 0, 2 },
		    { 1, 2, 0, 1 },
		    { 0, 0, 0, 0 },
		    { 5, 5, 1, 2 },
		    { 4, 3, 1, 1 },
		    { 3, 1, 1, 0 } } },
		{ { 2, { 2, 3 }, { -1, 2 }, 1 },
		  { { 3, 1, 1, 0 },
		    { 0, 0, 0, 0 },
		    { 4, 3, 1, 1 },
		    { 1, 2, 0, 1 },
		    { 5, 5, 1, 2 },
		    { 2, 4, 0, 2 } } },
		{ { 2, { 2, 3 }, { -1, -2 }, 5 },
		  { { 5, 5, 1, 2 },
		    { 2, 4, 0, 2 },
		    { 4, 3, 1, 1 },
		    { 1, 2, 0, 1 },
		    { 3, 1, 1, 0 },
		    { 0, 0, 0, 0 } } },
	};

	for (size_t i = 0; i < 2 * LENGTH(cases); i++) {
		struct dray_view view = view_of(&cases[i / 2].form);
		struct dray_nditer *iter = iterate(
			&view, 1,
			&(struct dray_nditer_options){
				.flags = DRAY_NDITER_MULTI_INDEX |
					 (i & 1 ? DRAY_NDITER_F_INDEX
						: DRAY_NDITER_C_INDEX) });
		const int(*expected)[4] = cases[i / 2].indices;
		int64_t at[2];

		do {
			assert_works(dray_nditer_multi_index(iter, at));
			assert_int_equal(dray_nditer_index(iter),
					 (*expected)[i & 1]);
			assert_int_equal(at[0], (*expected)[2]);
			assert_int_equal(at[1], (*expected)[3]);
			expected++;
		} while (dray_nditer_next(iter));
		assert_works(dray_nditer_destroy(iter));
	}
}

FACT(axes_merge_where_they_chain)
{
	static const struct {
		struct form form;
		uint32_t flags;
		char order;
		int ndim;
		int64_t inner;
	} cases[] = {
		{ { 3, { 2, 3, 3 }, { 12, 4, 1 }, 0 }, 0, 'K', 2, 3 },
		{ { 3, { 2, 2, 4 }, { 12, 4, 1 }, 0 }, 0, 'K', 2, 8 },
		{ { 3, { 1, 3, 4 }, { 12, 4, 1 }, 0 }, 0, 'K', 1, 12 },
		{ { 6, { 1, 2, 1, 3, 4, 1 }, { 0 }, 0 }, 0, 'K', 1, 24 },
		{ { 3, { 2, 3, 4 }, { 0 }, 0 },
		  DRAY_NDITER_MULTI_INDEX,
		  'K',
		  3,
		  4 },
		{ { 3, { 2, 3, 4 }, { 0 }, 0 },
		  DRAY_NDITER_C_INDEX,
		  'K',
		  1,
		  24 },
		{ { 3, { 3, 2, 4 }, { 4, 12, 1 }, 0 },
		  DRAY_NDITER_C_INDEX,
		  'K',
		  3,
		  4 },
		{ { 3, { 4, 3, 2 }, { 1, 4, 12 }, 0 },
		  DRAY_NDITER_C_INDEX,
		  'K',
		  3,
		  4 },
		{ { 3, { 4, 3, 2 }, { 1, 4, 12 }, 0 },
		  DRAY_NDITER_F_INDEX,
		  'K',
		  1,
		  24 },
		{ { 3, { 2, 3, 4 }, { 0 }, 0 }, 0, 'C', 1, 24 },
		{ { 3, { 4, 3, 2 }, { 1, 4, 12 }, 0 }, 0, 'C', 3, 2 },
		{ { 3, { 2, 3, 4 }, { 0 }, 0 }, 0, 'F', 3, 2 },
		{ { 3, { 4, 3, 2 }, { 1, 4, 12 }, 0 }, 0, 'F', 1, 24 },
		{ { 3, { 2, 3, 4 }, { 0 }, 0 }, 0, 'A', 1, 24 },
		{ { 3, { 4, 3, 2 }, { 1, 4, 12 }, 0 }, 0, 'A', 1, 24 },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct dray_view view = view_of(&cases[i].form);
		struct dray_nditer *iter =
			iterate(&view, 1,
				&(struct dray_nditer_options){
					.flags = cases[i].flags,
					.order = cases[i].order });
		int64_t shape[DRAY_MAX_NDIM];

		assert_int_equal(dray_nditer_ndim(iter), cases[i].ndim);
		dray_nditer_shape(iter, shape);
		assert_int_equal(cases[i].flags & DRAY_NDITER_MULTI_INDEX
					 ? shape[2]
					 : shape[0],
				 cases[i].inner);
		assert_works(dray_nditer_destroy(iter));
	}
}

FACT(a_direction_may_be_kept)
{
	struct dray_view view = view_of(&(struct form){ 1, { 4 }, { -1 }, 3 });
	struct dray_nditer *iter =
		iterate(&view, 1,
			&(struct dray_nditer_options){
				.flags = DRAY_NDITER_KEEP_DIRECTION });

	assert_ptr_equal(dray_nditer_data(iter)[0], &numbers[3]);
	assert_true(dray_nditer_next(iter));
	assert_ptr_equal(dray_nditer_data(iter)[0], &numbers[2]);
	assert_works(dray_nditer_destroy(iter));
}

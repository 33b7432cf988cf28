// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Jumps, ranges, changes of axes, and copies of iterators. */
#include <dray/array.h>

#include "nditer.h"

static const struct form box = { 3, { 2, 3, 4 }, { 12, 4, 1 }, 0 };
static const struct form back = { 3, { 2, 3, 4 }, { -12, 4, 1 }, 12 };

static struct dray_nditer *start(const struct form *form, uint32_t flags,
				 char order, int64_t size)
{
	struct dray_view view = view_of(form);

	count_up();
	return iterate(&view, 1,
		       &(struct dray_nditer_options){
			       .flags = flags,
			       .order = order,
			       .buffer_size = size,
			       .operand_flags = (const uint32_t[]){
				       DRAY_OPERAND_READ |
				       (flags & DRAY_NDITER_BUFFERED
						? DRAY_OPERAND_CONTIGUOUS
						: 0) } });
}

static int32_t value(struct dray_nditer *iter)
{
	return int_at(dray_nditer_data(iter)[0]);
}

/* Goes to element @index of C order in both ways. */
static void lead_to(struct dray_nditer *iter, const struct dray_view *view,
		    int64_t index)
{
	int64_t at[] = { index / 12, index / 4 % 3, index % 4 }, found[3];
	char *wanted = view->data;

	for (int i = 0; i < 3; i++)
		wanted += at[i] * view->strides[i];
	assert_works(dray_nditer_go(iter, at));
	assert_ptr_equal(dray_nditer_data(iter)[0], wanted);
	assert_int_equal(dray_nditer_index(iter), index);
	assert_works(dray_nditer_reset(iter));
	assert_works(dray_nditer_go_index(iter, index));
	assert_ptr_equal(dray_nditer_data(iter)[0], wanted);
	assert_works(dray_nditer_multi_index(iter, found));
	assert_memory_equal(found, at, sizeof(at));
}

FACT(coordinates_and_indices_lead_to_their_element)
{
	static const struct {
		const struct form *form;
		char order;
	} cases[] = { { &box, 'C' },  { &box, 'F' },  { &box, 'K' },
		      { &back, 'K' }, { &back, 'C' }, { &back, 'F' } };

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct dray_view view = view_of(cases[i].form);
		struct dray_nditer *iter =
			start(cases[i].form,
			      DRAY_NDITER_MULTI_INDEX | DRAY_NDITER_C_INDEX,
			      cases[i].order, 0);
		for (int64_t index = 0; index < 24; index++)
			lead_to(iter, &view, index);
		assert_works(dray_nditer_destroy(iter));
	}
}

FACT(positions_lead_on_from_there)
{
	static const uint32_t flags[] = { 0, DRAY_NDITER_BUFFERED,
					  DRAY_NDITER_RANGED,
					  DRAY_NDITER_BUFFERED |
						  DRAY_NDITER_RANGED };

	for (size_t i = 0; i < LENGTH(flags); i++) {
		struct dray_nditer *iter = start(&box, flags[i], 'F', 5);
		int32_t expected[24];
		int count = 0;

		do {
			expected[count++] = value(iter);
		} while (dray_nditer_next(iter));
		assert_int_equal(count, 24);
		for (int from = 23; from >= 0; from--) {
			int64_t position = from;

			assert_works(dray_nditer_go_position(iter, from));
			do {
				assert_int_equal(dray_nditer_position(iter),
						 position);
				assert_int_equal(value(iter),
						 expected[position]);
				position++;
			} while (dray_nditer_next(iter));
			assert_int_equal(position, 24);
		}
		assert_works(dray_nditer_destroy(iter));
	}
}

FACT(jumps_that_lead_nowhere_are_refused)
{
	const uint32_t all = DRAY_NDITER_MULTI_INDEX | DRAY_NDITER_C_INDEX |
			     DRAY_NDITER_RANGED;
	struct dray_nditer *iter = start(&box, all, 'K', 0);
	int64_t first, last;

	assert_works(dray_nditer_go_index(iter, 7));
	assert_fails(dray_nditer_go(iter, DIMS(0, 3, 0)), -ERANGE,
		     "index 3 is out of bounds for axis 1 with size 3");
	assert_fails(dray_nditer_go(iter, DIMS(-1, 0, 0)), -ERANGE,
		     "index -1 is out of bounds for axis 0 with size 2");
	assert_fails(dray_nditer_go_index(iter, 24), -ERANGE,
		     "index 24 is out of bounds for size 24");
	assert_fails(dray_nditer_go_position(iter, -1), -ERANGE,
		     "position -1 is outside the iteration range [0, 24)");
	assert_fails(dray_nditer_reset_range(iter, 3, 25), -ERANGE,
		     "Out-of-bounds range [3, 25) of an iterator of 24");
	assert_fails(dray_nditer_reset_range(iter, 5, 4), -EINVAL,
		     "Invalid range [5, 4)");
	assert_int_equal(value(iter), 7);
	assert_works(dray_nditer_reset_range(iter, 3, 6));
	dray_nditer_range(iter, &first, &last);
	assert_int_equal(first, 3);
	assert_int_equal(last, 6);
	assert_fails(dray_nditer_go_index(iter, 6), -ERANGE,
		     "position 6 is outside the iteration range [3, 6)");
	assert_fails(dray_nditer_go(iter, DIMS(0, 0, 2)), -ERANGE,
		     "position 2 is outside");
	assert_works(dray_nditer_destroy(iter));
	iter = start(&box, DRAY_NDITER_EXTERNAL_LOOP, 'K', 0);
	assert_fails(dray_nditer_go(iter, DIMS(0, 0, 0)), -EINVAL,
		     "does not track a multi-index");
	assert_fails(dray_nditer_go_index(iter, 0), -EINVAL,
		     "does not track an index");
	assert_fails(dray_nditer_go_position(iter, 0), -EINVAL,
		     "EXTERNAL_LOOP cannot jump to a position");
	assert_fails(dray_nditer_multi_index(iter, &first), -EINVAL,
		     "not tracking a multi-index");
	assert_fails(dray_nditer_reset_range(iter, 0, 1), -EINVAL,
		     "create it with the flag RANGED");
	assert_fails(dray_nditer_remove_axis(iter, 0), -EINVAL,
		     "only be removed if a multi-index is being tracked");
	assert_works(dray_nditer_destroy(iter));
	iter = start(&box, DRAY_NDITER_BUFFERED | DRAY_NDITER_MULTI_INDEX, 'K',
		     0);
	assert_fails(dray_nditer_go(iter, DIMS(0, 0, 0)), -EINVAL,
		     "which is buffered cannot jump to a multi-index");
	assert_fails(dray_nditer_remove_axis(iter, 0), -EINVAL,
		     "or with buffers");
	assert_works(dray_nditer_destroy(iter));
	iter = start(&box, DRAY_NDITER_MULTI_INDEX, 'K', 0);
	assert_fails(dray_nditer_remove_axis(iter, 3), -EINVAL,
		     "axis 3 is out of bounds for an iterator of 3 axes");
	assert_fails(dray_nditer_enable_external_loop(iter), -EINVAL,
		     "EXTERNAL_LOOP cannot be used if an index");
	assert_fails(dray_nditer_axis_strides(iter, 3, &first), -EINVAL,
		     "axis 3 is out of bounds");
	assert_works(dray_nditer_destroy(iter));
	iter = start(&box, DRAY_NDITER_RANGED, 'K', 0);
	assert_fails(dray_nditer_enable_external_loop(iter), -EINVAL,
		     "cannot be used with ranged iteration unless");
	assert_works(dray_nditer_destroy(iter));
}

FACT(ranges_have_their_elements)
{
	static const int64_t ranges[][2] = { { 0, 24 }, { 1, 2 },  { 3, 24 },
					     { 5, 5 },	{ 0, 20 }, { 23, 24 } };

	for (size_t i = 0; i < 2 * LENGTH(ranges); i++) {
		const int64_t *range = ranges[i / 2];
		struct dray_nditer *iter = start(
			&box,
			DRAY_NDITER_RANGED | (i & 1 ? DRAY_NDITER_BUFFERED : 0),
			'C', 5);
		int64_t at = range[0];

		assert_works(dray_nditer_reset_range(iter, range[0], range[1]));
		for (; at < range[1]; at++) {
			assert_int_equal(value(iter), at);
			assert_int_equal(dray_nditer_next(iter),
					 at + 1 < range[1]);
		}
		assert_works(dray_nditer_destroy(iter));
	}
}

FACT(an_axis_that_is_removed_leaves_its_first_element)
{
	static const struct {
		const struct form *form;
		int axis;
		int32_t expected[12];
		int count;
	} cases[] = {
		{ &box, 1, { 0, 1, 2, 3, 12, 13, 14, 15 }, 8 },
		{ &back,
		  0,
		  { 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23 },
		  12 },
		{ &box, 2, { 0, 4, 8, 12, 16, 20 }, 6 },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct dray_nditer *iter =
			start(cases[i].form, DRAY_NDITER_MULTI_INDEX, 'K', 0);
		int at = 0;

		assert_works(dray_nditer_remove_axis(iter, cases[i].axis));
		assert_int_equal(dray_nditer_size(iter), cases[i].count);
		do {
			assert_int_equal(value(iter), cases[i].expected[at]);
			at++;
		} while (dray_nditer_next(iter));
		assert_int_equal(at, cases[i].count);
		/* All of them, and one element is left. */
		assert_works(dray_nditer_remove_axis(iter, 1));
		assert_works(dray_nditer_remove_axis(iter, 0));
		assert_int_equal(dray_nditer_size(iter), 1);
		assert_false(dray_nditer_next(iter));
		assert_works(dray_nditer_destroy(iter));
	}
}

FACT(without_coordinates_axes_merge_into_one_loop)
{
	for (int buffered = 0; buffered < 2; buffered++) {
		struct dray_nditer *iter =
			start(&box,
			      DRAY_NDITER_MULTI_INDEX |
				      (buffered ? DRAY_NDITER_BUFFERED : 0),
			      'K', 0);
		int64_t shape[3], stride;

		assert_true(dray_nditer_next(iter));
		assert_int_equal(dray_nditer_ndim(iter), 3);
		assert_works(dray_nditer_remove_multi_index(iter));
		assert_false(dray_nditer_flags(iter) & DRAY_NDITER_MULTI_INDEX);
		assert_int_equal(dray_nditer_ndim(iter), 1);
		dray_nditer_shape(iter, shape);
		assert_int_equal(shape[0], 24);
		assert_int_equal(value(iter), 0);
		assert_works(dray_nditer_enable_external_loop(iter));
		assert_int_equal(*dray_nditer_count(iter), 24);
		assert_works(dray_nditer_axis_strides(iter, 0, &stride));
		assert_int_equal(stride, 4);
		assert_int_equal(dray_nditer_strides(iter)[0], 4);
		assert_false(dray_nditer_next(iter));
		assert_works(dray_nditer_destroy(iter));
	}
}

FACT(a_copy_goes_on_from_the_same_place)
{
	for (int i = 0; i < 48; i++) {
		struct dray_nditer *iter =
			start(&box, i & 1 ? DRAY_NDITER_BUFFERED : 0, 'F', 5);
		struct dray_nditer *copy;
		bool more;

		for (int steps = 0; steps < i / 2; steps++)
			assert_true(dray_nditer_next(iter));
		assert_works(dray_nditer_copy(iter, &copy));
		do {
			assert_int_equal(value(copy), value(iter));
			more = dray_nditer_next(iter);
			assert_int_equal(dray_nditer_next(copy), more);
		} while (more);
		assert_works(dray_nditer_destroy(copy));
		assert_works(dray_nditer_destroy(iter));
	}
}

FACT(other_memory_is_walked_the_same_way)
{
	for (uint32_t flags = 0; flags < 2; flags++) {
		struct dray_nditer *iter =
			start(&back, flags ? DRAY_NDITER_BUFFERED : 0, 'K', 5);
		char *other = (char *)&numbers[512];
		int32_t expected = 500;

		assert_works(dray_nditer_reset_data(iter, &other));
		do {
			assert_int_equal(value(iter), expected++);
		} while (dray_nditer_next(iter));
		assert_int_equal(expected, 524);
		assert_works(dray_nditer_destroy(iter));
	}
}

struct worker {
	struct dray_nditer *iter;
	int64_t start, end, sum;
};

static void *add(void *argument)
{
	struct worker *worker = argument;
	struct dray_nditer *iter = worker->iter;

	if (dray_nditer_reset_range(iter, worker->start, worker->end))
		return NULL;
	do {
		worker->sum += (int64_t)double_at(dray_nditer_data(iter)[0]);
	} while (dray_nditer_next(iter));
	return NULL;
}

FACT(threads_share_the_elements)
{
	struct dray_view view =
		view_of(&(struct form){ 2, { 25, 40 }, { 1, 25 }, 0 });
	struct worker workers[4];
	struct dray_nditer *iter;
	pthread_t threads[4];
	int64_t sum = 0;

	count_up();
	iter = iterate(
		&view, 1,
		&(struct dray_nditer_options){
			.flags = DRAY_NDITER_BUFFERED | DRAY_NDITER_RANGED,
			.casting = DRAY_CASTING_SAFE,
			.order = 'C',
			.buffer_size = 37,
			.dtypes = (const dray_dtype[]){ DRAY_FLOAT64 } });
	for (int i = 0; i < 4; i++) {
		workers[i] = (struct worker){ NULL, 250 * i, 250 * (i + 1), 0 };
		assert_works(dray_nditer_copy(iter, &workers[i].iter));
		assert_int_equal(
			pthread_create(&threads[i], NULL, add, &workers[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_works(dray_nditer_destroy(workers[i].iter));
		sum += workers[i].sum;
	}
	assert_works(dray_nditer_destroy(iter));
	assert_int_equal(sum, 999 * 1000 / 2);
}

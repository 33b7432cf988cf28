// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * usual: the short ways of usual views, indices and iterations have the results of
 * the long ones.  A long way is taken if one thing is unusual that makes no
 * difference: durations of as many bytes, integers of 32 bits, a type by name.
 */
#include <dray/array/index.h>
#include <dray/array/nditer.h>

#include <dray/array.h>

#include "node.h"
#include "random_view.h"

#define DURATION DRAY_DTYPE('m', DRAY_NATIVE_ORDER, 8)
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static unsigned char memory[65536], first[sizeof(memory)];

/* Mostly small numbers. */
static int64_t number(struct dice *dice)
{
	static const int64_t wild[] = {
		INT64_MAX,	  INT64_MIN, INT64_MAX / 2, INT64_MIN / 2,
		INT64_C(1) << 61, 1 << 20,   INT64_MAX / 8, -8,
	};

	return roll(dice, 30) ? (int64_t)roll(dice, 9) - 1
			      : wild[roll(dice, LENGTH(wild))];
}

/* A view, sometimes a bad one, of numbers and of durations. */
static bool make_views(struct dice *dice, struct dray_view *numbers,
		       struct dray_view *durations)
{
	int64_t shape[5];
	int ndim = random_shape(dice, shape);

	if (!random_view(dice, numbers, memory, sizeof(memory), ndim, shape, 8))
		return false;
	numbers->dtype = DRAY_FLOAT64;
	numbers->flags |= roll(dice, 8) ? 0 : DRAY_IMMUTABLE;
	if (!roll(dice, 4))
		numbers->flags &= ~DRAY_WRITE;
	if (!roll(dice, 50))
		numbers->flags |= 1u << roll(dice, 12);
	for (int i = 0; i < ndim; i++) {
		if (!roll(dice, 20))
			numbers->shape[i] = number(dice);
		if (!roll(dice, 20))
			numbers->strides[i] = number(dice);
	}
	dray_view_copy(durations, numbers);
	durations->dtype = DURATION;
	return true;
}

struct arguments {
	int op, ndim, axes[4], count;
	int64_t shape[4], offset;
	struct dray_index index[4];
};

static void make_arguments(struct dice *dice, const struct dray_view *view,
			   struct arguments *args)
{
	args->op = (int)roll(dice, 8);
	args->ndim = (int)roll(dice, 5);
	args->count = (int)roll(dice, 5);
	args->offset = number(dice);
	for (int i = 0; i < 4; i++) {
		args->axes[i] = (int)roll(dice, 6) - 2;
		args->shape[i] = i < view->ndim && roll(dice, 4)
					 ? view->shape[i]
					 : number(dice);
		args->index[i] =
			roll(dice, 3) ? DRAY_SLICE(number(dice), number(dice),
						   number(dice))
				      : DRAY_AT(number(dice));
		if (!roll(dice, 12))
			args->index[i] = DRAY_ELLIPSIS;
		if (!roll(dice, 3))
			args->index[i] = DRAY_STEP(roll(dice, 2) ? 2 : -1);
	}
	/* The same elements, often in one axis. */
	if (args->op == 2) {
		args->ndim = 1;
		args->shape[0] = dray_view_size(view);
	}
}

static int make(const struct dray_view *view, const struct arguments *args,
		struct dray_view *out)
{
	switch (args->op) {
	case 0:
		return dray_view_transpose(view, NULL, out);
	case 1:
		return dray_view_transpose(view, args->axes, out);
	case 2:
	case 3:
		return dray_view_reshape(
			view, args->ndim, args->shape,
			args->offset % 2 ? DRAY_ORDER_A : DRAY_ORDER_C, out);
	case 4:
		return dray_view_broadcast(view, args->ndim, args->shape, out);
	case 5:
		return dray_view_diagonal(view, args->offset, args->axes[0],
					  args->axes[1], out);
	case 6:
		return dray_view_ravel(view, DRAY_ORDER_C, out);
	default:
		return dray_view_index(view, args->index, (size_t)args->count,
				       out);
	}
}

static void assert_alike(const struct dray_view *a, const struct dray_view *b)
{
	size_t bytes = (size_t)a->ndim * sizeof(a->shape[0]);

	assert_ptr_equal(a->data, b->data);
	assert_int_equal(a->ndim, b->ndim);
	assert_int_equal(a->flags, b->flags);
	assert_memory_equal(a->shape, b->shape, bytes);
	assert_memory_equal(a->strides, b->strides, bytes);
}

FACT(usual_views_become_the_views_that_others_become)
{
	struct dice dice = { 20261127 };
	int made = 0, done = 0;

	while (done < rounds(100000)) {
		struct dray_view numbers, durations, of_numbers, of_durations;
		struct arguments args;
		char sentence[512];
		int ret;

		if (!make_views(&dice, &numbers, &durations))
			continue;
		done++;
		make_arguments(&dice, &numbers, &args);
		of_durations = durations;
		of_numbers = numbers;
		ret = make(&durations, &args, &of_durations);
		snprintf(sentence, sizeof(sentence), "%s", dray_last_error());
		assert_int_equal(make(&numbers, &args, &of_numbers), ret);
		if (ret)
			assert_string_equal(dray_last_error(), sentence);
		assert_alike(&of_numbers, &of_durations);
		/* A result may replace its own input. */
		assert_int_equal(make(&numbers, &args, &numbers), ret);
		assert_alike(&numbers, &of_numbers);
		made += !ret;
	}
	assert_true(made > done / 4);
}

/* A row of up to nine elements at any distance, in @room. */
static void make_row(struct dice *dice, struct dray_view *view, void *room,
		     dray_dtype dtype)
{
	int64_t count = (int64_t)roll(dice, 10);
	int64_t stride = dray_dtype_itemsize(dtype);

	stride *= (int64_t[]){ 1, 1, 1, 2, -1, 0 }[roll(dice, 6)];
	assert_works(dray_view_init(view, room, dtype, 1, &count, &stride));
}

struct rows {
	struct dray_view view, values, index, same; /* the same index */
	union {
		int64_t integers[32];
		unsigned char booleans[32];
	} by;
	int32_t narrow[32];
	int64_t numbers[64];
};

/* Makes a row, an index of it twice, and values that may overlap. */
static void make_rows(struct dice *dice, struct rows *rows, bool booleans)
{
	int64_t *at = rows->by.integers + 10, count, stride;
	uint64_t extent;

	make_row(dice, &rows->view, rows->numbers + 20, DRAY_INT64);
	make_row(dice, &rows->values, rows->numbers + (roll(dice, 2) ? 20 : 45),
		 DRAY_INT64);
	if (rows->values.shape[0] && !roll(dice, 6))
		rows->values.ndim = 0;
	for (int i = 0; i < 64; i++)
		rows->numbers[i] = 1000 + i;
	extent = (uint64_t)rows->view.shape[0] + !roll(dice, 6);
	extent += !extent;
	if (booleans) {
		for (int i = 0; i < 32; i++)
			rows->by.booleans[i] = (unsigned char)roll(dice, 2);
		make_row(dice, &rows->index, rows->by.booleans + 10, DRAY_BOOL);
		if (roll(dice, 4))
			rows->index.shape[0] = rows->view.shape[0];
		rows->same = rows->index;
		return;
	}
	for (int i = 0; i < 32; i++) {
		int64_t value = (int64_t)roll(dice, extent);

		if (!roll(dice, 40))
			value = -1 - (int64_t)roll(dice, 3);
		rows->by.integers[i] = value;
		rows->narrow[i] = (int32_t)value;
	}
	make_row(dice, &rows->index, at, DRAY_INT64);
	count = rows->index.shape[0];
	stride = rows->index.strides[0] / 2;
	assert_works(dray_view_init(&rows->same, rows->narrow + 10, DRAY_INT32,
				    1, &count, &stride));
	if (roll(dice, 2) && rows->values.shape[0] > 1)
		rows->values.shape[0] = count < 9 ? count : 9;
}

/* Reads or writes by an index; *out is the array of a read, or NULL. */
static int use(struct rows *rows, const struct dray_view *by, uint64_t op,
	       bool booleans, struct dray_array **out)
{
	/* An ellipsis makes no difference, but has no short way. */
	struct dray_index index[] = { DRAY_BY(by), DRAY_ELLIPSIS };
	size_t count = booleans && by == &rows->same ? 2 : 1;
	enum dray_index_mode mode = DRAY_INDEX_RAISE;

	*out = NULL;
	if (op == 0)
		return dray_index_get(&rows->view, index, count, out);
	if (op == 1 || booleans)
		return dray_index_set(&rows->view, index, count, &rows->values);
	mode = op > 3 ? DRAY_INDEX_WRAP : mode;
	if (op == 2 || op == 4)
		return dray_take(&rows->view, by, 0, mode, out);
	return dray_put(&rows->view, by, &rows->values, mode);
}

FACT(usual_indices_read_and_write_as_others_do)
{
	struct dice dice = { 20261128 };
	int right = 0, most = rounds(100000);

	for (int done = 0; done < most; done++) {
		bool booleans = roll(&dice, 2);
		uint64_t op = roll(&dice, 6);
		struct dray_array *one, *other;
		struct dray_view a, b;
		int64_t before[64], after[64];
		struct rows rows;
		int ret;

		make_rows(&dice, &rows, booleans);
		memcpy(before, rows.numbers, sizeof(before));
		ret = use(&rows, &rows.same, op, booleans, &other);
		memcpy(after, rows.numbers, sizeof(after));
		memcpy(rows.numbers, before, sizeof(before));
		assert_int_equal(use(&rows, &rows.index, op, booleans, &one),
				 ret);
		assert_memory_equal(rows.numbers, after, sizeof(after));
		assert_int_equal(!one, !other);
		if (one) {
			dray_array_view(one, &a);
			dray_array_view(other, &b);
			assert_memory_equal(a.data, b.data,
					    (size_t)dray_view_size(&a) * 8);
			b.data = a.data;
			assert_alike(&a, &b);
		}
		dray_array_unref(one);
		dray_array_unref(other);
		right += !ret;
	}
	assert_true(right > most / 4);
}

/* Walks two iterators side by side. */
static void assert_same_walk(struct dray_nditer *a, struct dray_nditer *b,
			     int count)
{
	bool more = dray_nditer_size(a);

	assert_int_equal(dray_nditer_size(a), dray_nditer_size(b));
	assert_int_equal(dray_nditer_ndim(a), dray_nditer_ndim(b));
	assert_int_equal(dray_nditer_flags(a), dray_nditer_flags(b));
	while (more) {
		for (int o = 0; o < count; o++) {
			assert_ptr_equal(dray_nditer_data(a)[o],
					 dray_nditer_data(b)[o]);
			assert_int_equal(dray_nditer_strides(a)[o],
					 dray_nditer_strides(b)[o]);
		}
		assert_int_equal(*dray_nditer_count(a), *dray_nditer_count(b));
		more = dray_nditer_next(a);
		assert_int_equal(dray_nditer_next(b), more);
	}
}

FACT(plain_iterations_go_where_others_go)
{
	static const dray_dtype dtypes[] = { DRAY_FLOAT64, DRAY_FLOAT64 };
	static const uint32_t flags[] = {
		0,
		DRAY_NDITER_EXTERNAL_LOOP,
		DRAY_NDITER_MULTI_INDEX,
		DRAY_NDITER_KEEP_DIRECTION,
		DRAY_NDITER_KEEP_DIRECTION | DRAY_NDITER_EXTERNAL_LOOP,
	};
	struct dice dice = { 20261129 };
	int made = 0, done = 0;

	while (done < rounds(20000)) {
		struct dray_nditer_options options = {
			.flags = flags[roll(&dice, LENGTH(flags))],
		};
		struct dray_view views[2];
		const struct dray_view *list[] = { &views[0], &views[1] };
		int count = 1 + (int)roll(&dice, 2), ndim, ret;
		struct dray_nditer *one, *other;
		int64_t shape[5];

		ndim = random_shape(&dice, shape);
		if (!random_view(&dice, &views[0], memory, sizeof(memory), ndim,
				 shape, 8) ||
		    !random_view(&dice, &views[1], first, sizeof(first), ndim,
				 shape, 8))
			continue;
		views[0].dtype = views[1].dtype = DRAY_FLOAT64;
		done++;
		ret = dray_nditer_create(list, count, &options, &one);
		options.dtypes = dtypes; /* Their own. */
		assert_int_equal(
			dray_nditer_create(list, count, &options, &other), ret);
		if (ret)
			continue;
		assert_same_walk(one, other, count);
		assert_works(dray_nditer_reset(one));
		assert_works(dray_nditer_reset(other));
		assert_same_walk(one, other, count);
		assert_works(dray_nditer_destroy(one));
		assert_works(dray_nditer_destroy(other));
		made++;
	}
	assert_true(made > done / 2);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Buffers of iterators: conversions, their sizes, reductions, masks, and copies
 * that are written back.
 */
#include <fenv.h>

#include <dray/array.h>

#include "nditer.h"

#define RO DRAY_OPERAND_READ
#define WO DRAY_OPERAND_WRITE
#define RW (DRAY_OPERAND_READ | DRAY_OPERAND_WRITE)
#define LOOPS (DRAY_NDITER_BUFFERED | DRAY_NDITER_EXTERNAL_LOOP)
#define SWAPPED_INT DRAY_DTYPE('i', DRAY_NATIVE_ORDER == '<' ? '>' : '<', 4)

static int32_t swapped(int32_t value)
{
	return (int32_t)__builtin_bswap32((uint32_t)value);
}

static const struct form turned = { 3, { 4, 3, 2 }, { 1, 4, 12 }, 0 };

FACT(buffers_of_any_size_have_all_elements_in_order)
{
	static const int64_t sizes[] = { 1, 2, 3, 5, 8, 11, 16, 24, 1024, 0 };
	struct dray_view view = view_in(numbers, SWAPPED_INT, &turned);

	for (int i = 0; i < 24; i++)
		numbers[i] = swapped(i);
	for (size_t s = 0; s < LENGTH(sizes); s++) {
		struct dray_nditer *iter = iterate(
			&view, 1,
			&(struct dray_nditer_options){
				.flags = LOOPS,
				.order = 'F',
				.casting = DRAY_CASTING_EQUIV,
				.buffer_size = sizes[s],
				.operand_flags = (const uint32_t[]){
					RO | DRAY_OPERAND_NATIVE_ORDER } });
		const int64_t *count = dray_nditer_count(iter);
		const int64_t *strides = dray_nditer_strides(iter);
		char **data = dray_nditer_data(iter);
		int32_t expected = 0;

		assert_true(dray_nditer_needs_buffers(iter));
		do {
			assert_true(!sizes[s] || *count <= sizes[s]);
			for (int64_t k = 0; k < *count; k++)
				assert_int_equal(
					int_at(data[0] + k * strides[0]),
					expected++);
		} while (dray_nditer_next(iter));
		assert_int_equal(expected, 24);
		assert_works(dray_nditer_destroy(iter));
	}
}

/* Writes 0, 1, ... through an iterator that leaves off after @elements. */
static void write_numbers(const struct dray_view *view, int64_t size,
			  int64_t elements)
{
	struct dray_nditer *iter =
		iterate(view, 1,
			&(struct dray_nditer_options){
				.flags = DRAY_NDITER_BUFFERED,
				.order = 'C',
				.casting = DRAY_CASTING_UNSAFE,
				.buffer_size = size,
				.dtypes = (const dray_dtype[]){ DRAY_FLOAT64 },
				.operand_flags = (const uint32_t[]){ RW } });
	char **data = dray_nditer_data(iter);
	double value = 0;

	assert_int_equal(dray_nditer_dtype(iter, 0), DRAY_FLOAT64);
	assert_int_equal(dray_nditer_operands(iter), 1);
	/* As many as asked for, but for a last row that is not whole. */
	assert_in_range(dray_nditer_buffer_size(iter), size > 4 ? size - 4 : 1,
			size ? size : 24);
	do {
		memcpy(data[0], &value, sizeof(value));
		value++;
	} while (--elements && dray_nditer_next(iter));
	assert_works(dray_nditer_destroy(iter));
}

FACT(buffers_are_written_back)
{
	static const int64_t sizes[] = { 1, 5, 16, 0 };
	struct dray_view view = view_in(numbers, SWAPPED_INT, &turned);

	for (size_t s = 0; s < 2 * LENGTH(sizes); s++) {
		int64_t written = s & 1 ? 10 : 24;
		int64_t i = 0;

		for (int k = 0; k < 24; k++)
			numbers[k] = swapped(100);
		write_numbers(&view, sizes[s / 2], written);
		for (int a = 0; a < 4; a++) {
			for (int b = 0; b < 3; b++) {
				for (int c = 0; c < 2; c++, i++)
					assert_int_equal(
						swapped(numbers[a + 4 * b +
								12 * c]),
						i < written ? i : 100);
			}
		}
	}
}

FACT(a_finish_writes_once_and_keeps_the_memory)
{
	static const uint32_t flags[] = { DRAY_NDITER_BUFFERED, 0 };
	static const uint32_t operands[] = { RW, RW | DRAY_OPERAND_COPY_BACK };
	struct dray_view view = view_in(numbers, SWAPPED_INT, &turned);
	const double written = 7, late = 9;

	for (size_t i = 0; i < LENGTH(flags); i++) {
		struct dray_nditer *iter = iterate(
			&view, 1,
			&(struct dray_nditer_options){
				.flags = flags[i],
				.order = 'C',
				.casting = DRAY_CASTING_UNSAFE,
				.dtypes = (const dray_dtype[]){ DRAY_FLOAT64 },
				.operand_flags = &operands[i] });
		char *data = dray_nditer_data(iter)[0];

		numbers[0] = swapped(1);
		memcpy(data, &written, sizeof(written));
		assert_works(dray_nditer_finish(iter));
		assert_int_equal(swapped(numbers[0]), 7);
		memcpy(data, &late, sizeof(late));
		assert_works(dray_nditer_finish(iter));
		assert_works(dray_nditer_destroy(iter));
		assert_int_equal(swapped(numbers[0]), 7);
	}
}

/* The inner loops that an iterator makes. */
FACT(inner_loops_have_the_sizes_of_numpy)
{
	static const struct {
		struct form of[2];
		uint32_t flags, second;
		int64_t size;
		int64_t counts[6];
	} cases[] = {
		{ { { 1, { 30 }, { 0 }, 0 }, { 0, { 0 }, { 0 }, 0 } },
		  DRAY_NDITER_GROW_INNER,
		  RO,
		  5,
		  { 30 } },
		{ { { 1, { 30 }, { 0 }, 0 }, { 0, { 0 }, { 0 }, 0 } },
		  0,
		  RO,
		  10,
		  { 10, 10, 10 } },
		{ { { 2, { 2, 7 }, { 0 }, 0 }, { 2, { 1, 7 }, { 0 }, 100 } },
		  0,
		  RW,
		  5,
		  { 5, 2, 5, 2 } },
		{ { { 2, { 2, 7 }, { 0 }, 0 }, { 2, { 2, 1 }, { 0 }, 100 } },
		  0,
		  RW,
		  100,
		  { 7, 7 } },
		{ { { 2, { 2, 7 }, { 0 }, 0 },
		    { 2, { 2, 7 }, { 10, 1 }, 100 } },
		  0,
		  RO,
		  8,
		  { 7, 7 } },
		{ { { 2, { 2, 7 }, { 0 }, 0 },
		    { 2, { 2, 7 }, { 10, 1 }, 100 } },
		  0,
		  RO,
		  14,
		  { 14 } },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct dray_view views[2] = { view_of(&cases[i].of[0]),
					      view_of(&cases[i].of[1]) };
		struct dray_nditer *iter =
			iterate(views, 2,
				&(struct dray_nditer_options){
					.flags = LOOPS | DRAY_NDITER_REDUCE_OK |
						 cases[i].flags,
					.buffer_size = cases[i].size,
					.operand_flags = (const uint32_t[]){
						RO, cases[i].second } });
		const int64_t *count = dray_nditer_count(iter);
		int step = 0;

		do {
			assert_int_equal(*count, cases[i].counts[step]);
			step++;
		} while (dray_nditer_next(iter));
		assert_int_equal(cases[i].counts[step], 0);
		assert_works(dray_nditer_destroy(iter));
	}
}

/* Adds the elements of operand 0 to those of operand 1. */
static void add_up(struct dray_nditer *iter)
{
	const int64_t *count = dray_nditer_count(iter);
	const int64_t *strides = dray_nditer_strides(iter);
	char **data = dray_nditer_data(iter);

	do {
		for (int64_t k = 0; k < *count; k++) {
			double sum = double_at(data[1] + k * strides[1]) +
				     double_at(data[0] + k * strides[0]);

			memcpy(data[1] + k * strides[1], &sum, sizeof(sum));
		}
	} while (dray_nditer_next(iter));
}

FACT(reductions_are_the_same_with_any_buffer)
{
	static const struct form cube = { 3, { 3, 4, 5 }, { 20, 5, 1 }, 0 };
	static const struct {
		struct form sums;
		int divide, modulo; /* of a number: the sum it belongs to */
	} cases[] = {
		{ { 3, { 1, 4, 5 }, { 0, 5, 1 }, 500 }, 1, 20 },
		{ { 3, { 3, 1, 1 }, { 1, 0, 0 }, 500 }, 20, 3 },
		{ { 3, { 1, 1, 1 }, { 0, 0, 0 }, 500 }, 60, 1 },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		for (int64_t size = 1; size < 64; size++) {
			struct dray_view views[2] = { view_of(&cube),
						      view_of(&cases[i].sums) };
			int32_t sums[20] = { 0 };
			struct dray_nditer *iter;

			count_up();
			memset(&numbers[500], 0, sizeof(sums));
			for (int k = 0; k < 60; k++)
				sums[k / cases[i].divide % cases[i].modulo] +=
					k;
			iter = iterate(
				views, 2,
				&(struct dray_nditer_options){
					.flags = LOOPS | DRAY_NDITER_REDUCE_OK,
					.casting = DRAY_CASTING_UNSAFE,
					.buffer_size = size,
					.dtypes =
						(const dray_dtype[]){
							DRAY_FLOAT64,
							DRAY_FLOAT64 },
					.operand_flags =
						(const uint32_t[]){ RO, RW } });
			add_up(iter);
			assert_works(dray_nditer_destroy(iter));
			assert_memory_equal(&numbers[500], sums, sizeof(sums));
		}
	}
}

/* A reduction that starts inside of a core, with a result to be kept. */
FACT(reductions_over_ranges_add_up)
{
	static const struct form whole = { 2, { 3, 4 }, { 5, 1 }, 0 };
	static const struct form sums = { 2, { 3, 1 }, { 1, 0 }, 500 };

	for (int64_t cut = 0; cut <= 12; cut++) {
		struct dray_view views[2] = { view_of(&whole), view_of(&sums) };
		struct dray_nditer *iter = NULL;

		count_up();
		memset(&numbers[500], 0, 3 * sizeof(int32_t));
		iter = iterate(
			views, 2,
			&(struct dray_nditer_options){
				.flags = LOOPS | DRAY_NDITER_RANGED |
					 DRAY_NDITER_REDUCE_OK,
				.order = 'C',
				.casting = DRAY_CASTING_UNSAFE,
				.buffer_size = 8,
				.dtypes = (const dray_dtype[]){ DRAY_FLOAT64,
								DRAY_FLOAT64 },
				.operand_flags =
					(const uint32_t[]){ RO, RW } });
		for (int part = 0; part < 2; part++) {
			int64_t start = part ? cut : 0, end = part ? 12 : cut;

			assert_works(dray_nditer_reset_range(iter, start, end));
			if (start < end)
				add_up(iter);
		}
		assert_works(dray_nditer_destroy(iter));
		for (int i = 0; i < 3; i++)
			assert_int_equal(numbers[500 + i], 20 * i + 6);
	}
}

FACT(a_mask_says_what_is_written_back)
{
	static const uint8_t mask[] = { 1, 1, 0, 0, 1, 0, 1, 0, 0, 1 };
	struct dray_view views[2] = { view_of(
		&(struct form){ 2, { 2, 5 }, { 6, 1 }, 0 }) };

	views[1] = view_in((void *)mask, DRAY_UINT8,
			   &(struct form){ 2, { 2, 5 }, { 5, 1 }, 0 });
	views[1].flags = DRAY_READ;
	for (int64_t size = 1; size < 12; size++) {
		struct dray_nditer *iter = iterate(
			views, 2,
			&(struct dray_nditer_options){
				.flags = DRAY_NDITER_BUFFERED,
				.casting = DRAY_CASTING_UNSAFE,
				.buffer_size = size,
				.dtypes =
					(const dray_dtype[]){ DRAY_FLOAT64, 0 },
				.operand_flags = (const uint32_t[]){
					RW | DRAY_OPERAND_WRITE_MASKED,
					RO | DRAY_OPERAND_MASK } });
		char **data = dray_nditer_data(iter);
		const double three = 3;

		memset(numbers, 0, sizeof(numbers));
		do {
			memcpy(data[0], &three, sizeof(three));
		} while (dray_nditer_next(iter));
		assert_works(dray_nditer_destroy(iter));
		for (int i = 0; i < 10; i++)
			assert_int_equal(numbers[i / 5 * 6 + i % 5],
					 mask[i] ? 3 : 0);
		assert_int_equal(numbers[5], 0);
	}
	views[0].dtype = DRAY_INT32;
	views[1] = view_of(&(struct form){ 2, { 2, 5 }, { 6, 1 }, 100 });
	assert_fails(
		dray_nditer_create(
			(const struct dray_view *[]){ &views[0], &views[1] }, 2,
			&(struct dray_nditer_options){
				.flags = DRAY_NDITER_BUFFERED,
				.operand_flags =
					(const uint32_t[]){
						RW | DRAY_OPERAND_WRITE_MASKED,
						RO | DRAY_OPERAND_MASK } },
			&(struct dray_nditer *){ NULL }),
		-EINVAL, "Only bool and uint8 masks are supported");
}

FACT(delayed_buffers_wait_for_a_reset)
{
	struct dray_view view = view_of(&turned);
	struct dray_nditer *iter = iterate(
		&view, 1,
		&(struct dray_nditer_options){
			.flags = DRAY_NDITER_BUFFERED |
				 DRAY_NDITER_DELAY_BUFFERS,
			.casting = DRAY_CASTING_SAFE,
			.dtypes = (const dray_dtype[]){ DRAY_FLOAT64 } });

	count_up();
	assert_false(dray_nditer_next(iter));
	assert_int_equal(dray_nditer_error(iter), -EINVAL);
	assert_non_null(strstr(dray_last_error(), "dray_nditer_reset()"));
	numbers[0] = 42;
	assert_works(dray_nditer_reset(iter));
	assert_true(double_at(dray_nditer_data(iter)[0]) == 42);
	assert_true(dray_nditer_next(iter));
	assert_works(dray_nditer_destroy(iter));
}

/* Text that is not a number ends the iteration, and its error stays. */
FACT(a_conversion_that_fails_ends_the_iteration)
{
	static char text[][2] = { "1", "2", "x", "4" };
	struct dray_view view;
	struct dray_nditer *iter;

	assert_works(
		dray_view_init(&view, text, DRAY_BYTES(2), 1, DIMS(4), NULL));
	iter = iterate(&view, 1,
		       &(struct dray_nditer_options){
			       .flags = DRAY_NDITER_BUFFERED,
			       .casting = DRAY_CASTING_UNSAFE,
			       .buffer_size = 2,
			       .dtypes = (const dray_dtype[]){ DRAY_INT32 } });
	assert_int_equal(int_at(dray_nditer_data(iter)[0]), 1);
	assert_true(dray_nditer_next(iter));
	assert_false(dray_nditer_next(iter));
	assert_int_equal(dray_nditer_error(iter), -EINVAL);
	assert_int_equal(dray_nditer_destroy(iter), -EINVAL);
}

/* Element 5 of eight fits no float; buffers of four hold it in the second. */
FACT(errors_of_numbers_in_conversions_are_reported)
{
	static const struct {
		uint32_t flag; /* of the iterator, besides */
		uint32_t operand;
		bool raises;
		bool fails;
	} rows[] = {
		{ 0, RO, true, true },
		{ 0, RO, false, false },
		{ DRAY_NDITER_KEEP_FP_FLAGS, RO, true, false },
		{ 0, RW, true, true },
		{ 0, RO | DRAY_OPERAND_COPY, true, true },
		{ DRAY_NDITER_KEEP_FP_FLAGS, RO | DRAY_OPERAND_COPY, true,
		  false },
	};
	const struct dray_fp_state raises = { .over = DRAY_FP_RAISE,
					      .buffer_size = 8192 };
	static double values[8];
	const struct form form = { 1, { 8 }, { 1 }, 0 };
	struct dray_view view = view_in(values, DRAY_FLOAT64, &form);

	for (size_t r = 0; r < LENGTH(rows); r++) {
		const struct dray_nditer_options options = {
			.flags = LOOPS | DRAY_NDITER_DELAY_BUFFERS |
				 rows[r].flag,
			.casting = DRAY_CASTING_UNSAFE,
			.buffer_size = 4,
			.operand_flags = &rows[r].operand,
			.dtypes = (const dray_dtype[]){ DRAY_FLOAT32 },
		};
		const struct dray_view *of = &view;
		struct dray_nditer *iter = NULL;
		int ret;

		for (int i = 0; i < 8; i++)
			values[i] = i == 5 ? 1e300 : i;
		feclearexcept(FE_ALL_EXCEPT);
		assert_works(
			dray_set_fp_state(rows[r].raises ? &raises : NULL));
		ret = dray_nditer_create(&of, 1, &options, &iter);
		if (!ret)
			ret = dray_nditer_reset(iter);
		while (!ret && dray_nditer_next(iter))
			;
		if (!ret)
			ret = dray_nditer_error(iter);
		if (rows[r].fails)
			assert_fails(ret, -EDOM,
				     "overflow encountered in cast");
		else
			assert_works(ret);
		assert_int_equal(!!fetestexcept(FE_OVERFLOW), !!rows[r].flag);
		dray_nditer_destroy(iter);
		assert_works(dray_set_fp_state(NULL));
	}
}

FACT(an_error_of_numbers_in_a_buffer_that_is_written_is_reported)
{
	const struct dray_fp_state raises = { .over = DRAY_FP_RAISE,
					      .buffer_size = 8192 };
	static float values[8];
	const struct form form = { 1, { 8 }, { 1 }, 0 };
	struct dray_view view = view_in(values, DRAY_FLOAT32, &form);
	struct dray_nditer *iter = iterate(
		&view, 1,
		&(struct dray_nditer_options){
			.flags = LOOPS,
			.casting = DRAY_CASTING_UNSAFE,
			.operand_flags = (const uint32_t[]){ WO },
			.dtypes = (const dray_dtype[]){ DRAY_FLOAT64 } });

	for (int i = 0; i < 8; i++)
		((double *)(void *)dray_nditer_data(iter)[0])[i] = 1e300;
	assert_works(dray_set_fp_state(&raises));
	assert_fails(dray_nditer_destroy(iter), -EDOM,
		     "overflow encountered in cast");
	assert_works(dray_set_fp_state(NULL));
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * reduce_sums: sums are exact to a few roundings, along each axis and in each
 * layout, and the same for all strides of a line; halves round once.
 */
#include <math.h>

#include <dray/array.h>

#include "ufunc.h"

#define COUNT 100000

static struct dray_array *random_numbers(dray_dtype dtype, int ndim,
					 const int64_t *shape)
{
	struct dray_array *array = NULL;
	struct dray_view view;
	struct dice dice = { 3 };
	struct dray_cast cast;
	int64_t i, count;

	assert_works(dray_array_empty(dtype, ndim, shape, &array));
	count = dray_view_size(dray_array_view(array, &view));
	assert_works(dray_cast_find(dtype, DRAY_FLOAT64, &cast));
	for (i = 0; i < count; i++) {
		const double value = (double)roll(&dice, 1000000) / 999983;

		assert_works(dray_cast_run(
			&cast,
			(char *)view.data + i * dray_dtype_itemsize(dtype), 0,
			&value, 0, 1));
	}
	return array;
}

/* Adds with a correction, so that only one rounding is left. */
static double exact_sum(const struct dray_view *view)
{
	double sum = 0, lost = 0, value, next;
	struct dray_cast cast;
	int64_t i;

	assert_works(dray_cast_find(DRAY_FLOAT64, view->dtype, &cast));
	for (i = 0; i < view->shape[0]; i++) {
		volatile double rest;

		assert_works(dray_cast_run(
			&cast, &value, 0,
			(const char *)view->data + i * view->strides[0], 0, 1));
		next = sum + value;
		rest = (next - sum) - value;
		lost += rest;
		sum = next;
	}
	return sum - lost;
}

static double sum_of(const struct dray_view *view)
{
	struct dray_ufunc *add = dray_ufunc_find("add");
	struct dray_array *array = NULL;
	struct dray_view made;
	double value;

	assert_works(dray_ufunc_reduce(
		add, view, NULL,
		&(struct dray_reduce_options){ .flags = DRAY_REDUCE_ALL_AXES },
		&array));
	assert_works(dray_view_get(dray_array_view(array, &made), DRAY_FLOAT64,
				   &value));
	dray_array_unref(array);
	return value;
}

FACT(a_long_sum_has_the_error_of_a_few_roundings)
{
	static const struct {
		dray_dtype dtype;
		double epsilon;
		int64_t count;
	} rows[] = {
		{ DRAY_FLOAT64, 0x1p-52, COUNT },
		{ DRAY_FLOAT32, 0x1p-23, COUNT },
		{ DRAY_FLOAT16, 0x1p-10, 20000 },
		{ DRAY_COMPLEX64, 0x1p-23, COUNT },
		{ DRAY_COMPLEX128, 0x1p-52, COUNT },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct dray_array *array =
			random_numbers(rows[i].dtype, 1, &rows[i].count);
		struct dray_view view;
		double sum, exact;

		dray_array_view(array, &view);
		sum = sum_of(&view);
		exact = exact_sum(&view);
		/* One after the other, the error is hundreds of these. */
		if (fabs(sum - exact) > 16 * rows[i].epsilon * exact)
			fail_msg("row %zu: %.17g, not %.17g", i, sum, exact);
		dray_array_unref(array);
	}
}

FACT(a_line_with_gaps_or_backwards_has_the_sum_of_one_without)
{
	static const dray_dtype types[] = { DRAY_FLOAT64, DRAY_FLOAT32,
					    DRAY_FLOAT16, DRAY_COMPLEX128 };
	static const int64_t lengths[] = {
		1, 7, 8, 9, 127, 128, 129, 300, 1000
	};
	size_t t, l;

	for (t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
		for (l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
			struct dray_array *array = random_numbers(
				types[t], 2, DIMS(lengths[l], 3));
			struct dray_array *copy = NULL;
			struct dray_view view, line;

			assert_works(
				dray_view_index(dray_array_view(array, &view),
						(const struct dray_index[]){
							DRAY_ALL, DRAY_AT(1) },
						2, &view));
			assert_works(
				dray_array_copy(&view, DRAY_ORDER_C, &copy));
			dray_array_view(copy, &line);
			assert_true(sum_of(&view) == sum_of(&line));
			dray_array_unref(array);
			dray_array_unref(copy);
		}
	}
}

/* All elements are 1, so each sum is a number of elements. */
FACT(each_axis_of_each_shape_is_added)
{
	static const int64_t shapes[][3] = {
		{ 1000, 3, 2 }, { 3, 1000, 2 },	 { 2, 3, 1000 },
		{ 40, 50, 60 }, { 7, 20000, 1 }, { 20000, 1, 7 },
	};
	struct dray_ufunc *add = dray_ufunc_find("add");
	size_t s;
	int axes, i;

	for (s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
		const double one = 1;
		struct dray_array *array = NULL, *sums = NULL;
		struct dray_view view, made;
		int64_t k;

		assert_works(dray_array_full(DRAY_FLOAT64, 3, shapes[s], &one,
					     &array));
		for (axes = 0; axes < 8; axes++) {
			struct dray_reduce_options options = { 0 };
			double wanted = 1;
			int list[3];

			for (i = 0; i < 3; i++) {
				if (!(axes >> i & 1))
					continue;
				list[options.axes_count++] = i;
				wanted *= (double)shapes[s][i];
			}
			options.axes = list;
			assert_works(dray_ufunc_reduce(
				add, dray_array_view(array, &view), NULL,
				&options, &sums));
			dray_array_view(sums, &made);
			assert_int_equal(made.ndim, 3 - options.axes_count);
			for (k = 0; k < dray_view_size(&made); k++)
				assert_true(((double *)made.data)[k] == wanted);
			dray_array_unref(sums);
		}
		dray_array_unref(array);
	}
}

/* Numbers of which a rounding after each step makes others. */
FACT(a_line_of_halves_rounds_once)
{
	static const struct {
		const char *name;
		double numbers[4], wanted;
	} rows[] = {
		{ "add", { 2048, 1, 1, 0 }, 2050 },
		{ "subtract", { -65504, 1, -65504, 0 }, -1 },
		{ "subtract", { 2048, -1, -1, -1 }, 2052 },
		{ "multiply", { 256, 256, 0.5, 1 }, 32768 },
		{ "divide", { 1024, 0x1p-8, 16, 1 }, 16384 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct dray_view numbers =
			view_of((void *)(uintptr_t)rows[i].numbers,
				DRAY_FLOAT64, 1, DIMS(4), NULL);
		struct dray_array *array = NULL;
		struct dray_view made;
		double half;

		assert_works(dray_ufunc_reduce(
			dray_ufunc_find(rows[i].name), &numbers, NULL,
			&(struct dray_reduce_options){ .dtype = DRAY_FLOAT16 },
			&array));
		assert_works(dray_view_get(dray_array_view(array, &made),
					   DRAY_FLOAT64, &half));
		if (fabs(half - rows[i].wanted) > 0x1p-13)
			fail_msg("row %zu: %g, not %g", i, half,
				 rows[i].wanted);
		dray_array_unref(array);
	}
}

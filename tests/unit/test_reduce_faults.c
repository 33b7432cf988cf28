// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * reduce_faults: methods and statistics without the memory that they need, for
 * each piece of it; and loops that fail.
 */
#include <dray/array.h>

#include "ufunc.h"

static int left = -1; /* pieces of memory that may be had; below 0: all */

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

WRAPPED(void *, malloc, (size_t size))
{
	return fails() ? NULL : __real_malloc(size);
}

WRAPPED(void *, calloc, (size_t count, size_t size))
{
	return fails() ? NULL : __real_calloc(count, size);
}

static float numbers[12];
static bool bools[12];
static int64_t places[] = { 2, 0, 1 };

/* Calls, with a conversion, so that buffers are needed. */
static int reduce(struct dray_array **out)
{
	const struct dray_view in =
		view_of(numbers, DRAY_FLOAT32, 2, DIMS(3, 4), NULL);
	const struct dray_view mask =
		view_of(bools, DRAY_BOOL, 2, DIMS(3, 4), NULL);

	return dray_ufunc_reduce(
		dray_ufunc_find("add"), &in, NULL,
		&(struct dray_reduce_options){ .dtype = DRAY_FLOAT64,
					       .where = &mask },
		out);
}

static int reduce_into_the_input(struct dray_array **out)
{
	const struct dray_view in =
		view_of(numbers, DRAY_FLOAT32, 2, DIMS(3, 4), NULL);
	const struct dray_view to =
		view_of(numbers, DRAY_FLOAT32, 1, DIMS(4), NULL);

	return dray_ufunc_reduce(dray_ufunc_find("add"), &in, &to, NULL, out);
}

static int accumulate(struct dray_array **out)
{
	const struct dray_view in =
		view_of(numbers, DRAY_FLOAT32, 2, DIMS(3, 4), NULL);

	return dray_ufunc_accumulate(dray_ufunc_find("add"), &in, 1,
				     DRAY_FLOAT64, NULL, out);
}

static int reduceat(struct dray_array **out)
{
	const struct dray_view in =
		view_of(numbers, DRAY_FLOAT32, 2, DIMS(3, 4), NULL);
	const struct dray_view view =
		view_of(places, DRAY_INT64, 1, DIMS(3), NULL);

	return dray_ufunc_reduceat(dray_ufunc_find("add"), &in, &view, 0,
				   DRAY_FLOAT64, NULL, out);
}

static int outer(struct dray_array **out)
{
	const struct dray_view in =
		view_of(numbers, DRAY_FLOAT32, 1, DIMS(3), NULL);

	return dray_ufunc_outer(dray_ufunc_find("add"), &in, &in, NULL, NULL,
				out);
}

static int at(struct dray_array **out)
{
	static double doubles[3];
	const struct dray_view target =
		view_of(numbers, DRAY_FLOAT32, 1, DIMS(3), NULL);
	const struct dray_view values =
		view_of(doubles, DRAY_FLOAT64, 1, DIMS(3), NULL);
	const struct dray_view view =
		view_of(places, DRAY_INT64, 1, DIMS(3), NULL);

	return dray_ufunc_at(dray_ufunc_find("add"), &target, &view, &values);
}

static int at_bools(struct dray_array **out)
{
	const struct dray_view target =
		view_of(numbers, DRAY_FLOAT32, 1, DIMS(12), NULL);
	const struct dray_view mask =
		view_of(bools, DRAY_BOOL, 1, DIMS(12), NULL);

	return dray_ufunc_at(dray_ufunc_find("negative"), &target, &mask, NULL);
}

static int deviation(struct dray_array **out)
{
	const struct dray_view in =
		view_of(places, DRAY_INT64, 1, DIMS(3), NULL);

	return dray_std(&in, NULL, 0, NULL, out);
}

static int mean_where(struct dray_array **out)
{
	const struct dray_view in =
		view_of(numbers, DRAY_FLOAT32, 1, DIMS(12), NULL);
	const struct dray_view mask =
		view_of(bools, DRAY_BOOL, 1, DIMS(12), NULL);

	return dray_var(&in, NULL, 1,
			&(struct dray_reduce_options){ .where = &mask }, out);
}

static int count(struct dray_array **out)
{
	const struct dray_view in =
		view_of(numbers, DRAY_FLOAT32, 1, DIMS(12), NULL);

	return dray_count_true(&in, NULL, NULL, out);
}

static int running(struct dray_array **out)
{
	const struct dray_view in = view_of(numbers, DRAY_FLOAT32, 2,
					    DIMS(3, 4), (int64_t[]){ 4, 12 });

	return dray_cumsum(&in, DRAY_FLAT, 0, NULL, out);
}

static int bounds(struct dray_array **out)
{
	const struct dray_view in =
		view_of(numbers, DRAY_FLOAT32, 1, DIMS(12), NULL);

	return dray_clip(&in, &in, &in, NULL, NULL, out);
}

FACT(each_piece_of_memory_that_cannot_be_had_is_an_error)
{
	static const struct {
		const char *name;
		int (*call)(struct dray_array **out);
	} rows[] = {
		{ "reduce", reduce },
		{ "reduce into the input", reduce_into_the_input },
		{ "accumulate", accumulate },
		{ "reduceat", reduceat },
		{ "outer", outer },
		{ "at", at },
		{ "at, by bools", at_bools },
		{ "std", deviation },
		{ "var, with a mask", mean_where },
		{ "count", count },
		{ "cumsum", running },
		{ "clip", bounds },
	};
	struct dray_array *array = NULL;
	size_t i;
	int n, ret;

	for (i = 0; i < 12; i++)
		bools[i] = i % 3;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		/* What is made once, and kept, is there from here on. */
		array = NULL;
		assert_works(rows[i].call(&array));
		dray_array_unref(array);
		for (n = 0;; n++) {
			array = NULL;
			left = n;
			ret = rows[i].call(&array);
			if (left >= 0)
				break;
			left = -1;
			if (ret != -ENOMEM || array)
				fail_msg("%s without piece %d: %d",
					 rows[i].name, n, ret);
		}
		left = -1;
		assert_int_equal(ret, 0);
		assert_true(n > 0);
		dray_array_unref(array);
	}
}

static int refuse(char *const *data, const int64_t *strides, int64_t elements,
		  void *context)
{
	return -EIO;
}

FACT(the_error_of_a_loop_is_that_of_the_method)
{
	const dray_dtype dtypes[] = { DRAY_FLOAT32, DRAY_FLOAT32,
				      DRAY_FLOAT32 };
	const struct dray_view in =
		view_of(numbers, DRAY_FLOAT32, 2, DIMS(3, 4), NULL);
	const struct dray_view target =
		view_of(numbers, DRAY_FLOAT32, 1, DIMS(12), NULL);
	const struct dray_view view =
		view_of(places, DRAY_INT64, 1, DIMS(3), NULL);
	const int axis = 1;
	const struct dray_reduce_options options = { .axes = &axis,
						     .axes_count = 1 };
	struct dray_ufunc *ufunc = NULL;
	struct dray_array *array = NULL;

	assert_works(dray_ufunc_create("no", 2, 1, DRAY_IDENTITY_NONE, &ufunc));
	set_loop(ufunc, dtypes, refuse, NULL, 0);
	assert_int_equal(dray_ufunc_reduce(ufunc, &in, NULL, NULL, &array),
			 -EIO);
	assert_int_equal(dray_ufunc_reduce(ufunc, &in, NULL, &options, &array),
			 -EIO);
	assert_int_equal(dray_ufunc_accumulate(ufunc, &in, 0, 0, NULL, &array),
			 -EIO);
	assert_int_equal(dray_ufunc_accumulate(ufunc, &in, 1, 0, NULL, &array),
			 -EIO);
	assert_int_equal(dray_ufunc_reduceat(ufunc, &in, &view, 1, 0, NULL,
					     &array),
			 -EIO);
	assert_int_equal(dray_ufunc_at(ufunc, &target, &view, &in), -EINVAL);
	assert_int_equal(dray_ufunc_at(ufunc, &target, &view, &target),
			 -EINVAL);
	assert_null(array);
	dray_ufunc_unref(ufunc);
}

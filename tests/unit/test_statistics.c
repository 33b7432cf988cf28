// SPDX-License-Identifier: Apache-2.0 OR MIT
/* statistics: values that NumPy has, by type, axis and mask. */
#include <math.h>

#include <dray/array.h>

#include "ufunc.h"

#define MOST 6

typedef int statistic(const struct dray_view *in, const struct dray_view *to,
		      const struct dray_reduce_options *options,
		      struct dray_array **out);

static int variance(const struct dray_view *in, const struct dray_view *to,
		    const struct dray_reduce_options *options,
		    struct dray_array **out)
{
	return dray_var(in, to, 1, options, out);
}

static int deviation(const struct dray_view *in, const struct dray_view *to,
		     const struct dray_reduce_options *options,
		     struct dray_array **out)
{
	return dray_std(in, to, 0, options, out);
}

#define NUMBERS 1, 2, 4, 0, 3, 8 /* of 2 rows and 3 columns */
#define ALL 9 /* all axes */

static const struct {
	const char *name;
	statistic *call;
	dray_dtype in, out;
	int axis;
	int count;
	double wanted[MOST];
} rows[] = {
	{ "sum", dray_sum, DRAY_INT8, DRAY_INT64, ALL, 1, { 18 } },
	{ "sum", dray_sum, DRAY_FLOAT32, DRAY_FLOAT32, 0, 3, { 1, 5, 12 } },
	{ "sum", dray_sum, DRAY_UINT16, DRAY_UINT64, 1, 2, { 7, 11 } },
	{ "prod", dray_prod, DRAY_INT32, DRAY_INT64, 0, 3, { 0, 6, 32 } },
	{ "min", dray_min, DRAY_UINT8, DRAY_UINT8, 1, 2, { 1, 0 } },
	{ "max", dray_max, DRAY_FLOAT16, DRAY_FLOAT16, 0, 3, { 1, 3, 8 } },
	{ "max", dray_max, DRAY_FLOAT64, DRAY_FLOAT64, ALL, 1, { 8 } },
	{ "ptp", dray_ptp, DRAY_INT16, DRAY_INT16, 1, 2, { 3, 8 } },
	{ "all", dray_all, DRAY_FLOAT64, DRAY_BOOL, 1, 2, { 1, 0 } },
	{ "all", dray_all, DRAY_COMPLEX64, DRAY_BOOL, 1, 2, { 1, 0 } },
	{ "any", dray_any, DRAY_INT64, DRAY_BOOL, 0, 3, { 1, 1, 1 } },
	{ "count", dray_count_true, DRAY_INT8, DRAY_INT64, 0, 3, { 1, 2, 2 } },
	{ "count", dray_count_true, DRAY_FLOAT64, DRAY_INT64, ALL, 1, { 5 } },
	{ "mean", dray_mean, DRAY_INT32, DRAY_FLOAT64, ALL, 1, { 3 } },
	{ "mean", dray_mean, DRAY_BOOL, DRAY_FLOAT64, 0, 3, { .5, 1, 1 } },
	{ "mean", dray_mean, DRAY_FLOAT16, DRAY_FLOAT16, 0, 3, { .5, 2.5, 6 } },
	{ "var", variance, DRAY_INT8, DRAY_FLOAT64, 0, 3, { .5, .5, 8 } },
	{ "var", variance, DRAY_FLOAT32, DRAY_FLOAT32, 0, 3, { .5, .5, 8 } },
	{ "std", deviation, DRAY_FLOAT64, DRAY_FLOAT64, 0, 3, { .5, .5, 2 } },
	{ "std", deviation, DRAY_COMPLEX128, DRAY_FLOAT64, 0, 3, { .5, .5, 2 } },
};

static struct dray_array *made_of(dray_dtype dtype)
{
	static const double numbers[] = { NUMBERS };
	const struct dray_view from = view_of(
		(void *)(uintptr_t)numbers, DRAY_FLOAT64, 2, DIMS(2, 3), NULL);
	struct dray_array *array = NULL;
	struct dray_view view;

	assert_works(dray_array_empty(dtype, 2, DIMS(2, 3), &array));
	assert_works(dray_view_convert(dray_array_view(array, &view), &from,
				       DRAY_CASTING_UNSAFE));
	return array;
}

static void compare(const struct dray_array *array, const double *wanted,
		    int count, const char *name)
{
	double found[MOST];
	struct dray_view view, to;
	int i;

	dray_array_view(array, &view);
	assert_int_equal(dray_view_size(&view), count);
	to = view_of(found, DRAY_FLOAT64, view.ndim, view.shape, NULL);
	assert_works(dray_view_convert(&to, &view, DRAY_CASTING_UNSAFE));
	for (i = 0; i < count; i++)
		if (!(found[i] == wanted[i]) &&
		    !(isnan(found[i]) && isnan(wanted[i])))
			fail_msg("%s: element %d is %g, not %g", name, i,
				 found[i], wanted[i]);
}

FACT(each_has_the_value_and_type_of_numpy)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct dray_reduce_options options = { 0 };
		struct dray_array *in = made_of(rows[i].in), *out = NULL;
		struct dray_view view;

		if (rows[i].axis != ALL) {
			options.axes = &rows[i].axis;
			options.axes_count = 1;
		}
		assert_works(rows[i].call(dray_array_view(in, &view), NULL,
					  &options, &out));
		if (out->dtype != rows[i].out)
			fail_msg("row %zu, %s: another type", i, rows[i].name);
		compare(out, rows[i].wanted, rows[i].count, rows[i].name);
		dray_array_unref(out);
		dray_array_unref(in);
	}
}

/* Of which doubles have no odd numbers. */
FACT(a_mean_of_long_durations_keeps_its_last_digits)
{
	const dray_dtype type = DRAY_TIMEDELTA64(DRAY_UNIT_NANOSECOND, 1);
	int64_t durations[] = { INT64_C(1000000000000000001),
				INT64_C(1000000000000000003) };
	bool bools[] = { true, true };
	const struct dray_view in = view_of(durations, type, 1, DIMS(2), NULL),
			       none = view_of(durations, type, 1, DIMS(0),
					      NULL),
			       mask = view_of(bools, DRAY_BOOL, 1, DIMS(2),
					      NULL);
	struct dray_reduce_options options = { .flags = DRAY_REDUCE_ALL_AXES };
	int64_t found = 0;
	const struct dray_view to = view_of(&found, type, 0, NULL, NULL);

	assert_works(dray_mean(&in, &to, &options, NULL));
	assert_int_equal(found, INT64_C(1000000000000000002));
	options.where = &mask;
	assert_works(dray_mean(&in, &to, &options, NULL));
	assert_int_equal(found, INT64_C(1000000000000000002));
	options.where = NULL;
	assert_works(dray_mean(&none, &to, &options, NULL));
	assert_int_equal(found, INT64_MIN);
}

FACT(a_mask_leaves_elements_out)
{
	bool bools[] = { true, false, true, true, true, false };
	const struct dray_view mask =
		view_of(bools, DRAY_BOOL, 2, DIMS(2, 3), NULL);
	const struct dray_reduce_options options = {
		.where = &mask,
		.axes = (const int[]){ 1 },
		.axes_count = 1,
		.flags = DRAY_REDUCE_KEEPDIMS,
	};
	struct dray_array *in = made_of(DRAY_INT32), *out = NULL;
	struct dray_view view;

	dray_array_view(in, &view);
	assert_works(dray_mean(&view, NULL, &options, &out));
	assert_int_equal(out->ndim, 2);
	compare(out, (double[]){ 2.5, 1.5 }, 2, "mean");
	dray_array_unref(out);
	assert_works(dray_var(&view, NULL, 1, &options, &out));
	compare(out, (double[]){ 4.5, 4.5 }, 2, "var");
	dray_array_unref(out);
	dray_array_unref(in);
}

FACT(an_output_is_converted_to_and_has_to_have_the_shape)
{
	float room[3];
	struct dray_view to = view_of(room, DRAY_FLOAT32, 1, DIMS(3), NULL);
	const struct dray_reduce_options options = {
		.axes = (const int[]){ 0 },
		.axes_count = 1,
	};
	struct dray_array *in = made_of(DRAY_INT32);
	struct dray_view view;

	dray_array_view(in, &view);
	assert_works(dray_mean(&view, &to, &options, NULL));
	assert_true(room[0] == .5f && room[1] == 2.5f && room[2] == 6);
	to.shape[0] = 2;
	assert_fails(dray_mean(&view, &to, &options, NULL), -EINVAL,
		     "the output has the shape (2,), the result (3,)");
	assert_fails(dray_ptp(&view, &to, &options, NULL), -EINVAL, "shape");
	dray_array_unref(in);
}

FACT(nothing_has_no_mean_and_no_extreme)
{
	double room[1];
	const struct dray_view none =
		view_of(room, DRAY_FLOAT64, 1, DIMS(0), NULL);
	struct dray_fp_state fp = { .size = sizeof(fp) };
	struct dray_array *out = NULL;

	dray_get_fp_state(&fp);
	fp.invalid = DRAY_FP_IGNORE;
	assert_works(dray_set_fp_state(&fp));
	assert_works(dray_mean(&none, NULL, NULL, &out));
	compare(out, (double[]){ (double)NAN }, 1, "mean");
	dray_array_unref(out);
	assert_works(dray_sum(&none, NULL, NULL, &out));
	compare(out, (double[]){ 0 }, 1, "sum");
	dray_array_unref(out);
	assert_works(dray_prod(&none, NULL, NULL, &out));
	compare(out, (double[]){ 1 }, 1, "prod");
	dray_array_unref(out);
	assert_fails(dray_max(&none, NULL, NULL, &out), -EINVAL, "no elements");
	assert_fails(dray_ptp(&none, NULL, NULL, &out), -EINVAL, "no elements");
	assert_works(dray_set_fp_state(NULL));
}

FACT(wrong_arguments_are_errors)
{
	struct dray_array *in = made_of(DRAY_INT32), *out = NULL;
	struct dray_view view, one;
	const struct dray_reduce_options wrong_axis = {
		.axes = (const int[]){ 2 },
		.axes_count = 1,
	};
	double zero = 0;
	const struct dray_reduce_options initial = { .initial = &one };

	one = view_of(&zero, DRAY_FLOAT64, 0, NULL, NULL);
	dray_array_view(in, &view);
	assert_fails(dray_mean(&view, NULL, &wrong_axis, &out), -ERANGE,
		     "axis 2");
	assert_fails(dray_var(&view, NULL, 0, &wrong_axis, &out), -ERANGE,
		     "axis 2");
	assert_fails(dray_count_true(&view, NULL, &wrong_axis, &out), -ERANGE,
		     "axis 2");
	assert_fails(dray_cumsum(&view, 2, 0, NULL, &out), -ERANGE, "axis 2");
	assert_fails(dray_mean(&view, NULL, &initial, &out), -EINVAL,
		     "initial");
	assert_fails(dray_ptp(&view, NULL, &initial, &out), -EINVAL, "initial");
	assert_fails(dray_clip(&view, NULL, NULL, NULL, NULL, &out), -EINVAL,
		     "no bound");
	dray_array_unref(in);
}

FACT(running_sums_and_bounds)
{
	struct dray_array *in = made_of(DRAY_INT32), *out = NULL;
	struct dray_view view, low, high;
	int32_t one = 1, three = 3;

	dray_array_view(in, &view);
	low = view_of(&one, DRAY_INT32, 0, NULL, NULL);
	high = view_of(&three, DRAY_INT32, 0, NULL, NULL);
	assert_works(dray_cumsum(&view, DRAY_FLAT, 0, NULL, &out));
	assert_int_equal(out->ndim, 1);
	compare(out, (double[]){ 1, 3, 7, 7, 10, 18 }, 6, "cumsum");
	dray_array_unref(out);
	assert_works(dray_cumprod(&view, 0, 0, NULL, &out));
	compare(out, (double[]){ 1, 2, 4, 0, 6, 32 }, 6, "cumprod");
	dray_array_unref(out);
	assert_works(dray_clip(&view, &low, &high, NULL, NULL, &out));
	compare(out, (double[]){ 1, 2, 3, 1, 3, 3 }, 6, "clip");
	dray_array_unref(out);
	assert_works(dray_clip(&view, &low, NULL, NULL, NULL, &out));
	compare(out, (double[]){ 1, 2, 4, 1, 3, 8 }, 6, "clip below");
	dray_array_unref(out);
	dray_array_unref(in);
}

static double plain_clip(double x, double low, double high)
{
	const double above = x != x || x > low ? x : low;

	return above != above || above < high ? above : high;
}

FACT(bounds_are_met_in_a_pass_for_all_strides_and_places)
{
	static const double values[] = {
		-5, 0.25, 7, 3, -0.0, 0, NAN, 1, -1, 9
	};
	static double in[400], out[400];
	const double low = 0, high = 3;
	struct dray_view from, to, least, most;

	least = view_of((void *)(uintptr_t)&low, DRAY_FLOAT64, 0, NULL, NULL);
	most = view_of((void *)(uintptr_t)&high, DRAY_FLOAT64, 0, NULL, NULL);
	for (int64_t step = 1; step <= 2; step++)
		for (int64_t count = 0; count < 200; count += 13)
			for (int in_place = 0; in_place < 2; in_place++) {
				double *target = in_place ? in : out;

				for (int i = 0; i < 400; i++)
					in[i] = values[i % 10];
				from = view_of(in, DRAY_FLOAT64, 1, DIMS(count),
					       DIMS(8 * step));
				to = view_of(target, DRAY_FLOAT64, 1,
					     DIMS(count), DIMS(8 * step));
				assert_works(dray_clip(&from, &least, &most,
						       &to, NULL, NULL));
				for (int64_t i = 0; i < count; i++) {
					const double wanted = plain_clip(
						values[i * step % 10], 0, 3);

					assert_memory_equal(&target[i * step],
							    &wanted, 8);
				}
			}
}

FACT(decimals_are_those_of_three_calls)
{
	static const dray_dtype dtypes[] = { DRAY_FLOAT32, DRAY_FLOAT64,
					     DRAY_FLOAT16 };
	double numbers[100];

	for (int i = 0; i < 100; i++)
		numbers[i] = (i - 50) * 1.2345678;
	for (size_t d = 0; d < 3; d++)
		for (int decimals = -3; decimals <= 6; decimals++) {
			const double power = pow(10, abs(decimals));
			const struct dray_ufunc_options weak = {
				.size = sizeof(weak),
				.weak = 2,
			};
			struct dray_array *in = NULL, *got = NULL, *a, *b, *c;
			struct dray_view view, ten, all;

			assert_works(
				dray_array_empty(dtypes[d], 1, DIMS(100), &in));
			dray_array_view(in, &view);
			all = view_of(numbers, DRAY_FLOAT64, 1, DIMS(100),
				      NULL);
			assert_works(dray_view_convert(&view, &all,
						       DRAY_CASTING_UNSAFE));
			ten = view_of((void *)(uintptr_t)&power, DRAY_FLOAT64,
				      0, NULL, NULL);
			assert_works(dray_round(&view, decimals, &got));
			if (!decimals) {
				dray_array_unref(got);
				dray_array_unref(in);
				continue;
			}
			assert_works(dray_ufunc_call(
				dray_ufunc_find(decimals > 0 ? "multiply"
							     : "divide"),
				(const struct dray_view *[]){ &view, &ten },
				NULL, &weak, &a));
			assert_works(dray_ufunc_call(
				dray_ufunc_find("rint"),
				(const struct dray_view *[]){
					dray_array_view(a, &all) },
				NULL, NULL, &b));
			assert_works(dray_ufunc_call(
				dray_ufunc_find(decimals > 0 ? "divide"
							     : "multiply"),
				(const struct dray_view *[]){
					dray_array_view(b, &all), &ten },
				NULL, &weak, &c));
			assert_true(got->dtype == dtypes[d]);
			assert_memory_equal(
				got->data, c->data,
				100 * dray_dtype_itemsize(dtypes[d]));
			dray_array_unref(a);
			dray_array_unref(b);
			dray_array_unref(c);
			dray_array_unref(got);
			dray_array_unref(in);
		}
}

FACT(bad_decimals_are_refused)
{
	double number = 1e307;
	int32_t whole = 1;
	struct dray_view view = view_of(&number, DRAY_FLOAT64, 0, NULL, NULL);
	struct dray_view integer = view_of(&whole, DRAY_INT32, 0, NULL, NULL);
	struct dray_fp_state before = { .size = sizeof(before) }, raises;
	struct dray_array *out = NULL;

	assert_fails(dray_round(&view, 301, &out), -EINVAL,
		     "301 decimals: they are from -300 to 300");
	assert_fails(dray_round(&integer, 2, &out), -EOPNOTSUPP,
		     "decimals are of floats");
	dray_get_fp_state(&before);
	raises = before;
	raises.over = DRAY_FP_RAISE;
	assert_works(dray_set_fp_state(&raises));
	if (flags_are_kept())
		assert_fails(dray_round(&view, 5, &out), -EDOM, "multiply");
	assert_works(dray_set_fp_state(&before));
	assert_null(out);
}

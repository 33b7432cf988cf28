// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * reduce_bad: wrong arguments of methods, each with its error and a sentence; and
 * reductions of nothing, and of one element.
 */
#include <math.h>

#include <dray/array.h>

#include "ufunc.h"

static double data[12], other[12];
static bool bools[12];
static struct dray_view in, out, mask, single;
static struct dray_ufunc *add, *subtract, *maximum, *negative, *less;

static int set_up(void **state)
{
	in = view_of(data, DRAY_FLOAT64, 2, DIMS(3, 4), NULL);
	out = view_of(other, DRAY_FLOAT64, 1, DIMS(4), NULL);
	mask = view_of(bools, DRAY_BOOL, 2, DIMS(3, 4), NULL);
	single = view_of(other, DRAY_FLOAT64, 0, NULL, NULL);
	add = dray_ufunc_find("add");
	subtract = dray_ufunc_find("subtract");
	maximum = dray_ufunc_find("maximum");
	negative = dray_ufunc_find("negative");
	less = dray_ufunc_find("less");
	return 0;
}

FACTS_SHARE(set_up, NULL)

#define AXES(...)                             \
	.axes = (const int[]){ __VA_ARGS__ }, \
	.axes_count = sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int)

static int reduce(struct dray_ufunc *ufunc, const struct dray_view *view,
		  const struct dray_view *to,
		  struct dray_reduce_options options)
{
	struct dray_array *array = NULL;
	int ret = dray_ufunc_reduce(ufunc, view, to, &options, &array);

	if (ret)
		assert_null(array);
	dray_array_unref(array);
	return ret;
}

#define OPTIONS(...) ((struct dray_reduce_options){ __VA_ARGS__ })

FACT(axes_that_do_not_exist_or_stand_twice_are_errors)
{
	assert_fails(reduce(add, &in, NULL, OPTIONS(AXES(2))), -ERANGE,
		     "axis 2");
	assert_fails(reduce(add, &in, NULL, OPTIONS(AXES(-3))), -ERANGE,
		     "axis -3");
	assert_fails(reduce(add, &in, NULL, OPTIONS(AXES(1, -1))), -EINVAL,
		     "axis 1 is named twice");
	assert_fails(reduce(add, &single, NULL, OPTIONS(AXES(1))), -ERANGE,
		     "axis 1");
	assert_works(reduce(add, &single, NULL, OPTIONS(AXES(0))));
	assert_fails(reduce(subtract, &in, NULL, OPTIONS(AXES(0, 1))), -EINVAL,
		     "only one axis");
	assert_fails(reduce(add, &in, NULL,
			    OPTIONS(AXES(0), .flags = DRAY_REDUCE_ALL_AXES)),
		     -EINVAL, "all axes");
	assert_fails(reduce(add, &in, NULL, OPTIONS(.axes_count = 1)), -EINVAL,
		     "no list");
	assert_fails(reduce(add, &in, NULL, OPTIONS(.flags = 1u << 30)),
		     -EINVAL, "flags");
}

FACT(ufuncs_of_other_operands_have_no_reduction)
{
	assert_fails(reduce(negative, &in, NULL, OPTIONS(0)), -EINVAL,
		     "negative has 1 input and 1 output");
	assert_fails(reduce(less, &in, NULL, OPTIONS(0)), -EOPNOTSUPP, "less");
	assert_works(reduce(less, &mask, NULL, OPTIONS(0)));
}

FACT(outputs_of_another_shape_or_read_only_are_errors)
{
	struct dray_view bad = out;

	assert_works(reduce(add, &in, &out, OPTIONS(AXES(0))));
	assert_fails(reduce(add, &in, &out, OPTIONS(AXES(1))), -EINVAL,
		     "the output has the shape (4,), the result (3,)");
	assert_fails(reduce(add, &in, &out,
			    OPTIONS(AXES(0), .flags = DRAY_REDUCE_KEEPDIMS)),
		     -EINVAL, "the result (1,4)");
	bad.flags &= ~(uint32_t)DRAY_WRITE;
	assert_fails(reduce(add, &in, &bad, OPTIONS(AXES(0))), -EPERM,
		     "read-only");
	bad = out;
	bad.strides[0] = 0;
	assert_fails(reduce(add, &in, &bad, OPTIONS(AXES(0))), -EINVAL,
		     "stride of 0");
	bad = in;
	bad.flags &= ~(uint32_t)DRAY_READ;
	assert_fails(reduce(add, &bad, NULL, OPTIONS(0)), -EPERM,
		     "may not be read");
}

FACT(masks_and_initials_that_do_not_fit_are_errors)
{
	struct dray_view bad = mask;

	bad.dtype = DRAY_UINT8;
	assert_fails(reduce(add, &in, NULL, OPTIONS(.where = &bad)),
		     -EOPNOTSUPP, "bools");
	bad = view_of(bools, DRAY_BOOL, 1, DIMS(3), NULL);
	assert_fails(reduce(add, &in, NULL, OPTIONS(.where = &bad)), -EINVAL,
		     "broadcast");
	assert_fails(reduce(maximum, &in, NULL, OPTIONS(.where = &mask)),
		     -EINVAL, "needs an initial element");
	assert_works(reduce(maximum, &in, NULL,
			    OPTIONS(.where = &mask, .initial = &single)));
	assert_fails(reduce(add, &in, NULL, OPTIONS(.initial = &out)), -EINVAL,
		     "4 elements instead of an initial one");
}

FACT(nothing_has_a_result_only_with_an_identity)
{
	const struct dray_view none =
		view_of(data, DRAY_FLOAT64, 2, DIMS(0, 4), NULL);
	const struct dray_view empty =
		view_of(data, DRAY_FLOAT64, 2, DIMS(0, 0), NULL);
	struct dray_array *array = NULL;
	struct dray_view view;
	double sum = 1;

	assert_fails(reduce(maximum, &none, NULL, OPTIONS(0)), -EINVAL,
		     "no elements");
	assert_works(reduce(maximum, &none, NULL, OPTIONS(AXES(1))));
	assert_fails(reduce(maximum, &empty, NULL, OPTIONS(AXES(0))), -EINVAL,
		     "no elements");
	assert_fails(reduce(maximum, &empty, NULL, OPTIONS(AXES(1))), -EINVAL,
		     "no elements");
	assert_fails(reduce(add, &none, NULL,
			    OPTIONS(.flags = DRAY_REDUCE_NO_INITIAL)),
		     -EINVAL, "no elements");
	assert_works(reduce(maximum, &none, NULL, OPTIONS(.initial = &single)));
	assert_works(dray_ufunc_reduce(add, &none, NULL,
				       &OPTIONS(.flags = DRAY_REDUCE_ALL_AXES),
				       &array));
	assert_works(dray_view_get(dray_array_view(array, &view), DRAY_FLOAT64,
				   &sum));
	assert_true(sum == 0);
	dray_array_unref(array);
	assert_works(dray_ufunc_reduce(
		dray_ufunc_find("logaddexp"), &none, NULL,
		&OPTIONS(.flags = DRAY_REDUCE_ALL_AXES), &array));
	assert_works(dray_view_get(dray_array_view(array, &view), DRAY_FLOAT64,
				   &sum));
	assert_true(sum == (double)-INFINITY);
	dray_array_unref(array);
}

FACT(one_element_is_its_own_reduction)
{
	struct dray_ufunc *const each[] = { add, subtract, maximum };
	struct dray_array *array = NULL;
	struct dray_view view;
	double value;
	size_t i;

	other[0] = -3;
	for (i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		assert_works(dray_ufunc_reduce(each[i], &single, NULL, NULL,
					       &array));
		assert_works(dray_view_get(dray_array_view(array, &view),
					   DRAY_FLOAT64, &value));
		assert_true(value == -3);
		dray_array_unref(array);
	}
}

FACT(small_integers_are_added_as_64_bits)
{
	static const struct {
		dray_dtype in, sum, largest;
	} rows[] = {
		{ DRAY_BOOL, DRAY_INT64, DRAY_BOOL },
		{ DRAY_INT8, DRAY_INT64, DRAY_INT8 },
		{ DRAY_UINT16, DRAY_UINT64, DRAY_UINT16 },
		{ DRAY_INT64, DRAY_INT64, DRAY_INT64 },
		{ DRAY_FLOAT16, DRAY_FLOAT16, DRAY_FLOAT16 },
		{ DRAY_COMPLEX64, DRAY_COMPLEX64, DRAY_COMPLEX64 },
	};
	struct dray_array *array = NULL;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct dray_view view =
			view_of(data, rows[i].in, 1, DIMS(3), NULL);

		assert_works(dray_ufunc_reduce(add, &view, NULL, NULL, &array));
		assert_true(array->dtype == rows[i].sum);
		dray_array_unref(array);
		assert_works(
			dray_ufunc_reduce(maximum, &view, NULL, NULL, &array));
		assert_true(array->dtype == rows[i].largest);
		dray_array_unref(array);
	}
}

FACT(indices_of_segments_are_checked)
{
	int64_t numbers[] = { 0, 3, -1 };
	struct dray_view indices =
		view_of(numbers, DRAY_INT64, 1, DIMS(2), NULL);
	struct dray_array *array = NULL;

	assert_fails(dray_ufunc_reduceat(add, &in, &indices, 0, 0, NULL,
					 &array),
		     -ERANGE, "index 3 is not one of 3 elements");
	assert_works(
		dray_ufunc_reduceat(add, &in, &indices, 1, 0, NULL, &array));
	dray_array_unref(array);
	indices.shape[0] = 3;
	assert_fails(dray_ufunc_reduceat(add, &in, &indices, 1, 0, NULL,
					 &array),
		     -ERANGE, "index -1");
	assert_fails(dray_ufunc_reduceat(add, &in, &out, 1, 0, NULL, &array),
		     -EOPNOTSUPP, "integers");
	indices = view_of(numbers, DRAY_INT64, 0, NULL, NULL);
	assert_fails(dray_ufunc_reduceat(add, &in, &indices, 1, 0, NULL,
					 &array),
		     -EINVAL, "one axis");
	indices = view_of(numbers, DRAY_INT64, 1, DIMS(1), NULL);
	assert_fails(dray_ufunc_reduceat(add, &single, &indices, 0, 0, NULL,
					 &array),
		     -EOPNOTSUPP, "without axes");
}

FACT(running_results_need_an_axis)
{
	struct dray_array *array = NULL;

	assert_fails(dray_ufunc_accumulate(add, &single, 0, 0, NULL, &array),
		     -EOPNOTSUPP, "without axes");
	assert_fails(dray_ufunc_accumulate(add, &in, 2, 0, NULL, &array),
		     -ERANGE, "axis 2");
	assert_fails(dray_ufunc_accumulate(add, &in, 0, 0, &out, &array),
		     -EINVAL, "shape");
	assert_fails(dray_ufunc_accumulate(less, &in, 0, 0, NULL, &array),
		     -EOPNOTSUPP, "less");
}

static void warn(void *context, const char *sentence, unsigned int error,
		 unsigned int errors)
{
	snprintf(context, 64, "%s", sentence);
}

FACT_ON(flags_are_kept, overflow_is_reported_by_the_name_of_the_method, NULL,
	NULL)
{
	char said[64] = "";
	struct dray_fp_state fp = {
		.over = DRAY_FP_CALL,
		.buffer_size = 8192,
		.call = warn,
		.context = said,
	};
	struct dray_array *array = NULL;
	int i;

	for (i = 0; i < 12; i++)
		data[i] = 1e308;
	assert_works(dray_set_fp_state(&fp));
	assert_works(reduce(add, &in, NULL, OPTIONS(0)));
	assert_string_equal(said, "overflow encountered in reduce");
	fp.over = DRAY_FP_RAISE;
	assert_works(dray_set_fp_state(&fp));
	assert_fails(reduce(add, &in, NULL, OPTIONS(0)), -EDOM,
		     "overflow encountered in reduce");
	/* The loop notes none, but the conversion to it does. */
	assert_fails(reduce(maximum, &in, NULL, OPTIONS(.dtype = DRAY_FLOAT32)),
		     -EDOM, "overflow encountered in reduce");
	assert_fails(dray_ufunc_accumulate(maximum, &in, 0, DRAY_FLOAT32, NULL,
					   &array),
		     -EDOM, "overflow encountered in accumulate");
	assert_works(dray_set_fp_state(NULL));
	memset(data, 0, sizeof(data));
}

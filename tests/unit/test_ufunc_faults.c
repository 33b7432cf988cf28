// SPDX-License-Identifier: Apache-2.0 OR MIT
/* ufunc_faults: universal functions without the memory that they need. */
#include <dray/array.h>

#include "failing_memory.h"
#include "ufunc.h"

FACT(builtin_functions_are_made_later_if_memory_runs_out_at_first)
{
	assert_works(dray_set_fp_state(NULL));
	to_go = 0;
	assert_null(dray_ufunc_find("add"));
	to_go = -1;
	assert_non_null(
		strstr(dray_last_error(), "no memory for the builtin ufuncs"));
	assert_non_null(dray_ufunc_find("add"));
}

static int make(void)
{
	struct dray_ufunc *made = NULL;
	int ret = dray_ufunc_create("f", 1, 1, DRAY_IDENTITY_NONE, &made);

	assert_true(ret ? !made : !!made);
	dray_ufunc_unref(made);
	return ret;
}

static struct dray_ufunc *mix;

static int set(void)
{
	const dray_dtype types[] = { DRAY_FLOAT32, DRAY_FLOAT32, DRAY_FLOAT32 };
	const struct dray_ufunc_loop loop = { no_loop, NULL, 0 };

	return dray_ufunc_set_loop(mix, types, &loop);
}

static double numbers[800];

static int call(const struct dray_view *a, const struct dray_view *b,
		const struct dray_view *to)
{
	struct dray_array *made = NULL;
	int ret = dray_ufunc_call(mix, INPUTS(a, b), INPUTS(to), NULL, &made);

	if (ret)
		assert_null(made);
	dray_array_unref(made);
	return ret;
}

static int call_made(void)
{
	struct dray_view in =
		view_of(numbers, DRAY_FLOAT64, 2, DIMS(10, 10), NULL);

	return call(&in, &in, NULL);
}

static int call_in_an_order(void)
{
	struct dray_view in = view_of(numbers, DRAY_FLOAT64, 3, DIMS(4, 4, 4),
				      DIMS(32, 128, 8));

	return call(&in, &in, NULL);
}

static int call_converted(void)
{
	struct dray_view in = view_of(numbers, DRAY_INT64, 1, DIMS(100), NULL);
	struct dray_view other =
		view_of(numbers, DRAY_FLOAT64, 1, DIMS(100), NULL);

	return call(&in, &other, NULL);
}

static int call_aside(void)
{
	struct dray_view in =
		view_of(numbers, DRAY_FLOAT64, 1, DIMS(700), NULL);
	struct dray_view out =
		view_of(numbers + 1, DRAY_FLOAT64, 1, DIMS(700), NULL);

	return call(&in, &in, &out);
}

FACT(calls_fail_cleanly_without_memory)
{
	mix = make_mix();
	assert_true(fails_cleanly(make));
	assert_true(fails_cleanly(set));
	assert_true(fails_cleanly(call_made));
	assert_true(fails_cleanly(call_in_an_order));
	assert_true(fails_cleanly(call_converted));
	assert_true(fails_cleanly(call_aside));
	dray_ufunc_unref(mix);
}

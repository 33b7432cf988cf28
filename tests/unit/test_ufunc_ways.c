// SPDX-License-Identifier: Apache-2.0 OR MIT
/* ufunc_ways: the pieces in which a call gives elements to its loop. */
#include <dray/array.h>

#include "ufunc_seen.h"

static int set_up(void **state)
{
	make_seen();
	return 0;
}

static int tear_down(void **state)
{
	dray_ufunc_unref(mix);
	return 0;
}

FACTS_SHARE(set_up, tear_down)

/* Calls on views of the same memory, and looks at its result. */
static void call_on(dray_dtype dtype, int ndim, const int64_t *shape,
		    const int64_t *strides)
{
	struct dray_view in = view_of(numbers, dtype, ndim, shape, strides);
	struct dray_view out =
		view_of(results, DRAY_FLOAT64, ndim, shape, strides);

	forget_all();
	assert_works(dray_ufunc_call(mix, INPUTS(&in, &in), INPUTS(&out), NULL,
				     NULL));
	assert_false(seen.misplaced);
	assert_int_equal(seen.elements, dray_view_size(&in));
}

FACT(elements_in_any_order_that_all_share_take_one_loop)
{
	call_on(DRAY_FLOAT64, 3, DIMS(4, 5, 6), NULL);
	assert_int_equal(seen.calls, 1);
	call_on(DRAY_FLOAT64, 3, DIMS(4, 5, 6), DIMS(8, 32, 160));
	assert_int_equal(seen.calls, 1);
	call_on(DRAY_FLOAT64, 3, DIMS(4, 5, 6), DIMS(48, 192, 8));
	assert_int_equal(seen.calls, 1);
	call_on(DRAY_FLOAT64, 2, DIMS(10, 10), DIMS(160, 16));
	assert_int_equal(seen.calls, 1);
	call_on(DRAY_FLOAT64, 0, NULL, NULL);
	assert_int_equal(seen.calls, 1);
	call_on(DRAY_FLOAT64, 1, DIMS(100), DIMS(24));
	assert_int_equal(seen.calls, 1);
	assert_true(results[297] == 3 * 297);
	assert_true(results[298] == -1);
}

FACT(elements_with_gaps_take_loops_along_the_best_axis)
{
	/* Rows of 50. */
	call_on(DRAY_FLOAT64, 2, DIMS(10, 50), DIMS(480, 8));
	assert_int_equal(seen.calls, 10);
	assert_int_equal(seen.most, 50);
	assert_true(results[60] == 180 && results[50] == -1);
	/* Rows of 2: columns, in blocks. */
	call_on(DRAY_FLOAT64, 2, DIMS(1000, 2), DIMS(32, 8));
	assert_int_equal(seen.calls, 4);
	assert_int_equal(seen.most, 512);
	assert_true(results[3997] == 3 * 3997. && results[3998] == -1);
	/* Short axes only. */
	call_on(DRAY_FLOAT64, 3, DIMS(3, 5, 2), DIMS(800, 80, 16));
	assert_int_equal(seen.calls, 15);
	/* The long axis lies outside. */
	call_on(DRAY_FLOAT64, 3, DIMS(200, 2, 3), DIMS(128, 48, 8));
	assert_int_equal(seen.calls, 6);
	assert_int_equal(seen.most, 200);
}

FACT(elements_that_are_converted_go_through_buffers)
{
	struct dray_fp_state fp = { .size = sizeof(fp) };

	dray_get_fp_state(&fp);
	fp.buffer_size = 100;
	assert_works(dray_set_fp_state(&fp));
	call_on(DRAY_INT64, 1, DIMS(1050), NULL);
	assert_int_equal(seen.calls, 11);
	assert_int_equal(seen.most, 100);
	fp.buffer_size = 16;
	assert_works(dray_set_fp_state(&fp));
	call_on(DRAY_DTYPE('f', '<' ^ '>' ^ DRAY_NATIVE_ORDER, 8), 2,
		DIMS(10, 10), DIMS(160, 8));
	assert_true(seen.most <= 16);
	assert_works(dray_set_fp_state(NULL));
}

FACT(elements_that_are_not_aligned_are_given_to_loops_aligned)
{
	static char bytes[80 * 8 + 1];
	struct dray_view in =
		view_of(bytes + 1, DRAY_FLOAT64, 1, DIMS(80), NULL);
	struct dray_view out =
		view_of(results, DRAY_FLOAT64, 1, DIMS(80), NULL);

	forget_all();
	memcpy(bytes + 1, numbers, 80 * 8);
	assert_works(dray_ufunc_call(mix, INPUTS(&in, &in), INPUTS(&out), NULL,
				     NULL));
	assert_true(results[79] == 3 * 79 && !seen.misplaced);
	/* And so for outputs. */
	assert_works(dray_ufunc_call(mix, INPUTS(&out, &out), INPUTS(&in), NULL,
				     NULL));
	memcpy(numbers, bytes + 1, 80 * 8);
	assert_true(numbers[79] == 9 * 79 && !seen.misplaced);
}

FACT(no_elements_call_no_loop)
{
	call_on(DRAY_FLOAT64, 1, DIMS(0), NULL);
	call_on(DRAY_FLOAT64, 3, DIMS(2, 0, 3), NULL);
	call_on(DRAY_INT32, 2, DIMS(0, 5), NULL);
	assert_int_equal(seen.calls, 0);
}

FACT(a_mask_leaves_elements_and_skips_runs)
{
	struct dray_view in = view_of(numbers, DRAY_FLOAT64, 1, DIMS(10), NULL);
	struct dray_view out =
		view_of(results, DRAY_FLOAT64, 1, DIMS(10), NULL);
	struct dray_view mask = view_of(bools, DRAY_BOOL, 1, DIMS(10), NULL);
	const struct dray_ufunc_options options = { .where = &mask };
	int i;

	forget_all();
	memcpy(bools, "\0\1\1\0\0\1\1\1\0\1", 10);
	assert_works(dray_ufunc_call(mix, INPUTS(&in, &in), INPUTS(&out),
				     &options, NULL));
	assert_int_equal(seen.calls, 3);
	assert_int_equal(seen.elements, 6);
	for (i = 0; i < 10; i++)
		assert_true(results[i] == (bools[i] ? 3 * i : -1));
	memset(bools, 0, 10);
	forget_all();
	assert_works(dray_ufunc_call(mix, INPUTS(&in, &in), INPUTS(&out),
				     &options, NULL));
	assert_int_equal(seen.calls, 0);
}

FACT(a_mask_is_broadcast)
{
	struct dray_view in =
		view_of(numbers, DRAY_FLOAT64, 2, DIMS(4, 50), DIMS(480, 8));
	struct dray_view out =
		view_of(results, DRAY_FLOAT64, 2, DIMS(4, 50), DIMS(480, 8));
	struct dray_view mask = view_of(bools, DRAY_BOOL, 2, DIMS(4, 1), NULL);
	const struct dray_ufunc_options options = { .where = &mask };

	forget_all();
	memcpy(bools, "\1\0\0\1", 4);
	assert_works(dray_ufunc_call(mix, INPUTS(&in, &in), INPUTS(&out),
				     &options, NULL));
	assert_int_equal(seen.calls, 2);
	assert_int_equal(seen.elements, 100);
	assert_true(results[0] == 0 && results[60] == -1 &&
		    results[180] == 3 * 180);
	/* Without axes it is all or nothing. */
	mask = view_of(bools + 1, DRAY_BOOL, 0, NULL, NULL);
	forget_all();
	assert_works(dray_ufunc_call(mix, INPUTS(&in, &in), INPUTS(&out),
				     &options, NULL));
	assert_int_equal(seen.calls, 0);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Options and results of libdray-array in each size. */
#include <dray/array.h>

#include "cast/options.h"
#include "sizes.h"
#include "streams.h"

static struct dray_call_queue *calls;
static struct dray_sequence *sequence;
static const int64_t shape[] = { 4 };
static int64_t numbers[4];
static struct dray_view view;

static int sized_end(struct dray_array *const *array, int ret)
{
	if (!ret)
		dray_array_unref(*array);
	return ret;
}

static int set_fp_state_sized(void *state)
{
	return dray_set_fp_state(state);
}

static int get_fp_state_sized(void *state)
{
	errno = 0;
	dray_get_fp_state(state);
	return -errno;
}

static int array_sized(void *options)
{
	struct dray_array *made;

	return sized_end(&made, dray_array_make(options, &made));
}

static int nditer_sized(void *options)
{
	const struct dray_view *const views[] = { &view };
	struct dray_nditer *made;
	int ret = dray_nditer_create(views, 1, options, &made);

	return ret ? ret : dray_nditer_destroy(made);
}

static const struct dray_view *const inputs[] = { &view, &view };

static int call_sized(void *options)
{
	struct dray_array *made;

	return sized_end(&made, dray_ufunc_call(dray_ufunc_find("add"), inputs,
						NULL, options, &made));
}

static int resolve_sized(void *options)
{
	const dray_dtype given[] = { DRAY_INT64, DRAY_INT64, 0 };
	dray_dtype types[3];

	return dray_ufunc_resolve_types(dray_ufunc_find("add"), given, options,
					types);
}

static int outer_sized(void *options)
{
	struct dray_array *made;

	return sized_end(&made, dray_ufunc_outer(dray_ufunc_find("add"), &view,
						 &view, NULL, options, &made));
}

static int clip_sized(void *options)
{
	struct dray_array *made;

	return sized_end(&made,
			 dray_clip(&view, &view, &view, NULL, options, &made));
}

static int submit_sized(void *options)
{
	struct dray_array *made;

	return sized_end(&made, dray_call_queue_submit(
					calls, dray_ufunc_find("add"), inputs,
					NULL, options, &made, NULL));
}

static int explain_options_sized(void *options)
{
	struct dray_call_explanation said = { .size = sizeof(said) };

	return dray_explain_call(calls, dray_ufunc_find("add"), inputs, NULL,
				 options, &said);
}

static int call_explain_sized(void *out)
{
	return dray_explain_call(calls, dray_ufunc_find("add"), inputs, NULL,
				 NULL, out);
}

static int reduce_sized(void *options)
{
	struct dray_array *made;

	return sized_end(&made, dray_ufunc_reduce(dray_ufunc_find("add"), &view,
						  NULL, options, &made));
}

#define STATISTIC(name)                                                     \
	static int name##_sized(void *options)                              \
	{                                                                   \
		struct dray_array *made;                                    \
                                                                            \
		return sized_end(&made,                                     \
				 dray_##name(&view, NULL, options, &made)); \
	}                                                                   \
	struct unit_fact
STATISTIC(sum);
STATISTIC(ptp);
STATISTIC(count_true);
STATISTIC(mean);

static int variance_sized(void *options)
{
	struct dray_array *made;

	return sized_end(&made, dray_var(&view, NULL, 0, options, &made));
}

/* A file that does not exist is refused after the size. */
static int npy_sized(void *options)
{
	struct dray_array *made;

	return sized_end(&made,
			 dray_npy_load("/nowhere/x.npy", options, &made));
}

static int sized_check(void *context, const struct dray_call *asked)
{
	return -EOPNOTSUPP;
}

static int sized_submit(void *context, struct dray_call *asked)
{
	return -EOPNOTSUPP;
}

static int executor_sized(void *functions)
{
	struct dray_executor *made;
	int ret = dray_executor_create("sized", functions, NULL, &made);

	if (!ret)
		dray_executor_unref(made);
	return ret;
}

static int call_queue_sized(void *options)
{
	struct dray_call_queue *made;
	int ret = dray_call_queue_create(NULL, 0, options, &made);

	if (!ret)
		dray_call_queue_destroy(made);
	return ret;
}

static int stream_executor_sized(void *options)
{
	struct dray_executor *made;
	int ret = dray_stream_executor_create(options, &made);

	if (!ret)
		dray_executor_unref(made);
	return ret;
}

static int sequence_call_sized(void *options)
{
	struct dray_sequence *made;
	dray_value in, out;
	int ret;

	assert_works(dray_sequence_create(&made));
	assert_works(dray_sequence_input(made, DRAY_INT64, 1, shape, &in));
	ret = dray_sequence_call(made, dray_ufunc_find("negative"), &in,
				 options, &out);
	dray_sequence_destroy(made);
	return ret;
}

static int sequence_plan_sized(void *plan)
{
	return dray_sequence_get_plan(sequence, plan);
}

static int sequence_run_sized(void *options)
{
	struct dray_array *made;

	return sized_end(&made, dray_sequence_run(sequence, inputs, NULL,
						  options, &made));
}

static int sequence_submit_sized(void *options)
{
	struct dray_array *made;

	return sized_end(&made,
			 dray_sequence_submit(sequence, calls, inputs, NULL,
					      options, &made, NULL));
}

static void make_sequence(void)
{
	dray_value in, out;

	assert_works(dray_sequence_create(&sequence));
	assert_works(dray_sequence_input(sequence, DRAY_INT64, 1, shape, &in));
	assert_works(dray_sequence_call(sequence, dray_ufunc_find("negative"),
					&in, NULL, &out));
	assert_works(dray_sequence_output(sequence, out));
	assert_works(dray_sequence_end(sequence));
}

#define UFUNC(function)                                                  \
	OPTIONS(dray_ufunc_options, DRAY_UFUNC_OPTIONS, 56, false, NULL, \
		function)
#define REDUCE(function)                                                   \
	OPTIONS(dray_reduce_options, DRAY_REDUCE_OPTIONS, 48, false, NULL, \
		function)
#define RUN(function)                                                     \
	OPTIONS(dray_sequence_run_options, DRAY_SEQUENCE_RUN_OPTIONS, 16, \
		false, NULL, function)

FACT_ON(on_host, options_and_results_of_arrays_have_any_size, loop_setup,
	loop_teardown)
{
	static const struct dray_fp_state fresh = { .buffer_size = 8192 };
	static const struct dray_executor_functions functions = {
		.check = sized_check,
		.submit = sized_submit,
	};
	static const dray_dtype types[] = { DRAY_UINT8, DRAY_UINT8 };
	const struct dray_stream_executor_options streams = {
		.ufunc = dray_ufunc_find("invert"),
		.dtypes = types,
		.tx = &loop.tx,
		.tx_count = 1,
		.rx = &loop.rx,
		.rx_count = 1,
	};
	const struct sizes_row table[] = {
		OPTIONS(dray_fp_state, DRAY_FP_STATE, 40, false, &fresh,
			set_fp_state_sized),
		RESULT(dray_fp_state, DRAY_FP_STATE, 40, get_fp_state_sized),
		OPTIONS(dray_array_options, DRAY_ARRAY_OPTIONS, 72, false, NULL,
			array_sized),
		OPTIONS(dray_nditer_options, DRAY_NDITER_OPTIONS, 56, false,
			NULL, nditer_sized),
		UFUNC(call_sized),
		UFUNC(resolve_sized),
		UFUNC(outer_sized),
		UFUNC(clip_sized),
		UFUNC(submit_sized),
		UFUNC(explain_options_sized),
		RESULT(dray_call_explanation, DRAY_CALL_EXPLANATION, 328,
		       call_explain_sized),
		REDUCE(reduce_sized),
		REDUCE(sum_sized),
		REDUCE(ptp_sized),
		REDUCE(count_true_sized),
		REDUCE(mean_sized),
		REDUCE(variance_sized),
		OPTIONS(dray_npy_options, DRAY_NPY_OPTIONS, 24, true, NULL,
			npy_sized),
		OPTIONS(dray_executor_functions, DRAY_EXECUTOR_FUNCTIONS, 32,
			false, &functions, executor_sized),
		OPTIONS(dray_call_queue_options, DRAY_CALL_QUEUE_OPTIONS, 16,
			false, NULL, call_queue_sized),
		OPTIONS(dray_stream_executor_options,
			DRAY_STREAM_EXECUTOR_OPTIONS, 112, false, &streams,
			stream_executor_sized),
		OPTIONS(dray_sequence_options, DRAY_SEQUENCE_OPTIONS, 48, false,
			NULL, sequence_call_sized),
		RESULT(dray_sequence_plan, DRAY_SEQUENCE_PLAN, 40,
		       sequence_plan_sized),
		RUN(sequence_run_sized),
		RUN(sequence_submit_sized),
	};

	assert_works(
		dray_view_init(&view, numbers, DRAY_INT64, 1, shape, NULL));
	assert_works(dray_call_queue_create(NULL, 0, NULL, &calls));
	make_sequence();
	SIZES_CHECK(table);
	dray_sequence_destroy(sequence);
	dray_call_queue_destroy(calls);
	assert_works(dray_set_fp_state(NULL));
}

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

static int end(struct dray_array *array, int ret)
{
	if (!ret)
		dray_array_unref(array);
	return ret;
}

static int set_fp_state(void *state)
{
	return dray_set_fp_state(state);
}

static int get_fp_state(void *state)
{
	errno = 0;
	dray_get_fp_state(state);
	return -errno;
}

static int array(void *options)
{
	struct dray_array *made;

	return end(made, dray_array_make(options, &made));
}

static int nditer(void *options)
{
	const struct dray_view *const views[] = { &view };
	struct dray_nditer *made;
	int ret = dray_nditer_create(views, 1, options, &made);

	return ret ? ret : dray_nditer_destroy(made);
}

static const struct dray_view *const inputs[] = { &view, &view };

static int call(void *options)
{
	struct dray_array *made;

	return end(made, dray_ufunc_call(dray_ufunc_find("add"), inputs, NULL,
					 options, &made));
}

static int resolve(void *options)
{
	const dray_dtype given[] = { DRAY_INT64, DRAY_INT64, 0 };
	dray_dtype types[3];

	return dray_ufunc_resolve_types(dray_ufunc_find("add"), given, options,
					types);
}

static int outer(void *options)
{
	struct dray_array *made;

	return end(made, dray_ufunc_outer(dray_ufunc_find("add"), &view, &view,
					  NULL, options, &made));
}

static int clip(void *options)
{
	struct dray_array *made;

	return end(made, dray_clip(&view, &view, &view, NULL, options, &made));
}

static int submit(void *options)
{
	struct dray_array *made;

	return end(made,
		   dray_call_queue_submit(calls, dray_ufunc_find("add"), inputs,
					  NULL, options, &made, NULL));
}

static int explain_options(void *options)
{
	struct dray_call_explanation said = { .size = sizeof(said) };

	return dray_explain_call(calls, dray_ufunc_find("add"), inputs, NULL,
				 options, &said);
}

static int explain(void *out)
{
	return dray_explain_call(calls, dray_ufunc_find("add"), inputs, NULL,
				 NULL, out);
}

static int reduce(void *options)
{
	struct dray_array *made;

	return end(made, dray_ufunc_reduce(dray_ufunc_find("add"), &view, NULL,
					   options, &made));
}

#define STATISTIC(name)                                                     \
	static int name(void *options)                                      \
	{                                                                   \
		struct dray_array *made;                                    \
                                                                            \
		return end(made, dray_##name(&view, NULL, options, &made)); \
	}                                                                   \
	struct unit_fact
STATISTIC(sum);
STATISTIC(ptp);
STATISTIC(count_true);
STATISTIC(mean);

static int variance(void *options)
{
	struct dray_array *made;

	return end(made, dray_var(&view, NULL, 0, options, &made));
}

/* A file that does not exist is refused after the size. */
static int npy(void *options)
{
	struct dray_array *made;

	return end(made, dray_npy_load("/nowhere/x.npy", options, &made));
}

static int executor_check(void *context, const struct dray_call *asked)
{
	return -EOPNOTSUPP;
}

static int executor_submit(void *context, struct dray_call *asked)
{
	return -EOPNOTSUPP;
}

static int executor(void *functions)
{
	struct dray_executor *made;
	int ret = dray_executor_create("sized", functions, NULL, &made);

	if (!ret)
		dray_executor_unref(made);
	return ret;
}

static int call_queue(void *options)
{
	struct dray_call_queue *made;
	int ret = dray_call_queue_create(NULL, 0, options, &made);

	if (!ret)
		dray_call_queue_destroy(made);
	return ret;
}

static int stream_executor(void *options)
{
	struct dray_executor *made;
	int ret = dray_stream_executor_create(options, &made);

	if (!ret)
		dray_executor_unref(made);
	return ret;
}

/* A machine without OpenCL refuses it after its size. */
static int opencl(void *options)
{
	struct dray_executor *made;
	int ret = dray_opencl_executor_create(options, &made);

	if (!ret)
		dray_executor_unref(made);
	return ret;
}

static int sequence_call(void *options)
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

static int sequence_plan(void *plan)
{
	return dray_sequence_get_plan(sequence, plan);
}

static int sequence_run(void *options)
{
	struct dray_array *made;

	return end(made,
		   dray_sequence_run(sequence, inputs, NULL, options, &made));
}

static int sequence_submit(void *options)
{
	struct dray_array *made;

	return end(made, dray_sequence_submit(sequence, calls, inputs, NULL,
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
		.check = executor_check,
		.submit = executor_submit,
	};
	static const dray_dtype types[] = { DRAY_UINT8, DRAY_UINT8 };
	static const struct dray_opencl_loop loop_of_opencl;
	static const struct dray_opencl_executor_options kernels = {
		.loops = &loop_of_opencl,
	};
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
			set_fp_state),
		RESULT(dray_fp_state, DRAY_FP_STATE, 40, get_fp_state),
		OPTIONS(dray_array_options, DRAY_ARRAY_OPTIONS, 72, false, NULL,
			array),
		OPTIONS(dray_nditer_options, DRAY_NDITER_OPTIONS, 56, false,
			NULL, nditer),
		UFUNC(call),
		UFUNC(resolve),
		UFUNC(outer),
		UFUNC(clip),
		UFUNC(submit),
		UFUNC(explain_options),
		RESULT(dray_call_explanation, DRAY_CALL_EXPLANATION, 328,
		       explain),
		REDUCE(reduce),
		REDUCE(sum),
		REDUCE(ptp),
		REDUCE(count_true),
		REDUCE(mean),
		REDUCE(variance),
		OPTIONS(dray_npy_options, DRAY_NPY_OPTIONS, 24, true, NULL,
			npy),
		OPTIONS(dray_executor_functions, DRAY_EXECUTOR_FUNCTIONS, 32,
			false, &functions, executor),
		OPTIONS(dray_call_queue_options, DRAY_CALL_QUEUE_OPTIONS, 16,
			false, NULL, call_queue),
		OPTIONS(dray_stream_executor_options,
			DRAY_STREAM_EXECUTOR_OPTIONS, 112, false, &streams,
			stream_executor),
		OPTIONS(dray_opencl_executor_options,
			DRAY_OPENCL_EXECUTOR_OPTIONS, 48, true, &kernels,
			opencl),
		OPTIONS(dray_sequence_options, DRAY_SEQUENCE_OPTIONS, 48, false,
			NULL, sequence_call),
		RESULT(dray_sequence_plan, DRAY_SEQUENCE_PLAN, 40,
		       sequence_plan),
		RUN(sequence_run),
		RUN(sequence_submit),
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* failure: kinds of failures by their causes, and over threads that fail for others. */
#include <dray/array.h>

#include "layout/layout_threads.h"
#include "pool.h"
#include "ufunc.h"

FACTS_ON(on_host)

static double half[2] = { 0.5, 1.5 };
static int32_t whole[2];
static int8_t small[2] = { 1, 2 };
static struct dray_stream *sender;

#define LENGTH DIMS(2)

static int cast_by_a_rule(void)
{
	struct dray_view from = view_of(half, DRAY_FLOAT64, 1, LENGTH, NULL);
	struct dray_view to = view_of(whole, DRAY_INT32, 1, LENGTH, NULL);

	return dray_view_convert(&to, &from, DRAY_CASTING_SAME_KIND);
}

static int store_an_output(void)
{
	struct dray_view in = view_of(half, DRAY_FLOAT64, 1, LENGTH, NULL);
	struct dray_view out = view_of(whole, DRAY_INT32, 1, LENGTH, NULL);

	return dray_ufunc_call(dray_ufunc_find("negative"), INPUTS(&in),
			       INPUTS(&out), NULL, NULL);
}

static int mask_by_numbers(void)
{
	struct dray_view in = view_of(half, DRAY_FLOAT64, 1, LENGTH, NULL);
	const struct dray_ufunc_options options = { .where = &in };

	return dray_ufunc_call(dray_ufunc_find("negative"), INPUTS(&in),
			       INPUTS(&in), &options, NULL);
}

static int iterate_by_a_rule(void)
{
	struct dray_view in = view_of(half, DRAY_FLOAT64, 1, LENGTH, NULL);
	const struct dray_nditer_options options = {
		.flags = DRAY_NDITER_BUFFERED,
		.casting = DRAY_CASTING_SAFE,
		.operand_flags = (uint32_t[]){ DRAY_OPERAND_READ },
		.dtypes = (dray_dtype[]){ DRAY_INT32 },
	};
	struct dray_nditer *iter;

	return dray_nditer_create(INPUTS(&in), 1, &options, &iter);
}

static int record_a_conversion(void)
{
	struct dray_sequence *sequence = NULL;
	dray_value value = 0;
	int ret;

	assert_works(dray_sequence_create(&sequence));
	assert_works(
		dray_sequence_input(sequence, DRAY_FLOAT64, 1, LENGTH, &value));
	ret = dray_sequence_convert(sequence, value, DRAY_INT32,
				    DRAY_CASTING_SAFE, &value);
	dray_sequence_destroy(sequence);
	return ret;
}

static int add_a_large_integer(void)
{
	struct dray_view in = view_of(small, DRAY_INT8, 1, LENGTH, NULL);
	const struct dray_ufunc_options options = { .weak = 2 };
	int64_t number = 300;
	struct dray_view weak = view_of(&number, DRAY_INT64, 0, NULL, NULL);

	return dray_ufunc_call(dray_ufunc_find("add"), INPUTS(&in, &weak),
			       INPUTS(&in), &options, NULL);
}

static int sum_from(void *number, dray_dtype dtype)
{
	struct dray_view in = view_of(small, DRAY_INT8, 1, LENGTH, NULL);
	struct dray_view first = view_of(number, dtype, 0, NULL, NULL);
	const struct dray_reduce_options options = { .initial = &first,
						     .dtype = DRAY_INT8 };
	struct dray_array *sum;

	return dray_ufunc_reduce(dray_ufunc_find("add"), &in, NULL, &options,
				 &sum);
}

static int sum_from_a_large_integer(void)
{
	int64_t number = -200;

	return sum_from(&number, DRAY_INT64);
}

static int sum_from_a_large_number(void)
{
	double number = 1e300;

	return sum_from(&number, DRAY_FLOAT64);
}

static int send_memory_of_the_program(void)
{
	struct dray_view view = view_of(half, DRAY_FLOAT64, 1, LENGTH, NULL);

	return dray_stream_send(sender, &view, NULL, NULL);
}

static int ring_of_the_programs_memory(void)
{
	struct dray_view view = view_of(half, DRAY_FLOAT64, 1, LENGTH, NULL);

	return dray_stream_ring(sender, INPUTS(&view, &view), 2, 0);
}

static int wait_for_lent_memory(void)
{
	struct dray_view view = view_of(half, DRAY_FLOAT64, 1, LENGTH, NULL);
	struct dray_loan *loan;
	int ret;

	assert_works(dray_view_lend(&view, DRAY_ACCESS_WRITE, 0, NULL, &loan));
	ret = dray_view_wait(&view, DRAY_ACCESS_READ, 0);
	dray_loan_end(loan);
	return ret;
}

static int call_without_a_loop(void)
{
	struct dray_view in = view_of(half, DRAY_FLOAT64, 1, LENGTH, NULL);

	return dray_ufunc_call(dray_ufunc_find("invert"), INPUTS(&in),
			       INPUTS(&in), NULL, NULL);
}

static int cast_by_no_rule(void)
{
	struct dray_view view = view_of(half, DRAY_FLOAT64, 1, LENGTH, NULL);

	return dray_view_convert(&view, &view, (enum dray_casting)9);
}

static int multiply_sizes(void)
{
	struct dray_view view;

	return dray_view_init(&view, NULL, DRAY_FLOAT64, 2,
			      DIMS(INT64_MAX, INT64_MAX), NULL);
}

FACT(each_cause_has_its_kind)
{
	static const struct {
		int (*cause)(void);
		int error;
		enum dray_failure failure;
		const char *part;
	} rows[] = {
		{ cast_by_a_rule, -EINVAL, DRAY_FAILURE_CASTING, "same_kind" },
		{ store_an_output, -EOPNOTSUPP, DRAY_FAILURE_CASTING,
		  "output" },
		{ mask_by_numbers, -EOPNOTSUPP, DRAY_FAILURE_CASTING, "mask" },
		{ iterate_by_a_rule, -EINVAL, DRAY_FAILURE_CASTING, "operand" },
		{ record_a_conversion, -EINVAL, DRAY_FAILURE_CASTING, "safe" },
		{ add_a_large_integer, -EOVERFLOW, DRAY_FAILURE_BOUNDS, "300" },
		{ sum_from_a_large_integer, -EOVERFLOW, DRAY_FAILURE_BOUNDS,
		  "-200" },
		{ sum_from_a_large_number, -EOVERFLOW, DRAY_FAILURE_BOUNDS,
		  "1e+300" },
		{ send_memory_of_the_program, -EOPNOTSUPP, DRAY_FAILURE_STAGE,
		  "outside of dray's memory; the packet allows no copy" },
		{ ring_of_the_programs_memory, -EOPNOTSUPP, DRAY_FAILURE_STAGE,
		  "outside of dray's memory (frame 0)" },
		{ wait_for_lent_memory, -ETIME, DRAY_FAILURE_LENT,
		  "lent to another engine" },
		/* The codes of others, without a kind. */
		{ call_without_a_loop, -EOPNOTSUPP, DRAY_FAILURE_NONE,
		  "invert" },
		{ cast_by_no_rule, -EINVAL, DRAY_FAILURE_NONE, "rule 9" },
		{ multiply_sizes, -EOVERFLOW, DRAY_FAILURE_NONE, "" },
	};

	struct dray_node *node = open_node(test_spec());
	int ret;

	assert_works(dray_stream_open(node, "tx0", NULL, &sender));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		/* Another kind before, which is none of the row's. */
		if (rows[i].failure == DRAY_FAILURE_CASTING)
			add_a_large_integer();
		else
			cast_by_a_rule();
		ret = rows[i].cause();
		if (ret != rows[i].error ||
		    dray_last_failure() != rows[i].failure ||
		    !strstr(dray_last_error(), rows[i].part))
			fail_msg("row %zu: %d, kind %d: %s", i, ret,
				 (int)dray_last_failure(), dray_last_error());
	}
	dray_stream_close(sender);
	dray_node_unref(node);
}

/* Fails by a rule in the second half of the steps. */
static int fail_late(void *context, uint64_t at, uint64_t length)
{
	if (at + length <= 500)
		return 0;
	return cast_by_a_rule();
}

FACT(the_kind_of_another_threads_part_is_the_callers)
{
	for (unsigned int threads = 1; threads <= 8; threads++) {
		add_a_large_integer();
		assert_fails(dray_threads_run(1000, threads, fail_late, NULL),
			     -EINVAL, "same_kind");
		assert_int_equal(dray_last_failure(), DRAY_FAILURE_CASTING);
	}
}

static int casting_loop(char *const *data, const int64_t *strides,
			int64_t count, void *context)
{
	return cast_by_a_rule();
}

/* A ufunc of doubles that fails by a rule, in whatever thread it runs. */
static struct dray_ufunc *make_refusing(void)
{
	struct dray_ufunc *ufunc = NULL;

	assert_works(dray_ufunc_create("refusing", 1, 1, DRAY_IDENTITY_NONE,
				       &ufunc));
	set_loop(ufunc, (dray_dtype[]){ DRAY_FLOAT64, DRAY_FLOAT64 },
		 casting_loop, NULL, 0);
	return ufunc;
}

/* Waits for an event again and again, with other failures in between. */
static void check_event(struct dray_event *event)
{
	for (int i = 0; i < 3; i++) {
		add_a_large_integer();
		assert_fails(dray_event_wait(event, DEADLINE * 1000), -EINVAL,
			     "from '<f8' to '<i4' according to the rule");
		assert_int_equal(dray_last_failure(), DRAY_FAILURE_CASTING);
	}
	dray_event_unref(event);
}

FACT(a_call_on_a_queue_keeps_its_kind)
{
	struct dray_view in = view_of(half, DRAY_FLOAT64, 1, LENGTH, NULL);
	struct dray_ufunc *refusing = make_refusing();
	struct dray_call_queue *queue = NULL;
	struct dray_event *event = NULL;
	double results[2];
	struct dray_view out = view_of(results, DRAY_FLOAT64, 1, LENGTH, NULL);

	assert_fails(dray_ufunc_call(refusing, INPUTS(&in), INPUTS(&out), NULL,
				     NULL),
		     -EINVAL, "same_kind");
	assert_int_equal(dray_last_failure(), DRAY_FAILURE_CASTING);
	assert_works(dray_call_queue_create(NULL, 0, NULL, &queue));
	assert_works(dray_call_queue_submit(queue, refusing, INPUTS(&in),
					    INPUTS(&out), NULL, NULL, &event));
	check_event(event);
	dray_call_queue_destroy(queue);
	dray_ufunc_unref(refusing);
}

FACT(a_sequence_on_a_queue_keeps_its_kind)
{
	struct dray_view in = view_of(half, DRAY_FLOAT64, 1, LENGTH, NULL);
	struct dray_ufunc *refusing = make_refusing();
	struct dray_sequence *sequence = NULL;
	struct dray_call_queue *queue = NULL;
	struct dray_event *event = NULL;
	dray_value value = 0;
	double results[2];
	struct dray_view out = view_of(results, DRAY_FLOAT64, 1, LENGTH, NULL);

	assert_works(dray_sequence_create(&sequence));
	assert_works(
		dray_sequence_input(sequence, DRAY_FLOAT64, 1, LENGTH, &value));
	assert_works(
		dray_sequence_call(sequence, refusing, &value, NULL, &value));
	assert_works(dray_sequence_output(sequence, value));
	assert_works(dray_sequence_end(sequence));
	add_a_large_integer();
	assert_fails(dray_sequence_run(sequence, INPUTS(&in), INPUTS(&out),
				       NULL, NULL),
		     -EINVAL, "same_kind");
	assert_int_equal(dray_last_failure(), DRAY_FAILURE_CASTING);
	assert_works(dray_call_queue_create(NULL, 0, NULL, &queue));
	assert_works(dray_sequence_submit(sequence, queue, INPUTS(&in),
					  INPUTS(&out), NULL, NULL, &event));
	check_event(event);
	dray_call_queue_destroy(queue);
	dray_sequence_destroy(sequence);
	dray_ufunc_unref(refusing);
}

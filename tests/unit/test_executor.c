// SPDX-License-Identifier: Apache-2.0 OR MIT
/* executor: streams and the CPU, the choice between them, and their times. */
#include <dray/transfer.h>

#include <dray/array.h>

#include "same.h"

FACTS_ON(on_host)

static void fill_randomly(struct dice *dice, void *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((unsigned char *)data)[i] = (unsigned char)roll(dice, 256);
}

/* One call of random views of @dtype, by the streams; its result is the CPU's. */
static void check_random_call(struct dice *dice, unsigned char *memory,
			      dray_dtype dtype)
{
	const size_t half = STREAM_ROOM / 2;
	uint32_t size = dray_dtype_itemsize(dtype);
	struct dray_view from, to, cpu;
	int64_t shape[4];
	int ndim = random_shape(dice, shape);

	if (!random_view(dice, &from, memory, half, ndim, shape, size) ||
	    !random_view(dice, &to, memory + half, half, ndim, shape, size))
		return;
	from.dtype = to.dtype = dtype;
	cpu = to;
	cpu.data = malloc(half);
	assert_works(dray_view_init(&cpu, cpu.data, dtype, ndim, shape, NULL));
	assert_string_equal(explain(&from, &to).executor, "streams");
	assert_works(call(&from, &to, NULL));
	assert_works(dray_ufunc_call(
		same, (const struct dray_view *[]){ &from },
		(const struct dray_view *[]){ &cpu }, NULL, NULL));
	for (int64_t at[4] = { 0 }, more = 1; more; more = walk_on(&to, at))
		assert_memory_equal(walk_at(&to, at), walk_at(&cpu, at), size);
	free(cpu.data);
}

QUEUE_FACT(random_calls_give_the_bits_of_the_cpu)
{
	struct dice dice = { 25 };
	unsigned char *memory = take(loop.pool, STREAM_ROOM, 0);
	struct dray_call_queue *bytes = queue;

	fill_randomly(&dice, memory, STREAM_ROOM);
	for (size_t t = 0; t < 3; t++) {
		dray_dtype dtypes[] = { types[t], types[t] };
		struct dray_stream_executor_options options =
			options_of(dtypes);
		struct dray_executor *executor;

		options.frame_bytes = 64;
		options.depth = (uint32_t)(1 + 3 * t);
		executor = make_streams(&options);
		assert_works(
			dray_executor_set_cost(executor, same, dtypes, &cheap));
		assert_works(dray_executor_set_cost(dray_cpu_executor(), same,
						    dtypes, &dear));
		assert_works(
			dray_call_queue_create(&executor, 1, NULL, &queue));
		for (int i = 0; i < 700; i++)
			check_random_call(&dice, memory, types[t]);
		dray_call_queue_destroy(queue);
		dray_executor_unref(executor);
		assert_works(dray_executor_set_cost(dray_cpu_executor(), same,
						    dtypes, NULL));
	}
	queue = bytes;
	dray_pool_free(loop.pool, memory);
}

QUEUE_FACT(an_output_is_made_and_a_call_by_the_cpu_has_its_type)
{
	const int16_t values[] = { 1, -2, 300 };
	const struct dray_view *input;
	struct dray_array *made = NULL;
	struct dray_view view;

	assert_works(dray_view_init(&view, (void *)(uintptr_t)values,
				    DRAY_INT16, 1, DIMS(3), NULL));
	input = &view;
	assert_works(dray_call_queue_submit(queue, same, &input, NULL, NULL,
					    &made, NULL));
	assert_memory_equal(made->data, values, sizeof(values));
	assert_int_equal(made->dtype, DRAY_INT16);
	dray_array_unref(made);
}

/* Ways in which streams fail, and the first failure of a call. */
struct failure {
	const char *part;
	int status;
	int64_t stale; /* bytes of a packet before the call; 0: none */
	bool silent; /* nothing comes back */
};

static const struct failure failures[] = {
	{ "came back with 10 bytes", -EPROTO, 10, false },
	{ "came back with 1 bytes", -EPROTO, 1, false },
	{ "no frame 0 of same within 20 ms", -ETIMEDOUT, 0, true },
};

static void check_failure(const struct failure *failure)
{
	dray_dtype dtypes[] = { DRAY_UINT8, DRAY_UINT8 };
	struct dray_stream_executor_options options = options_of(dtypes);
	struct dray_stream *other = open_stream("rx1", NULL);
	struct dray_view sent = bytes_of(1000, 7), came = bytes_of(1000, 0);
	struct dray_view stale = bytes_of(16, 1);
	struct dray_call_queue *before = queue;
	struct dray_executor *executor;
	struct dray_event *event;

	options.frame_bytes = 64;
	options.timeout_ns = DEADLINE_NS;
	if (failure->silent) {
		options.rx = &other;
		options.timeout_ns = 20000000;
	}
	executor = make_streams(&options);
	assert_works(dray_executor_set_cost(executor, same, dtypes, &cheap));
	assert_works(dray_call_queue_create(&executor, 1, NULL, &queue));
	if (failure->stale) {
		stale.shape[0] = failure->stale;
		dray_event_unref(send_view(&stale));
	}
	assert_works(call(&sent, &came, &event));
	assert_fails(dray_event_wait(event, DEADLINE * 1000), failure->status,
		     failure->part);
	assert_fails(dray_event_status(event), failure->status, failure->part);
	dray_event_unref(event);
	/* Nothing is in flight, and the CPU takes the next call. */
	assert_int_equal(counts_of(loop.tx).in_flight, 0);
	assert_int_equal(counts_of(loop.rx).in_flight, 0);
	assert_string_equal(explain(&sent, &came).executor, "cpu");
	assert_works(call(&sent, &came, NULL));
	assert_true(all_bytes(came.data, 7, 1000));
	dray_call_queue_destroy(queue);
	dray_executor_unref(executor);
	dray_stream_close(other);
	queue = before;
	discard(&sent);
	discard(&came);
	discard(&stale);
}

QUEUE_FACT(a_failure_of_the_streams_is_the_error_of_the_call)
{
	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
		check_failure(&failures[i]);
}

QUEUE_FACT(calls_that_streams_cannot_run_go_to_the_cpu)
{
	struct dray_view shifted = in;
	struct dray_call_explanation plan = { .size = sizeof(plan) };

	assert_string_equal(explain(&in, &out).executor, "streams");
	assert_string_equal(explain(&in, &in).executor, "streams");
	shifted.shape[0] = in.shape[0] = 50;
	shifted.data = (char *)in.data + 1;
	plan = explain(&in, &shifted);
	assert_string_equal(plan.executor, "cpu");
	assert_non_null(strstr(plan.reason, "shares bytes"));
}

QUEUE_FACT(each_executor_is_measured_before_one_is_chosen)
{
	const dray_dtype dtypes[] = { DRAY_UINT8, DRAY_UINT8 };
	struct dray_executor *cpu = dray_cpu_executor();
	struct dray_call_cost cost;

	assert_works(dray_executor_set_cost(cpu, same, dtypes, NULL));
	assert_works(dray_executor_set_cost(streams, same, dtypes, NULL));
	assert_fails(dray_executor_get_cost(cpu, same, dtypes, &cost), -ENOENT,
		     "same has not been measured on cpu");
	assert_string_equal(explain(&in, &out).executor, "streams");
	assert_int_equal(explain(&in, &out).measured, 0);
	assert_works(call(&in, &out, NULL));
	assert_string_equal(explain(&in, &out).executor, "cpu");
	assert_works(call(&in, &out, NULL));
	assert_works(dray_executor_get_cost(cpu, same, dtypes, &cost));
	assert_int_equal(cost.elements[1], 100);
	assert_true(cost.ns[1] > 0);
	assert_int_equal(explain(&in, &out).measured, 1);
	assert_works(dray_executor_set_cost(cpu, same, dtypes, &cheap));
	assert_string_equal(explain(&in, &out).executor, "cpu");
	assert_int_equal(explain(&in, &out).bytes, 200);
}

QUEUE_FACT(times_of_ufuncs_that_are_gone_make_room)
{
	const dray_dtype dtypes[] = { DRAY_UINT8, DRAY_UINT8 };
	const struct dray_ufunc_loop copy = { copy_loop, (void *)1, 0 };
	const struct dray_view *input = &in, *output = &out;
	struct dray_executor *cpu = dray_cpu_executor();
	struct dray_ufunc *first = NULL, *other = NULL;
	struct dray_call_cost cost;

	for (int i = 0; i < 300; i++) {
		assert_works(dray_ufunc_create("other", 1, 1,
					       DRAY_IDENTITY_NONE, &other));
		assert_works(dray_ufunc_set_loop(other, dtypes, &copy));
		assert_works(dray_call_queue_submit(queue, other, &input,
						    &output, NULL, NULL, NULL));
		assert_works(dray_executor_get_cost(cpu, other, dtypes, &cost));
		if (i)
			dray_ufunc_unref(other);
		else
			first = other;
	}
	assert_fails(dray_executor_get_cost(cpu, first, dtypes, &cost), -ENOENT,
		     "has not been measured");
	/* Of those that were set, none is forgotten. */
	assert_works(dray_executor_get_cost(cpu, same, dtypes, &cost));
	dray_ufunc_unref(first);
}

static int check_nothing(void *context, const struct dray_call *call)
{
	return dray_fail(-EOPNOTSUPP, "%s has no room for %d inputs",
			 (const char *)context, call->inputs);
}

static int submit_nothing(void *context, struct dray_call *call)
{
	return -EIO;
}

static int submit_other(void *context, struct dray_call *call)
{
	return -EIO;
}

QUEUE_FACT(a_library_finds_the_context_of_its_own_executors)
{
	const struct dray_executor_functions own = { sizeof(own), check_nothing,
						     submit_nothing, NULL };
	const struct dray_executor_functions others = { sizeof(others),
							check_nothing,
							submit_other, NULL };
	struct dray_executor *executor;
	char context[] = "a device";

	assert_works(dray_executor_create("own", &own, context, &executor));
	assert_ptr_equal(dray_executor_context(executor, &own), context);
	assert_null(dray_executor_context(executor, &others));
	assert_null(dray_executor_context(dray_cpu_executor(), &own));
	dray_executor_unref(executor);
}

QUEUE_FACT(the_sentence_of_an_executor_explains_why_it_cannot_run_a_call)
{
	const struct dray_executor_functions own = { sizeof(own), check_nothing,
						     submit_nothing, NULL };
	struct dray_call_explanation plan = { .size = sizeof(plan) };
	struct dray_executor *executor;
	struct dray_call_queue *own_queue;
	char context[] = "a device", byte = 1;
	struct dray_view view;
	const struct dray_view *views[] = { &view };

	assert_works(dray_view_init(&view, &byte, u1, 0, NULL, NULL));
	assert_works(dray_executor_create("own", &own, context, &executor));
	assert_works(dray_call_queue_create(&executor, 1, NULL, &own_queue));
	assert_works(
		dray_explain_call(own_queue, same, views, views, NULL, &plan));
	assert_string_equal(plan.executor, "cpu");
	assert_non_null(
		strstr(plan.reason, "own: a device has no room for 1 inputs"));
	dray_call_queue_destroy(own_queue);
	dray_executor_unref(executor);
}

QUEUE_FACT(bad_arguments_are_refused)
{
	dray_dtype dtypes[] = { DRAY_UINT8, DRAY_UINT8 };
	struct dray_stream_executor_options good = options_of(dtypes), bad;
	struct dray_executor *executor = NULL;
	const struct dray_call_cost wrong = { { 5, 4 }, { 1, 1 } };

#define refused(field, value, part)                                        \
	do {                                                               \
		bad = good;                                                \
		bad.field = value;                                         \
		assert_fails(dray_stream_executor_create(&bad, &executor), \
			     -EINVAL, part);                               \
	} while (0)

	refused(tx_count, 2, "1 inputs of same");
	refused(rx_count, 0, "1 outputs of same");
	refused(tx, &loop.rx, "does not send");
	refused(rx, &loop.tx, "does not receive");
	refused(depth, 33, "at most 32 frames");
	refused(flags, 1u << 9, "0x200");
	dtypes[1] = DRAY_FLOAT64;
	refused(frame_bytes, 7, "a frame of 7 bytes");
	dtypes[1] = DRAY_UINT8;
#undef refused
	out.shape[0] = 50;
	assert_fails(call(&in, &out, NULL), -EINVAL, "");
	out.shape[0] = 100;
	out.flags &= ~(uint32_t)DRAY_WRITE;
	assert_fails(call(&in, &out, NULL), -EPERM, "read-only");
	in.dtype = DRAY_COMPLEX64;
	in.shape[0] = 10;
	assert_fails(call(&in, &out, NULL), -EOPNOTSUPP, "has no loop");
	assert_fails(dray_executor_set_cost(streams, same, dtypes, &wrong),
		     -EINVAL, "not of 5 and 4");
}

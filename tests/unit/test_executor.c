// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * executor: queues of calls, the CPU, and streams.  The host's streams are a loop,
 * and so an IP that computes "same": each output is its input.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dray/executor.h>
#include <dray/transfer.h>

#include "streams.h"

FACTS_ON(on_host)

static struct dray_ufunc *same;
static struct dray_executor *streams;
static struct dray_call_queue *queue;

/* Copies elements of the size in its context. */
static int copy_loop(char *const *data, const int64_t *strides, int64_t count,
		     void *context)
{
	const size_t size = (size_t)(uintptr_t)context;

	for (int64_t i = 0; i < count; i++)
		memmove(data[1] + i * strides[1], data[0] + i * strides[0],
			size);
	return 0;
}

static const dray_dtype types[] = { DRAY_UINT8, DRAY_INT16, DRAY_FLOAT64 };

static void make_same(void)
{
	assert_works(
		dray_ufunc_create("same", 1, 1, DRAY_IDENTITY_NONE, &same));
	for (size_t i = 0; i < 3; i++) {
		const struct dray_ufunc_loop copy = {
			.loop = copy_loop,
			.context = (void *)(uintptr_t)dray_dtype_itemsize(
				types[i]),
		};

		assert_works(dray_ufunc_set_loop(
			same, (dray_dtype[]){ types[i], types[i] }, &copy));
	}
}

static struct dray_stream_executor_options options_of(dray_dtype *dtypes)
{
	return (struct dray_stream_executor_options){
		.ufunc = same,
		.dtypes = dtypes,
		.tx = &loop.tx,
		.tx_count = 1,
		.rx = &loop.rx,
		.rx_count = 1,
	};
}

static struct dray_executor *
make_streams(const struct dray_stream_executor_options *options)
{
	struct dray_executor *made = NULL;

	assert_works(dray_stream_executor_create(options, &made));
	return made;
}

static const struct dray_call_cost cheap = { { 1, 1000 }, { 1, 1 } };
static const struct dray_call_cost dear = { { 1, 1000 }, { 9, 9000000 } };

/* Bytes, of which the streams are known to be fast. */
static int queue_setup(void **state)
{
	dray_dtype dtypes[] = { DRAY_UINT8, DRAY_UINT8 };
	struct dray_stream_executor_options options;

	loop_setup(state);
	make_same();
	options = options_of(dtypes);
	options.flags = DRAY_PACKET_STAGE;
	options.frame_bytes = 64;
	options.timeout_ns = 50000000;
	streams = make_streams(&options);
	assert_works(dray_executor_set_cost(streams, same, dtypes, &cheap));
	assert_works(dray_executor_set_cost(dray_cpu_executor(), same, dtypes,
					    &dear));
	assert_works(dray_call_queue_create(&streams, 1, &queue));
	return 0;
}

static int queue_teardown(void **state)
{
	dray_call_queue_destroy(queue);
	dray_executor_unref(streams);
	dray_executor_set_cost(dray_cpu_executor(), same,
			       (dray_dtype[]){ DRAY_UINT8, DRAY_UINT8 }, NULL);
	dray_ufunc_unref(same);
	return loop_teardown(state);
}

#define QUEUE_FACT(name) FACT_WITH(name, queue_setup, queue_teardown)

static int call(const struct dray_view *in, const struct dray_view *out,
		struct dray_event **event)
{
	return dray_call_queue_submit(queue, same, &in, &out, NULL, NULL,
				      event);
}

static struct dray_call_explanation explain(const struct dray_view *in,
					    const struct dray_view *out)
{
	struct dray_call_explanation plan;

	assert_works(dray_explain_call(queue, same, &in, &out, NULL, &plan,
				       sizeof(plan)));
	return plan;
}

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
	struct dray_view in, out, cpu;
	int64_t shape[4];
	int ndim = random_shape(dice, shape);

	if (!random_view(dice, &in, memory, half, ndim, shape, size) ||
	    !random_view(dice, &out, memory + half, half, ndim, shape, size))
		return;
	in.dtype = out.dtype = dtype;
	cpu = out;
	cpu.data = malloc(half);
	assert_works(dray_view_init(&cpu, cpu.data, dtype, ndim, shape, NULL));
	assert_string_equal(explain(&in, &out).executor, "streams");
	assert_works(call(&in, &out, NULL));
	assert_works(dray_ufunc_call(same, (const struct dray_view *[]){ &in },
				     (const struct dray_view *[]){ &cpu }, NULL,
				     NULL));
	for (int64_t at[4] = { 0 }, more = 1; more; more = walk_on(&out, at))
		assert_memory_equal(walk_at(&out, at), walk_at(&cpu, at), size);
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
		assert_works(dray_call_queue_create(&executor, 1, &queue));
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
	struct dray_view in;

	assert_works(dray_view_init(&in, (void *)(uintptr_t)values, DRAY_INT16,
				    1, DIMS(3), NULL));
	input = &in;
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
	struct dray_view in = bytes_of(1000, 7), out = bytes_of(1000, 0);
	struct dray_view stale = bytes_of(16, 1);
	struct dray_call_queue *before = queue;
	struct dray_executor *executor;
	struct dray_event *event;

	options.frame_bytes = 64;
	options.timeout_ns = 20000000;
	if (failure->silent)
		options.rx = &other;
	executor = make_streams(&options);
	assert_works(dray_executor_set_cost(executor, same, dtypes, &cheap));
	assert_works(dray_call_queue_create(&executor, 1, &queue));
	if (failure->stale) {
		stale.shape[0] = failure->stale;
		dray_event_unref(send_view(&stale));
	}
	assert_works(call(&in, &out, &event));
	assert_fails(dray_event_wait(event, DEADLINE * 1000), failure->status,
		     failure->part);
	assert_fails(dray_event_status(event), failure->status, failure->part);
	dray_event_unref(event);
	/* Nothing is in flight, and the CPU takes the next call. */
	assert_int_equal(counts_of(loop.tx).in_flight, 0);
	assert_int_equal(counts_of(loop.rx).in_flight, 0);
	assert_string_equal(explain(&in, &out).executor, "cpu");
	assert_works(call(&in, &out, NULL));
	assert_true(all_bytes(out.data, 7, 1000));
	dray_call_queue_destroy(queue);
	dray_executor_unref(executor);
	dray_stream_close(other);
	queue = before;
	dray_pool_free(loop.pool, in.data);
	dray_pool_free(loop.pool, out.data);
	dray_pool_free(loop.pool, stale.data);
}

QUEUE_FACT(a_failure_of_the_streams_is_the_error_of_the_call)
{
	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
		check_failure(&failures[i]);
}

QUEUE_FACT(calls_that_streams_cannot_run_go_to_the_cpu)
{
	struct dray_view in = bytes_of(100, 1), out = bytes_of(100, 2);
	struct dray_view shifted = in;
	struct dray_call_explanation plan;

	assert_string_equal(explain(&in, &out).executor, "streams");
	assert_string_equal(explain(&in, &in).executor, "streams");
	shifted.shape[0] = in.shape[0] = 50;
	shifted.data = (char *)in.data + 1;
	plan = explain(&in, &shifted);
	assert_string_equal(plan.executor, "cpu");
	assert_non_null(strstr(plan.reason, "shares bytes"));
	dray_pool_free(loop.pool, in.data);
	dray_pool_free(loop.pool, out.data);
}

/* An executor that keeps a call until the test ends it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static struct dray_call *kept;

static int keep_check(void *context, const struct dray_call *asked)
{
	return 0;
}

static int keep_submit(void *context, struct dray_call *submitted)
{
	pthread_mutex_lock(&lock);
	assert_null(kept);
	kept = submitted;
	pthread_cond_signal(&arrived);
	pthread_mutex_unlock(&lock);
	return 0;
}

static const struct dray_executor_functions keeps = { sizeof(keeps), keep_check,
						      keep_submit, NULL };

static struct dray_call *await_kept(void)
{
	struct dray_call *found;

	pthread_mutex_lock(&lock);
	while (!kept)
		pthread_cond_wait(&arrived, &lock);
	found = kept;
	kept = NULL;
	pthread_mutex_unlock(&lock);
	return found;
}

/* The queue of that executor, and an event of its call from @in to @out. */
static struct dray_call_queue *slow;

static struct dray_event *start_slow(const struct dray_view *in,
				     const struct dray_view *out)
{
	struct dray_executor *keeper = NULL;
	struct dray_event *event;

	assert_works(dray_executor_create("keeper", &keeps, NULL, &keeper));
	assert_works(dray_call_queue_create(&keeper, 1, &slow));
	dray_executor_unref(keeper);
	assert_works(dray_call_queue_submit(slow, same, &in, &out, NULL, NULL,
					    &event));
	return event;
}

QUEUE_FACT(calls_of_another_queue_and_the_cpu_wait_for_memory)
{
	struct dray_view in = bytes_of(100, 1), out = bytes_of(100, 2);
	struct dray_view next = bytes_of(100, 3), free = bytes_of(100, 4);
	struct dray_event *first = start_slow(&in, &out), *second, *third;
	struct dray_call *held = await_kept();

	assert_works(call(&free, &next, &third));
	assert_works(dray_event_wait(third, DEADLINE * 1000));
	assert_works(call(&out, &next, &second));
	assert_fails(dray_event_wait(second, 0), -ETIME, "same has not ended");
	assert_fails(dray_event_wait(first, 1), -ETIME, "within 1 ms");
	assert_fails(dray_view_wait(&out, DRAY_ACCESS_READ, 0), -ETIME,
		     "has the view");
	assert_fails(dray_view_wait(&in, DRAY_ACCESS_WRITE, 0), -ETIME,
		     "has the view");
	assert_works(dray_view_wait(&in, DRAY_ACCESS_READ, 0));
	/* The keeper's output, before it ends: the second call sees it. */
	memset(out.data, 9, 100);
	dray_call_end(held, 0);
	assert_works(dray_event_wait(second, DEADLINE * 1000));
	assert_true(all_bytes(next.data, 9, 100));
	assert_int_equal(dray_event_status(first), 1);
	dray_event_unref(first);
	dray_event_unref(second);
	dray_event_unref(third);
	dray_call_queue_destroy(slow);
	for (size_t i = 0; i < 4; i++)
		dray_pool_free(loop.pool,
			       (void *[]){ in.data, out.data, next.data,
					   free.data }[i]);
}

/* A loop that uses its own queue. */
static int own_status;

static int use_own_queue(char *const *data, const int64_t *strides,
			 int64_t count, void *context)
{
	struct dray_call_queue *own = context;
	char byte = 0;
	struct dray_view view;
	const struct dray_view *of = &view;

	assert_works(dray_view_init(&view, &byte, DRAY_UINT8, 0, NULL, NULL));
	own_status =
		dray_call_queue_submit(own, same, &of, &of, NULL, NULL, NULL);
	dray_call_queue_destroy(own);
	return 0;
}

QUEUE_FACT(a_call_that_ends_its_own_queue_does_not_wait_for_itself)
{
	struct dray_view in = bytes_of(100, 1), out = bytes_of(100, 2);
	const struct dray_view *input = &in, *output = &out;
	dray_dtype dtypes[] = { DRAY_UINT8, DRAY_UINT8 };
	struct dray_call_queue *own = NULL;
	struct dray_ufunc *ender = NULL;
	struct dray_event *first, *second;

	assert_works(dray_call_queue_create(NULL, 0, &own));
	assert_works(
		dray_ufunc_create("ender", 1, 1, DRAY_IDENTITY_NONE, &ender));
	assert_works(dray_ufunc_set_loop(
		ender, dtypes,
		&(struct dray_ufunc_loop){ use_own_queue, own, 0 }));
	assert_works(dray_call_queue_submit(own, ender, &input, &output, NULL,
					    NULL, &first));
	assert_works(dray_event_wait(first, DEADLINE * 1000));
	assert_int_equal(own_status, -EDEADLK);
	dray_event_unref(first);
	dray_ufunc_unref(ender);
	/* Another queue goes on. */
	assert_works(call(&in, &out, &second));
	assert_works(dray_event_wait(second, DEADLINE * 1000));
	dray_event_unref(second);
	dray_pool_free(loop.pool, in.data);
	dray_pool_free(loop.pool, out.data);
}

/* Returns the number that is the context, and ends no call. */
static int odd_submit(void *context, struct dray_call *submitted)
{
	return (int)(intptr_t)context;
}

QUEUE_FACT(an_executor_that_breaks_its_promise_is_an_error)
{
	static const struct dray_executor_functions odd = { sizeof(odd),
							    keep_check,
							    odd_submit, NULL };
	static const struct {
		intptr_t returns;
		int status;
		const char *part;
	} rows[] = {
		{ 5, -EIO, "odd returned 5, which is neither" },
		{ -ENOSPC, -ENOSPC, "odd failed: No space left" },
	};
	struct dray_view in = bytes_of(100, 1), out = bytes_of(100, 2);
	const struct dray_view *input = &in, *output = &out;
	struct dray_executor *executor = NULL;
	struct dray_call_queue *odds = NULL;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_works(dray_executor_create(
			"odd", &odd, (void *)rows[i].returns, &executor));
		assert_works(dray_call_queue_create(&executor, 1, &odds));
		dray_executor_unref(executor);
		assert_fails(dray_call_queue_submit(odds, same, &input, &output,
						    NULL, NULL, NULL),
			     rows[i].status, rows[i].part);
		dray_call_queue_destroy(odds);
	}
	dray_pool_free(loop.pool, in.data);
	dray_pool_free(loop.pool, out.data);
}

QUEUE_FACT(wrong_options_are_refused_before_a_call_is_queued)
{
	struct dray_view in = bytes_of(100, 1), out = bytes_of(100, 2);
	struct dray_view bytes = in, secret = in, bools = in;
	const struct {
		const struct dray_view *in;
		struct dray_ufunc_options options;
		int error;
		const char *part;
	} rows[] = {
		{ &in, { .casting = 200 }, -EINVAL, "casting rule 199" },
		{ &in, { .order = 'Z' }, -EINVAL, "order 'Z'" },
		{ &in, { .flags = 1u << 30 }, -EINVAL, "unknown flags" },
		{ &in,
		  { .where = &bytes },
		  -EOPNOTSUPP,
		  "Cannot cast the mask" },
		{ &in, { .where = &bools }, -EPERM, "may not be read" },
		{ &secret, { 0 }, -EPERM, "may not be read" },
		{ &in, { .weak = 1 }, -EINVAL, "is one element" },
	};
	const struct dray_view *output = &out;
	struct dray_event *event = NULL;

	secret.flags &= ~(uint32_t)DRAY_READ;
	bools.dtype = DRAY_BOOL;
	bools.flags &= ~(uint32_t)DRAY_READ;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_fails(dray_call_queue_submit(queue, same, &rows[i].in,
						    &output, &rows[i].options,
						    NULL, &event),
			     rows[i].error, rows[i].part);
	assert_null(event);
	dray_pool_free(loop.pool, in.data);
	dray_pool_free(loop.pool, out.data);
}

/* Ends a call as an executor does if its device is gone. */
static void lose(struct dray_call *held)
{
	struct dray_ufunc *none = dray_ufunc_find("lost");

	assert_null(none);
	dray_call_end(held, -EIO);
}

QUEUE_FACT(memory_that_is_freed_is_parked_until_the_call_ends)
{
	struct dray_view in = bytes_of(100, 1), out = bytes_of(100, 2);
	struct dray_event *event = start_slow(&in, &out);
	struct dray_call *held = await_kept();

	dray_pool_free(loop.pool, in.data);
	dray_pool_free(loop.pool, out.data);
	assert_int_not_equal(stats_of(loop.pool).parked, 0);
	lose(held);
	assert_fails(dray_event_wait(event, DEADLINE * 1000), -EIO, "lost");
	assert_int_equal(stats_of(loop.pool).parked, 0);
	dray_event_unref(event);
	dray_call_queue_destroy(slow);
}

QUEUE_FACT(a_cancelled_call_that_waits_is_not_run)
{
	struct dray_view in = bytes_of(100, 1), out = bytes_of(100, 2);
	struct dray_event *first = start_slow(&in, &out), *second;
	struct dray_call *held = await_kept();

	assert_works(call(&out, &in, &second));
	assert_works(dray_event_cancel(second));
	assert_works(dray_event_cancel(first));
	assert_true(dray_call_is_cancelled(held));
	dray_call_end(held, 0);
	assert_fails(dray_event_wait(second, DEADLINE * 1000), -ECANCELED,
		     "cancelled");
	assert_works(dray_event_wait(first, DEADLINE * 1000));
	assert_true(all_bytes(in.data, 1, 100));
	dray_event_unref(first);
	dray_event_unref(second);
	dray_call_queue_destroy(slow);
	dray_pool_free(loop.pool, in.data);
	dray_pool_free(loop.pool, out.data);
}

QUEUE_FACT(each_executor_is_measured_before_one_is_chosen)
{
	const dray_dtype dtypes[] = { DRAY_UINT8, DRAY_UINT8 };
	struct dray_view in = bytes_of(100, 1), out = bytes_of(100, 2);
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
	dray_pool_free(loop.pool, in.data);
	dray_pool_free(loop.pool, out.data);
}

QUEUE_FACT(times_of_ufuncs_that_are_gone_make_room)
{
	const dray_dtype dtypes[] = { DRAY_UINT8, DRAY_UINT8 };
	const struct dray_ufunc_loop copy = { copy_loop, (void *)1, 0 };
	struct dray_view in = bytes_of(100, 1), out = bytes_of(100, 2);
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
	dray_pool_free(loop.pool, in.data);
	dray_pool_free(loop.pool, out.data);
}

/* Calls until it is told to stop. */
static atomic_bool stops;

static void *call_on(void *argument)
{
	struct dray_view number = *(const struct dray_view *)argument;
	char byte = 0;
	const struct dray_view *of = &number;

	number.data = &byte;
	while (!atomic_load(&stops))
		assert_works(dray_call_queue_submit(queue, same, &of, &of, NULL,
						    NULL, NULL));
	return NULL;
}

/* In a child, on a queue of its own: an alarm ends it if a lock is taken. */
static int call_in_child(const struct dray_view *number)
{
	struct dray_call_queue *own;

	alarm(DEADLINE);
	return dray_call_queue_create(NULL, 0, &own) ||
	       dray_call_queue_submit(own, same, &number, &number, NULL, NULL,
				      NULL);
}

QUEUE_FACT(a_child_makes_calls_while_its_parent_does)
{
	struct dray_view number;
	pthread_t threads[2];
	char byte = 0;

	assert_works(dray_view_init(&number, &byte, DRAY_UINT8, 0, NULL, NULL));
	atomic_store(&stops, false);
	for (int i = 0; i < 2; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, call_on, &number), 0);
	for (int i = 0; i < 100; i++) {
		pid_t child = fork();
		int status = -1;

		if (!child)
			_exit(call_in_child(&number));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	atomic_store(&stops, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

QUEUE_FACT(bad_arguments_are_refused)
{
	dray_dtype dtypes[] = { DRAY_UINT8, DRAY_UINT8 };
	struct dray_stream_executor_options good = options_of(dtypes), bad;
	struct dray_executor *executor = NULL;
	struct dray_view in = bytes_of(100, 1), out = bytes_of(50, 2);
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
	assert_fails(call(&in, &out, NULL), -EINVAL, "");
	out.shape[0] = 100;
	out.flags &= ~(uint32_t)DRAY_WRITE;
	assert_fails(call(&in, &out, NULL), -EPERM, "read-only");
	in.dtype = DRAY_COMPLEX64;
	in.shape[0] = 10;
	assert_fails(call(&in, &out, NULL), -EOPNOTSUPP, "has no loop");
	assert_fails(dray_executor_set_cost(streams, same, dtypes, &wrong),
		     -EINVAL, "not of 5 and 4");
	assert_fails(dray_executor_create("", &keeps, NULL, &executor), -EINVAL,
		     "has a name");
	dray_pool_free(loop.pool, in.data);
	dray_pool_free(loop.pool, out.data);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* call queue: turns of calls, their memory, executors that break promises, forks. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dray/array.h>

#include "same.h"

FACTS_ON(on_host)

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

/* Makes it, cheaper than the CPU however long it keeps calls. */
static struct dray_executor *make_keeper(void)
{
	dray_dtype dtypes[] = { DRAY_UINT8, DRAY_UINT8 };
	struct dray_executor *keeper = NULL;

	assert_works(dray_executor_create("keeper", &keeps, NULL, &keeper));
	assert_works(dray_executor_set_cost(keeper, same, dtypes, &cheap));
	return keeper;
}

/* The queue of that executor, and an event of its call from @from to @to. */
static struct dray_call_queue *slow;

static struct dray_event *start_slow(const struct dray_view *from,
				     const struct dray_view *to)
{
	struct dray_executor *keeper = make_keeper();
	struct dray_event *event;

	assert_works(dray_call_queue_create(&keeper, 1, NULL, &slow));
	dray_executor_unref(keeper);
	assert_works(dray_call_queue_submit(slow, same, &from, &to, NULL, NULL,
					    &event));
	return event;
}

QUEUE_FACT(calls_of_another_queue_and_the_cpu_wait_for_memory)
{
	struct dray_view next = bytes_of(100, 3), free = bytes_of(100, 4);
	struct dray_event *first = start_slow(&in, &out), *second, *third;
	struct dray_call *held = await_kept();

	assert_works(call(&free, &next, &third));
	assert_works(dray_event_wait(third, DEADLINE * 1000));
	assert_works(call(&out, &next, &second));
	assert_fails(dray_event_wait(second, 0), -ETIME,
		     "same is still under way");
	assert_fails(dray_event_wait(first, 1), -ETIME, "after 1 ms");
	assert_fails(dray_view_wait(&out, DRAY_ACCESS_READ, 0), -ETIME,
		     "uses the view");
	assert_fails(dray_view_wait(&in, DRAY_ACCESS_WRITE, 0), -ETIME,
		     "uses the view");
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
	discard(&next);
	discard(&free);
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
	const struct dray_view *input = &in, *output = &out;
	dray_dtype dtypes[] = { DRAY_UINT8, DRAY_UINT8 };
	struct dray_call_queue *own = NULL;
	struct dray_ufunc *ender = NULL;
	struct dray_event *first, *second;

	assert_works(dray_call_queue_create(NULL, 0, NULL, &own));
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
	const struct dray_view *input = &in, *output = &out;
	struct dray_executor *executor = NULL;
	struct dray_call_queue *odds = NULL;

	assert_fails(dray_executor_create("", &odd, NULL, &executor), -EINVAL,
		     "has a name");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_works(dray_executor_create(
			"odd", &odd, (void *)rows[i].returns, &executor));
		assert_works(dray_call_queue_create(&executor, 1, NULL, &odds));
		dray_executor_unref(executor);
		assert_fails(dray_call_queue_submit(odds, same, &input, &output,
						    NULL, NULL, NULL),
			     rows[i].status, rows[i].part);
		dray_call_queue_destroy(odds);
	}
}

QUEUE_FACT(wrong_options_are_refused_before_a_call_is_queued)
{
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
}

/* Ends a call with a sentence: that of a ufunc that does not exist. */
static void lose(struct dray_call *held)
{
	struct dray_ufunc *none = dray_ufunc_find("lost");

	assert_null(none);
	dray_call_end(held, -EIO);
}

QUEUE_FACT(memory_that_is_freed_is_parked_until_the_call_ends)
{
	struct dray_view from = bytes_of(100, 1), to = bytes_of(100, 2);
	struct dray_event *event = start_slow(&from, &to);
	struct dray_call *held = await_kept();

	discard(&from);
	discard(&to);
	assert_int_not_equal(stats_of(loop.pool).parked, 0);
	lose(held);
	assert_fails(dray_event_wait(event, DEADLINE * 1000), -EIO, "lost");
	assert_int_equal(stats_of(loop.pool).parked, 0);
	dray_event_unref(event);
	dray_call_queue_destroy(slow);
}

QUEUE_FACT(a_cancelled_call_that_waits_is_not_run)
{
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
}

/* The status of a call that a packet hinders, which never comes. */
QUEUE_FACT(a_call_that_waits_for_a_packet_is_cancelled_at_once)
{
	struct dray_view silent = bytes_of(100, 1);
	const struct dray_view *input = &silent, *output = &out;
	struct dray_event *packet = recv_view(&silent), *first, *second;
	struct dray_call_queue *own = NULL;

	assert_works(dray_call_queue_create(NULL, 0, NULL, &own));
	assert_works(dray_call_queue_submit(own, same, &input, &output, NULL,
					    NULL, &first));
	assert_works(dray_call_queue_submit(own, same, &input, &output, NULL,
					    NULL, &second));
	assert_works(dray_event_cancel(second));
	assert_fails(dray_event_status(second), -ECANCELED, "before it began");
	assert_int_equal(dray_event_status(first), 0);
	assert_works(dray_event_cancel(first));
	assert_fails(dray_event_status(first), -ECANCELED, "was cancelled");
	assert_works(dray_view_wait(&out, DRAY_ACCESS_WRITE, 0));
	dray_call_queue_destroy(own);
	assert_int_equal(dray_event_status(packet), 0);
	assert_works(dray_event_cancel(packet));
	dray_event_unref(packet);
	dray_event_unref(first);
	dray_event_unref(second);
	discard(&silent);
}

QUEUE_FACT(all_calls_of_a_queue_are_cancelled)
{
	const struct dray_view *input = &in, *output = &out;
	struct dray_event *running = start_slow(&in, &out), *waiting[10];
	struct dray_call *held = await_kept();

	for (int i = 0; i < 10; i++)
		assert_works(dray_call_queue_submit(slow, same, &input, &output,
						    NULL, NULL, &waiting[i]));
	assert_false(dray_call_is_cancelled(held));
	assert_works(dray_call_queue_cancel(slow));
	for (int i = 0; i < 10; i++) {
		assert_fails(dray_event_status(waiting[i]), -ECANCELED,
			     "before it began");
		dray_event_unref(waiting[i]);
	}
	assert_true(dray_call_is_cancelled(held));
	assert_int_equal(dray_event_status(running), 0);
	dray_call_end(held, -ECANCELED);
	assert_int_equal(dray_event_wait(running, -1), -ECANCELED);
	dray_event_unref(running);
	/* A later call runs. */
	assert_works(dray_call_queue_submit(slow, same, &input, &output, NULL,
					    NULL, &running));
	dray_call_end(await_kept(), 0);
	assert_works(dray_event_wait(running, -1));
	dray_event_unref(running);
	dray_call_queue_destroy(slow);
}

static void count_end(void *context)
{
	atomic_fetch_add((atomic_int *)context, 1);
}

QUEUE_FACT(a_function_is_called_once_a_call_has_ended)
{
	struct dray_event *event = start_slow(&in, &out);
	struct dray_call *held = await_kept();
	atomic_int ended = 0;

	assert_works(dray_event_on_end(event, count_end, &ended));
	assert_fails(dray_event_on_end(event, count_end, &ended), -EBUSY,
		     "already calls a function at its end");
	assert_fails(dray_event_on_end(event, NULL, NULL), -EINVAL, "NULL");
	assert_int_equal(ended, 0);
	dray_event_unref(event);
	dray_call_end(held, 0);
	/* It runs before the queue ends. */
	dray_call_queue_destroy(slow);
	assert_int_equal(ended, 1);
	/* At once, if the call had ended before. */
	assert_works(call(&in, &out, &event));
	assert_works(dray_event_wait(event, -1));
	assert_works(dray_event_on_end(event, count_end, &ended));
	assert_int_equal(ended, 2);
	dray_event_unref(event);
	event = recv_view(&in);
	assert_fails(dray_event_on_end(event, count_end, &ended), -EOPNOTSUPP,
		     "dray_stream_fd()");
	assert_works(dray_event_cancel(event));
	dray_event_unref(event);
	assert_int_equal(ended, 2);
}

QUEUE_FACT(a_descriptor_of_a_call_is_readable_once_it_has_ended)
{
	struct dray_event *event = start_slow(&in, &out);
	struct dray_call *held = await_kept();
	struct pollfd asked = { .events = POLLIN };

	asked.fd = dray_event_fd(event);
	assert_true(asked.fd >= 0);
	assert_int_equal(dray_event_fd(event), asked.fd);
	assert_int_equal(poll(&asked, 1, 0), 0);
	dray_call_end(held, 0);
	assert_int_equal(poll(&asked, 1, -1), 1);
	assert_int_equal(dray_event_status(event), 1);
	dray_event_unref(event);
	/* Also if the call had ended before. */
	assert_works(call(&in, &out, &event));
	assert_works(dray_event_wait(event, -1));
	asked.fd = dray_event_fd(event);
	assert_int_equal(poll(&asked, 1, 0), 1);
	dray_event_unref(event);
	dray_call_queue_destroy(slow);
	/* Those of packets are the stream's. */
	event = recv_view(&in);
	assert_int_equal(dray_event_fd(event), -1);
	assert_int_equal(errno, EOPNOTSUPP);
	assert_works(dray_event_cancel(event));
	dray_event_unref(event);
}

/* Ends calls that an executor keeps, one after the other. */
static void *end_three(void *unused)
{
	for (int i = 0; i < 3; i++)
		dray_call_end(await_kept(), 0);
	return unused;
}

QUEUE_FACT(a_full_queue_refuses_calls_or_waits)
{
	struct dray_call_queue_options bound = { sizeof(bound), 2,
						 DRAY_CALLS_NONBLOCK };
	const struct dray_view *input = &in, *output = &out;
	struct dray_event *events[3], *oldest;
	struct dray_call_queue *own = NULL;
	struct dray_executor *keeper = make_keeper();
	struct dray_array *made = NULL;
	pthread_t thread;

	for (int waits = 0; waits < 2; waits++) {
		bound.flags = waits ? 0 : DRAY_CALLS_NONBLOCK;
		assert_works(dray_call_queue_create(&keeper, 1, &bound, &own));
		assert_null(dray_call_queue_full(own));
		for (int i = 0; i < 2; i++)
			assert_works(dray_call_queue_submit(own, same, &input,
							    &output, NULL, NULL,
							    &events[i]));
		oldest = dray_call_queue_full(own);
		assert_ptr_equal(oldest, events[0]);
		dray_event_unref(oldest);
		if (!waits)
			assert_fails(dray_call_queue_submit(own, same, &input,
							    NULL, NULL, &made,
							    &events[2]),
				     -EAGAIN, "2 calls of the queue");
		assert_null(made);
		if (!waits)
			dray_call_end(await_kept(), 0);
		if (!waits)
			assert_works(dray_event_wait(events[0], -1));
		/* One waits for the thread that ends them. */
		assert_int_equal(pthread_create(&thread, NULL, end_three, NULL),
				 0);
		assert_works(dray_call_queue_submit(own, same, &input, &output,
						    NULL, NULL, &events[2]));
		if (!waits)
			assert_works(dray_event_wait(events[1], -1));
		if (!waits)
			assert_works(dray_call_queue_submit(
				own, same, &input, &output, NULL, NULL, NULL));
		pthread_join(thread, NULL);
		for (int i = 0; i < 3; i++) {
			assert_works(dray_event_wait(events[i], -1));
			dray_event_unref(events[i]);
		}
		dray_call_queue_destroy(own);
	}
	dray_executor_unref(keeper);
}

/* A loop that submits to its own queue, which it fills. */
static int fill_own(char *const *data, const int64_t *strides, int64_t count,
		    void *context)
{
	const struct dray_view *input = &in, *output = &out;
	struct dray_call_queue **own = context;
	struct dray_event *event = NULL;

	own_status = dray_call_queue_submit(*own, same, &input, &output, NULL,
					    NULL, &event);
	return 0;
}

QUEUE_FACT(a_call_does_not_wait_for_room_in_its_own_queue)
{
	const struct dray_call_queue_options bound = { sizeof(bound), 1, 0 };
	const struct dray_view *input = &in, *output = &out;
	dray_dtype dtypes[] = { DRAY_UINT8, DRAY_UINT8 };
	struct dray_call_queue *own = NULL;
	struct dray_ufunc *filler = NULL;

	assert_works(dray_call_queue_create(NULL, 0, &bound, &own));
	assert_works(
		dray_ufunc_create("filler", 1, 1, DRAY_IDENTITY_NONE, &filler));
	assert_works(dray_ufunc_set_loop(filler, dtypes,
					 &(struct dray_ufunc_loop){ fill_own,
								    &own, 0 }));
	assert_works(dray_call_queue_submit(own, filler, &input, &output, NULL,
					    NULL, NULL));
	assert_int_equal(own_status, -EDEADLK);
	dray_call_queue_destroy(own);
	dray_ufunc_unref(filler);
}

QUEUE_FACT(wrong_options_of_a_queue_are_refused)
{
	static const struct {
		struct dray_call_queue_options options;
		const char *part;
	} rows[] = {
		{ { sizeof(rows[0].options), 0, 2 }, "flags 0x2" },
		{ { sizeof(rows[0].options), 1048577, 0 }, "up to 1048576" },
	};
	struct dray_call_queue *own = NULL;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_fails(dray_call_queue_create(NULL, 0, &rows[i].options,
						    &own),
			     -EINVAL, rows[i].part);
	assert_null(own);
}

/* An executor with a thread that ends calls, which release() joins. */
struct worker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct dray_call *call;
	bool ends;
};

static atomic_int released;

static void *work(void *context)
{
	struct worker *worker = context;
	struct dray_call *own;

	pthread_mutex_lock(&worker->lock);
	while (worker->call || !worker->ends) {
		own = worker->call;
		worker->call = NULL;
		if (!own) {
			pthread_cond_wait(&worker->changed, &worker->lock);
			continue;
		}
		pthread_mutex_unlock(&worker->lock);
		dray_call_end(own, 0);
		pthread_mutex_lock(&worker->lock);
	}
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

static int worker_submit(void *context, struct dray_call *submitted)
{
	struct worker *worker = context;

	pthread_mutex_lock(&worker->lock);
	worker->call = submitted;
	pthread_cond_signal(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
	return 0;
}

static void worker_release(void *context)
{
	struct worker *worker = context;

	pthread_mutex_lock(&worker->lock);
	worker->ends = true;
	pthread_cond_signal(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
	assert_int_equal(pthread_join(worker->thread, NULL), 0);
	free(worker);
	released++;
}

static struct dray_executor *make_worker(void)
{
	static const struct dray_executor_functions functions = {
		sizeof(functions), keep_check, worker_submit, worker_release
	};
	struct worker *worker = calloc(1, sizeof(*worker));
	struct dray_executor *executor = NULL;

	assert_non_null(worker);
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->changed, NULL);
	assert_int_equal(pthread_create(&worker->thread, NULL, work, worker),
			 0);
	assert_works(
		dray_executor_create("worker", &functions, worker, &executor));
	return executor;
}

QUEUE_FACT(an_executor_joins_its_thread_in_release)
{
	const struct dray_view *input = &in, *output = &out;

	released = 0;
	for (int i = 0; i < 200; i++) {
		struct dray_executor *executor = make_worker();
		struct dray_call_queue *own = NULL;
		struct dray_event *event;

		assert_works(dray_call_queue_create(&executor, 1, NULL, &own));
		dray_executor_unref(executor);
		assert_works(dray_call_queue_submit(own, same, &input, &output,
						    NULL, NULL, &event));
		/* The calls have ended, and all that they used is dropped. */
		dray_call_queue_destroy(own);
		assert_int_equal(dray_event_status(event), 1);
		assert_int_equal(released, i + 1);
		dray_event_unref(event);
	}
}

static int end_and_fail(void *context, struct dray_call *submitted)
{
	dray_call_end(submitted, (int)(intptr_t)context);
	return -EIO;
}

QUEUE_FACT(a_call_that_ends_twice_keeps_its_first_status)
{
	static const struct dray_executor_functions twice = {
		sizeof(twice), keep_check, end_and_fail, NULL
	};
	static const int statuses[] = { 0, -EIO, -ENOSPC };
	const struct dray_view *input = &in, *output = &out;

	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		struct dray_executor *executor = NULL;
		struct dray_call_queue *own = NULL;

		assert_works(dray_executor_create("twice", &twice,
						  (void *)(intptr_t)statuses[i],
						  &executor));
		assert_works(dray_call_queue_create(&executor, 1, NULL, &own));
		dray_executor_unref(executor);
		assert_int_equal(dray_call_queue_submit(own, same, &input,
							&output, NULL, NULL,
							NULL),
				 statuses[i]);
		dray_call_queue_destroy(own);
	}
}

/* A loop that forks once; both return from it. */
static pid_t forked;
static bool has_forked;

static int fork_once(char *const *data, const int64_t *strides, int64_t count,
		     void *context)
{
	if (!has_forked) {
		has_forked = true;
		forked = fork();
		if (!forked)
			alarm(DEADLINE);
	}
	return 0;
}

QUEUE_FACT(a_child_of_a_loop_ends_with_its_thread)
{
	const struct dray_ufunc_loop forks = { .loop = fork_once };
	const struct dray_view *input = &in, *output = &out;
	dray_dtype dtypes[] = { DRAY_UINT8, DRAY_UINT8 };
	struct dray_call_queue *own = NULL;
	struct dray_ufunc *forker = NULL;
	struct dray_event *events[2];
	int status = -1;

	SKIP_IF_MALLOC_STAYS_LOCKED();
	has_forked = false;
	assert_works(
		dray_ufunc_create("forker", 1, 1, DRAY_IDENTITY_NONE, &forker));
	assert_works(dray_ufunc_set_loop(forker, dtypes, &forks));
	assert_works(dray_call_queue_create(NULL, 0, NULL, &own));
	for (int i = 0; i < 2; i++)
		assert_works(dray_call_queue_submit(
			own, forker, &input, &output, NULL, NULL, &events[i]));
	for (int i = 0; i < 2; i++) {
		assert_works(dray_event_wait(events[i], -1));
		dray_event_unref(events[i]);
	}
	assert_int_equal(waitpid(forked, &status, 0), forked);
	assert_int_equal(status, 0);
	dray_call_queue_destroy(own);
	dray_ufunc_unref(forker);
}

/* A call of the CPU. */
static struct dray_event *call_cpu(struct dray_call_queue *cpu)
{
	const struct dray_view *input = &in, *output = &out;
	struct dray_event *event = NULL;

	assert_works(dray_call_queue_submit(cpu, same, &input, &output, NULL,
					    NULL, &event));
	return event;
}

QUEUE_FACT(a_wait_for_a_view_ends_with_the_event_of_a_call)
{
	struct dray_call_queue *cpu = NULL;
	struct dray_event *event;
	int ret;

	assert_works(dray_call_queue_create(NULL, 0, NULL, &cpu));
	for (int i = 0; i < 2000; i++) {
		event = call_cpu(cpu);
		do {
			ret = dray_view_wait(&out, DRAY_ACCESS_READ, 0);
		} while (ret == -ETIME);
		assert_works(ret);
		assert_int_equal(dray_event_status(event), 1);
		dray_event_unref(event);
		event = call_cpu(cpu);
		assert_works(dray_event_wait(event, -1));
		assert_works(dray_view_wait(&out, DRAY_ACCESS_WRITE, 0));
		dray_event_unref(event);
	}
	dray_call_queue_destroy(cpu);
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
	return dray_call_queue_create(NULL, 0, NULL, &own) ||
	       dray_call_queue_submit(own, same, &number, &number, NULL, NULL,
				      NULL);
}

QUEUE_FACT(a_child_makes_calls_while_its_parent_does)
{
	struct dray_view number;
	pthread_t threads[2];
	char byte = 0;

	SKIP_IF_MALLOC_STAYS_LOCKED();
	SKIP_IF_CHILDREN_HAVE_NO_THREADS();
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

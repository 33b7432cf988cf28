// SPDX-License-Identifier: Apache-2.0 OR MIT
/* call queue: turns of calls, their memory, executors that break promises, forks. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* The queue of that executor, and an event of its call from @from to @to. */
static struct dray_call_queue *slow;

static struct dray_event *start_slow(const struct dray_view *from,
				     const struct dray_view *to)
{
	struct dray_executor *keeper = NULL;
	struct dray_event *event;

	assert_works(dray_executor_create("keeper", &keeps, NULL, &keeper));
	assert_works(dray_call_queue_create(&keeper, 1, &slow));
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
		assert_works(dray_call_queue_create(&executor, 1, &odds));
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

	SKIP_IF_MALLOC_STAYS_LOCKED();
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

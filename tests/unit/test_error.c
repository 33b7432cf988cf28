// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * error: each thread has its own sentence, which goes with it, and a code
 * needs none.
 */
#include "base/error.h"
#include "unit.h"

#define THREADS 3

static _Atomic int buffers; /* that were asked for */
static _Atomic bool malloc_fails;
WRAPPED(void *, malloc, (size_t size))
{
	buffers++;
	return malloc_fails ? NULL : __real_malloc(size);
}

static pthread_barrier_t step;

/* What it is told after all have failed. */
static void *fail_together(void *number)
{
	char expected[32];
	void *right = NULL;

	if (*dray_last_error())
		return NULL;
	dray_fail(-EINVAL, "thread %d", *(int *)number);
	pthread_barrier_wait(&step);
	snprintf(expected, sizeof(expected), "thread %d", *(int *)number);
	if (!strcmp(dray_last_error(), expected))
		right = number;
	pthread_barrier_wait(&step);
	return right;
}

FACT(each_thread_has_its_own_sentence)
{
	int numbers[THREADS] = { 1, 2, 3 }, round, i;
	pthread_t threads[THREADS];
	void *right;

	pthread_barrier_init(&step, NULL, THREADS);
	for (round = 0; round < 2; round++) {
		buffers = 0;
		for (i = 0; i < THREADS; i++)
			assert_int_equal(pthread_create(&threads[i], NULL,
							fail_together,
							&numbers[i]),
					 0);
		for (i = 0; i < THREADS; i++) {
			assert_int_equal(pthread_join(threads[i], &right), 0);
			assert_ptr_equal(right, &numbers[i]);
		}
		/* One was there; it came back as its thread ended. */
		assert_int_equal(buffers, THREADS - 1);
	}
	pthread_barrier_destroy(&step);
	assert_string_equal(dray_last_error(), "");
}

static void *fail_without_memory(void *unused)
{
	errno = 0;
	if (dray_fail(-EIO, "the first") != -EIO || errno)
		return "no code";
	if (!strstr(dray_last_error(), "no memory"))
		return "a sentence";
	if (dray_fail_adding(-EIO, "; more") != -EIO || errno)
		return "no other code";
	malloc_fails = false;
	dray_fail(-EIO, "the %s", "second");
	if (strcmp(dray_last_error(), "the second"))
		return "no second sentence";
	return unused;
}

FACT(a_thread_without_memory_is_told_so)
{
	pthread_t thread;
	void *wrong;

	/* The one that is there is this thread's. */
	dray_fail(-EINVAL, "wrong");
	assert_string_equal(dray_last_error(), "wrong");
	malloc_fails = true;
	assert_int_equal(
		pthread_create(&thread, NULL, fail_without_memory, NULL), 0);
	assert_int_equal(pthread_join(thread, &wrong), 0);
	malloc_fails = false;
	assert_null(wrong);
	assert_string_equal(dray_last_error(), "wrong");
	dray_fail_adding(-EINVAL, " and %d", 7);
	assert_string_equal(dray_last_error(), "wrong and 7");
}

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
	dray_fail_as(-EINVAL, DRAY_FAILURE_CASTING, "the first with a kind");
	if (dray_last_failure() != DRAY_FAILURE_CASTING)
		return "no kind";
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

static void fail_plainly(void)
{
	dray_fail(-EINVAL, "plain");
}

static void fail_by_null(void)
{
	dray_fail_null("f");
}

static void add_words(void)
{
	dray_fail_adding(-EINVAL, ", and more");
}

FACT(a_kind_stays_until_the_next_sentence)
{
	static const struct {
		void (*after)(void);
		enum dray_failure failure;
		const char *sentence;
	} rows[] = {
		{ add_words, DRAY_FAILURE_BOUNDS, "too large, and more" },
		{ fail_plainly, DRAY_FAILURE_NONE, "plain" },
		{ fail_by_null, DRAY_FAILURE_NONE,
		  "f(): a required argument is NULL" },
		{ dray_forget_failure, DRAY_FAILURE_NONE, "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(dray_fail_as(-EOVERFLOW, DRAY_FAILURE_BOUNDS,
					      "too %s", "large"),
				 -EOVERFLOW);
		assert_int_equal(dray_last_failure(), DRAY_FAILURE_BOUNDS);
		assert_string_equal(dray_last_error(), "too large");
		rows[i].after();
		assert_int_equal(dray_last_failure(), rows[i].failure);
		assert_string_equal(dray_last_error(), rows[i].sentence);
	}
}

static void *fail_as_kind(void *kind)
{
	void *right = dray_last_failure() ? NULL : kind;

	dray_fail_as(-EINVAL, (enum dray_failure)(intptr_t)kind, "a thread");
	pthread_barrier_wait(&step);
	if (dray_last_failure() != (enum dray_failure)(intptr_t)kind)
		right = NULL;
	pthread_barrier_wait(&step);
	return right;
}

FACT(each_thread_has_its_own_kind)
{
	pthread_t threads[THREADS];
	void *right;
	intptr_t i;

	dray_fail(-EINVAL, "this thread");
	pthread_barrier_init(&step, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, fail_as_kind,
						(void *)(i + 1)),
				 0);
	for (i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &right), 0);
		assert_ptr_equal(right, (void *)(i + 1));
	}
	pthread_barrier_destroy(&step);
	assert_int_equal(dray_last_failure(), DRAY_FAILURE_NONE);
}

static void *restore(void *kept)
{
	return dray_failure_restore(-EOVERFLOW, kept) == -EOVERFLOW &&
			       dray_last_failure() == DRAY_FAILURE_BOUNDS &&
			       !strcmp(dray_last_error(), "100% too large")
		       ? kept
		       : NULL;
}

FACT(a_failure_that_is_kept_passes_to_another_thread)
{
	struct dray_kept_failure kept;
	pthread_t thread;
	void *right;

	dray_fail_as(-EOVERFLOW, DRAY_FAILURE_BOUNDS, "100%% too large");
	dray_failure_keep(&kept);
	dray_fail(-EINVAL, "another");
	assert_int_equal(pthread_create(&thread, NULL, restore, &kept), 0);
	assert_int_equal(pthread_join(thread, &right), 0);
	assert_ptr_equal(right, &kept);
	assert_string_equal(dray_last_error(), "another");
	assert_int_equal(dray_last_failure(), DRAY_FAILURE_NONE);
}

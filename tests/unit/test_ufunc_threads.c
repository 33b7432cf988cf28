// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ufunc_threads: calls by several threads, calls from several threads while loops
 * are replaced, and loops that one thread at a time may be in.
 */
#include <dray/array.h>

#include "layout/layout_threads.h"
#include "ufunc.h"

#define ROOM 4096

static double numbers[ROOM], results[ROOM];
static struct dray_ufunc *mix;
static _Atomic int loops; /* calls */

static int count_loop(char *const *data, const int64_t *strides, int64_t count,
		      void *context)
{
	atomic_fetch_add(&loops, 1);
	return mix_doubles(data, strides, count, context);
}

static int set_up(void **state)
{
	int i;

	for (i = 0; i < ROOM; i++)
		numbers[i] = i;
	assert_works(dray_ufunc_create("mix", 2, 1, DRAY_IDENTITY_NONE, &mix));
	set_loop(mix,
		 (dray_dtype[]){ DRAY_FLOAT64, DRAY_FLOAT64, DRAY_FLOAT64 },
		 count_loop, NULL, 0);
	dray_threads_share = 1;
	return 0;
}

static int tear_down(void **state)
{
	dray_ufunc_unref(mix);
	return 0;
}

FACTS_SHARE(set_up, tear_down)

static bool is_right(const int64_t *at, int64_t steps)
{
	int64_t i;

	for (i = 0; i < steps; i++)
		if (results[at[0] + i * at[1]] !=
		    3 * numbers[at[0] + i * at[1]])
			return false;
	return true;
}

FACT(threads_share_a_call_and_the_result_is_the_same)
{
	static const struct {
		int ndim;
		int64_t shape[3], strides[3]; /* elements */
		bool converted;
	} rows[] = {
		{ 1, { ROOM }, { 1 }, false },
		{ 1, { ROOM / 3 }, { 3 }, false },
		{ 2, { 64, 60 }, { 64, 1 }, false },
		{ 2, { 1000, 2 }, { 4, 1 }, false },
		{ 3, { 8, 8, 60 }, { 512, 64, 1 }, false },
		{ 1, { ROOM }, { 1 }, true },
		{ 2, { 64, 60 }, { 64, 1 }, true },
	};
	static int64_t integers[ROOM];
	unsigned int threads;
	size_t i;
	int k;

	for (k = 0; k < ROOM; k++)
		integers[k] = k;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (threads = 1; threads <= 65; threads += 16) {
			const struct dray_ufunc_options options = {
				.threads = threads
			};
			int64_t strides[3];
			struct dray_view in, out;

			for (k = 0; k < rows[i].ndim; k++)
				strides[k] = 8 * rows[i].strides[k];
			in = view_of(
				rows[i].converted ? (void *)integers : numbers,
				rows[i].converted ? DRAY_INT64 : DRAY_FLOAT64,
				rows[i].ndim, rows[i].shape, strides);
			out = view_of(results, DRAY_FLOAT64, rows[i].ndim,
				      rows[i].shape, strides);
			memset(results, 0, sizeof(results));
			loops = 0;
			assert_works(dray_ufunc_call(mix, INPUTS(&in, &in),
						     INPUTS(&out), &options,
						     NULL));
			assert_true(is_right((int64_t[]){ 0, 1 }, 1));
			assert_true(is_right(
				(int64_t[]){
					0, rows[i].strides[rows[i].ndim - 1] },
				rows[i].shape[rows[i].ndim - 1]));
			assert_true(
				is_right((int64_t[]){ 0, rows[i].strides[0] },
					 rows[i].shape[0]));
			if (threads > 1)
				assert_true(loops > 1);
		}
	}
}

/* Divides by zero at one element. */
static int divide(char *const *data, const int64_t *strides, int64_t count,
		  void *context)
{
	int64_t i;

	for (i = 0; i < count; i++)
		if (*(double *)(void *)(data[0] + i * strides[0]) == 1000)
			feraiseexcept(FE_DIVBYZERO);
	return 0;
}

FACT_ON(flags_are_kept, an_error_in_any_thread_is_the_callers, NULL, NULL)
{
	struct dray_ufunc *one = NULL;
	const struct dray_ufunc_options options = { .threads = 4 };
	struct dray_view in =
		view_of(numbers, DRAY_FLOAT64, 1, DIMS(ROOM), NULL);
	struct dray_view out =
		view_of(results, DRAY_FLOAT64, 1, DIMS(ROOM), NULL);
	struct dray_fp_state fp = { .size = sizeof(fp) };

	assert_works(dray_ufunc_create("one", 1, 1, DRAY_IDENTITY_NONE, &one));
	set_loop(one, (dray_dtype[]){ DRAY_FLOAT64, DRAY_FLOAT64 }, divide,
		 NULL, 0);
	assert_works(dray_set_fp_state(NULL));
	dray_get_fp_state(&fp);
	fp.divide = DRAY_FP_RAISE;
	assert_works(dray_set_fp_state(&fp));
	assert_fails(dray_ufunc_call(one, INPUTS(&in), INPUTS(&out), &options,
				     NULL),
		     -EDOM, "divide by zero encountered in one");
	assert_works(dray_set_fp_state(NULL));
	dray_ufunc_unref(one);
}

static int inside, most;

/* Not atomic on purpose: the lock orders it. */
static int be_alone(char *const *data, const int64_t *strides, int64_t count,
		    void *context)
{
	int now = ++inside;

	sched_yield();
	if (now > most)
		most = now;
	inside--;
	return 0;
}

static struct dray_ufunc *alone;

static void *call_alone(void *unused)
{
	double value = 1;
	struct dray_view in = view_of(&value, DRAY_FLOAT64, 0, NULL, NULL);
	int i;

	for (i = 0; i < 200; i++)
		assert_works(dray_ufunc_call(alone, INPUTS(&in), INPUTS(&in),
					     NULL, NULL));
	return NULL;
}

FACT(one_thread_at_a_time_is_in_a_loop_that_wants_it)
{
	const struct dray_ufunc_options options = { .threads = 8 };
	struct dray_view in =
		view_of(numbers, DRAY_FLOAT64, 1, DIMS(ROOM), NULL);
	struct dray_view out =
		view_of(results, DRAY_FLOAT64, 1, DIMS(ROOM), NULL);
	pthread_t threads[4];
	int i;

	assert_works(
		dray_ufunc_create("alone", 1, 1, DRAY_IDENTITY_NONE, &alone));
	set_loop(alone, (dray_dtype[]){ DRAY_FLOAT64, DRAY_FLOAT64 }, be_alone,
		 NULL, DRAY_LOOP_SINGLE_THREAD);
	for (i = 0; i < 4; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, call_alone, NULL), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_works(dray_ufunc_call(alone, INPUTS(&in), INPUTS(&out), &options,
				     NULL));
	assert_int_equal(most, 1);
	dray_ufunc_unref(alone);
}

/* Loops of two ufuncs that wait until both run, in a thread each. */
static pthread_barrier_t both;

static int meet(char *const *data, const int64_t *strides, int64_t count,
		void *context)
{
	pthread_barrier_wait(&both);
	return 0;
}

static void *call_meeting(void *ufunc)
{
	double value = 1;
	struct dray_view in = view_of(&value, DRAY_FLOAT64, 0, NULL, NULL);

	assert_works(
		dray_ufunc_call(ufunc, INPUTS(&in), INPUTS(&in), NULL, NULL));
	return NULL;
}

/* A lock that both share would end the test by its alarm. */
FACT(loops_that_want_one_thread_do_not_wait_for_each_other)
{
	const dray_dtype types[] = { DRAY_FLOAT64, DRAY_FLOAT64 };
	struct dray_ufunc *ufuncs[2] = { NULL, NULL };
	pthread_t threads[2];

	alarm(DEADLINE);
	pthread_barrier_init(&both, NULL, 2);
	for (int i = 0; i < 2; i++) {
		assert_works(dray_ufunc_create("meet", 1, 1, DRAY_IDENTITY_NONE,
					       &ufuncs[i]));
		set_loop(ufuncs[i], types, meet, ufuncs[i],
			 DRAY_LOOP_SINGLE_THREAD);
		assert_int_equal(pthread_create(&threads[i], NULL, call_meeting,
						ufuncs[i]),
				 0);
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		dray_ufunc_unref(ufuncs[i]);
	}
	pthread_barrier_destroy(&both);
	alarm(0);
}

/* A loop that calls a ufunc of its own kind, and forks. */
static int fork_inside(char *const *data, const int64_t *strides, int64_t count,
		       void *context)
{
	int status;
	pid_t child = fork();

	if (!child) {
		struct dray_view in =
			view_of(data[0], DRAY_FLOAT64, 0, NULL, NULL);

		alarm(DEADLINE);
		_exit(dray_ufunc_call(context, INPUTS(&in), INPUTS(&in), NULL,
				      NULL));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	return 0;
}

FACT(a_loop_may_call_ufuncs_and_fork)
{
	struct dray_ufunc *outer = NULL, *inner = NULL;
	double value = 1;
	struct dray_view in = view_of(&value, DRAY_FLOAT64, 0, NULL, NULL);
	const dray_dtype types[] = { DRAY_FLOAT64, DRAY_FLOAT64 };

	assert_works(
		dray_ufunc_create("outer", 1, 1, DRAY_IDENTITY_NONE, &outer));
	assert_works(
		dray_ufunc_create("inner", 1, 1, DRAY_IDENTITY_NONE, &inner));
	set_loop(inner, types, no_loop, NULL, DRAY_LOOP_SINGLE_THREAD);
	set_loop(outer, types, fork_inside, inner, DRAY_LOOP_SINGLE_THREAD);
	assert_works(
		dray_ufunc_call(outer, INPUTS(&in), INPUTS(&in), NULL, NULL));
	/* And the parent's lock is free again. */
	assert_works(
		dray_ufunc_call(inner, INPUTS(&in), INPUTS(&in), NULL, NULL));
	dray_ufunc_unref(outer);
	dray_ufunc_unref(inner);
}

static _Atomic bool ended;

/* Writes its context: the number of the loop. */
static int number_loop(char *const *data, const int64_t *strides, int64_t count,
		       void *context)
{
	*(double *)(void *)data[2] = *(const double *)context;
	return 0;
}

/* Valgrind lets one thread run for long, so calls are counted. */
static void *call_until_the_end(void *unused)
{
	static const double first = 1;
	double value = 1, made = 0, last = first;
	int calls;
	struct dray_ufunc *add = dray_ufunc_find("add");
	struct dray_view in = view_of(&value, DRAY_FLOAT64, 0, NULL, NULL);
	struct dray_view out = view_of(&made, DRAY_FLOAT64, 0, NULL, NULL);

	for (calls = 0; calls < 20000 && !atomic_load(&ended); calls++) {
		assert_works(dray_ufunc_call(add, INPUTS(&in, &in),
					     INPUTS(&out), NULL, NULL));
		/* Loops are seen in their order; 2 is the builtin one's. */
		assert_true(made >= last);
		last = made;
	}
	return NULL;
}

FACT(loops_of_a_builtin_function_are_replaced_while_others_call_it)
{
	const dray_dtype types[] = { DRAY_FLOAT64, DRAY_FLOAT64, DRAY_FLOAT64 };
	static double values[100];
	struct dray_ufunc *add = dray_ufunc_find("add");
	struct dray_ufunc_loop builtin = { NULL, NULL, 0 };
	dray_dtype found[3] = { 0 };
	pthread_t threads[3];
	size_t at;
	int i;

	for (at = 0; memcmp(found, types, sizeof(types)); at++)
		assert_works(dray_ufunc_get_loop(add, at, found, &builtin));
	ended = false;
	for (i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL,
						call_until_the_end, NULL),
				 0);
	for (i = 0; i < 100; i++) {
		values[i] = 3 + i;
		set_loop(add, types, number_loop, &values[i], 0);
		sched_yield();
	}
	ended = true;
	for (i = 0; i < 3; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_works(dray_ufunc_set_loop(add, types, &builtin));
}

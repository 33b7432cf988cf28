// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * index_faults: each allocation of indexing and sorting fails once, then with
 * all that come after it; each time there is a code and a sentence, and nothing
 * was written.  The address sanitizer sees leaks.
 */
#include <dray/array.h>

#include "fault.h"
WRAPPED(void *, malloc, (size_t size))
{
	return fails_now() ? NULL : __real_malloc(size);
}

WRAPPED(int, posix_memalign, (void **out, size_t alignment, size_t size))
{
	return fails_now() ? ENOMEM
			   : __real_posix_memalign(out, alignment, size);
}

#define SIZE 600

static int64_t numbers[SIZE], order[SIZE];
static double values[SIZE];
static bool trues[SIZE];
static struct dray_view line, index_view, value, mask, half;

static void make_views(void)
{
	const int64_t size = SIZE, pairs[] = { SIZE / 2, 2 };

	for (int i = 0; i < SIZE; i++) {
		numbers[i] = i;
		order[i] = SIZE - 1 - i;
		trues[i] = i % 3;
	}
	assert_works(
		dray_view_init(&line, numbers, DRAY_INT64, 2, pairs, NULL));
	assert_works(
		dray_view_init(&index_view, order, DRAY_INT64, 1, &size, NULL));
	assert_works(
		dray_view_init(&value, values, DRAY_FLOAT64, 1, &size, NULL));
	assert_works(dray_view_init(&mask, trues, DRAY_BOOL, 1, &size, NULL));
	assert_works(dray_view_init(&half, trues, DRAY_BOOL, 1, pairs, NULL));
}

/* A result is written only if there is one. */
static int done(int ret, struct dray_array **array)
{
	if (ret)
		assert_null(*array);
	dray_array_unref(*array);
	return ret;
}

static int get(void)
{
	const struct dray_index index[] = { DRAY_BY(&half), DRAY_STEP(-1) };
	struct dray_array *out = NULL;

	return done(dray_index_get(&line, index, 2, &out), &out);
}

/* A value of another type, and an index and a mask that share memory. */
static int set(void)
{
	struct dray_view flat;

	assert_works(dray_view_init(&flat, numbers, DRAY_INT64, 1, value.shape,
				    NULL));
	return dray_index_set(&flat, &DRAY_BY(&flat), 1, &value);
}

static int put(void)
{
	return dray_put(&line, &index_view, &value, DRAY_INDEX_WRAP);
}

static int put_mask(void)
{
	return dray_put_mask(&line, &mask, &value);
}

static int choose(void)
{
	struct dray_array *out = NULL;

	return done(dray_where(&mask, &index_view, &value, &out), &out);
}

static int find(void)
{
	struct dray_array *out[2] = { NULL, NULL };
	int ret = dray_nonzero(&line, out);

	done(ret, &out[1]);
	return done(ret, &out[0]);
}

static int sort(void)
{
	return dray_sort(&line, 0);
}

static int argsort(void)
{
	struct dray_array *out = NULL;

	return done(dray_argsort(&line, 0, &out), &out);
}

static int argmax(void)
{
	struct dray_array *out = NULL;

	return done(dray_argmax(&line, 0, &out), &out);
}

/* Whether the call that was to fail was made. */
static bool fail_call(int (*work)(void), int n, bool last)
{
	int ret;

	make_views();
	arm_with(n, last);
	ret = work();
	disarm_after(ret);
	if (ret) {
		for (int i = 0; i < SIZE; i++)
			assert_int_equal(numbers[i], i);
	}
	return faulted;
}

FACT(each_allocation_may_fail)
{
	static int (*const works[])(void) = { get,	set,	 put,
					      put_mask, choose,	 find,
					      sort,	argsort, argmax };

	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		fail_each_call(fail_call, works[i]);
	}
}

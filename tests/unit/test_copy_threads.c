// SPDX-License-Identifier: Apache-2.0 OR MIT
/* copy_threads: copies and conversions by several threads, some of which fail. */
#include <pthread.h>

#include <dray/array.h>

#include "layout/layout_threads.h"
#include "unit.h"

#define ROOM (1 << 16) /* bytes */

static int threads_left; /* below 0: any number */

WRAPPED(int, pthread_create,
	(pthread_t * thread, const pthread_attr_t *attributes,
	 void *(*run)(void *), void *argument))
{
	if (threads_left == 0)
		return EAGAIN;
	threads_left--;
	return __real_pthread_create(thread, attributes, run, argument);
}

static _Alignas(8) unsigned char from[ROOM], to[ROOM], expected[ROOM];

static void prepare(void)
{
	dray_threads_share = 1;
	threads_left = -1;
	for (size_t i = 0; i < ROOM; i++)
		from[i] = (unsigned char)(i * 41 >> 3);
	memset(to, 0, ROOM);
}

enum change {
	AS_IT_IS,
	TRANSPOSED,
	BACKWARDS,
	REPEATED, /* along the first axis */
	SPREAD, /* in the destination */
};

static const struct {
	const char *to, *from;
	int64_t shape[4];
	enum change change;
} cases[] = {
	{ "<i4", "<i4", { 8000, 1, 1, 1 }, AS_IT_IS },
	{ "|u1", "|u1", { 65000, 1, 1, 1 }, AS_IT_IS },
	{ "|u1", "|u1", { 15, 17, 16, 14 }, TRANSPOSED },
	{ "<u2", "<u2", { 201, 77, 2, 1 }, TRANSPOSED },
	{ "<f8", "<f8", { 5, 2, 300, 2 }, TRANSPOSED },
	{ "|V3", "|V3", { 30, 41, 2, 5 }, TRANSPOSED },
	{ "|u1", "|u1", { 5000, 3, 1, 1 }, BACKWARDS },
	{ "<i4", "<i4", { 40, 300, 1, 1 }, REPEATED },
	{ "<i8", "<i8", { 40, 100, 1, 1 }, SPREAD },
	{ "<f8", "<i4", { 50, 60, 2, 1 }, AS_IT_IS },
	{ "<f4", "|u1", { 50, 60, 4, 1 }, TRANSPOSED },
	{ ">i4", "<i4", { 120, 90, 1, 1 }, TRANSPOSED },
	{ "|S1000", "|S1000", { 1, 1, 1, 1 }, AS_IT_IS },
	{ "|S1000", "|S2000", { 1, 1, 1, 1 }, AS_IT_IS },
};

static struct dray_view view_of(void *memory, const char *type,
				const int64_t *shape)
{
	struct dray_view view;
	dray_dtype dtype;

	assert_works(dray_dtype_parse(type, &dtype));
	assert_works(dray_view_init(&view, memory, dtype, 4, shape, NULL));
	return view;
}

static void make_case(size_t i, struct dray_view *dst, struct dray_view *src)
{
	const struct dray_index back[] = { DRAY_STEP(-1), DRAY_STEP(-1) },
				second[] = { DRAY_ALL, DRAY_STEP(2) };
	int64_t shape[4];

	memcpy(shape, cases[i].shape, sizeof(shape));
	*src = view_of(from, cases[i].from, shape);
	if (cases[i].change == TRANSPOSED)
		assert_works(dray_view_transpose(src, NULL, src));
	if (cases[i].change == BACKWARDS)
		assert_works(dray_view_index(src, back, 2, src));
	if (cases[i].change == REPEATED)
		src->strides[0] = 0;
	memcpy(shape, src->shape, sizeof(shape));
	shape[1] *= cases[i].change == SPREAD ? 2 : 1;
	*dst = view_of(to, cases[i].to, shape);
	if (cases[i].change == SPREAD)
		assert_works(dray_view_index(dst, second, 2, dst));
}

FACT(any_number_of_threads_makes_the_same_copy)
{
	static const unsigned int threads[] = { 0, 1, 2, 3, 5, 8, 1000 };
	struct dray_view dst, src;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		prepare();
		make_case(i, &dst, &src);
		assert_works(
			dray_view_convert(&dst, &src, DRAY_CASTING_UNSAFE));
		memcpy(expected, to, ROOM);
		for (size_t k = 0; k < sizeof(threads) / sizeof(threads[0]);
		     k++) {
			memset(to, 0, ROOM);
			assert_works(dray_view_convert_threads(
				&dst, &src, DRAY_CASTING_UNSAFE, threads[k]));
			assert_memory_equal(to, expected, ROOM);
		}
	}
}

FACT(threads_that_cannot_be_made_are_done_without)
{
	struct dray_view dst, src;

	for (int made = 0; made < 4; made++) {
		prepare();
		make_case(2, &dst, &src);
		assert_works(dray_view_convert(&dst, &src, DRAY_CASTING_NO));
		memcpy(expected, to, ROOM);
		memset(to, 0, ROOM);
		threads_left = made;
		assert_works(dray_view_convert_threads(&dst, &src,
						       DRAY_CASTING_NO, 4));
		assert_memory_equal(to, expected, ROOM);
		assert_int_equal(threads_left, 0);
	}
}

FACT(few_bytes_are_copied_by_the_caller_alone)
{
	struct dray_view dst, src;

	prepare();
	dray_threads_share = ROOM;
	threads_left = 1;
	make_case(0, &dst, &src);
	assert_works(dray_view_convert_threads(&dst, &src, DRAY_CASTING_NO, 8));
	assert_int_equal(threads_left, 1);
}

FACT(a_source_that_overlaps_is_copied_aside)
{
	static const struct {
		const char *to, *from;
	} types[] = { { "<i4", "<i4" }, { "<i4", "<f4" }, { "<i4", ">i4" } };
	const int64_t shape[] = { 100, 60, 1, 1 };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct dray_view dst, src, aside;

		prepare();
		src = view_of(from, types[i].from, shape);
		aside = view_of(expected, types[i].to, shape);
		assert_works(
			dray_view_convert(&aside, &src, DRAY_CASTING_UNSAFE));
		dst = view_of(from + 4, types[i].to, shape);
		assert_works(dray_view_convert_threads(&dst, &src,
						       DRAY_CASTING_UNSAFE, 4));
		assert_memory_equal(from + 4, expected, 24000);
	}
}

FACT(elements_that_share_bytes_are_written_by_one_thread)
{
	const int64_t shape[] = { 1000, 8 }, strides[] = { 4, 1 };
	struct dray_view dst, src;

	prepare();
	threads_left = 1;
	assert_works(dray_view_init(&src, from, DRAY_UINT8, 2, shape, NULL));
	assert_works(dray_view_init(&dst, to, DRAY_UINT8, 2, shape, strides));
	assert_works(dray_view_convert_threads(&dst, &src, DRAY_CASTING_NO, 4));
	assert_int_equal(threads_left, 1);
}

FACT(the_error_is_that_of_the_first_wrong_element)
{
	const int64_t shape[] = { 4096, 1, 1, 1 };
	struct dray_view dst, src;

	for (int made = 0; made < 4; made++) {
		prepare();
		threads_left = made;
		memset(from, '7', ROOM);
		from[4000] = 'x';
		from[4005] = 'y';
		from[16000] = 'z';
		src = view_of(from, "|S4", shape);
		dst = view_of(to, "<i4", shape);
		assert_fails(dray_view_convert_threads(&dst, &src,
						       DRAY_CASTING_UNSAFE, 4),
			     -EINVAL, "x777");
	}
}

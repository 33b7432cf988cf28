// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * passage: the calls whose files tools/passage counts: add() in the general way, of few
 * elements and of many, and a copy of a strided view by an engine.  In a build with gcov,
 * a program writes the counters of the call alone.
 */
#include <dray/array.h>

#include "simulated_queue.h"

#ifdef DRAY_COUNTS_LINES
void __gcov_reset(void);
void __gcov_dump(void);
#else
#define __gcov_reset() ((void)0)
#define __gcov_dump() ((void)0)
#endif

#define MOST 600

/* Types that convert, axes that are broadcast, and an input that overlaps. */
static void add_rows(int rows)
{
	static int32_t numbers[MOST * 6];
	static double halves[MOST * 5 + 4];
	struct dray_view a, b, to;
	const struct dray_view *const inputs[] = { &a, &b };
	const struct dray_view *const outputs[] = { &to };
	struct dray_ufunc *const add = dray_ufunc_find("add");
	int i, k;

	for (i = 0; i < MOST * 6; i++)
		numbers[i] = i;
	for (i = 0; i < MOST * 5; i++)
		halves[i] = i / 2.0;
	assert_works(dray_view_init(&a, numbers, DRAY_INT32, 2,
				    (const int64_t[]){ rows, 3 },
				    (const int64_t[]){ 24, 8 }));
	assert_works(dray_view_init(&b, halves, DRAY_FLOAT64, 1,
				    (const int64_t[]){ 3 },
				    (const int64_t[]){ 16 }));
	assert_works(dray_view_init(&to, halves + 1, DRAY_FLOAT64, 2,
				    (const int64_t[]){ rows, 3 },
				    (const int64_t[]){ 40, 8 }));
	__gcov_reset();
	assert_works(dray_ufunc_call(add, inputs, outputs, NULL, NULL));
	__gcov_dump();
	for (i = 0; i < rows; i++)
		for (k = 0; k < 3; k++)
			assert_true(halves[1 + 5 * i + k] == 6 * i + 2 * k + k);
}

FACT(add_in_the_general_way)
{
	add_rows(4);
}

FACT(add_of_many_elements_in_the_general_way)
{
	add_rows(MOST);
}

QUEUE_FACT(copy_of_a_strided_view_by_an_engine)
{
	unsigned char *const to = dray_pool_alloc(pool, 4096, 0);
	unsigned char *const from = dray_pool_alloc(pool, 4096, 0);
	struct dray_view dst, src;
	int i;

	for (i = 0; i < 4096; i++)
		from[i] = (unsigned char)i;
	assert_works(dray_view_init(&dst, to, DRAY_UINT8, 2,
				    (const int64_t[]){ 16, 64 }, NULL));
	assert_works(dray_view_init(&src, from, DRAY_UINT8, 2,
				    (const int64_t[]){ 16, 64 },
				    (const int64_t[]){ 128, 1 }));
	__gcov_reset();
	assert_works(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, NULL));
	__gcov_dump();
	for (i = 0; i < 1024; i++)
		assert_int_equal(to[i], from[i / 64 * 128 + i % 64]);
	dray_pool_free(pool, to);
	dray_pool_free(pool, from);
}

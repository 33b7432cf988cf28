// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * check_threads: a checking handler that several threads use at once.  With
 * -Db_sanitize=thread it also shows that nothing races; streams are not shared,
 * because that sanitizer does not know their locks.
 */
#include "pool.h"

#define THREADS 4
#define ROUNDS 2000
#define SLOTS 32

static _Atomic(unsigned char *) slots[SLOTS];
static const struct dray_handler *handler;

static void *pass_around(void *number)
{
	const struct dray_allocator *a = &handler->allocator;
	struct dice dice = { (uintptr_t)number * 7919 };
	FILE *file = fopen("/dev/null", "w");

	for (int i = 0; i < rounds(ROUNDS); i++) {
		size_t size = 1 + roll(&dice, 2000);
		unsigned char *block = a->malloc(a->ctx, size);

		if (!block)
			continue;
		memset(block, 1, size);
		if (roll(&dice, 4) == 0)
			block = a->realloc(a->ctx, block, size / 2 + 1);
		block = atomic_exchange(&slots[roll(&dice, SLOTS)], block);
		a->free(a->ctx, block, 1);
		if (roll(&dice, 200) == 0)
			dray_check_report(handler, file);
		/* Nobody's, whatever others do. */
		if (roll(&dice, 200) == 0)
			a->free(a->ctx, &dice, 1);
	}
	fclose(file);
	return NULL;
}

POOL_FACT(nothing_is_found_but_what_is_wrong)
{
	FILE *file = fopen("/dev/null", "w");
	struct dray_check numbers = { .size = sizeof(numbers) };
	pthread_t ids[THREADS];
	int i;

	assert_works(
		dray_handler_check(dray_handler_for(*state), NULL, &handler));
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&ids[i], NULL, pass_around,
						(void *)(intptr_t)(i + 1)),
				 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	for (i = 0; i < SLOTS; i++)
		handler->allocator.free(handler->allocator.ctx,
					atomic_exchange(&slots[i], NULL), 1);
	assert_works(dray_check_report(handler, file));
	fclose(file);
	assert_works(dray_check_get(handler, &numbers));
	assert_true(numbers.bad_frees > 0);
	assert_int_equal(numbers.double_frees, 0);
	assert_int_equal(numbers.broken_guards, 0);
	assert_int_equal(numbers.late_writes, 0);
	assert_int_equal(numbers.blocks, 0);
	assert_int_equal(numbers.bytes, 0);
	assert_int_equal(stats_of(*state).blocks, 0);
	assert_int_equal(stats_of(*state).bad_frees, 0);
}

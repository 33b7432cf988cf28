// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * block_threads: counts that several threads change at once.  With
 * -Db_sanitize=thread it also shows that what a thread did with a block is done
 * before another one frees it.
 */
#include <dray/array.h>

#include "pool.h"

enum {
	THREADS = 4,
	ROUNDS = 20000,
	SLOTS = 16
};

static struct dray_block *shared;
static struct dray_pool *pool;
static _Atomic(struct dray_block *) slots[SLOTS];
static _Atomic int made, ended, failures;

/* cmocka's asserts jump, which only the main thread may do. */
static void expect(bool fact)
{
	if (!fact)
		atomic_fetch_add(&failures, 1);
}

static void run(void *(*body)(void *))
{
	pthread_t ids[THREADS];
	int i;

	atomic_store(&failures, 0);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&ids[i], NULL, body,
						(void *)(intptr_t)(i + 1)),
				 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	assert_int_equal(atomic_load(&failures), 0);
}

static void *count_up_and_down(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		dray_block_ref(shared);
		dray_block_ref(shared);
		dray_block_unref(shared);
		expect(dray_block_count(shared) >= 2);
		dray_block_unref(shared);
	}
	return NULL;
}

POOL_FACT(counts_lose_nothing)
{
	assert_works(dray_block_create_pooled(*state, 100, 0, &shared));
	run(count_up_and_down);
	assert_int_equal(dray_block_count(shared), 1);
	assert_int_equal(stats_of(*state).blocks, 1);
	dray_block_unref(shared);
}

struct payload {
	int written[THREADS]; /* plain: only the order of counts protects it */
	int expected;
};

static void end_payload(void *owner)
{
	struct payload *payload = owner;
	int i, sum = 0;

	for (i = 0; i < THREADS; i++)
		sum += payload->written[i];
	expect(sum == payload->expected);
	free(payload);
	atomic_fetch_add(&ended, 1);
}

/* Each writes its own part and gives its reference up; the last one reads. */
static void *write_and_drop(void *number)
{
	struct payload *payload = dray_block_data(shared);

	payload->written[(intptr_t)number - 1] = (int)(intptr_t)number;
	dray_block_unref(shared);
	return NULL;
}

FACT(the_last_reference_sees_all_writes)
{
	int round, i;

	atomic_store(&ended, 0);
	for (round = 0; round < 200; round++) {
		struct payload *payload = calloc(1, sizeof(*payload));

		payload->expected = THREADS * (THREADS + 1) / 2;
		assert_works(dray_block_create_external(
			payload, sizeof(*payload), DRAY_READ, end_payload,
			payload, &shared));
		for (i = 1; i < THREADS; i++)
			dray_block_ref(shared);
		run(write_and_drop);
		assert_int_equal(atomic_load(&ended), round + 1);
	}
}

/* Blocks of all kinds go from slot to slot and end in any thread. */
static void *pass_around(void *number)
{
	struct dice dice = { (uintptr_t)number * 7919 };
	struct dray_block *block;

	for (int i = 0; i < rounds(ROUNDS) / 4; i++) {
		const struct dray_block_allocator *allocator;
		char *begin, *end;

		if (roll(&dice, 2)) {
			expect(!dray_block_create_pooled(
				pool, 1 + roll(&dice, 3000), 0, &block));
			memset(dray_block_data(block), (int)roll(&dice, 256),
			       dray_block_size(block));
		} else {
			expect(!dray_block_create_zeroed(pool, &block));
			expect(!dray_block_get_allocator(block, &allocator));
			expect(!allocator->allocate(block, roll(&dice, 5000), 8,
						    &begin, &end));
			expect(all_bytes_are(begin, 0, (size_t)(end - begin)));
			memset(begin, 1, (size_t)(end - begin));
		}
		atomic_fetch_add(&made, 1);
		dray_block_ref(block);
		dray_block_unref(
			atomic_exchange(&slots[roll(&dice, SLOTS)], block));
		dray_block_unref(block);
	}
	return NULL;
}

POOL_FACT(blocks_end_in_any_thread)
{
	pool = *state;
	atomic_store(&made, 0);
	run(pass_around);
	assert_true(atomic_load(&made) > SLOTS);
	for (int i = 0; i < SLOTS; i++)
		dray_block_unref(atomic_exchange(&slots[i], NULL));
	assert_int_equal(stats_of(*state).blocks, 0);
	assert_int_equal(stats_of(*state).bad_frees, 0);
}

static void *saturate(void *unused)
{
	for (int i = 0; i < 1000; i++)
		dray_block_ref(shared);
	for (int i = 0; i < 1000; i++)
		dray_block_unref(shared);
	return NULL;
}

POOL_FACT(a_full_count_stays_full_with_threads)
{
	assert_works(dray_block_create_pooled(*state, 100, 0, &shared));
	shared->count = DRAY_BLOCK_COUNT_LIMIT - 500;
	run(saturate);
	/* Some changes may have come after the last time it was set. */
	assert_true(dray_block_count(shared) > DRAY_BLOCK_COUNT_LIMIT);
	assert_int_equal(stats_of(*state).blocks, 1);
	shared->count = 1;
	dray_block_unref(shared);
}

static void *read_strings(void *strings)
{
	const char *begin, *end;

	strings = shared;
	for (size_t i = 0; i < 1000; i++) {
		dray_block_ref(strings);
		expect(!dray_strings_get(strings, i % 2, &begin, &end));
		expect(*begin == (i % 2 ? 'b' : 'a'));
		dray_block_unref(strings);
	}
	dray_block_unref(strings);
	return NULL;
}

POOL_FACT(finished_strings_are_read_by_all)
{
	static const char *const texts[] = { "aaaa", "bb" };
	int i;

	assert_works(dray_strings_from(*state, texts, 2, &shared));
	for (i = 1; i < THREADS; i++)
		dray_block_ref(shared);
	run(read_strings);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * threads: pools used from several threads at once, without any lock of the
 * caller.  With -Db_sanitize=thread it also shows that nothing races.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "pool.h"
#include "pool/busy.h"

#define THREADS 4
#define SLOTS 64
#define ROUNDS 4000
#define LITTLE 65536 /* bytes, whole pages everywhere */

static struct dray_pool *shared;
static _Atomic(unsigned char *) slots[SLOTS];
static _Atomic int failures;
static _Atomic bool over;

/* cmocka's asserts jump, which only the main thread may do. */
static void expect(bool fact)
{
	if (!fact)
		atomic_fetch_add(&failures, 1);
}

static void run(void *(*body)(void *), int threads)
{
	pthread_t ids[THREADS];
	int i;

	atomic_store(&failures, 0);
	for (i = 0; i < threads; i++)
		assert_int_equal(pthread_create(&ids[i], NULL, body,
						(void *)(intptr_t)(i + 1)),
				 0);
	for (i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	assert_int_equal(atomic_load(&failures), 0);
}

/* The first byte says how the whole block was filled. */
static void check_and_free(unsigned char *block)
{
	size_t size;

	if (!block)
		return;
	size = dray_usable_size(block);
	expect(size > 0);
	expect(all_bytes_are(block, block[0], size));
	dray_pool_free(shared, block);
}

static void *pass_around(void *number)
{
	struct dice dice = { (uintptr_t)number * 7919 };

	for (int i = 0; i < ROUNDS; i++) {
		size_t size = 1 + roll(&dice, 1u << roll(&dice, 14));
		unsigned char *block = dray_pool_alloc(shared, size, 0);

		expect(block);
		if (!block)
			continue;
		memset(block, (int)roll(&dice, 256), dray_usable_size(block));
		if (roll(&dice, 4) == 0) {
			size_t old = dray_usable_size(block);
			unsigned char *other;

			other = dray_pool_realloc(shared, block, 2 * size);
			expect(other);
			if (other) {
				block = other;
				expect(all_bytes_are(
					block, block[0],
					old < 2 * size ? old : 2 * size));
				memset(block, block[0],
				       dray_usable_size(block));
			}
		}
		/* Whoever comes next frees it, in whichever thread. */
		check_and_free(
			atomic_exchange(&slots[roll(&dice, SLOTS)], block));
	}
	return NULL;
}

POOL_FACT(blocks_are_freed_by_other_threads)
{
	shared = *state;
	run(pass_around, THREADS);
	for (int i = 0; i < SLOTS; i++)
		check_and_free(atomic_exchange(&slots[i], NULL));
	assert_int_equal(stats_of(*state).blocks, 0);
	assert_int_equal(stats_of(*state).bad_frees, 0);
}

static void *calloc_and_free(void *number)
{
	struct dice dice = { (uintptr_t)number * 104729 };

	for (int i = 0; i < ROUNDS / 4; i++) {
		size_t size = 1 + roll(&dice, 30000);
		unsigned char *block = dray_pool_calloc(shared, size, 1);

		expect(block);
		expect(all_bytes_are(block, 0, size));
		memset(block, 0xff, size);
		dray_pool_free(shared, block);
		if (roll(&dice, 64) == 0)
			dray_pool_trim(shared);
	}
	return NULL;
}

POOL_FACT(calloc_is_zero_while_others_trim)
{
	shared = *state;
	run(calloc_and_free, THREADS);
}

static void *hold_and_free(void *number)
{
	struct dice dice = { (uintptr_t)number * 31 };
	struct dray_location where;

	for (int i = 0; i < ROUNDS; i++) {
		unsigned char *block = dray_pool_alloc(shared, 256, 0);

		expect(!dray_block_hold(block + roll(&dice, 256)));
		expect(!dray_locate(block + 255, &where));
		expect(where.block == block);
		memset(block, (int)(uintptr_t)number, 256);
		dray_pool_free(shared, block);
		/* Parked: nobody else has it, so nobody else wrote it. */
		expect(all_bytes_are(block, (int)(uintptr_t)number, 256));
		dray_block_release(block);
	}
	return NULL;
}

POOL_FACT(busy_blocks_are_not_given_to_others)
{
	shared = *state;
	run(hold_and_free, THREADS);
	assert_int_equal(stats_of(*state).blocks, 0);
	assert_int_equal(stats_of(*state).parked, 0);
}

static void *grow_it(void *number)
{
	void *blocks[8];
	int i, round;

	for (round = 0; round < 20; round++) {
		for (i = 0; i < 8; i++) {
			blocks[i] = dray_pool_alloc(shared, 700000, 0);
			expect(blocks[i]);
		}
		for (i = 0; i < 8; i++)
			dray_pool_free(shared, blocks[i]);
	}
	return NULL;
}

FACT(a_pool_is_grown_by_several_threads)
{
	struct dray_pool_options options = { .initial = 1 << 16 };
	struct dray_pool *pool = open_pool(test_spec(), &options);

	shared = pool;
	run(grow_it, THREADS);
	assert_int_equal(stats_of(pool).blocks, 0);
	dray_pool_close(pool);
}

static void *free_wild_pointers(void *number)
{
	struct dice dice = { (uintptr_t)number };
	struct dray_pool *pool = shared;
	char *base = (char *)atomic_load(&slots[0]);

	/* All over the first slots of the window, whatever is there now. */
	while (!atomic_load(&over)) {
		void *wild = base + 1 + 64 * roll(&dice, 1 << 17);

		dray_pool_free(pool, wild);
		expect(!dray_usable_size(wild));
	}
	return NULL;
}

static void *come_and_go(void *number)
{
	struct dray_node *node = dray_pool_node(shared);

	for (int i = 0; i < 300; i++) {
		struct dray_pool *pool = NULL;
		unsigned char *block;

		expect(!dray_pool_create(node, NULL, &pool));
		block = dray_pool_alloc(pool, 1000, 0);
		memset(block, 3, 1000);
		dray_pool_close(pool);
		expect(all_bytes_are(block, 3, 1000));
		/* The pool ends with this, while others look it up. */
		dray_pool_free(pool, block);
	}
	return NULL;
}

static void *wild_or_not(void *number)
{
	if ((intptr_t)number <= 2)
		return free_wild_pointers(number);
	come_and_go(number);
	atomic_store(&over, true);
	return NULL;
}

POOL_FACT(wild_frees_are_harmless_while_pools_come_and_go)
{
	unsigned char *block = take(*state, 64, 0);

	shared = *state;
	atomic_store(&over, false);
	atomic_store(&slots[0], block);
	run(wild_or_not, 3);
	atomic_store(&slots[0], NULL);
	assert_true(stats_of(*state).bad_frees > 0);
	assert_int_equal(stats_of(*state).blocks, 1);
	dray_pool_free(*state, block);
}

static void *locate_wild_pointers(void *number)
{
	struct dice dice = { (uintptr_t)number };
	char *base = (char *)atomic_load(&slots[0]);

	while (!atomic_load(&over)) {
		char *wild = base + roll(&dice, 4 * LITTLE);
		struct dray_location where;

		if (dray_locate(wild, &where))
			continue;
		expect(where.block == base);
		expect(where.offset == (uint64_t)(wild - base));
		expect(where.offset < where.block_size);
		expect(where.block_size == LITTLE ||
		       where.block_size == 3 * LITTLE);
	}
	return NULL;
}

static void *buffers_come_and_go(void *number)
{
	struct dray_node *node = dray_pool_node(shared);

	for (int i = 0; i < rounds(ROUNDS); i++) {
		struct dray_buffer *buffer = NULL;

		expect(!dray_buffer_alloc(node, i % 2 ? LITTLE : 3 * LITTLE,
					  NULL, &buffer));
		/* Each in the place of the one before. */
		expect(dray_buffer_data(buffer) == atomic_load(&slots[0]));
		dray_buffer_unref(buffer);
	}
	return NULL;
}

static void *locate_or_end(void *number)
{
	if ((intptr_t)number <= 2)
		return locate_wild_pointers(number);
	buffers_come_and_go(number);
	atomic_store(&over, true);
	return NULL;
}

/* What was a buffer is looked up, and never followed. */
POOL_FACT(buffers_are_located_while_they_end)
{
	struct dray_buffer *buffer;

	shared = *state;
	assert_works(dray_buffer_alloc(dray_pool_node(shared), LITTLE, NULL,
				       &buffer));
	atomic_store(&over, false);
	atomic_store(&slots[0], dray_buffer_data(buffer));
	dray_buffer_unref(buffer);
	run(locate_or_end, 3);
	atomic_store(&slots[0], NULL);
}

/* What ends as soon as anything is asked of it: no later moment is worse. */
static struct dray_buffer *ending;

static void *end_it(void *unused)
{
	dray_buffer_unref(ending);
	ending = NULL;
	return NULL;
}

static void asked(const struct dray_buffer *buffer)
{
	pthread_t other;

	if (!ending || buffer != ending)
		return;
	assert_int_equal(pthread_create(&other, NULL, end_it, NULL), 0);
	pthread_join(other, NULL);
}
WRAPPED(uint64_t, dray_buffer_size, (const struct dray_buffer *buffer))
{
	asked(buffer);
	return __real_dray_buffer_size(buffer);
}
WRAPPED(void *, dray_buffer_data, (const struct dray_buffer *buffer))
{
	asked(buffer);
	return __real_dray_buffer_data(buffer);
}

POOL_FACT(a_buffer_may_end_in_the_middle_of_being_located)
{
	struct dray_buffer *buffer;
	struct dray_location where;
	char *data;

	assert_works(dray_buffer_alloc(dray_pool_node(*state), LITTLE, NULL,
				       &buffer));
	data = dray_buffer_data(buffer);
	ending = buffer;
	assert_works(dray_locate(data + LITTLE - 1, &where));
	assert_ptr_equal(ending, buffer);
	assert_ptr_equal(where.buffer, buffer);
	assert_ptr_equal(where.block, data);
	assert_int_equal(where.block_size, LITTLE);
	end_it(NULL);
	assert_int_equal(dray_locate(data, &where), -ENOENT);
}

static void *alloc_until_closed(void *number)
{
	void *block;

	/* The main thread's block keeps the pool until all have seen it. */
	while ((block = dray_pool_alloc(shared, 5000, 0)))
		dray_pool_free(shared, block);
	return NULL;
}

FACT(closing_while_others_allocate)
{
	pthread_t ids[THREADS];
	struct dray_node *node = open_node(test_spec());
	size_t before = buffers_of(node);
	void *last;
	int i;

	assert_works(dray_pool_create(node, NULL, &shared));
	last = take(shared, 1, 0);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&ids[i], NULL,
						alloc_until_closed, NULL),
				 0);
	dray_pool_close(shared);
	for (i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	dray_pool_free(shared, last);
	assert_int_equal(buffers_of(node), before);
	dray_node_unref(node);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* fork: a child's new blocks are nobody else's, and old ones stay usable. */
#include "child.h"
#include "memory/node.h"
#include "pool.h"

#define BLOCKS 200

static int fill_new_blocks(struct dray_pool *pool, unsigned char *inherited)
{
	unsigned char *block;

	for (int i = 0; i < BLOCKS; i++) {
		block = dray_pool_alloc(pool, 4096, 0);
		STEP_TRUE(block);
		STEP_TRUE(block != inherited);
		memset(block, 0xcc, 4096);
	}
	block = dray_pool_calloc(pool, 1, 65536);
	STEP_TRUE(block);
	STEP_TRUE(all_bytes_are(block, 0, 65536));
	/* The inherited one is found, and freeing it is no wrong free. */
	STEP_LE(4096, dray_usable_size(inherited));
	dray_pool_free(pool, inherited);
	STEP_EQ(0, stats_of(pool).bad_frees);
	return 0;
}

static void check_child_of(const char *spec)
{
	struct dray_pool *pool = open_pool(spec, NULL);
	unsigned char *block = take(pool, 4096, 0), *blocks[BLOCKS];
	pid_t child;
	int i, start[2];
	char go;

	memset(block, 1, 4096);
	assert_int_equal(pipe(start), 0);
	child = fork();
	if (!child) {
		/* Not before the parent has blocks where the child's would be. */
		if (read(start[0], &go, 1) != 1)
			_exit(9);
		_exit(fill_new_blocks(pool, block));
	}
	for (i = 0; i < BLOCKS; i++) {
		blocks[i] = take(pool, 4096, 0);
		memset(blocks[i], 2, 4096);
	}
	assert_int_equal(write(start[1], "x", 1), 1);
	assert_int_equal(status_of(child), 0);
	assert_true(all_bytes_are(block, 1, 4096));
	for (i = 0; i < BLOCKS; i++) {
		assert_true(all_bytes_are(blocks[i], 2, 4096));
		dray_pool_free(pool, blocks[i]);
	}
	dray_pool_free(pool, block);
	assert_int_equal(stats_of(pool).bad_frees, 0);
	close(start[0]);
	close(start[1]);
	dray_pool_close(pool);
}

FACT(a_child_writes_only_blocks_of_its_own)
{
	check_child_of(test_spec());
	check_child_of("host:shareable");
}

#define LARGE ((size_t)4 << 20)

/* Nobody may do that; what is to be zero is nevertheless. */
FACT(what_a_child_wrote_to_a_freed_block_is_cleared)
{
	struct dray_pool *pool = open_pool("host:shareable", NULL);
	unsigned char *block = take(pool, LARGE, 0), *again;
	void *other = take(pool, 100, 0); /* lets the memfd stay */
	int start[2];
	pid_t child;
	char go;

	memset(block, 1, LARGE);
	assert_int_equal(pipe(start), 0);
	child = fork();
	if (!child) {
		if (read(start[0], &go, 1) != 1)
			_exit(9);
		memset(block, 0xcc, LARGE);
		_exit(0);
	}
	dray_pool_free(pool, block);
	assert_true(dray_pool_trim(pool) >= LARGE);
	assert_int_equal(write(start[1], "x", 1), 1);
	assert_int_equal(status_of(child), 0);
	again = dray_pool_calloc(pool, 1, LARGE);
	assert_ptr_equal(again, block);
	assert_true(all_bytes_are(again, 0, LARGE));
	dray_pool_free(pool, again);
	dray_pool_free(pool, other);
	close(start[0]);
	close(start[1]);
	dray_pool_close(pool);
}

/* In units of 512 bytes. */
static blkcnt_t pages_behind(void *block)
{
	struct dray_location where;
	struct stat status;

	assert_works(dray_locate(block, &where));
	assert_int_equal(fstat(dray_buffer_descriptor(where.buffer), &status),
			 0);
	return status.st_blocks;
}

FACT(what_was_never_used_is_not_touched_after_a_fork)
{
	struct dray_pool *pool = open_pool("host:shareable", NULL);
	unsigned char *block = take(pool, 4096, 0), *large;
	pid_t child = fork();
	blkcnt_t before;

	if (!child)
		_exit(0);
	assert_int_equal(status_of(child), 0);
	before = pages_behind(block);
	large = dray_pool_calloc(pool, 1, LARGE);
	assert_non_null(large);
	assert_true(pages_behind(large) - before < (blkcnt_t)(LARGE / 512 / 2));
	dray_pool_free(pool, large);
	dray_pool_free(pool, block);
	dray_pool_close(pool);
}

static struct dray_pool *busy_pool;
static _Atomic bool over;

/* Large enough that its pages go back each time. */
static void *alloc_and_free(void *size)
{
	while (!atomic_load(&over))
		dray_pool_free(busy_pool,
			       dray_pool_alloc(busy_pool, (size_t)size, 0));
	return NULL;
}

FACT(a_child_of_busy_threads_is_not_stuck)
{
	pthread_t threads[2];
	void *block;
	int i;

	SKIP_IF_MALLOC_STAYS_LOCKED();
	busy_pool = open_pool(test_spec(), NULL);
	atomic_store(&over, false);
	assert_int_equal(pthread_create(&threads[0], NULL, alloc_and_free,
					(void *)((size_t)3 << 20)),
			 0);
	assert_int_equal(pthread_create(&threads[1], NULL, alloc_and_free,
					(void *)(on_kernel()
							 ? (size_t)4096
							 : (size_t)100 << 20)),
			 0);
	for (i = 0; i < 30; i++) {
		pid_t child = fork();

		if (!child) {
			/* A lock that nobody gives back would be forever. */
			alarm(DEADLINE);
			block = dray_pool_alloc(busy_pool, 1000, 0);
			if (!block)
				_exit(1);
			memset(block, 3, 1000);
			dray_pool_free(busy_pool, block);
			_exit(stats_of(busy_pool).bad_frees ? 2 : 0);
		}
		assert_int_equal(status_of(child), 0);
	}
	atomic_store(&over, true);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(stats_of(busy_pool).blocks, 0);
	dray_pool_close(busy_pool);
}

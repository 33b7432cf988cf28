// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * clone: a process that the C library did not make knows that it is another
 * one: its blocks are its own, and what it inherited it may use and free.
 */
#include "../selftests/step.h"
#include "child.h"
#include "pool.h"
#include "pool/busy.h"

#define BLOCKS 200

struct family {
	struct dray_pool *pool;
	unsigned char *inherited[BLOCKS];
	struct dray_pool_stats before; /* the parent's, with nothing kept */
};

/* A pool with live blocks, and with others that the thread keeps. */
static struct family family_of(const char *spec)
{
	struct family family = { .pool = open_pool(spec, NULL) };
	void *kept[20];

	for (int i = 0; i < BLOCKS; i++) {
		family.inherited[i] = take(family.pool, 4096, 0);
		memset(family.inherited[i], i, 4096);
	}
	family.before = stats_of(family.pool);
	for (int i = 0; i < 20; i++)
		kept[i] = take(family.pool, 100 + (size_t)i * 100, 0);
	for (int i = 0; i < 20; i++)
		dray_pool_free(family.pool, kept[i]);
	return family;
}

static void end_family(struct family *family)
{
	for (int i = 0; i < BLOCKS; i++) {
		assert_true(all_bytes_are(family->inherited[i], i, 4096));
		dray_pool_free(family->pool, family->inherited[i]);
	}
	assert_int_equal(stats_of(family->pool).blocks, 0);
	assert_int_equal(stats_of(family->pool).bad_frees, 0);
	dray_pool_close(family->pool);
}

static bool is_inherited(const struct family *family, const void *block)
{
	const unsigned char *address = block;
	int i;

	for (i = 0; i < BLOCKS; i++)
		if (address >= family->inherited[i] &&
		    address < family->inherited[i] + 4096)
			return true;
	return false;
}

static int fill_new_blocks(const struct family *family)
{
	unsigned char *block;

	for (int i = 0; i < BLOCKS; i++) {
		block = dray_pool_alloc(family->pool, 100 + (size_t)i * 20, 0);
		STEP_TRUE(block);
		STEP_TRUE(!is_inherited(family, block));
		memset(block, 0xcc, 100);
	}
	block = dray_pool_calloc(family->pool, 1, 65536);
	STEP_TRUE(block);
	STEP_TRUE(all_bytes_are(block, 0, 65536));
	for (int i = 0; i < BLOCKS; i++) {
		STEP_TRUE(all_bytes_are(family->inherited[i], i, 4096));
		STEP_LE(4096, dray_usable_size(family->inherited[i]));
		dray_pool_free(family->pool, family->inherited[i]);
	}
	STEP_EQ(0, stats_of(family->pool).bad_frees);
	return 0;
}

static void check_child_of(const char *spec)
{
	struct family family = family_of(spec);
	unsigned char *blocks[BLOCKS];
	int i, start[2];
	pid_t child;
	char go;

	assert_int_equal(pipe(start), 0);
	child = clone_without_handlers();
	if (!child) {
		/* Not before the parent has blocks where the child's would be. */
		if (read(start[0], &go, 1) != 1)
			_exit(9);
		_exit(fill_new_blocks(&family));
	}
	for (i = 0; i < BLOCKS; i++) {
		blocks[i] = take(family.pool, 100 + (size_t)i * 20, 0);
		memset(blocks[i], 2, 100);
	}
	assert_int_equal(write(start[1], "x", 1), 1);
	assert_int_equal(status_of(child), 0);
	for (i = 0; i < BLOCKS; i++) {
		assert_true(all_bytes_are(blocks[i], 2, 100));
		dray_pool_free(family.pool, blocks[i]);
	}
	close(start[0]);
	close(start[1]);
	end_family(&family);
}

FACT(a_child_writes_only_blocks_of_its_own)
{
	check_child_of(test_spec());
	check_child_of("host:shareable");
}

/* Runs @look in a child of clone(), where nothing else was called before. */
static void look_in_a_child(const char *spec,
			    int (*look)(struct family *family))
{
	struct family family = family_of(spec);
	pid_t child = clone_without_handlers();

	if (!child) {
		alarm(DEADLINE);
		_exit(look(&family));
	}
	assert_int_equal(status_of(child), 0);
	end_family(&family);
}

static void in_each_kind_of_memory(int (*look)(struct family *family))
{
	look_in_a_child(test_spec(), look);
	look_in_a_child("host:shareable", look);
}

static int count_blocks(struct family *family)
{
	struct dray_pool_stats stats = stats_of(family->pool);

	STEP_EQ(family->before.blocks, stats.blocks);
	STEP_EQ(family->before.used, stats.used);
	STEP_EQ(0, stats.cached);
	return 0;
}

BRIEF(FACT(what_the_parent_keeps_is_not_the_childs),
      in_each_kind_of_memory(count_blocks));

static int free_first(struct family *family)
{
	dray_pool_free(family->pool, family->inherited[0]);
	dray_pool_free(family->pool, family->inherited[1]);
	STEP_EQ(BLOCKS - 2, stats_of(family->pool).blocks);
	STEP_EQ(0, stats_of(family->pool).bad_frees);
	dray_pool_free(family->pool, family->inherited[0]);
	STEP_EQ(1, stats_of(family->pool).bad_frees);
	return 0;
}

BRIEF(FACT(freeing_is_the_first_thing_a_child_does),
      in_each_kind_of_memory(free_first));

static int hold_first(struct family *family)
{
	struct dray_location where;

	STEP_EQ(0, dray_block_hold(family->inherited[3]));
	dray_pool_free(family->pool, family->inherited[3]);
	STEP_EQ(-ENOENT, dray_locate(family->inherited[3], &where));
	dray_block_release(family->inherited[3]);
	STEP_EQ(BLOCKS - 1, stats_of(family->pool).blocks);
	return 0;
}

BRIEF(FACT(or_holding), in_each_kind_of_memory(hold_first));

static int close_first(struct family *family)
{
	struct dray_node *node = dray_node_ref(dray_pool_node(family->pool));
	size_t count, before;

	STEP_EQ(0, dray_node_list(node, NULL, 0, &before));
	dray_pool_close(family->pool);
	for (int i = 0; i < BLOCKS; i++)
		dray_pool_free(family->pool, family->inherited[i]);
	/* On the module a buffer is there until the parent has closed it. */
	if (on_kernel())
		return 0;
	STEP_EQ(0, dray_node_list(node, NULL, 0, &count));
	STEP_GE(before, count + 1);
	return 0;
}

BRIEF(FACT(or_closing_the_pool), in_each_kind_of_memory(close_first));

static int create_first(struct family *family)
{
	struct dray_node *node = dray_pool_node(family->pool);
	struct dray_pool *pool;
	void *block;

	STEP_EQ(0, dray_pool_create(node, NULL, &pool));
	block = dray_pool_alloc(pool, 4096, 0);
	STEP_TRUE(block);
	dray_pool_free(pool, block);
	dray_pool_close(pool);
	return count_blocks(family);
}

BRIEF(FACT(or_making_a_pool), in_each_kind_of_memory(create_first));

static int start_first(struct family *family, pid_t (*start)(void))
{
	pid_t child = start();
	int status;

	if (!child)
		_exit(fill_new_blocks(family));
	if (waitpid(child, &status, 0) != child || status)
		return 10 + WEXITSTATUS(status);
	return fill_new_blocks(family);
}

static int fork_first(struct family *family)
{
	return start_first(family, fork);
}

BRIEF(FACT(or_making_a_child_of_its_own), in_each_kind_of_memory(fork_first));

static int clone_first(struct family *family)
{
	return start_first(family, clone_without_handlers);
}

BRIEF(FACT(with_handlers_or_without), in_each_kind_of_memory(clone_first));

struct count {
	uint64_t blocks;
	uint64_t cached;
};

static int count_one(void *argument, const struct dray_pool_block *block)
{
	struct count *count = argument;

	count->blocks++;
	count->cached += block->state == DRAY_POOL_BLOCK_CACHED;
	return 0;
}

static int walk_first(struct family *family)
{
	struct count count = { 0 };

	dray_pool_walk(family->pool, count_one, &count);
	STEP_EQ(0, count.cached);
	STEP_EQ(family->before.blocks, count.blocks);
	return 0;
}

BRIEF(FACT(a_walk_shows_what_was_inherited),
      in_each_kind_of_memory(walk_first));

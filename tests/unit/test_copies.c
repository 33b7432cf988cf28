// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * copies: two copies of the library in one process have nothing in common.
 * Each knows its own memory, refuses the other's, and both get over a fork.
 */
#include "child.h"
#include "node.h"
#include "second_copy.h"

/* Small ones, large ones, and more than a buffer of the module has at first. */
static const size_t sizes[] = { 64, 4096, 100000, (size_t)5 << 20 };
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

#define FUNCTIONS(X)         \
	X(dray_node_open)    \
	X(dray_node_unref)   \
	X(dray_pool_create)  \
	X(dray_pool_close)   \
	X(dray_pool_alloc)   \
	X(dray_pool_calloc)  \
	X(dray_pool_realloc) \
	X(dray_pool_free)    \
	X(dray_usable_size)  \
	X(dray_locate)       \
	X(dray_pool_stats)   \
	X(dray_pool_trim)    \
	X(dray_last_error)

/* One of them: its functions, a pool, and a block of each size. */
struct copy {
#define POINTER(name) __typeof__(name) *name;
	FUNCTIONS(POINTER)
	struct dray_pool *pool;
	unsigned char *blocks[SIZES];
	int fill;
};

static struct copy copies[2];

static void find_functions(void)
{
	void *second = second_copy();

#define OWN(name) copies[0].name = name;
	FUNCTIONS(OWN)
#define OTHER(name)                                       \
	*(void **)&copies[1].name = dlsym(second, #name); \
	assert_non_null(copies[1].name);                  \
	assert_ptr_not_equal(copies[1].name, copies[0].name);
	FUNCTIONS(OTHER)
}

static void open_copy(struct copy *copy, const char *spec, int fill)
{
	struct dray_node *node;

	copy->fill = fill;
	assert_int_equal(copy->dray_node_open(spec, &node), 0);
	assert_int_equal(copy->dray_pool_create(node, NULL, &copy->pool), 0);
	copy->dray_node_unref(node);
	for (size_t i = 0; i < SIZES; i++) {
		copy->blocks[i] =
			copy->dray_pool_alloc(copy->pool, sizes[i], 0);
		assert_non_null(copy->blocks[i]);
		memset(copy->blocks[i], fill, sizes[i]);
	}
}

static void open_copies(const char *spec)
{
	find_functions();
	open_copy(&copies[0], spec, 0x11);
	open_copy(&copies[1], spec, 0x22);
}

static struct dray_pool_stats stats_of(const struct copy *copy)
{
	struct dray_pool_stats stats = { .size = sizeof(stats) };

	assert_int_equal(copy->dray_pool_stats(copy->pool, &stats), 0);
	return stats;
}

/* All blocks are as they were, and nothing else was ever freed. */
static void close_copy(struct copy *copy, uint64_t bad_frees)
{
	assert_int_equal(stats_of(copy).blocks, SIZES);
	for (size_t i = 0; i < SIZES; i++) {
		assert_true(
			all_bytes_are(copy->blocks[i], copy->fill, sizes[i]));
		copy->dray_pool_free(copy->pool, copy->blocks[i]);
	}
	assert_int_equal(stats_of(copy).blocks, 0);
	assert_int_equal(stats_of(copy).used, 0);
	assert_int_equal(stats_of(copy).bad_frees, bad_frees);
	copy->dray_pool_close(copy->pool);
}

static void close_copies(uint64_t bad_frees)
{
	close_copy(&copies[0], bad_frees);
	close_copy(&copies[1], bad_frees);
}

static void finds_only_its_own(const struct copy *copy,
			       const struct copy *other)
{
	struct dray_location where;

	for (size_t i = 0; i < SIZES; i++) {
		assert_int_equal(
			copy->dray_locate(copy->blocks[i] + 17, &where), 0);
		assert_ptr_equal(where.pool, copy->pool);
		assert_ptr_equal(where.block, copy->blocks[i]);
		assert_int_equal(copy->dray_locate(other->blocks[i], &where),
				 -ENOENT);
		assert_non_null(strstr(copy->dray_last_error(),
				       "lies in no memory of dray"));
		assert_int_equal(copy->dray_usable_size(other->blocks[i]), 0);
	}
}

FACT(each_finds_only_its_own_memory)
{
	open_copies(test_spec());
	finds_only_its_own(&copies[0], &copies[1]);
	finds_only_its_own(&copies[1], &copies[0]);
	close_copies(0);
}

static void refuses(const struct copy *copy, const struct copy *other)
{
	uint64_t bad_frees = stats_of(copy).bad_frees;

	for (size_t i = 0; i < SIZES; i++) {
		copy->dray_pool_free(copy->pool, other->blocks[i]);
		assert_int_equal(stats_of(copy).bad_frees, ++bad_frees);
		errno = 0;
		assert_null(copy->dray_pool_realloc(copy->pool,
						    other->blocks[i], 10));
		assert_int_equal(errno, EINVAL);
		assert_int_equal(stats_of(copy).bad_frees, ++bad_frees);
	}
}

FACT(each_refuses_to_free_the_others_blocks)
{
	open_copies(test_spec());
	refuses(&copies[0], &copies[1]);
	refuses(&copies[1], &copies[0]);
	close_copies(2 * SIZES);
}

/* Whether two runs of bytes have one in common. */
static bool meet(const unsigned char *a, size_t size, const unsigned char *b,
		 size_t other_size)
{
	return a < b + other_size && b < a + size;
}

/*
 * In a child: 0, or the step that was wrong.  A block may lie where those were
 * that have been freed, and nowhere near those that have not.
 */
static int use_copy(const struct copy *copy)
{
	unsigned char *block;
	size_t i, k;

	for (i = 0; i < SIZES; i++) {
		block = copy->dray_pool_calloc(copy->pool, 1, sizes[i]);
		STEP_TRUE(block);
		STEP_TRUE(all_bytes_are(block, 0, sizes[i]));
		for (k = i; k < SIZES; k++)
			STEP_EQ(0, meet(block, sizes[i], copy->blocks[k],
					sizes[k]));
		memset(block, 0xcc, sizes[i]);
		STEP_TRUE(all_bytes_are(copy->blocks[i], copy->fill, sizes[i]));
		copy->dray_pool_free(copy->pool, block);
		copy->dray_pool_free(copy->pool, copy->blocks[i]);
	}
	copy->dray_pool_trim(copy->pool);
	STEP_EQ(0, stats_of(copy).bad_frees);
	STEP_EQ(0, stats_of(copy).blocks);
	return 0;
}

static void both_work_in_a_child(const char *spec, pid_t (*start)(void))
{
	pid_t child;
	int wrong;

	open_copies(spec);
	child = start();
	if (!child) {
		alarm(DEADLINE);
		wrong = use_copy(&copies[1]);
		_exit(wrong ? 10 + wrong : use_copy(&copies[0]));
	}
	assert_int_equal(status_of(child), 0);
	close_copies(0);
}

FACT(both_work_after_a_fork)
{
	both_work_in_a_child(test_spec(), fork);
	both_work_in_a_child("host:shareable", fork);
}

FACT(and_after_a_clone)
{
	both_work_in_a_child(test_spec(), clone_without_handlers);
	both_work_in_a_child("host:shareable", clone_without_handlers);
}

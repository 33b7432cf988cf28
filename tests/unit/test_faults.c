// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * faults: every call of the system that a piece of work makes fails once, in
 * turn; each time the work fails with a code and a sentence, or gets by, and
 * nothing is left over.
 */
#include "fault.h"
#include "pool.h"
#include "memory/node.h"
#include "memory/window.h"

#define MIB ((size_t)1 << 20)

/* Returns 0, or the failure's code; must give everything back either way. */
typedef int (*work_function)(struct dray_node *node);

static size_t slots_taken(void)
{
	size_t slots = atomic_load(&dray_window.slots), i, taken = 0;

	for (i = 0; i < slots; i++)
		taken += atomic_load(&dray_window.table[i]) != 0;
	return taken;
}

static int open_descriptors(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 64; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Runs @work with its @n-th call failing; false where it has not as many. */
static bool fail_call(work_function work, struct dray_node *node, int n,
		      bool last, int *failures)
{
	size_t taken = slots_taken();
	int descriptors = open_descriptors(), ret;

	arm_with(n, last);
	ret = work(node);
	disarm_after(ret);
	assert_int_equal(slots_taken(), taken);
	assert_int_equal(open_descriptors(), descriptors);
	assert_int_equal(buffers_of(node), 0);
	*failures += !!ret;
	return faulted;
}

/* Each of its calls alone, then each with all that come after it. */
static void fail_each_call_of(work_function work, const char *spec, int least)
{
	struct dray_node *node = open_node(spec);
	int failures = 0, n = 0;

	assert_int_equal(work(node), 0);
	while (fail_call(work, node, n, false, &failures))
		n++;
	/* Else the faults missed the calls under test. */
	assert_true(n >= least);
	failures = 0;
	for (n = 0; fail_call(work, node, n, true, &failures);)
		n++;
	assert_true(failures >= 1);
	dray_node_unref(node);
}

static int open_a_node(struct dray_node *unused)
{
	struct dray_node *node;
	int ret = dray_node_open("host", &node);

	if (!ret)
		dray_node_unref(node);
	return ret;
}

static int make_a_buffer(struct dray_node *node)
{
	struct dray_buffer *buffer;
	int ret = dray_buffer_alloc(node, 4 * MIB, NULL, &buffer);

	if (!ret)
		dray_buffer_unref(buffer);
	return ret;
}

static int grow_a_buffer(struct dray_node *node)
{
	struct dray_buffer *buffer;
	char *data;
	int ret = dray_buffer_alloc_growing(node, MIB, 8 * MIB, NULL, &buffer);

	if (ret)
		return ret;
	data = dray_buffer_data(buffer);
	data[MIB - 1] = 5;
	ret = dray_buffer_grow(buffer, 8 * MIB);
	/* The part that it had is there whether or not that worked. */
	assert_int_equal(data[MIB - 1], 5);
	if (ret)
		assert_int_equal(dray_buffer_size(buffer), MIB);
	else
		data[8 * MIB - 1] = 5;
	dray_buffer_unref(buffer);
	return ret;
}

static int import_a_buffer(struct dray_node *node)
{
	static struct dray_node *elsewhere;
	struct dray_buffer *buffer, *same;
	int armed = calls_to_go, ret;

	/* Only the import is to meet faults. */
	disarm();
	assert_works(dray_node_open("host:shareable", &elsewhere));
	assert_works(dray_buffer_alloc(elsewhere, MIB, NULL, &buffer));
	calls_to_go = armed;
	ret = dray_buffer_import(node, dray_buffer_fd(buffer), &same);
	disarm();
	if (!ret)
		dray_buffer_unref(same);
	dray_buffer_unref(buffer);
	dray_node_unref(elsewhere);
	/* Where F_GET_SEALS fails it is taken for no memfd. */
	return ret == -EINVAL ? -ENOMEM : ret;
}

static int make_a_pool(struct dray_node *node)
{
	struct dray_pool *pool;
	int ret = dray_pool_create(node, NULL, &pool);

	if (!ret)
		dray_pool_close(pool);
	return ret;
}

/* Grows, splits until the table of pieces grows, punches, trims. */
static int use_a_pool(struct dray_node *node)
{
	struct dray_pool_options options = { .initial = MIB };
	struct dray_pool *pool;
	unsigned char *large;
	void *blocks[4096];
	int ret = 0, n;

	ret = dray_pool_create(node, &options, &pool);
	if (ret)
		return ret;
	for (n = 0; n < 4096; n++) {
		blocks[n] = dray_pool_alloc(pool, 64, 0);
		if (!blocks[n]) {
			ret = -errno;
			break;
		}
	}
	large = dray_pool_alloc(pool, 70 * MIB, 0);
	if (large) {
		memset(large, 0xff, MIB);
		memset(large + 69 * MIB, 0xff, MIB);
		dray_pool_free(pool, large);
		/* Whether or not its pages went back, this is zero. */
		large = dray_pool_calloc(pool, 1, 70 * MIB);
		if (large) {
			assert_true(all_bytes_are(large, 0, MIB));
			assert_true(all_bytes_are(large + 69 * MIB, 0, MIB));
		}
		dray_pool_free(pool, large);
	}
	if (!large)
		ret = -ENOMEM;
	while (n--)
		dray_pool_free(pool, blocks[n]);
	dray_pool_trim(pool);
	assert_int_equal(stats_of(pool).blocks, 0);
	assert_int_equal(stats_of(pool).used, 0);
	assert_int_equal(stats_of(pool).bad_frees, 0);
	dray_pool_close(pool);
	return ret;
}

static int ask_a_heap(struct dray_node *node)
{
	struct dray_heap_info heap;

	return dray_node_heap(node, 0, &heap, sizeof(heap));
}

FACT(the_window_itself)
{
	struct dray_buffer *buffer;
	struct dray_node *node;
	void *all;
	int n;

	/* Valgrind has no such room: there the first tries fail by themselves. */
	all = mmap(NULL, (size_t)256 << 30, PROT_NONE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (all == MAP_FAILED)
		skip();
	munmap(all, (size_t)256 << 30);

	/* Comes first: with the first buffer the window is there for good. */
	assert_int_equal(atomic_load(&dray_window.slots), 0);
	assert_works(dray_node_open("host", &node));
	/*
	 * The buffer's object, the window, which is a page that grows, and then
	 * the table.
	 */
	arm(3, ENOMEM);
	assert_fails(dray_buffer_alloc(node, 1, NULL, &buffer), -ENOMEM,
		     "the window's table");
	assert_int_equal(atomic_load(&dray_window.slots), 0);
	/* Reserving fails once: a window of half the size. */
	arm(1, ENOMEM);
	assert_works(dray_buffer_alloc(node, 1, NULL, &buffer));
	disarm();
	n = (int)(dray_window_size() >> 30);
	assert_in_range(n, 127, 128);
	dray_buffer_unref(buffer);
	dray_node_unref(node);
}

FACT(the_objects_of_a_pool)
{
	struct dray_node *node = open_node("host");
	struct dray_pool *pool;

	/* Runs before any other pool: later ones use its objects again. */
	arm(0, ENOMEM);
	assert_fails(dray_pool_create(node, NULL, &pool), -ENOMEM,
		     "a pool's object");
	arm(1, ENOMEM);
	faults_last = true;
	assert_fails(dray_pool_create(node, NULL, &pool), -ENOMEM,
		     "a region's object");
	disarm();
	assert_works(dray_pool_create(node, NULL, &pool));
	dray_pool_close(pool);
	dray_node_unref(node);
}

FACT(a_table_that_cannot_grow_leads_to_another_region)
{
	struct dray_pool *pool = open_pool("host", NULL);
	static void *blocks[5000];
	struct dray_pool_stats stats = { .size = sizeof(stats) };
	int i;

	mremap_fails = true;
	/* More than the 2048 that a new table has. */
	for (i = 0; i < 5000; i++)
		blocks[i] = take(pool, 64, 0);
	stats = stats_of(pool);
	assert_int_equal(stats.blocks, 5000);
	assert_int_equal(stats.regions, 3);
	/* None has grown for nothing. */
	assert_int_equal(stats.reserved, 3 * 32 * MIB);
	mremap_fails = false;
	for (i = 0; i < 5000; i++)
		dray_pool_free(pool, blocks[i]);
	assert_int_equal(stats_of(pool).blocks, 0);
	dray_pool_close(pool);
}

BRIEF(FACT(opening_a_node), fail_each_call_of(open_a_node, "host", 1));
BRIEF(FACT(asking_for_heaps), fail_each_call_of(ask_a_heap, "host", 2));
BRIEF(FACT(allocating_private_buffers),
      fail_each_call_of(make_a_buffer, "host", 2));
BRIEF(FACT(allocating_shareable_buffers),
      fail_each_call_of(make_a_buffer, "host:shareable", 5));
BRIEF(FACT(growing_private_buffers),
      fail_each_call_of(grow_a_buffer, "host", 3));
BRIEF(FACT(growing_shareable_buffers),
      fail_each_call_of(grow_a_buffer, "host:shareable", 7));
BRIEF(FACT(importing_buffers), fail_each_call_of(import_a_buffer, "host", 6));

FACT(creating_pools)
{
	fail_each_call_of(make_a_pool, "host", 4);
	fail_each_call_of(make_a_pool, "host:shareable", 7);
}

FACT(using_pools)
{
	fail_each_call_of(use_a_pool, "host", 8);
	fail_each_call_of(use_a_pool, "host:shareable", 8);
}

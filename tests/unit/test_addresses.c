// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * addresses: the window is as large as the process's addresses allow, and what
 * does not fit into it is no memory.  On a usual machine these are facts of the
 * large window; suite fallbacks has others, where a limit is set, addresses are
 * taken (narrow.c), or pointers have 32 bits.
 */
#include "memory/window.h"
#include "pool.h"

#define GIB ((uint64_t)1 << 30)
#define MIB ((size_t)1 << 20)

#define LARGEST (UINTPTR_MAX > UINT32_MAX ? 256 * GIB : GIB)
#define SMALLEST (GIB / 8)

/* Addresses that the process can have. */
static uint64_t addresses(void)
{
	const char *bits = getenv("DRAY_TEST_ADDRESS_BITS");

	if (bits)
		return (uint64_t)1 << atoi(bits);
	return sizeof(void *) == 4 ? 4 * GIB : (uint64_t)1 << 48;
}

static uint64_t limit(void)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
	return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

/* Which wants addresses for itself. */
static bool checker(void)
{
	return getenv("DRAY_TEST_CHECKER");
}

/* Where nothing is in the way of the largest one. */
static bool usual(void)
{
	return sizeof(void *) > 4 && !checker() &&
	       !getenv("DRAY_TEST_ADDRESS_BITS") && limit() == UINT64_MAX;
}

FACT(it_lies_where_the_process_has_addresses)
{
	uint64_t end = (uint64_t)dray_window.base + dray_window_size();

	assert_true(dray_window.base > 0);
	if (end > addresses())
		fail_msg("the window ends at %#llx", (unsigned long long)end);
}

FACT(it_is_the_largest_that_fits)
{
	uint64_t size = dray_window_size(), fits = LARGEST, least;

	/* Other things lie there too, so all of them is never free. */
	while (fits > SMALLEST && (fits >= addresses() || fits > limit() / 2))
		fits /= 2;
	/* What has taken addresses of a process with few may lie in the way. */
	least = usual() ? LARGEST : fits / (checker() ? 256 : 2);
	/* A slot may be lost. */
	assert_in_range(size, least - DRAY_SLOT_SIZE, fits);
}

FACT(marks_are_there_for_all_of_it)
{
	struct dray_pool *pool = open_pool("host", NULL);
	void *block = take(pool, 1000, 0);

	dray_pool_free(pool, block);
	/* Kept by the thread, which needs marks. */
	assert_ptr_equal(take(pool, 1000, 0), block);
	dray_pool_free(pool, block);
	dray_pool_close(pool);
}

/* A large one cannot be filled: the machine has no such memory. */
static bool window_is_small(void)
{
	return dray_window_size() <= 4 * GIB;
}

FACT_ON(window_is_small, when_it_is_full_there_is_no_memory, NULL, NULL)
{
	struct dray_buffer *buffers[64], *more;
	struct dray_node *node = open_node("host");
	size_t part = dray_window_size() / 64, n = 0;

	part &= ~(DRAY_SLOT_SIZE - 1);
	while (n < 64 && !dray_buffer_alloc(node, part, NULL, &buffers[n]))
		n++;
	assert_true(n > 8);
	assert_fails(dray_buffer_alloc(node, 64 * part, NULL, &more), -ENOMEM,
		     "bytes");
	while (n--)
		dray_buffer_unref(buffers[n]);
	assert_works(dray_buffer_alloc(node, 8 * part, NULL, &more));
	dray_buffer_unref(more);
	dray_node_unref(node);
}

static int open_window(void **state)
{
	return dray_window_size() ? 0 : -1;
}

FACTS_SHARE(open_window, NULL)

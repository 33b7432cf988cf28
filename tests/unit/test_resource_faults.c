// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * resource: each allocation of the library's own fails once, in a stack of all
 * kinds there are, and nothing is left of what was begun.
 */
#include "resource.h"
#include "fault.h"
#include "fault_files.h"

#define LEVELS 6
#define BLOCKS 100

static int refusals; /* that the resource "on-failure" was asked about */

static bool give_up(void *ctx, size_t size, int error)
{
	refusals++;
	return false;
}

/* The kinds, each on the one before; the lowest is malloc without a pool. */
static int make_stack(struct dray_pool *pool, struct dray_resource **out,
		      struct dray_resource **statistics)
{
	struct dray_resource *levels[LEVELS] = { NULL };
	int made = 0, ret;

	ret = pool ? dray_resource_pool(pool, &levels[0])
		   : dray_resource_malloc(&levels[0]);
	if (!ret)
		ret = dray_resource_limit(levels[made++], 1 << 20, &levels[1]);
	if (!ret)
		ret = dray_resource_on_failure(levels[made++], give_up, NULL,
					       &levels[2]);
	if (!ret)
		ret = dray_resource_log(levels[made++], "/dev/null",
					&levels[3]);
	if (!ret)
		ret = dray_resource_statistics(levels[made++], &levels[4]);
	if (!ret)
		ret = dray_resource_tracking(levels[made++], 4, &levels[5]);
	if (!ret) {
		*statistics = dray_resource_ref(levels[4]);
		*out = dray_resource_ref(levels[5]);
	}
	for (made = 0; made < LEVELS; made++)
		dray_resource_unref(levels[made]);
	return ret;
}

/* Blocks in two scopes, the outer one of which ends with the resource. */
static int use_stack(struct dray_pool *pool)
{
	static void *blocks[BLOCKS];
	struct dray_resource *resource = NULL, *statistics = NULL;
	int ret = make_stack(pool, &resource, &statistics), i, count = 0;
	bool scoped;

	if (ret)
		return ret;
	ret = dray_statistics_push(statistics);
	scoped = !ret && !(ret = dray_statistics_push(statistics));
	while (!ret && count < BLOCKS)
		if (!(ret = dray_resource_allocate(resource, count, 0, 0,
						   &blocks[count])))
			count++;
	for (i = 0; i < count; i++)
		give_back(resource, blocks[i], i);
	if (scoped)
		assert_works(dray_statistics_pop(statistics, NULL));
	dray_resource_unref(statistics);
	dray_resource_unref(resource);
	return ret;
}

static int open_descriptors(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 64; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* @pool: NULL for a stack on malloc */
static void each_fails_once(struct dray_pool *pool)
{
	int n, ret, failed = 0, descriptors = open_descriptors();

	refusals = 0;
	assert_works(use_stack(pool));
	assert_int_equal(refusals, 0);
	for (n = 0;; n++) {
		faulted_fstat = false;
		arm(n, ENOMEM);
		ret = use_stack(pool);
		disarm();
		if (pool)
			assert_int_equal(stats_of(pool).blocks, 0);
		assert_int_equal(open_descriptors(), descriptors);
		if (!faulted)
			break;
		/* A log whose file cannot be asked about writes its line. */
		if (!faulted_fstat || ret)
			assert_int_equal(ret, -ENOMEM);
		failed++;
	}
	assert_int_equal(ret, 0);
	assert_true(failed > BLOCKS);
	/* A pool that grew before takes nothing more from the C library. */
	assert_true(pool || refusals > 0);
}

FACT(whatever_fails_nothing_is_left)
{
	struct dray_pool_options options = { .initial = 1 << 21 };
	struct dray_pool *pool = open_pool("host", &options);

	each_fails_once(pool);
	dray_pool_close(pool);
}

/* What would be left there only a checker of memory sees. */
BRIEF(FACT(nor_is_it_on_malloc), each_fails_once(NULL));

static int report_faults(struct dray_resource *resource, FILE *file)
{
	int n, ret;

	for (n = 0;; n++) {
		arm(n, ENOMEM);
		ret = dray_tracking_report(resource, file);
		disarm();
		if (!faulted)
			break;
		assert_int_equal(ret, -ENOMEM);
	}
	return ret;
}

FACT(a_report_needs_memory_and_says_so)
{
	struct dray_pool *pool = open_pool("host", NULL);
	struct dray_resource *resource =
		STACK(pool, dray_resource_tracking(upstream, 0, &top));
	void *block = allocate(resource, 1, 0);
	FILE *file = tmpfile();

	assert_non_null(file);
	assert_works(report_faults(resource, file));
	fclose(file);
	give_back(resource, block, 1);
	dray_resource_unref(resource);
	dray_pool_close(pool);
}

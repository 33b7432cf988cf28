// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * resource: each allocation of the library's own fails once, in a stack of all
 * kinds there are, and nothing is left of what was begun.
 */
#include "resource.h"
#include "fault.h"

/* The kinds, each on the one before. */
static int make_stack(struct dray_pool *pool, struct dray_resource **out)
{
	struct dray_resource *levels[6] = { NULL };
	int made = 0, ret;

	ret = dray_resource_pool(pool, &levels[0]);
	if (!ret)
		ret = dray_resource_limit(levels[made++], 1 << 20, &levels[1]);
	if (!ret)
		ret = dray_resource_binning(levels[made++], 8, 9, &levels[2]);
	if (!ret)
		ret = dray_resource_fixed(levels[made++], 100, 4, &levels[3]);
	if (!ret)
		ret = dray_resource_statistics(levels[made++], &levels[4]);
	if (!ret)
		ret = dray_resource_tracking(levels[made++], 4, &levels[5]);
	if (!ret)
		*out = dray_resource_ref(levels[5]);
	for (made = 0; made < 6; made++)
		dray_resource_unref(levels[made]);
	return ret;
}

static int use_stack(struct dray_pool *pool)
{
	static void *blocks[100];
	struct dray_resource *resource = NULL;
	int ret = make_stack(pool, &resource), i, count = 0;

	if (ret)
		return ret;
	while (!ret && count < 100)
		if (!(ret = dray_resource_allocate(resource, count, 0, 0,
						   &blocks[count])))
			count++;
	for (i = 0; i < count; i++)
		give_back(resource, blocks[i], i);
	dray_resource_unref(resource);
	return ret;
}

static void whatever_fails_nothing_is_left(void **state)
{
	struct dray_pool_options options = { .initial = 1 << 21 };
	struct dray_pool *pool = open_pool("host", &options);
	int n, ret, failed = 0;

	(void)state;
	assert_works(use_stack(pool));
	for (n = 0;; n++) {
		arm(n, ENOMEM);
		ret = use_stack(pool);
		disarm();
		assert_int_equal(stats_of(pool).blocks, 0);
		if (!faulted)
			break;
		assert_int_equal(ret, -ENOMEM);
		failed++;
	}
	assert_int_equal(ret, 0);
	assert_true(failed > 100);
	dray_pool_close(pool);
}

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

static void a_report_needs_memory_and_says_so(void **state)
{
	struct dray_pool *pool = open_pool("host", NULL);
	struct dray_resource *resource =
		STACK(pool, dray_resource_tracking(upstream, 0, &top));
	void *block = allocate(resource, 1, 0);
	FILE *file = tmpfile();

	(void)state;
	assert_non_null(file);
	assert_works(report_faults(resource, file));
	fclose(file);
	give_back(resource, block, 1);
	dray_resource_unref(resource);
	dray_pool_close(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_fails_nothing_is_left),
		cmocka_unit_test(a_report_needs_memory_and_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

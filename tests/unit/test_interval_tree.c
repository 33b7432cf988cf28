// SPDX-License-Identifier: Apache-2.0 OR MIT
/* interval_tree: searches find what a list of the same intervals has, in few steps. */
#include "base/interval_tree.h"
#include "unit.h"

#define INTERVALS 300
#define TURNS 20000

static uint32_t seed;

static uint32_t random_below(uint32_t bound)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)(((uint64_t)seed * bound) >> 32);
}

static struct dray_interval intervals[INTERVALS];
static bool there[INTERVALS];
static long looks;

static bool any(const struct dray_interval *interval, void *context)
{
	looks++;
	return true;
}

static bool is_odd(const struct dray_interval *interval, void *context)
{
	return interval->number & 1;
}

static bool none(const struct dray_interval *interval, void *context)
{
	looks++;
	return false;
}

/* Whether the list has such a interval. */
static bool listed(uintptr_t low, uintptr_t high, uint64_t before,
		   dray_interval_wanted *wanted)
{
	for (int i = 0; i < INTERVALS; i++)
		if (there[i] && intervals[i].low < high &&
		    low < intervals[i].high && intervals[i].number < before &&
		    wanted(&intervals[i], NULL))
			return true;
	return false;
}

static void check_search(const struct dray_interval_tree *tree,
			 dray_interval_wanted *wanted)
{
	const uintptr_t low = random_below(1000), high = low + random_below(50);
	const uint64_t before = random_below(200);
	const struct dray_interval *found =
		dray_interval_find(tree, low, high, before, wanted, NULL);

	assert_int_equal(found != NULL,
			 low < high && listed(low, high, before, wanted));
	if (!found)
		return;
	assert_true(there[found - intervals]);
	assert_true(found->low < high && low < found->high);
	assert_true(found->number < before);
}

FACT(random_ranges_are_found_as_in_a_list)
{
	struct dray_interval_tree tree = { 0 };

	seed = 1;
	memset(there, 0, sizeof(there));
	for (int turn = 0; turn < TURNS; turn++) {
		const uint32_t i = random_below(INTERVALS);

		if (there[i]) {
			dray_interval_remove(&tree, &intervals[i]);
		} else {
			/* Some have equal ends, and equal numbers. */
			intervals[i].low = random_below(1000);
			intervals[i].high =
				intervals[i].low + 1 + random_below(40);
			intervals[i].number = random_below(200);
			dray_interval_insert(&tree, &intervals[i]);
		}
		there[i] = !there[i];
		check_search(&tree, any);
		check_search(&tree, is_odd);
	}
	for (int i = 0; i < INTERVALS; i++)
		if (there[i])
			dray_interval_remove(&tree, &intervals[i]);
	assert_null(tree.root);
}

#define MANY 100000

static int depth(const struct dray_interval *root)
{
	const int left = root ? depth(root->left) : 0;
	const int right = root ? depth(root->right) : 0;

	return root ? 1 + (left > right ? left : right) : 0;
}

FACT(rising_falling_and_equal_ranges_make_no_deep_tree)
{
	static const intptr_t steps[] = { 64, -64, 0 };
	struct dray_interval *many = calloc(MANY, sizeof(*many));

	assert_non_null(many);
	for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
		struct dray_interval_tree tree = { 0 };
		const uintptr_t first = 1 << 30;

		for (int i = 0; i < MANY; i++) {
			many[i].low = first + (uintptr_t)(i * steps[s]);
			many[i].high = many[i].low + 64;
			many[i].number = (uint64_t)i + 1;
			dray_interval_insert(&tree, &many[i]);
		}
		assert_in_range(depth(tree.root), 17, 80);
		/* None is as old, or as high. */
		looks = 0;
		assert_null(dray_interval_find(&tree, first, first + 64, 1,
					       none, NULL));
		assert_null(dray_interval_find(&tree, first << 1,
					       (first << 1) + 64, UINT64_MAX,
					       none, NULL));
		assert_int_equal(looks, 0);
		/* The oldest of equal ones comes first. */
		if (!steps[s])
			assert_ptr_equal(
				dray_interval_find(&tree, first, first + 1,
						   UINT64_MAX, any, NULL),
				&many[0]);
		for (int i = 0; i < MANY; i++)
			dray_interval_remove(&tree, &many[i]);
		assert_null(tree.root);
	}
	free(many);
}

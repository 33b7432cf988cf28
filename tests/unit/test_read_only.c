// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * read_only: every function that writes to a view refuses one that may not be
 * written, and an immutable one, and writes nothing.
 */
#include <dray/array/sorting.h>

#include <dray/array.h>

#include "unit.h"

static int32_t elements[6];
static struct dray_view to, from, first, mask;

static int assign(void)
{
	return dray_view_assign(&to, &from);
}

static int convert(void)
{
	return dray_view_convert(&to, &from, DRAY_CASTING_UNSAFE);
}

static int fill(void)
{
	return dray_view_fill(&to, DRAY_INT32, from.data);
}

static int put_value(void)
{
	struct dray_view one;

	assert_works(dray_view_index(&to, &DRAY_AT(1), 1, &one));
	return dray_view_put(&one, DRAY_INT32, from.data);
}

static int set(void)
{
	return dray_index_set(&to, &DRAY_STEP(2), 1, &first);
}

static int set_by_integers(void)
{
	return dray_index_set(&to, &DRAY_BY(&from), 1, &first);
}

static int set_by_booleans(void)
{
	return dray_index_set(&to, &DRAY_BY(&mask), 1, &first);
}

static int get_into(void)
{
	return dray_index_get_into(&from, &DRAY_BY(&from), 1, &to);
}

static int take_into(void)
{
	return dray_take_into(&from, &from, 0, DRAY_INDEX_CLIP, &to);
}

static int put(void)
{
	return dray_put(&to, &from, &from, DRAY_INDEX_WRAP);
}

static int put_mask(void)
{
	return dray_put_mask(&to, &mask, &from);
}

static int sort(void)
{
	return dray_sort(&to, 0);
}

static int iterate(void)
{
	const struct dray_view *const views[] = { &to };
	const uint32_t flags[] = { DRAY_OPERAND_WRITE };
	const struct dray_nditer_options options = { .operand_flags = flags };
	struct dray_nditer *iter;

	return dray_nditer_create(views, 1, &options, &iter);
}

static int write_back(void)
{
	struct dray_array *target, *copy;
	int ret;

	assert_works(dray_array_from_pointer(&to, NULL, NULL, &target));
	assert_works(dray_array_copy(&to, DRAY_ORDER_C, &copy));
	ret = dray_array_set_write_back(copy, target);
	dray_array_unref(copy);
	dray_array_unref(target);
	return ret;
}

FACT(no_function_writes_to_a_view_that_may_not_be_written)
{
	static const struct {
		int (*work)(void);
		const char *name;
	} works[] = {
#define WORK(name) { name, #name }
		WORK(assign),
		WORK(convert),
		WORK(fill),
		WORK(put_value),
		WORK(set),
		WORK(set_by_integers),
		WORK(set_by_booleans),
		WORK(get_into),
		WORK(take_into),
		WORK(put),
		WORK(put_mask),
		WORK(sort),
		WORK(iterate),
		WORK(write_back),
#undef WORK
	};
	static const uint32_t flags[] = { DRAY_READ, DRAY_READ | DRAY_IMMUTABLE,
					  0 };
	static const int32_t before[] = { 5, 4, 3, 2, 1, 0 };
	static int32_t numbers[] = { 0, 1, 2, 3, 4, 5 };
	static bool truths[] = { true, false, true, true, false, true };

	memcpy(elements, before, sizeof(before));
	assert_works(
		dray_view_init(&to, elements, DRAY_INT32, 1, DIMS(6), NULL));
	assert_works(
		dray_view_init(&from, numbers, DRAY_INT32, 1, DIMS(6), NULL));
	assert_works(
		dray_view_init(&mask, truths, DRAY_BOOL, 1, DIMS(6), NULL));
	assert_works(dray_view_index(&from, &DRAY_AT(0), 1, &first));
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		for (size_t f = 0; f < sizeof(flags) / sizeof(flags[0]); f++) {
			int ret;

			to.flags = flags[f];
			if (!flags[f] && works[i].work == write_back)
				continue; /* It cannot be copied, either. */
			ret = works[i].work();
			if (ret != -EPERM ||
			    memcmp(elements, before, sizeof(before)))
				fail_msg("%s() of flags %u: %d, %s",
					 works[i].name, flags[f], ret,
					 dray_last_error());
		}
	}
	/* The same calls write to others. */
	to.flags = DRAY_READ | DRAY_WRITE;
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		if (works[i].work != iterate)
			assert_works(works[i].work());
	}
}

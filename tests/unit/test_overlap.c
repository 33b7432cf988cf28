// SPDX-License-Identifier: Apache-2.0 OR MIT
/* overlap: exact answers, against marking every byte. */
#include "layout/overlap.h"
#include "node.h"
#include "random_view.h"

static unsigned char memory[2048];

static enum dray_overlap overlap_of(const struct dray_view *a,
				    const struct dray_view *b)
{
	struct dray_operand one, other;

	assert_works(dray_operand_init(&one, a, "a"));
	assert_works(dray_operand_init(&other, b, "b"));
	return dray_overlap_find(&one, &other);
}

static enum dray_overlap self_overlap_of(const struct dray_view *view)
{
	struct dray_operand operand;

	assert_works(dray_operand_init(&operand, view, "a"));
	return dray_overlap_self(&operand);
}

/* Marks the bytes of a view in @map; whether one was marked before. */
static bool mark(const struct dray_view *view, unsigned char *map)
{
	int64_t position[DRAY_MAX_NDIM] = { 0 };
	bool found = false;

	do {
		ptrdiff_t at = walk_at(view, position) - memory;

		for (uint32_t i = 0; i < dray_dtype_itemsize(view->dtype);
		     i++) {
			found |= map[at + i];
			map[at + i] = 1;
		}
	} while (walk_on(view, position));
	return found;
}

/* Any strides, as no slicing would make them. */
static void random_strides(struct dice *dice, struct dray_view *view)
{
	dray_dtype dtype = DRAY_DTYPE('V', '|', 1 + (uint32_t)roll(dice, 4));
	int64_t shape[4], strides[4];
	int ndim = (int)roll(dice, 5);

	for (int i = 0; i < ndim; i++) {
		shape[i] = 1 + (int64_t)roll(dice, 5);
		strides[i] = (int64_t)roll(dice, 61) - 30;
		/* nothing is ever this far from one element */
		if (shape[i] == 1 && roll(dice, 2))
			strides[i] = INT64_MIN;
	}
	assert_works(dray_view_init(view,
				    memory + 1000 + (int64_t)roll(dice, 40),
				    dtype, ndim, shape, strides));
}

FACT(pairs_of_any_strides_are_told_apart_to_the_byte)
{
	struct dice dice = { 4711 };
	int counts[2] = { 0, 0 };

	for (int round = 0; round < rounds(30000); round++) {
		unsigned char map[sizeof(memory)] = { 0 };
		unsigned char other[sizeof(memory)] = { 0 };
		struct dray_view a, b;
		bool shared = false;

		random_strides(&dice, &a);
		random_strides(&dice, &b);
		mark(&a, map);
		mark(&b, other);
		for (size_t i = 0; i < sizeof(map); i++)
			shared |= map[i] && other[i];
		assert_int_equal(overlap_of(&a, &b),
				 shared ? DRAY_OVERLAP_SOME
					: DRAY_OVERLAP_NONE);
		counts[shared]++;
	}
	assert_true(counts[0] > rounds(3000) && counts[1] > rounds(3000));
}

FACT(elements_of_one_view_that_share_bytes_are_found)
{
	struct dice dice = { 815 };
	int counts[2] = { 0, 0 };

	for (int round = 0; round < rounds(30000); round++) {
		unsigned char map[sizeof(memory)] = { 0 };
		struct dray_view view;
		bool shared;

		random_strides(&dice, &view);
		shared = mark(&view, map);
		assert_int_equal(self_overlap_of(&view),
				 shared ? DRAY_OVERLAP_SOME
					: DRAY_OVERLAP_NONE);
		counts[shared]++;
	}
	assert_true(counts[0] > rounds(3000) && counts[1] > rounds(3000));
}

FACT(a_million_interleaved_elements_are_answered_at_once)
{
	struct dray_view even, odd;

	assert_works(dray_view_init(&even, memory, f4, 1,
				    (int64_t[]){ 1000000 }, (int64_t[]){ 8 }));
	assert_works(dray_view_init(&odd, memory + 4, f4, 1,
				    (int64_t[]){ 1000000 }, (int64_t[]){ 8 }));
	assert_int_equal(overlap_of(&even, &odd), DRAY_OVERLAP_NONE);
	odd.data = memory + 3;
	assert_int_equal(overlap_of(&even, &odd), DRAY_OVERLAP_SOME);
}

FACT(contrived_strides_end_as_unknown_and_soon)
{
	int64_t shape[40], strides[40];
	struct dray_view view;

	/* a subset sum over near multiples of one large number */
	for (int i = 0; i < 40; i++) {
		shape[i] = 2;
		strides[i] = (INT64_C(1) << 40) + (INT64_C(3) << i) % 999983;
	}
	assert_works(dray_view_init(&view, memory, u1, 40, shape, strides));
	assert_int_equal(self_overlap_of(&view), DRAY_OVERLAP_UNKNOWN);
}

FACT(what_is_too_wide_to_add_up_is_unknown)
{
	struct dray_view view;

	assert_works(dray_view_init(&view, memory, u1, 1, (int64_t[]){ 3 },
				    (int64_t[]){ INT64_MAX / 8 }));
	assert_int_equal(self_overlap_of(&view), DRAY_OVERLAP_UNKNOWN);
	assert_int_equal(overlap_of(&view, &view), DRAY_OVERLAP_UNKNOWN);
}

FACT(shared_memory_is_told_within_a_limit_of_steps)
{
	struct dray_view a, b;
	bool shared = true;

	assert_works(dray_view_init(&a, memory, u1, 1, DIMS(10), DIMS(2)));
	assert_works(dray_view_init(&b, memory + 1, u1, 1, DIMS(10), DIMS(2)));
	assert_works(
		dray_view_shares_memory(&a, &b, DRAY_SHARE_EXACT, &shared));
	assert_false(shared);
	assert_works(
		dray_view_shares_memory(&a, &b, DRAY_SHARE_BOUNDS, &shared));
	assert_true(shared);
	b.shape[0] = 0;
	assert_works(
		dray_view_shares_memory(&a, &b, DRAY_SHARE_BOUNDS, &shared));
	assert_false(shared);
	assert_fails(dray_view_shares_memory(&a, &b, -2, &shared), -EINVAL,
		     "a limit of -2 steps");
	a.strides[0] = INT64_MAX / 18;
	a.data = NULL;
	assert_fails(dray_view_shares_memory(&a, &b, 1, &shared), -EINVAL,
		     "the first view has 10 elements and no data");
}

FACT(a_unique_view_has_no_byte_twice)
{
	static const struct {
		int ndim;
		int64_t shape[3], strides[3];
		bool unique, by_bounds;
	} cases[] = {
		{ 0, { 0 }, { 0 }, true, true },
		{ 1, { 3 }, { 2 }, true, true },
		{ 1, { 3 }, { 1 }, false, false },
		{ 1, { 3 }, { -1 }, false, false },
		{ 1, { 3 }, { 0 }, false, false },
		{ 1, { 1 }, { 0 }, true, true },
		{ 2, { 3, 0 }, { 0, 0 }, true, true },
		{ 2, { 3, 4 }, { 8, 2 }, true, true },
		{ 2, { 4, 3 }, { 2, -8 }, true, true },
		{ 2, { 3, 4 }, { 6, 2 }, false, false },
		/* The columns interleave. */
		{ 2, { 3, 2 }, { 6, 8 }, true, false },
		{ 3, { 3, 2, 2 }, { 24, 6, 4 }, true, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool unique = false, by_bounds = false;
		struct dray_view view;

		assert_works(dray_view_init(&view, memory + 100, u2,
					    cases[i].ndim, cases[i].shape,
					    cases[i].strides));
		assert_works(
			dray_view_is_unique(&view, DRAY_SHARE_EXACT, &unique));
		assert_works(dray_view_is_unique(&view, DRAY_SHARE_BOUNDS,
						 &by_bounds));
		if (unique != cases[i].unique ||
		    by_bounds != cases[i].by_bounds)
			fail_msg("case %zu: %d, %d", i, unique, by_bounds);
	}
}

FACT(hard_questions_end_at_their_limit)
{
	int64_t shape[40], strides[40];
	struct dray_view view;
	bool unique = true;

	for (int i = 0; i < 40; i++) {
		shape[i] = 2;
		strides[i] = (INT64_C(1) << 40) + (INT64_C(3) << i) % 999983;
	}
	assert_works(dray_view_init(&view, memory, u1, 40, shape, strides));
	assert_fails(dray_view_is_unique(&view, 1000, &unique), -E2BIG,
		     "not known after 1000 steps");
	assert_works(dray_view_init(&view, memory, u1, 2, DIMS(3, 2),
				    DIMS(INT64_MAX / 8, INT64_MAX / 8)));
	assert_fails(dray_view_is_unique(&view, 1000, &unique), -EOVERFLOW,
		     "59 bits");
	assert_true(unique);
}

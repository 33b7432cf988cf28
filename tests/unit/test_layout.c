// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * layout: against brute force over every byte: the same pairs of bytes, and
 * no more runs than needed, where a run goes on across a seam.
 */
#include "layout/layout.h"
#include "node.h"
#include "random_view.h"

#define ROOM 6000

static unsigned char to[ROOM], from[ROOM];
/* source byte + 1 for each destination byte */
static uint32_t pairs[ROOM];

static void pair_bytes(uint32_t *map, const unsigned char *dst,
		       const unsigned char *src, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		assert_int_equal(map[dst - to + (ptrdiff_t)i], 0);
		map[dst - to + (ptrdiff_t)i] =
			(uint32_t)(src - from + (ptrdiff_t)i) + 1;
	}
}

static void pair_elements(uint32_t *map, const struct dray_view *dst,
			  const struct dray_view *src)
{
	int64_t position[DRAY_MAX_NDIM] = { 0 };

	memset(map, 0, ROOM * sizeof(*map));
	do {
		pair_bytes(map, walk_at(dst, position), walk_at(src, position),
			   dray_dtype_itemsize(dst->dtype));
	} while (walk_on(dst, position));
}

/* Pairs the bytes of operand 0 with those of operand @other. */
static void pair_runs(uint32_t *map, const struct dray_layout *layout,
		      int other)
{
	uint64_t position[DRAY_MAX_NDIM] = { 0 }, runs = 0;
	int k;

	memset(map, 0, ROOM * sizeof(*map));
	do {
		const unsigned char *dst = layout->data[0];
		const unsigned char *src = layout->data[other];

		for (k = 0; k < layout->axes_count; k++) {
			dst += (int64_t)position[k] *
			       layout->axes[k].strides[0];
			src += (int64_t)position[k] *
			       layout->axes[k].strides[other];
		}
		pair_bytes(map, dst, src, layout->run);
		runs++;
		for (k = layout->axes_count - 1; k >= 0; k--) {
			if (++position[k] < layout->axes[k].count)
				break;
			position[k] = 0;
		}
	} while (k >= 0);
	assert_int_equal(runs, layout->runs);
	assert_int_equal(runs * layout->run, layout->bytes);
}

/* Fewest descriptors that there can be: pieces of bytes adjacent on both sides. */
static uint64_t fewest_runs(const uint32_t *map)
{
	uint64_t runs = 0;

	for (int i = 0; i < ROOM; i++)
		runs += map[i] &&
			(i == 0 || !map[i - 1] || map[i] != map[i - 1] + 1);
	return runs;
}

/* Whether a step of @outer continues where @inner ends, in all operands. */
static bool chain(const struct dray_layout *layout,
		  const struct dray_layout_axis *outer,
		  const struct dray_layout_axis *inner)
{
	for (int o = 0; o < layout->operands; o++) {
		if (outer->strides[o] !=
		    inner->strides[o] * (int64_t)inner->count)
			return false;
	}
	return true;
}

/* @folds: runs are as long as possible */
static void check_invariants(const struct dray_layout *layout, bool folds)
{
	const struct dray_layout_axis *axes = layout->axes;
	struct dray_layout_axis run = { .count = layout->run };
	int last = layout->axes_count - 1;

	for (int o = 0; o < layout->operands; o++)
		run.strides[o] = 1;
	for (int k = 0; k <= last; k++) {
		assert_true(axes[k].count >= 2);
		assert_true(axes[k].strides[0] > 0);
		if (k == last)
			break;
		assert_true(axes[k].strides[0] >= axes[k + 1].strides[0]);
		assert_false(chain(layout, &axes[k], &axes[k + 1]));
	}
	if (last >= 0 && folds)
		assert_false(chain(layout, &axes[last], &run));
}

FACT(random_pairs_keep_their_bytes_in_the_fewest_runs)
{
	static uint32_t expected[ROOM];
	struct dice dice = { 99 };
	int done = 0, seams = 0, merged = 0;

	while (done < rounds(100000)) {
		uint32_t itemsize = 1 + (uint32_t)roll(&dice, 4);
		struct dray_layout layout;
		struct dray_view dst, src;
		int64_t shape[4];
		int ndim = random_shape(&dice, shape);

		if (!random_view(&dice, &dst, to, ROOM, ndim, shape, itemsize))
			continue;
		if (roll(&dice, 3) == 0) { /* alike, elsewhere */
			dray_view_copy(&src, &dst);
			src.data = from + ((unsigned char *)dst.data - to);
		} else if (!random_view(&dice, &src, from, ROOM, ndim, shape,
					itemsize)) {
			continue;
		}
		dray_layout_pair(&layout, &dst, &src);
		check_invariants(&layout, true);
		assert_true(layout.nested);
		assert_true(layout.axes_count <= ndim);
		assert_true(layout.runs <= (uint64_t)dray_view_size(&dst));
		pair_elements(expected, &dst, &src);
		pair_runs(pairs, &layout, DRAY_SRC);
		assert_memory_equal(pairs, expected, sizeof(pairs));
		assert_int_equal(layout.runs - dray_layout_seams(&layout),
				 fewest_runs(pairs));
		seams += dray_layout_seams(&layout) > 0;
		merged += layout.axes_count < ndim;
		done++;
	}
	assert_true(seams > rounds(250) && merged > rounds(25000));
}

FACT(any_strides_keep_their_bytes)
{
	static uint32_t expected[ROOM];
	struct dice dice = { 5 };
	int done = 0, not_nested = 0;

	while (done < rounds(5000)) {
		dray_dtype dtype = DRAY_DTYPE('V', '|', 2);
		int64_t shape[3], strides[3], other[3];
		struct dray_layout layout;
		struct dray_view dst, src;
		bool touched[ROOM] = { false }, shared = false;
		int64_t position[3] = { 0 };
		int ndim = (int)roll(&dice, 4);

		for (int i = 0; i < ndim; i++) {
			shape[i] = 1 + (int64_t)roll(&dice, 5);
			strides[i] = (int64_t)roll(&dice, 401) - 200;
			if (strides[i] == 0)
				strides[i] = 2;
			other[i] = (int64_t)roll(&dice, 401) - 200;
		}
		assert_works(dray_view_init(&dst, to + ROOM / 2, dtype, ndim,
					    shape, strides));
		assert_works(dray_view_init(&src, from + ROOM / 2, dtype, ndim,
					    shape, other));
		do { /* pairs need a destination that is written once */
			ptrdiff_t at = walk_at(&dst, position) - to;

			shared |= touched[at] || touched[at + 1];
			touched[at] = touched[at + 1] = true;
		} while (walk_on(&dst, position));
		if (shared)
			continue;
		dray_layout_pair(&layout, &dst, &src);
		check_invariants(&layout, true);
		pair_elements(expected, &dst, &src);
		pair_runs(pairs, &layout, DRAY_SRC);
		assert_memory_equal(pairs, expected, sizeof(pairs));
		not_nested += !layout.nested;
		done++;
	}
	assert_true(not_nested > rounds(500));
}

FACT(random_operands_keep_their_partners)
{
	static uint32_t expected[ROOM];
	struct dice dice = { 17 };
	int done = 0, one_axis = 0;

	while (done < rounds(20000)) {
		struct dray_view views[DRAY_MAX_OPERANDS];
		const struct dray_view *operands[DRAY_MAX_OPERANDS];
		int count = 1 + (int)roll(&dice, DRAY_MAX_OPERANDS);
		bool folds = roll(&dice, 2);
		uint32_t itemsize = 1 + (uint32_t)roll(&dice, 4);
		struct dray_layout layout;
		bool fits = true;
		int64_t shape[4];
		int ndim = random_shape(&dice, shape);

		for (int o = 0; o < count && fits; o++) {
			operands[o] = &views[o];
			if (!folds)
				itemsize = 1 + (uint32_t)roll(&dice, 4);
			fits = random_view(&dice, &views[o], o ? from : to,
					   ROOM, ndim, shape, itemsize);
			for (int i = 0; o && fits && i < ndim; i++) {
				if (roll(&dice, 4) == 0)
					views[o].strides[i] = 0;
			}
		}
		if (!fits)
			continue;
		if (folds)
			dray_layout_reduce(&layout, operands, count);
		else
			dray_layout_reduce_items(&layout, operands, count);
		assert_int_equal(layout.operands, count);
		check_invariants(&layout, folds);
		if (!folds) {
			assert_int_equal(layout.runs,
					 dray_view_size(&views[0]));
			assert_int_equal(layout.run,
					 dray_dtype_itemsize(views[0].dtype));
		}
		for (int o = 1; o < count; o++) {
			pair_elements(expected, &views[0], &views[o]);
			pair_runs(pairs, &layout, o);
			assert_memory_equal(pairs, expected, sizeof(pairs));
		}
		one_axis += layout.axes_count == 1;
		done++;
	}
	assert_true(one_axis > rounds(1000));
}

FACT(a_cover_is_each_byte_of_a_view_and_no_other)
{
	struct dice dice = { 31 };

	for (int round = 0; round < rounds(5000); round++) {
		dray_dtype dtype =
			DRAY_DTYPE('V', '|', 1 + (uint32_t)roll(&dice, 4));
		unsigned char expected[ROOM] = { 0 }, covered[ROOM] = { 0 };
		int64_t shape[3], strides[3], position[3] = { 0 };
		uint64_t at_axis[3] = { 0 };
		struct dray_layout layout;
		struct dray_view view;
		int ndim = (int)roll(&dice, 4), k;

		for (int i = 0; i < ndim; i++) {
			shape[i] = 1 + (int64_t)roll(&dice, 5);
			strides[i] = (int64_t)roll(&dice, 41) - 20;
		}
		assert_works(dray_view_init(&view, to + ROOM / 2, dtype, ndim,
					    shape, strides));
		do {
			memset(expected + (walk_at(&view, position) - to), 1,
			       dray_dtype_itemsize(dtype));
		} while (walk_on(&view, position));
		dray_layout_cover(&layout, &view);
		do {
			ptrdiff_t at = layout.data[0] - to;

			for (k = 0; k < layout.axes_count; k++)
				at += (int64_t)at_axis[k] *
				      layout.axes[k].strides[0];
			memset(covered + at, 1, layout.run);
			for (k = layout.axes_count - 1; k >= 0; k--) {
				if (++at_axis[k] < layout.axes[k].count)
					break;
				at_axis[k] = 0;
			}
		} while (k >= 0);
		assert_memory_equal(covered, expected, ROOM);
		if (layout.axes_count)
			assert_true(
				layout.axes[layout.axes_count - 1].strides[0] >
				(int64_t)layout.run);
	}
}

FACT(a_photograph_upside_down_is_one_run_a_row)
{
	struct dray_layout layout;
	struct dray_view dst, src;

	assert_works(dray_view_init(&dst, to, u1, 3, DIMS(20, 30, 3), NULL));
	assert_works(dray_view_init(&src, from, u1, 3, DIMS(20, 30, 3), NULL));
	assert_works(dray_view_index(&src, &DRAY_STEP(-1), 1, &src));
	dray_layout_pair(&layout, &dst, &src);
	assert_int_equal(layout.run, 90);
	assert_int_equal(layout.runs, 20);
	assert_int_equal(layout.axes_count, 1);
	assert_int_equal(layout.axes[0].strides[DRAY_SRC], -90);
	/* both backwards is both forwards */
	assert_works(dray_view_index(&dst, &DRAY_STEP(-1), 1, &dst));
	dray_layout_pair(&layout, &dst, &src);
	assert_int_equal(layout.run, 1800);
	assert_int_equal(layout.runs, 1);
	assert_ptr_equal(layout.data[DRAY_DST], to);
	assert_ptr_equal(layout.data[DRAY_SRC], from);
}

FACT(a_function_of_three_gets_its_inner_loop)
{
	struct dray_view sum, a, b;
	struct dray_layout layout;

	assert_works(dray_view_init(&sum, to, f4, 2, DIMS(6, 4), NULL));
	assert_works(dray_view_init(&a, from, u1, 2, DIMS(6, 4), NULL));
	assert_works(
		dray_view_init(&b, from + 100, u1, 2, DIMS(6, 4), DIMS(0, 2)));
	dray_layout_reduce_items(
		&layout, (const struct dray_view *[]){ &sum, &a, &b }, 3);
	assert_int_equal(layout.axes_count, 2);
	assert_int_equal(layout.axes[1].count, 4);
	assert_int_equal(layout.axes[1].strides[0], 4);
	assert_int_equal(layout.axes[1].strides[1], 1);
	assert_int_equal(layout.axes[1].strides[2], 2);
	/* one loop if all three chain */
	dray_layout_reduce_items(
		&layout, (const struct dray_view *[]){ &sum, &a, &a }, 3);
	assert_int_equal(layout.axes_count, 1);
	assert_int_equal(layout.axes[0].count, 24);
}

FACT(an_empty_pair_has_no_runs)
{
	struct dray_layout layout;
	struct dray_view view;

	assert_works(dray_view_init(&view, NULL, u1, 2, DIMS(4, 0), NULL));
	dray_layout_pair(&layout, &view, &view);
	assert_int_equal(layout.runs, 0);
	assert_int_equal(layout.bytes, 0);
	dray_layout_cover(&layout, &view);
	assert_int_equal(layout.runs, 0);
}

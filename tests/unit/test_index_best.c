// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * index_best: the largest and the smallest number of random bits, of each type,
 * are those that a plain loop finds among the same numbers as doubles.
 */
#include <math.h>

#include <dray/array.h>

#include "node.h"
#include "random_view.h"

#define MOST 4500 /* numbers: some blocks of 2048 bytes, and a rest */

static unsigned char memory[MOST * 8];
static double doubles[MOST];

/* The index of the first NaN, or else of the first one that is the best. */
static int64_t best_double(size_t count, bool smallest)
{
	size_t best = 0, i;

	for (i = 0; i < count; i++) {
		if (isnan(doubles[i]))
			return (int64_t)i;
		if (smallest ? doubles[i] < doubles[best]
			     : doubles[i] > doubles[best])
			best = i;
	}
	return (int64_t)best;
}

/* The highest bits of each number are random; doubles have all of them. */
static void fill(struct dice *dice, uint32_t size, size_t count, uint32_t mask)
{
	size_t i;

	for (i = 0; i < count; i++) {
		uint64_t bits = roll(dice, 65536) & mask;

		bits = size == 1 ? bits & 0xff : bits << (8 * size - 16);
		memcpy(memory + i * size,
		       (unsigned char *)&bits +
			       (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
					? sizeof(bits) - size
					: 0),
		       size);
	}
}

static int64_t found(const struct dray_view *view, bool smallest)
{
	struct dray_array *out;
	int64_t at;

	assert_works(
		(smallest ? dray_argmin : dray_argmax)(view, DRAY_FLAT, &out));
	at = *(int64_t *)out->data;
	dray_array_unref(out);
	return at;
}

static void compare(dray_dtype dtype, size_t count)
{
	const int64_t extent = (int64_t)count;
	struct dray_view view, copy;

	assert_works(dray_view_init(&view, memory, dtype, 1, &extent, NULL));
	assert_works(
		dray_view_init(&copy, doubles, DRAY_FLOAT64, 1, &extent, NULL));
	assert_works(dray_view_convert(&copy, &view, DRAY_CASTING_UNSAFE));
	assert_int_equal(found(&view, false), best_double(count, false));
	assert_int_equal(found(&view, true), best_double(count, true));
}

FACT(best_numbers_are_those_of_a_plain_loop)
{
	static const dray_dtype types[] = {
		DRAY_INT8,    DRAY_INT16,   DRAY_INT32,
		DRAY_INT64,   DRAY_UINT8,   DRAY_UINT16,
		DRAY_UINT32,  DRAY_UINT64,  DRAY_FLOAT16,
		DRAY_FLOAT32, DRAY_FLOAT64, DRAY_DTYPE('i', '>', 4),
	};
	static const size_t counts[] = { 1, 10, 255, 256, 257, 2048, MOST };
	/* All; no NaN; few, so that many are equal; zeros of both signs. */
	static const uint32_t masks[] = { 0xffff, 0xbfff, 0x8101, 0x8000 };
	struct dice dice = { 1 };
	size_t t, c, m;

	for (t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
		for (c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
			for (m = 0; m < 8; m++) {
				fill(&dice, dray_dtype_itemsize(types[t]),
				     counts[c], masks[m % 4]);
				compare(types[t], counts[c]);
			}
		}
	}
}

FACT(a_best_number_is_found_in_each_place)
{
	const int64_t extent = MOST;
	struct dray_view view;
	int64_t at;

	assert_works(
		dray_view_init(&view, doubles, DRAY_FLOAT64, 1, &extent, NULL));
	for (at = 0; at < MOST; at++)
		doubles[at] = 1;
	for (at = 0; at < MOST; at++) {
		doubles[at] = 2;
		assert_int_equal(found(&view, false), at);
		doubles[at] = NAN;
		assert_int_equal(found(&view, false), at);
		assert_int_equal(found(&view, true), at);
		doubles[at] = 1;
	}
}

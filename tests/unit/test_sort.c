// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * sort: indices that sort numbers of each type name each element once, in order,
 * and equal ones in their order; sorted numbers are the elements at these indices,
 * bit for bit.
 */
#include <stdlib.h>
#include <string.h>

#include <dray/array/sorting.h>

#include <dray/array.h>

#include "node.h"
#include "random_view.h"

#define MOST 9000 /* numbers: more than are parted by a small sample */
#define GAP 3 /* elements, between numbers that are not dense */

static unsigned char memory[MOST * GAP * 8], before[MOST * 8];

struct pattern {
	const char *name;
	uint64_t mask; /* of random bits */
	uint64_t set; /* bits of all numbers, of 8 bytes */
	bool ordered; /* by index */
};

static uint64_t bits_at(size_t i, dray_dtype dtype)
{
	uint32_t size = dray_dtype_itemsize(dtype), k;
	bool high_first = dray_dtype_order(dtype) == '>';
	uint64_t bits = 0;

	for (k = 0; k < size; k++)
		bits |= (uint64_t)before[i * size +
					 (high_first ? size - 1 - k : k)]
			<< 8 * k;
	return bits;
}

/* An unsigned number in the order of the elements. */
static uint64_t rank(size_t i, dray_dtype dtype)
{
	static const uint64_t infinities[] = {
		[2] = 0x7c00, [4] = 0x7f800000, [8] = 0x7ff0000000000000
	};
	uint32_t size = dray_dtype_itemsize(dtype);
	uint64_t bits = bits_at(i, dtype);
	uint64_t sign = UINT64_C(1) << (8 * size - 1);
	uint64_t rest = bits & (sign - 1);

	switch (dray_dtype_kind(dtype)) {
	case 'i':
		return bits ^ sign;
	case 'M':
		return bits == sign ? UINT64_MAX : bits ^ sign;
	case 'f':
		if (rest > infinities[size])
			return UINT64_MAX;
		return bits & sign ? (UINT64_C(1) << 63) - rest
				   : (UINT64_C(1) << 63) + rest;
	default:
		return bits;
	}
}

/* Fills the lowest bytes of each number, little-endian, with those of a pattern. */
static void fill(struct dice *dice, const struct pattern *pattern,
		 dray_dtype dtype, size_t count)
{
	uint32_t size = dray_dtype_itemsize(dtype), k;
	bool high_first = dray_dtype_order(dtype) == '>';
	size_t i;

	for (i = 0; i < count; i++) {
		uint64_t bits = roll(dice, UINT64_MAX);

		bits = (bits & pattern->mask) | pattern->set;
		if (pattern->ordered)
			bits = i;
		bits >>= pattern->ordered ? 0 : 64 - 8 * size;
		for (k = 0; k < size; k++)
			before[i * size + (high_first ? size - 1 - k : k)] =
				(unsigned char)(bits >> 8 * k);
	}
}

static void place(struct dray_view *view, dray_dtype dtype, int64_t count,
		  int64_t gap)
{
	int64_t stride = gap * dray_dtype_itemsize(dtype), i;
	unsigned char *first = memory;

	if (stride < 0)
		first += (count ? count - 1 : 0) * -stride;
	assert_works(dray_view_init(view, first, dtype, 1, &count, &stride));
	for (i = 0; i < count; i++)
		memcpy(first + i * stride,
		       before + i * dray_dtype_itemsize(dtype),
		       dray_dtype_itemsize(dtype));
}

/* Each index comes behind the one before, so that none comes twice. */
static void check_order(const int64_t *order, size_t count, dray_dtype dtype,
			const char *name)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (order[i] < 0 || order[i] >= (int64_t)count)
			fail_msg("%s, %zu: index %lld", name, count,
				 (long long)order[i]);
		if (!i)
			continue;
		uint64_t low = rank((size_t)order[i - 1], dtype);
		uint64_t high = rank((size_t)order[i], dtype);

		if (low > high || (low == high && order[i - 1] >= order[i]))
			fail_msg("%s, type %llx, %zu: %lld before %lld", name,
				 (unsigned long long)dtype, count,
				 (long long)order[i - 1], (long long)order[i]);
	}
}

static void check(dray_dtype dtype, size_t count, int64_t gap, const char *name)
{
	uint32_t size = dray_dtype_itemsize(dtype);
	const int64_t *order;
	struct dray_array *out;
	struct dray_view view;
	size_t i;

	place(&view, dtype, (int64_t)count, gap);
	assert_works(dray_argsort(&view, 0, &out));
	order = out->data;
	check_order(order, count, dtype, name);
	assert_works(dray_sort(&view, 0));
	for (i = 0; i < count; i++) {
		const unsigned char *at = view.data;

		at += (int64_t)i * gap * size;
		if (memcmp(at, before + (size_t)order[i] * size, size))
			fail_msg(
				"%s, type %llx, %zu: number %zu is not that of index %lld",
				name, (unsigned long long)dtype, count, i,
				(long long)order[i]);
	}
	dray_array_unref(out);
}

static const struct pattern patterns[] = {
	{ "random", UINT64_MAX, 0, false },
	{ "few, and zeros of both signs", 0xc00f000000000000, 0, false },
	{ "zeros of both signs", 0x8000000000000000, 0, false },
	{ "NaN", 0x800fffffffffffff, 0x7ff0000000000000, false },
	{ "equal", 0, 0x4123456789abcdef, false },
	{ "close", 0xff, 0x4123456789abcd00, false },
	{ "close, of both signs", 0x8000000000ffffff, 0, false },
	{ "far, and close", 0xfff0000000000fff, 0, false },
	{ "in order", 0, 0, true },
};

static const dray_dtype types[] = {
	DRAY_BOOL,
	DRAY_INT8,
	DRAY_UINT8,
	DRAY_INT16,
	DRAY_UINT16,
	DRAY_FLOAT16,
	DRAY_INT32,
	DRAY_UINT32,
	DRAY_FLOAT32,
	DRAY_INT64,
	DRAY_UINT64,
	DRAY_FLOAT64,
	DRAY_DTYPE('M', '<', 8),
	DRAY_DTYPE('M', '>', 8),
	DRAY_DTYPE('f', '>', 2),
	DRAY_DTYPE('f', '>', 4),
	DRAY_DTYPE('f', '>', 8),
	DRAY_DTYPE('i', '>', 4),
	DRAY_DTYPE('u', '>', 2),
};

FACT(sorted_numbers_are_in_order_and_equal_ones_in_theirs)
{
	static const size_t counts[] = { 0,   1,   2,	3,   8,	  9,
					 17,  47,  64,	65,  128, 129,
					 255, 256, 257, 300, 513, MOST };
	static const int64_t gaps[] = { 1, -1, GAP };
	struct dice dice = { 1 };
	size_t t, c, p, g;

	for (t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
		for (c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
			for (p = 0; p < sizeof(patterns) / sizeof(patterns[0]);
			     p++) {
				g = (c + p) % 3;
				fill(&dice, &patterns[p], types[t], counts[c]);
				check(types[t], counts[c], 1, patterns[p].name);
				check(types[t], counts[c], gaps[g],
				      patterns[p].name);
			}
		}
	}
}

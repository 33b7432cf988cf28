/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The length of a complex number: of equal bits on all machines, within 1 unit in
 * the last place, and infinite if a part is, even beside a NaN.
 */
#ifndef DRAY_LOOPS_HYPOT_H
#define DRAY_LOOPS_HYPOT_H

#include "loops/form.h"

/*
 * Squares of floats are exact as doubles.  The root of their sum as a float is
 * near enough, unless the sum is beyond a float.
 */
DRAY_INLINE float dray_hypot_float(float a, float b)
{
	const uint32_t size_a = dray_bits_of_float(a) & 0x7fffffff;
	const uint32_t size_b = dray_bits_of_float(b) & 0x7fffffff;
	const bool infinite = (size_a == 0x7f800000) | (size_b == 0x7f800000);
	const bool none = (size_a > 0x7f800000) | (size_b > 0x7f800000);
	const uint32_t kept = -(uint32_t) !(infinite | none);
	const double x = dray_float_of_bits(size_a & kept);
	const double y = dray_float_of_bits(size_b & kept);
	const float root = (float)__builtin_sqrt(x * x + y * y);

	return dray_float_of_bits((dray_bits_of_float(root) & kept) |
				  (infinite ? 0x7f800000
				   : none   ? 0x7fc00000
					    : 0));
}

/* The first if all bits are set, or the second if none is, without a branch. */
DRAY_INLINE double dray_pick(uint64_t first, double a, double b)
{
	return dray_double_of_bits((dray_bits_of_double(a) & first) |
				   (dray_bits_of_double(b) & ~first));
}

/*
 * The error of the root is found from differences that are exact, and subtracted:
 * C. F. Borges, "An improved algorithm for hypot(a,b)", 2019.
 */
DRAY_INLINE double dray_hypot_near(double large, double small)
{
	const double root = __builtin_sqrt(large * large + small * small);
	const uint64_t close = -(uint64_t)(root <= 2 * small);
	const double over = root - dray_pick(close, small, large);
	const double rest = dray_pick(close, large * (2 * over - large),
				      2 * over * (large - 2 * small));
	const double error =
		dray_pick(close, (over - 2 * (large - small)) * over,
			  (4 * over - small) * small + over * over);

	/* 0 / 0 is none of the caller's errors. */
	return root - (rest + error) / (2 * root + (double)(root == 0));
}

/*
 * Without branches, so that vectors do all of it.  Sizes are compared as signed, since
 * AVX2 lacks other comparisons of 64 bits.
 */
DRAY_INLINE double dray_hypot_double(double a, double b)
{
	const int64_t sizes = INT64_MAX, infinity = 0x7ff0000000000000;
	const int64_t size_a = (int64_t)dray_bits_of_double(a) & sizes;
	const int64_t size_b = (int64_t)dray_bits_of_double(b) & sizes;
	const int64_t large = size_a < size_b ? size_b : size_a;
	const int64_t small = size_a < size_b ? size_a : size_b;
	const uint64_t infinite = -(uint64_t)(size_a == infinity) |
				  -(uint64_t)(size_b == infinity);
	const uint64_t none = ~infinite & -(uint64_t)(large > infinity);
	const uint64_t kept = ~(infinite | none);
	/* Beside a much larger number, a number is nothing. */
	const uint64_t beside = kept & -(uint64_t)(large - small < 55ll << 52);
	const double x = dray_double_of_bits((uint64_t)large & kept);
	const double y = dray_double_of_bits((uint64_t)small & beside);
	/* Squares neither overflow nor underflow. */
	const uint64_t huge = -(uint64_t)(large > 0x5fe0000000000000);
	const uint64_t tiny = -(uint64_t)(large < 0x26f0000000000000);
	const double scale =
		dray_pick(huge, 0x1p-600, dray_pick(tiny, 0x1p600, 1));
	const double back =
		dray_pick(huge, 0x1p600, dray_pick(tiny, 0x1p-600, 1));
	const double length = dray_hypot_near(x * scale, y * scale) * back;

	return dray_double_of_bits((dray_bits_of_double(length) & kept) |
				   (infinite & 0x7ff0000000000000) |
				   (none & 0x7ff8000000000000));
}

#endif /* DRAY_LOOPS_HYPOT_H */

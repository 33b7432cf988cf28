/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The length of a complex number: of equal bits on all machines, within one unit
 * in the last place, and infinite if a part is, even beside a NaN.
 */
#ifndef DRAY_LOOPS_HYPOT_H
#define DRAY_LOOPS_HYPOT_H

#include "loops/form.h"

/* Squares of floats are exact as doubles. */
DRAY_INLINE float dray_hypot_float(float a, float b)
{
	const double x = a, y = b;
	const bool infinite =
		(dray_bits_of_float(a) & 0x7fffffff) == 0x7f800000 ||
		(dray_bits_of_float(b) & 0x7fffffff) == 0x7f800000;

	return infinite ? __builtin_inff()
			: (float)__builtin_sqrt(x * x + y * y);
}

/*
 * The error of the root is found from differences that are exact, and taken off:
 * C. F. Borges, "An improved algorithm for hypot(a,b)", 2019.
 */
DRAY_INLINE double dray_hypot_near(double large, double small)
{
	const double root = __builtin_sqrt(large * large + small * small);
	double error, rest;

	if (root <= 2 * small) {
		const double over = root - small;

		rest = large * (2 * over - large);
		error = (over - 2 * (large - small)) * over;
	} else {
		const double over = root - large;

		rest = 2 * over * (large - 2 * small);
		error = (4 * over - small) * small + over * over;
	}
	return root - (rest + error) / (2 * root);
}

DRAY_INLINE double dray_hypot_double(double a, double b)
{
	const uint64_t bits_a = dray_bits_of_double(a) & ~(1ull << 63);
	const uint64_t bits_b = dray_bits_of_double(b) & ~(1ull << 63);
	const bool turn = bits_a < bits_b;
	const double large = dray_double_of_bits(turn ? bits_b : bits_a);
	const double small = dray_double_of_bits(turn ? bits_a : bits_b);

	if (bits_a >= 0x7ff0000000000000 || bits_b >= 0x7ff0000000000000)
		return bits_a == 0x7ff0000000000000 ||
				       bits_b == 0x7ff0000000000000
			       ? __builtin_inf()
			       : a + b;
	/* The lesser one is nothing beside the larger one. */
	if (small == 0 || (turn ? bits_b - bits_a : bits_a - bits_b) >> 52 > 54)
		return large + small;
	if (large > 0x1p511)
		return dray_hypot_near(large * 0x1p-600, small * 0x1p-600) *
		       0x1p600;
	if (small < 0x1p-459)
		return dray_hypot_near(large * 0x1p600, small * 0x1p600) *
		       0x1p-600;
	return dray_hypot_near(large, small);
}

#endif /* DRAY_LOOPS_HYPOT_H */

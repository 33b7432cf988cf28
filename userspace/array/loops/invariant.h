/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Quotients of 64 bits by one number, as the upper half of a product: T. Granlund,
 * P. L. Montgomery, "Division by Invariant Integers using Multiplication", 1994,
 * figure 4.1.
 */
#ifndef DRAY_LOOPS_INVARIANT_H
#define DRAY_LOOPS_INVARIANT_H

#include "loops/form.h"

struct dray_invariant {
	uint64_t factor;
	unsigned int first, second; /* shifts */
};

/* The upper half, in parts that vectors multiply. */
DRAY_INLINE uint64_t dray_upper_half(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__) && !defined(__AVX2__)
	__extension__ typedef unsigned __int128 wide;

	return (uint64_t)((wide)a * b >> 64);
#else
	const uint64_t low = UINT32_MAX;
	const uint64_t cross =
		(a >> 32) * (b & low) + ((a & low) * (b & low) >> 32);
	const uint64_t other = (a & low) * (b >> 32) + (cross & low);

	return (a >> 32) * (b >> 32) + (cross >> 32) + (other >> 32);
#endif
}

/* floor(2^64 * (2^@bits - @by) / @by) + 1 */
DRAY_INLINE uint64_t dray_invariant_factor(uint64_t by, unsigned int bits)
{
#ifdef __SIZEOF_INT128__
	__extension__ typedef unsigned __int128 wide;

	return (uint64_t)(((((wide)1 << bits) - by) << 64) / by + 1);
#else
	uint64_t rest = bits < 64 ? ((uint64_t)1 << bits) - by : 0 - by;
	uint64_t quotient = 0;
	int i;

	for (i = 0; i < 64; i++) {
		const bool carry = rest >> 63;

		rest <<= 1;
		quotient <<= 1;
		if (carry || rest >= by) {
			rest -= by;
			quotient |= 1;
		}
	}
	return quotient + 1;
#endif
}

/* @by: 1 and up */
DRAY_INLINE struct dray_invariant dray_invariant_of(uint64_t by)
{
	const unsigned int bits =
		by == 1 ? 0 : 64 - (unsigned int)__builtin_clzll(by - 1);

	return (struct dray_invariant){
		dray_invariant_factor(by, bits),
		bits ? 1 : 0,
		bits ? bits - 1 : 0,
	};
}

DRAY_INLINE uint64_t dray_divide_by(uint64_t a, const struct dray_invariant *by)
{
	const uint64_t part = dray_upper_half(a, by->factor);

	return (((a - part) >> by->first) + part) >> by->second;
}

/*
 * Rounds down, by a number of size @by: below 0 it is the complement of the
 * complement's quotient.
 */
DRAY_INLINE int64_t dray_floor_by(int64_t a, bool below,
				  const struct dray_invariant *by)
{
	const uint64_t turned = below ? 0 - (uint64_t)a : (uint64_t)a;
	const uint64_t sign = below ? -(uint64_t)(a > 0) : -(uint64_t)(a < 0);

	return (int64_t)(dray_divide_by(turned ^ sign, by) ^ sign);
}

#endif /* DRAY_LOOPS_INVARIANT_H */

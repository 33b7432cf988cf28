/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * float16 in integers, so that every machine and compiler rounds once, to the
 * nearest and to even, and keeps the top bits of a NaN, as NumPy does.  No number
 * needs a branch, so loops of random numbers are as fast as of equal numbers.
 */
#ifndef DRAY_DTYPE_HALF_H
#define DRAY_DTYPE_HALF_H

#include <stdint.h>
#include <string.h>

#define DRAY_HALF_INFINITE 0x7c00u

static inline uint32_t dray_bits_of_float(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static inline float dray_float_of_bits(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static inline uint64_t dray_bits_of_double(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static inline double dray_double_of_bits(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* Compilers make branches, which vectors lack, of choices between products. */
static inline uint32_t dray_half_either(uint32_t is, uint32_t yes, uint32_t no)
{
	return ((0 - is) & yes) | ((is - 1) & no);
}

static inline uint64_t dray_half_either_64(uint64_t is, uint64_t yes,
					   uint64_t no)
{
	return ((0 - is) & yes) | ((is - 1) & no);
}

/*
 * Shifts the bits in place and corrects the exponent's bias by a product, which keeps
 * a NaN's bits too, but not the exponent.
 */
static inline float dray_half_to_float(uint16_t half)
{
	const uint32_t shifted = (half & 0x7fffu) << 13;
	const uint32_t finite =
		dray_bits_of_float(dray_float_of_bits(shifted) * 0x1p112f);
	const uint32_t special =
		(half & DRAY_HALF_INFINITE) == DRAY_HALF_INFINITE;
	const uint32_t sign = (half & 0x8000u) << 16;

	return dray_float_of_bits(sign | finite | special * 0x7f800000u);
}

/* A NaN keeps its top bits, but never becomes infinite. */
static inline uint32_t dray_half_nan(uint32_t payload)
{
	return DRAY_HALF_INFINITE + payload + (payload == 0);
}

static inline uint16_t dray_half_from_float(float x)
{
	const uint32_t bits = dray_bits_of_float(x);
	const uint32_t sign = bits >> 16 & 0x8000u;
	const uint32_t size = bits & 0x7fffffffu;
	/* A sum with 0.5 rounds to multiples of 2**-24, the least half. */
	const uint32_t tiny =
		dray_bits_of_float(dray_float_of_bits(size) + 0.5f) -
		dray_bits_of_float(0.5f);
	const uint32_t rounded =
		(size - (112u << 23) + 0xfffu + (size >> 13 & 1)) >> 13;
	const uint32_t finite =
		dray_half_either(size < 0x38800000u, tiny, rounded);
	const uint32_t large =
		dray_half_either(size > 0x7f800000u,
				 dray_half_nan(size >> 13 & 0x3ffu),
				 DRAY_HALF_INFINITE);

	return (uint16_t)(sign |
			  dray_half_either(size >= 0x47800000u, large, finite));
}

static inline uint16_t dray_half_from_double(double x)
{
	const uint64_t bits = dray_bits_of_double(x);
	const uint64_t sign = bits >> 48 & 0x8000u;
	const uint64_t size = bits & ~(1ull << 63);
	const uint64_t tiny =
		dray_bits_of_double(dray_double_of_bits(size) + 0x1p28) -
		dray_bits_of_double(0x1p28);
	const uint64_t rounded =
		(size - (1008ull << 52) + 0x1ffffffffffu + (size >> 42 & 1)) >>
		42;
	const uint64_t finite =
		dray_half_either_64(size < 0x3f10000000000000u, tiny, rounded);
	const uint64_t large = dray_half_either_64(
		size > 0x7ff0000000000000u,
		dray_half_nan((uint32_t)(size >> 42) & 0x3ffu),
		DRAY_HALF_INFINITE);

	return (uint16_t)(sign |
			  dray_half_either_64(size >= 0x40f0000000000000u,
					      large, finite));
}

/*
 * Whether rounding to a half overflows, or loses bits of a number below the least
 * normal half; bits are compared, as numbers would note invalid NaNs.
 */
static inline uint32_t dray_half_overflows(float x)
{
	const uint32_t size = dray_bits_of_float(x) & 0x7fffffffu;

	return (uint32_t)(size >= 0x477ff000u) & (uint32_t)(size < 0x7f800000u);
}

static inline uint32_t dray_half_underflows(float x)
{
	const uint32_t size = dray_bits_of_float(x) & 0x7fffffffu;
	const float kept = (dray_float_of_bits(size) + 0.5f) - 0.5f;

	return (uint32_t)(size < 0x38800000u) &
	       (uint32_t)(dray_bits_of_float(kept) != size);
}

static inline uint64_t dray_half_overflows_double(double x)
{
	const uint64_t size = dray_bits_of_double(x) & ~(1ull << 63);

	return (uint64_t)(size >= 0x40effe0000000000u) &
	       (uint64_t)(size < 0x7ff0000000000000u);
}

static inline uint64_t dray_half_underflows_double(double x)
{
	const uint64_t size = dray_bits_of_double(x) & ~(1ull << 63);
	const double kept = (dray_double_of_bits(size) + 0x1p28) - 0x1p28;

	return (uint64_t)(size < 0x3f10000000000000u) &
	       (uint64_t)(dray_bits_of_double(kept) != size);
}

#endif /* DRAY_DTYPE_HALF_H */

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loops of float16, in integers, so that every machine and compiler rounds to
 * the nearest even number and keeps the top bits of a NaN, as NumPy does.
 */
#include <string.h>

#include "cast/cast.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define INFINITE 0x7c00u

static inline uint32_t bits_of_float(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static inline float float_of_bits(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static inline uint64_t bits_of_double(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static inline double double_of_bits(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* Shifts the bits in place and corrects the exponent's bias by a product. */
static inline float float_of_half(uint16_t half)
{
	const uint32_t shifted = (half & 0x7fffu) << 13;
	const uint32_t finite =
		bits_of_float(float_of_bits(shifted) * 0x1p112f);
	const uint32_t special = shifted | 0x7f800000u;
	const uint32_t sign = (half & 0x8000u) << 16;

	return float_of_bits(
		sign | ((half & INFINITE) == INFINITE ? special : finite));
}

/* A NaN keeps its top bits, but never becomes infinite. */
static inline uint32_t nan_of(uint32_t payload)
{
	return INFINITE + (payload ? payload : 1);
}

static inline uint16_t half_of_float(float x)
{
	const uint32_t bits = bits_of_float(x);
	const uint32_t sign = bits >> 16 & 0x8000u;
	const uint32_t size = bits & 0x7fffffffu;
	/* A sum with 0.5 rounds to multiples of 2**-24, the least half. */
	const uint32_t tiny =
		bits_of_float(float_of_bits(size) + 0.5f) - bits_of_float(0.5f);
	const uint32_t rounded =
		(size - (112u << 23) + 0xfffu + (size >> 13 & 1)) >> 13;
	const uint32_t finite = size < 0x38800000u ? tiny : rounded;
	const uint32_t large =
		size > 0x7f800000u ? nan_of(size >> 13 & 0x3ffu) : INFINITE;

	return (uint16_t)(sign | (size >= 0x47800000u ? large : finite));
}

static inline uint16_t half_of_double(double x)
{
	const uint64_t bits = bits_of_double(x);
	const uint64_t sign = bits >> 48 & 0x8000u;
	const uint64_t size = bits & ~(1ull << 63);
	const uint64_t tiny = bits_of_double(double_of_bits(size) + 0x1p28) -
			      bits_of_double(0x1p28);
	const uint64_t rounded =
		(size - (1008ull << 52) + 0x1ffffffffffu + (size >> 42 & 1)) >>
		42;
	const uint64_t finite = size < 0x3f10000000000000u ? tiny : rounded;
	const uint64_t large = size > 0x7ff0000000000000u
				       ? nan_of(size >> 42 & 0x3ffu)
				       : INFINITE;

	return (uint16_t)(sign |
			  (size >= 0x40f0000000000000u ? large : finite));
}

#define DEFINE_HALF_LOOP(name, from_type, to_type, convert)                \
	int name(char *const *data, const int64_t *strides, int64_t count, \
		 void *context)                                            \
	{                                                                  \
		const ptrdiff_t ds = (ptrdiff_t)strides[0];                \
		const ptrdiff_t ss = (ptrdiff_t)strides[1];                \
		char *restrict dst = data[0];                              \
		const char *restrict src = data[1];                        \
		from_type x;                                               \
		to_type y;                                                 \
		ptrdiff_t i;                                               \
                                                                           \
		(void)context;                                             \
		if (ds == sizeof(y) && ss == sizeof(x)) {                  \
			for (i = 0; i < count; i++) {                      \
				memcpy(&x, src + i * (ptrdiff_t)sizeof(x), \
				       sizeof(x));                         \
				y = convert(x);                            \
				memcpy(dst + i * (ptrdiff_t)sizeof(y), &y, \
				       sizeof(y));                         \
			}                                                  \
			return 0;                                          \
		}                                                          \
		for (i = 0; i < count; i++) {                              \
			memcpy(&x, src + i * ss, sizeof(x));               \
			y = convert(x);                                    \
			memcpy(dst + i * ds, &y, sizeof(y));               \
		}                                                          \
		return 0;                                                  \
	}

DEFINE_HALF_LOOP(dray_loop_half_to_float, uint16_t, float, float_of_half)
DEFINE_HALF_LOOP(dray_loop_float_to_half, float, uint16_t, half_of_float)
DEFINE_HALF_LOOP(dray_loop_double_to_half, double, uint16_t, half_of_double)

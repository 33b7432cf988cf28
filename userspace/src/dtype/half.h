/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * float16 in integers, for compilers without a type for it.  Conversions round
 * once, to the nearest and to even, as IEEE 754 has it.
 */
#ifndef DRAY_DTYPE_HALF_H
#define DRAY_DTYPE_HALF_H

#include <stdint.h>
#include <string.h>

static inline float dray_half_to_float(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000) << 16;
	uint32_t exponent = (half >> 10) & 31, fraction = half & 0x3ff, bits;
	float value;

	if (!exponent) {
		value = (float)fraction * 0x1p-24f;
		return sign ? -value : value;
	}
	bits = sign | fraction << 13 |
	       (exponent == 31 ? 255u << 23 : (exponent + 112) << 23);
	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* A number of less than 2^-14 in steps of 2^-24. */
static inline uint16_t dray_half_subnormal(double magnitude)
{
	double scaled = magnitude * 0x1p24;
	uint16_t half = (uint16_t)scaled;
	double rest = scaled - half;

	return (uint16_t)(half + (rest > 0.5 || (rest == 0.5 && half & 1)));
}

static inline uint16_t dray_half_from_double(double value)
{
	const uint64_t rest_mask = (UINT64_C(1) << 42) - 1;
	uint64_t bits, rest;
	uint16_t sign, half;

	memcpy(&bits, &value, sizeof(bits));
	sign = (uint16_t)(bits >> 48 & 0x8000);
	bits &= INT64_MAX;
	if (value != value) { /* NaN keeps what fits of its payload. */
		half = (uint16_t)(0x7c00 | (bits >> 42 & 0x3ff));
		return (uint16_t)(sign | half | (half == 0x7c00));
	}
	memcpy(&value, &bits, sizeof(value));
	if (value >= 65520.0)
		return sign | 0x7c00;
	if (value < 0x1p-14)
		return sign | dray_half_subnormal(value);
	rest = bits & rest_mask;
	half = (uint16_t)((bits >> 42) - ((1023u - 15) << 10));
	half = (uint16_t)(half + (rest > rest_mask / 2 + 1 ||
				  (rest == rest_mask / 2 + 1 && half & 1)));
	return sign | half;
}

#endif /* DRAY_DTYPE_HALF_H */

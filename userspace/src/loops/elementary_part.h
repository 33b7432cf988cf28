/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Operands as contiguous parts: themselves if they are contiguous, else gathered.
 * float16 becomes float32, and results are rounded to it once.
 */
#ifndef DRAY_LOOPS_ELEMENTARY_PART_H
#define DRAY_LOOPS_ELEMENTARY_PART_H

#include <fenv.h>
#include <stdint.h>

#include "dtype/half.h"

/* Elements of a part: a page of doubles. */
#define DRAY_PART 512

static inline int64_t dray_part_size(int64_t left)
{
	return left < DRAY_PART ? left : DRAY_PART;
}

static inline const double *dray_take_double(const char *data, int64_t stride,
					     int64_t count, double *part)
{
	int64_t i;

	if (stride == sizeof(double))
		return (const double *)(const void *)data;
	for (i = 0; i < count; i++)
		part[i] = *(const double *)(const void *)(data + i * stride);
	return part;
}

static inline void dray_put_double(char *data, int64_t stride, int64_t count,
				   const double *part)
{
	int64_t i;

	for (i = 0; i < count; i++)
		*(double *)(void *)(data + i * stride) = part[i];
}

static inline const float *dray_take_float(const char *data, int64_t stride,
					   int64_t count, float *part)
{
	int64_t i;

	if (stride == sizeof(float))
		return (const float *)(const void *)data;
	for (i = 0; i < count; i++)
		part[i] = *(const float *)(const void *)(data + i * stride);
	return part;
}

static inline void dray_put_float(char *data, int64_t stride, int64_t count,
				  const float *part)
{
	int64_t i;

	for (i = 0; i < count; i++)
		*(float *)(void *)(data + i * stride) = part[i];
}

static inline const float *dray_take_half(const char *data, int64_t stride,
					  int64_t count, float *part)
{
	int64_t i;

	for (i = 0; i < count; i++)
		part[i] = dray_half_to_float(
			*(const uint16_t *)(const void *)(data + i * stride));
	return part;
}

/* Returns the errors of rounding. */
static inline int dray_put_half(char *data, int64_t stride, int64_t count,
				const float *part)
{
	uint32_t over = 0, under = 0;
	int64_t i;

	for (i = 0; i < count; i++) {
		const uint16_t half = dray_half_from_float(part[i]);
		const uint32_t size = dray_bits_of_float(part[i]) & 0x7fffffffu;

		/* Bits are compared, as numbers would note invalid NaNs. */
		over |= (half & 0x7fffu) == DRAY_HALF_INFINITE &&
			size < 0x7f800000u;
		under |= size < 0x38800000u &&
			 dray_bits_of_float(dray_half_to_float(half)) !=
				 dray_bits_of_float(part[i]);
		*(uint16_t *)(void *)(data + i * stride) = half;
	}
	return (over ? FE_OVERFLOW : 0) | (under ? FE_UNDERFLOW : 0);
}

#endif /* DRAY_LOOPS_ELEMENTARY_PART_H */

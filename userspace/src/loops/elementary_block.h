/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Operands as contiguous blocks: themselves if they are contiguous, else gathered.
 * float16 becomes float32, and results are rounded to it once.
 */
#ifndef DRAY_LOOPS_ELEMENTARY_BLOCK_H
#define DRAY_LOOPS_ELEMENTARY_BLOCK_H

#include <fenv.h>
#include <math.h>
#include <stdint.h>

#include "dtype/half.h"

/* Elements of a block: a page of doubles. */
#define DRAY_BLOCK 512

static inline const double *dray_take_double(const char *data, int64_t stride,
					     int64_t count, double *block)
{
	int64_t i;

	if (stride == sizeof(double))
		return (const double *)(const void *)data;
	for (i = 0; i < count; i++)
		block[i] = *(const double *)(const void *)(data + i * stride);
	return block;
}

static inline void dray_put_double(char *data, int64_t stride, int64_t count,
				   const double *block)
{
	int64_t i;

	for (i = 0; i < count; i++)
		*(double *)(void *)(data + i * stride) = block[i];
}

static inline const float *dray_take_float(const char *data, int64_t stride,
					   int64_t count, float *block)
{
	int64_t i;

	if (stride == sizeof(float))
		return (const float *)(const void *)data;
	for (i = 0; i < count; i++)
		block[i] = *(const float *)(const void *)(data + i * stride);
	return block;
}

static inline void dray_put_float(char *data, int64_t stride, int64_t count,
				  const float *block)
{
	int64_t i;

	for (i = 0; i < count; i++)
		*(float *)(void *)(data + i * stride) = block[i];
}

static inline const float *dray_take_half(const char *data, int64_t stride,
					  int64_t count, float *block)
{
	int64_t i;

	for (i = 0; i < count; i++)
		block[i] = dray_half_to_float(
			*(const uint16_t *)(const void *)(data + i * stride));
	return block;
}

/* Returns the errors of rounding. */
static inline int dray_put_half(char *data, int64_t stride, int64_t count,
				const float *block)
{
	uint32_t over = 0, under = 0;
	int64_t i;

	for (i = 0; i < count; i++) {
		const uint16_t half = dray_half_from_float(block[i]);
		const float size = fabsf(block[i]);

		over |= (half & 0x7fffu) == DRAY_HALF_INFINITE &&
			size < INFINITY;
		under |= size < 0x1p-14f && dray_half_to_float(half) != block[i];
		*(uint16_t *)(void *)(data + i * stride) = half;
	}
	return (over ? FE_OVERFLOW : 0) | (under ? FE_UNDERFLOW : 0);
}

#endif /* DRAY_LOOPS_ELEMENTARY_BLOCK_H */

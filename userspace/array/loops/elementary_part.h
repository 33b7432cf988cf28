/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Operands as contiguous parts: themselves if they are contiguous, else gathered.
 * float16 becomes float32, and results are rounded to it once.
 */
#ifndef DRAY_LOOPS_ELEMENTARY_PART_H
#define DRAY_LOOPS_ELEMENTARY_PART_H

#include <stddef.h>
#include <stdint.h>

#include "cast/cast_half.h"

/* Elements of a part: a page of doubles. */
#define DRAY_PART 512

static inline int64_t dray_part_size(int64_t left)
{
	return left < DRAY_PART ? left : DRAY_PART;
}

/*
 * Assigns @count elements, which lie at @data and are @at in turn: the compiler makes
 * vectors of two strides.
 */
#define DRAY_BY_STEPS(T, Q, to, from, data, stride, count)                  \
	do {                                                                \
		Q *at = (Q *)(const void *)(data);                          \
		int64_t i;                                                  \
                                                                            \
		if ((stride) == 2 * (int64_t)sizeof(T))                     \
			for (i = 0; i < (count); i++, at += 2)              \
				(to) = (from);                              \
		else if ((stride) == -(int64_t)sizeof(T))                   \
			for (i = 0; i < (count); i++, at--)                 \
				(to) = (from);                              \
		else                                                        \
			for (i = 0; i < (count); i++) {                     \
				(to) = (from);                              \
				at = (Q *)(const void *)((const char *)at + \
							 (stride));         \
			}                                                   \
	} while (0)

static inline const double *dray_take_double(const char *data, int64_t stride,
					     int64_t count, double *part)
{
	if (stride == sizeof(double))
		return (const double *)(const void *)data;
	DRAY_BY_STEPS(double, const double, part[i], *at, data, stride, count);
	return part;
}

static inline void dray_put_double(char *data, int64_t stride, int64_t count,
				   const double *part)
{
	DRAY_BY_STEPS(double, double, *at, part[i], data, stride, count);
}

static inline const float *dray_take_float(const char *data, int64_t stride,
					   int64_t count, float *part)
{
	if (stride == sizeof(float))
		return (const float *)(const void *)data;
	DRAY_BY_STEPS(float, const float, part[i], *at, data, stride, count);
	return part;
}

static inline void dray_put_float(char *data, int64_t stride, int64_t count,
				  const float *part)
{
	DRAY_BY_STEPS(float, float, *at, part[i], data, stride, count);
}

static inline const float *dray_take_half(char *data, int64_t stride,
					  int64_t count, float *part)
{
	char *const operands[] = { (char *)part, data };
	const int64_t strides[] = { sizeof(float), stride };

	(void)dray_half_casts()->to_float(operands, strides, count, NULL);
	return part;
}

/* Returns the errors of rounding. */
static inline int dray_put_half(char *data, int64_t stride, int64_t count,
				float *part)
{
	char *const operands[] = { data, (char *)part };
	const int64_t strides[] = { stride, sizeof(float) };

	return dray_half_casts()->of_float(operands, strides, count);
}

#endif /* DRAY_LOOPS_ELEMENTARY_PART_H */

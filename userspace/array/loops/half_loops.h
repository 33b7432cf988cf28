/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Loops of float16 by loops of float32: a few elements at a time are converted,
 * computed, and rounded once.
 */
#ifndef DRAY_LOOPS_HALF_LOOPS_H
#define DRAY_LOOPS_HALF_LOOPS_H

#include "loops/form.h"

#ifdef __F16C__
#include <immintrin.h>
#endif

#define DRAY_HALF_BLOCK 128

/* The loop of float32 that one of float16 is made of: its context. */
struct dray_half_of {
	dray_loop *loop;
};

DRAY_INLINE void dray_halves_to_floats(float *to, const char *from,
				       int64_t stride, int64_t count)
{
	int64_t i = 0;

	if (stride == sizeof(uint16_t)) {
		const uint16_t *dense = (const void *)from;

#ifdef __F16C__
		for (; i + 8 <= count; i += 8)
			_mm256_storeu_ps(to + i,
					 _mm256_cvtph_ps(_mm_loadu_si128(
						 (const void *)(dense + i))));
#endif
		for (; i < count; i++)
			to[i] = dray_half_to_float(dense[i]);
		return;
	}
	for (; i < count; i++) {
		DRAY_SINGLY;
		to[i] = dray_half_to_float(
			ITEM_AT(const uint16_t, from, i, stride));
	}
}

/* Rounding to a half may overflow and underflow, though the float did not. */
DRAY_INLINE void dray_floats_to_halves(char *to, int64_t stride,
				       const float *from, int64_t count)
{
	uint16_t halves[DRAY_HALF_BLOCK];
	uint32_t over = 0, under = 0;
	int64_t i = 0;

#ifdef __F16C__
	for (; i + 8 <= count; i += 8)
		_mm_storeu_si128((void *)(halves + i),
				 _mm256_cvtps_ph(_mm256_loadu_ps(from + i),
						 _MM_FROUND_TO_NEAREST_INT));
#endif
	for (; i < count; i++) {
		const uint32_t size = dray_bits_of_float(from[i]) & 0x7fffffff;
		const uint16_t half = dray_half_from_float(from[i]);
		const uint32_t back =
			dray_bits_of_float(dray_half_to_float(half)) &
			0x7fffffff;

		halves[i] = half;
		over |= size >= 0x477ff000 && size < 0x7f800000;
		under |= size < 0x38800000 && back != size;
	}
	if (over)
		dray_raise_over();
	if (under)
		dray_raise_under();
	if (stride == sizeof(uint16_t)) {
		memcpy(to, halves, (size_t)count * sizeof(halves[0]));
		return;
	}
	for (i = 0; i < count; i++) {
		DRAY_SINGLY;
		ITEM_AT(uint16_t, to, i, stride) = halves[i];
	}
}

/* @inputs and @outputs of float16 */
DRAY_INLINE int dray_half_loop(char *const *data, const int64_t *strides,
			       int64_t count, void *context, int inputs,
			       int outputs)
{
	const struct dray_half_of *const of = context;
	float floats[4][DRAY_HALF_BLOCK];
	char *const parts[4] = { (char *)floats[0], (char *)floats[1],
				 (char *)floats[2], (char *)floats[3] };
	int64_t steps[4] = { sizeof(float), sizeof(float), sizeof(float),
			     sizeof(float) };
	int64_t done, part, limit = DRAY_HALF_BLOCK;
	int o, ret = 0;

	for (o = 0; o < inputs * outputs; o++)
		if (dray_follows(data[inputs + o / inputs],
				 strides[inputs + o / inputs], data[o % inputs],
				 DRAY_HALF_BLOCK))
			limit = 1;
	for (done = 0; done < count && !ret; done += part) {
		part = count - done < limit ? count - done : limit;
		for (o = 0; o < inputs; o++) {
			steps[o] = strides[o] ? sizeof(float) : 0;
			if (strides[o] || !done || limit == 1)
				dray_halves_to_floats(
					floats[o], data[o] + done * strides[o],
					strides[o], strides[o] ? part : 1);
		}
		ret = of->loop(parts, steps, part, NULL);
		for (; o < inputs + outputs; o++)
			dray_floats_to_halves(data[o] + done * strides[o],
					      strides[o], floats[o], part);
	}
	return ret;
}

__attribute__((unused)) DRAY_LOOP(dray_half_unary)
{
	return dray_half_loop(data, strides, count, context, 1, 1);
}

__attribute__((unused)) DRAY_LOOP(dray_half_binary)
{
	return dray_half_loop(data, strides, count, context, 2, 1);
}

/* A context names a loop of float32 and is never written to. */
#define DRAY_HALF_OF(name, float_loop) \
	static struct dray_half_of name = { float_loop }
#define DRAY_HALF_ENTRY(types, loop, of) \
	{                                \
		types, loop, &(of), 0    \
	}

#endif /* DRAY_LOOPS_HALF_LOOPS_H */

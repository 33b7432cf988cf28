// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Rounding to whole numbers: to the nearest, down, up, and towards 0. */
#include <math.h>

#include "loops/half_loops.h"

#define SAME(a) (a)
DRAY_UNARY(same_8, uint8_t, uint8_t, SAME)
DRAY_UNARY(same_16, uint16_t, uint16_t, SAME)
DRAY_UNARY(same_32, uint32_t, uint32_t, SAME)
DRAY_UNARY(same_64, uint64_t, uint64_t, SAME)

/*
 * Vectors round without an exception by instructions that the compiler leaves to
 * those who ask for them; on other machines it has them itself.
 */
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#define FLOATS(call) _mm512_##call##_ps
#define DOUBLES(call) _mm512_##call##_pd
#define ROUND roundscale
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#define FLOATS(call) _mm256_##call##_ps
#define DOUBLES(call) _mm256_##call##_pd
#define ROUND round
#endif

#ifdef VECTOR_BYTES
#define TURNED(name, T, OF, of, mode)                                         \
	DRAY_UNARY(name##_tail, T, T, of)                                     \
	DRAY_LOOP(name)                                                       \
	{                                                                     \
		const int64_t lanes = VECTOR_BYTES / sizeof(T);               \
		const T *const dense = (const void *)data[0];                 \
		T *const to = (void *)data[1];                                \
		char *rest[2];                                                \
		int64_t i = 0;                                                \
                                                                              \
		if (strides[0] == sizeof(T) && strides[1] == sizeof(T) &&     \
		    dray_is_apart(to, dense, count * strides[0]))             \
			for (; i + lanes <= count; i += lanes)                \
				OF(storeu)                                    \
		(to + i, DRAY_PASTE(OF, _ROUND)(OF(loadu)(dense + i), mode)); \
		rest[0] = data[0] + i * strides[0];                           \
		rest[1] = data[1] + i * strides[1];                           \
		return name##_tail(rest, strides, count - i, context);        \
	}
#define FLOATS_ROUND DRAY_ROUND_OF(FLOATS, ROUND)
#define DOUBLES_ROUND DRAY_ROUND_OF(DOUBLES, ROUND)
#define DRAY_ROUND_OF(OF, call) OF(call)
#define TOWARDS(mode) (_MM_FROUND_TO_##mode | _MM_FROUND_NO_EXC)
#else
#define TURNED(name, T, OF, of, mode) DRAY_UNARY(name, T, T, of)
#endif

#define REAL(name, of_float, of_double, mode)                            \
	TURNED(name##_float, float, FLOATS, of_float, TOWARDS(mode))     \
	TURNED(name##_double, double, DOUBLES, of_double, TOWARDS(mode)) \
	DRAY_HALF_OF(name##_half, name##_float);

REAL(rint, rintf, rint, NEAREST_INT)
REAL(floor, floorf, floor, NEG_INF)
REAL(ceil, ceilf, ceil, POS_INF)
REAL(trunc, truncf, trunc, ZERO)

DRAY_INLINE struct dray_complex64 rint_of_64(struct dray_complex64 a)
{
	return (struct dray_complex64){ rintf(a.re), rintf(a.im) };
}

DRAY_INLINE struct dray_complex128 rint_of_128(struct dray_complex128 a)
{
	return (struct dray_complex128){ rint(a.re), rint(a.im) };
}

DRAY_UNARY(rint_complex64, struct dray_complex64, struct dray_complex64,
	   rint_of_64)
DRAY_UNARY(rint_complex128, struct dray_complex128, struct dray_complex128,
	   rint_of_128)

#define REAL_ENTRIES(name)                                   \
	DRAY_HALF_ENTRY("ee", dray_half_unary, name##_half), \
		DRAY_ENTRY("ff", name##_float),              \
		DRAY_ENTRY("dd", name##_double)

static const struct dray_loop_entry rint_entries[] = {
	REAL_ENTRIES(rint),
	DRAY_ENTRY("FF", rint_complex64),
	DRAY_ENTRY("DD", rint_complex128),
};

#define ENTRIES(name)                                                 \
	static const struct dray_loop_entry name##_entries[] = {      \
		DRAY_QUIET("??", same_8),  DRAY_QUIET("bb", same_8),  \
		DRAY_QUIET("BB", same_8),  DRAY_QUIET("hh", same_16), \
		DRAY_QUIET("HH", same_16), DRAY_QUIET("ii", same_32), \
		DRAY_QUIET("II", same_32), DRAY_QUIET("qq", same_64), \
		DRAY_QUIET("QQ", same_64), REAL_ENTRIES(name),        \
	}

ENTRIES(floor);
ENTRIES(ceil);
ENTRIES(trunc);

#define DEFINITION(name)                                         \
	{                                                        \
#name, 1, 1, DRAY_IDENTITY_NONE, name##_entries, \
			DRAY_COUNT(name##_entries), NULL         \
	}

static const struct dray_ufunc_definition definitions[] = {
	DEFINITION(rint),
	DEFINITION(floor),
	DEFINITION(ceil),
	DEFINITION(trunc),
};

DRAY_LOOPS_LIST(rounding, definitions);

/*
 * Rounds to decimals in a pass: elements are scaled by the second operand, a single
 * power of ten, rounded, and scaled back; bit by bit what three calls give.
 */
#ifdef VECTOR_BYTES
#define SCALED_VECTORS(OF, first, last)                                    \
	for (; i + lanes <= count; i += lanes)                             \
		OF(storeu)                                                 \
	(to + i, OF(last)(DRAY_PASTE(OF, _ROUND)(                          \
				  OF(first)(OF(loadu)(dense + i), powers), \
				  TOWARDS(NEAREST_INT)),                   \
			  powers));
#define LANES(T) ((int64_t)(VECTOR_BYTES / sizeof(T)))
#define ALL(OF, power) OF(set1)(power)
#else
/* The compiler makes vectors of the plain loop. */
#define SCALED_VECTORS(OF, first, last)
#define LANES(T) 1
#define ALL(OF, power) (power)
#endif

#define SCALED(name, T, OF, round, first, last, FIRST, LAST)                   \
	DRAY_LOOP(name)                                                        \
	{                                                                      \
		const T power = ITEM_AT(const T, data[1], 0, 0);               \
		__attribute__((unused))                                        \
		const __typeof__(ALL(OF, power)) powers = ALL(OF, power);      \
		__attribute__((unused)) const int64_t lanes = LANES(T);        \
		const T *const dense = (const void *)data[0];                  \
		T *const to = (void *)data[2];                                 \
		int64_t i = 0;                                                 \
                                                                               \
		if (strides[0] == sizeof(T) && strides[2] == sizeof(T) &&      \
		    dray_is_apart(to, dense, count * strides[0])) {            \
			SCALED_VECTORS(OF, first, last)                        \
			for (; i < count; i++)                                 \
				to[i] = round(dense[i] FIRST power)            \
					LAST power;                            \
			return 0;                                              \
		}                                                              \
		for (; i < count; i++)                                         \
			ITEM_AT(T, data[2], i, strides[2]) =                   \
				round(ITEM_AT(const T, data[0], i, strides[0]) \
					      FIRST power) LAST power;         \
		return 0;                                                      \
	}

SCALED(up_float, float, FLOATS, rintf, mul, div, *, /)
SCALED(up_double, double, DOUBLES, rint, mul, div, *, /)
SCALED(down_float, float, FLOATS, rintf, div, mul, /, *)
SCALED(down_double, double, DOUBLES, rint, div, mul, /, *)

static const struct dray_loop_entry decimals_entries[] = {
	DRAY_QUIET("fff", up_float),
	DRAY_QUIET("ddd", up_double),
};

static const struct dray_loop_entry tens_entries[] = {
	DRAY_QUIET("fff", down_float),
	DRAY_QUIET("ddd", down_double),
};

#define SCALED_DEFINITION(name)                                  \
	{                                                        \
#name, 2, 1, DRAY_IDENTITY_NONE, name##_entries, \
			DRAY_COUNT(name##_entries), NULL         \
	}

static const struct dray_ufunc_definition scaled_definitions[] = {
	SCALED_DEFINITION(decimals),
	SCALED_DEFINITION(tens),
};

DRAY_LOOPS_LIST(scaled, scaled_definitions);

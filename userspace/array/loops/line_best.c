// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The largest and smallest elements of lines.  Those of floating-point numbers are
 * kept in many lanes, since the compiler does not reorder comparisons that a NaN
 * has a part in.
 */
#include <string.h>

#include "loops/half_loops.h"
#include "loops/line_form.h"

#define VECTORS 4 /* of 64 bytes, so that comparisons overlap */
#define GREATER(a, b) ((a) > (b) ? (a) : (b))
#define LESS(a, b) ((a) < (b) ? (a) : (b))

#define FIRST(a, b) (a)
#define SECOND(a, b) (b)

/*
 * @better: how the second compares with the first, to take its place
 * @nan: the number of the two that, if it is a NaN, lets the second one in
 */
#define FLOATS(name, T, better, nan)                                         \
	DRAY_INLINE T name##_of(T a, T b)                                    \
	{                                                                    \
		const T best = b better a ? b : a; /* one instruction */     \
                                                                             \
		return nan(a, b) != nan(a, b) ? b : best;                    \
	}                                                                    \
	DRAY_LINES_SINGLY(name##_apart, T, name##_of)                        \
	DRAY_INLINE void name##_block(T *best, const T *next, int64_t count) \
	{                                                                    \
		int64_t k;                                                   \
                                                                             \
		for (k = 0; k < count; k++)                                  \
			best[k] = name##_of(best[k], next[k]);               \
	}                                                                    \
	DRAY_LINE_LOOP(name##_line)                                          \
	{                                                                    \
		enum {                                                       \
			LANES = VECTORS * (64 / sizeof(T))                   \
		};                                                           \
		const T *const dense = (const void *)data;                   \
		T best[LANES];                                               \
		int64_t i;                                                   \
                                                                             \
		if (stride != sizeof(T) || count < LANES) {                  \
			name##_apart_line(result, data, stride, count);      \
			return;                                              \
		}                                                            \
		/* Ends may count an element twice, the rest is aligned. */  \
		memcpy(best, dense, sizeof(best));                           \
		i = (int64_t)(-(uintptr_t)data % 64 / sizeof(T));            \
		for (; i + LANES <= count; i += LANES)                       \
			name##_block(best, dense + i, LANES);                \
		if (i < count)                                               \
			name##_block(best, dense + count - LANES, LANES);    \
		name##_block(best, best + LANES / 2, LANES / 2);             \
		name##_block(best, best + LANES / 4, LANES / 4);             \
		name##_block(best, best + LANES / 8, LANES / 8);             \
		name##_apart_line(result, (const char *)best, sizeof(T),     \
				  LANES / 8);                                \
	}

FLOATS(maximum_float, float, >, SECOND)
FLOATS(maximum_double, double, >, SECOND)
FLOATS(minimum_float, float, <, SECOND)
FLOATS(minimum_double, double, <, SECOND)
/* These leave out every NaN. */
FLOATS(fmax_float, float, >, FIRST)
FLOATS(fmax_double, double, >, FIRST)
FLOATS(fmin_float, float, <, FIRST)
FLOATS(fmin_double, double, <, FIRST)

/* Halves, as floats. */
#define HALVES(name)                                                        \
	DRAY_LINE_LOOP(name##_half_line)                                    \
	{                                                                   \
		float best = dray_half_to_float(*(uint16_t *)result);       \
		float floats[DRAY_HALF_BLOCK];                              \
		int64_t piece, i;                                           \
                                                                            \
		for (; count; count -= piece, data += piece * stride) {     \
			piece = count < DRAY_HALF_BLOCK ? count             \
							: DRAY_HALF_BLOCK;  \
			dray_halves_to_floats(floats, data, stride, piece); \
			for (i = 0; i < piece; i++)                         \
				best = name##_float_of(best, floats[i]);    \
		}                                                           \
		*(uint16_t *)result = dray_half_from_float(best);           \
	}

HALVES(maximum)
HALVES(minimum)
HALVES(fmax)
HALVES(fmin)

#define INTEGERS(name, op)                                    \
	DRAY_LINES_OF_INTEGERS(name##_int8_t, int8_t, op)     \
	DRAY_LINES_OF_INTEGERS(name##_int16_t, int16_t, op)   \
	DRAY_LINES_OF_INTEGERS(name##_int32_t, int32_t, op)   \
	DRAY_LINES_OF_INTEGERS(name##_int64_t, int64_t, op)   \
	DRAY_LINES_OF_INTEGERS(name##_uint8_t, uint8_t, op)   \
	DRAY_LINES_OF_INTEGERS(name##_uint16_t, uint16_t, op) \
	DRAY_LINES_OF_INTEGERS(name##_uint32_t, uint32_t, op) \
	DRAY_LINES_OF_INTEGERS(name##_uint64_t, uint64_t, op)

INTEGERS(maximum, GREATER)
INTEGERS(minimum, LESS)

#define FLOAT_ENTRY(name, dtype, T)                                          \
	{                                                                    \
#name, dtype, dtype, name##_##T##_line,                      \
			name##_##T##_apart_running,                          \
			name##_##T##_apart_placing, name##_##T##_apart_rows, \
			false, 0                                             \
	}

#define ENTRIES(name, as)                                           \
	DRAY_LINE_ENTRY(#name, DRAY_INT8, as##_int8_t),             \
		DRAY_LINE_ENTRY(#name, DRAY_INT16, as##_int16_t),   \
		DRAY_LINE_ENTRY(#name, DRAY_INT32, as##_int32_t),   \
		DRAY_LINE_ENTRY(#name, DRAY_INT64, as##_int64_t),   \
		DRAY_LINE_ENTRY(#name, DRAY_UINT8, as##_uint8_t),   \
		DRAY_LINE_ENTRY(#name, DRAY_UINT16, as##_uint16_t), \
		DRAY_LINE_ENTRY(#name, DRAY_UINT32, as##_uint32_t), \
		DRAY_LINE_ENTRY(#name, DRAY_UINT64, as##_uint64_t), \
		DRAY_LINE_FROM(#name, DRAY_FLOAT16, DRAY_FLOAT16,   \
			       name##_half_line),                   \
		FLOAT_ENTRY(name, DRAY_FLOAT32, float),             \
		FLOAT_ENTRY(name, DRAY_FLOAT64, double)

static const struct dray_line lines[] = {
	ENTRIES(maximum, maximum),
	ENTRIES(minimum, minimum),
	ENTRIES(fmax, maximum),
	ENTRIES(fmin, minimum),
};

DRAY_LINES_LIST(best, lines);

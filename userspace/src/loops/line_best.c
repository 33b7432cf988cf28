// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The largest and smallest elements of lines.  Those of floating-point numbers are
 * kept in many lanes, since the compiler does not reorder comparisons that a NaN
 * has a part in.
 */
#include "loops/line_form.h"

#define LANES 64
#define GREATER(a, b) ((a) > (b) ? (a) : (b))
#define LESS(a, b) ((a) < (b) ? (a) : (b))

#define FLOATS(name, T, op)                                                  \
	DRAY_INLINE T name##_of(T a, T b)                                    \
	{                                                                    \
		return (a op b) | (a != a) ? a : b;                          \
	}                                                                    \
	DRAY_LINES_SINGLY(name##_apart, T, name##_of)                        \
	DRAY_LINE_LOOP(name##_line)                                          \
	{                                                                    \
		const T *const dense = (const void *)data;                   \
		T best[LANES];                                               \
		int64_t i, k;                                                \
                                                                             \
		if (stride != sizeof(T) || count < 2 * LANES) {              \
			name##_apart_line(result, data, stride, count);      \
			return;                                              \
		}                                                            \
		for (k = 0; k < LANES; k++)                                  \
			best[k] = dense[k];                                  \
		for (i = LANES; i + LANES <= count; i += LANES)              \
			for (k = 0; k < LANES; k++)                          \
				best[k] = name##_of(best[k], dense[i + k]);  \
		name##_apart_line(result, (const char *)best, sizeof(T),     \
				  LANES);                                    \
		if (i < count)                                               \
			name##_apart_line(result,                            \
					  (const char *)(dense + i),         \
					  sizeof(T), count - i);             \
	}

FLOATS(maximum_float, float, >=)
FLOATS(maximum_double, double, >=)
FLOATS(minimum_float, float, <=)
FLOATS(minimum_double, double, <=)

#define INTEGERS(name, op)                                       \
	DRAY_LINES_OF_INTEGERS(name##_int8_t, int8_t, op)        \
	DRAY_LINES_OF_INTEGERS(name##_int16_t, int16_t, op)      \
	DRAY_LINES_OF_INTEGERS(name##_int32_t, int32_t, op)      \
	DRAY_LINES_OF_INTEGERS(name##_int64_t, int64_t, op)      \
	DRAY_LINES_OF_INTEGERS(name##_uint8_t, uint8_t, op)      \
	DRAY_LINES_OF_INTEGERS(name##_uint16_t, uint16_t, op)    \
	DRAY_LINES_OF_INTEGERS(name##_uint32_t, uint32_t, op)    \
	DRAY_LINES_OF_INTEGERS(name##_uint64_t, uint64_t, op)

INTEGERS(maximum, GREATER)
INTEGERS(minimum, LESS)

#define FLOAT_ENTRY(name, dtype, T)                                        \
	{ #name, dtype, dtype, name##_##T##_line, name##_##T##_apart_running, \
	  name##_##T##_apart_placing, name##_##T##_apart_rows, false, 0 }

#define ENTRIES(name)                                             \
	DRAY_LINE_ENTRY(#name, DRAY_INT8, name##_int8_t),         \
	DRAY_LINE_ENTRY(#name, DRAY_INT16, name##_int16_t),       \
	DRAY_LINE_ENTRY(#name, DRAY_INT32, name##_int32_t),       \
	DRAY_LINE_ENTRY(#name, DRAY_INT64, name##_int64_t),       \
	DRAY_LINE_ENTRY(#name, DRAY_UINT8, name##_uint8_t),       \
	DRAY_LINE_ENTRY(#name, DRAY_UINT16, name##_uint16_t),     \
	DRAY_LINE_ENTRY(#name, DRAY_UINT32, name##_uint32_t),     \
	DRAY_LINE_ENTRY(#name, DRAY_UINT64, name##_uint64_t),     \
	FLOAT_ENTRY(name, DRAY_FLOAT32, float),                   \
	FLOAT_ENTRY(name, DRAY_FLOAT64, double)

static const struct dray_line lines[] = {
	ENTRIES(maximum),
	ENTRIES(minimum),
};

DRAY_LINES_LIST(best, lines);

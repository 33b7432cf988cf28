// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The largest and smallest elements of lines.  Those of floating-point numbers are
 * kept in many lanes, since the compiler does not reorder comparisons that a NaN
 * has a part in.
 */
#include "loops/half_loops.h"
#include "loops/line_form.h"

#define VECTORS 4 /* of 64 bytes, so that comparisons overlap */
#define GREATER(a, b) ((a) > (b) ? (a) : (b))
#define LESS(a, b) ((a) < (b) ? (a) : (b))

/* Numbers in a vector of 64 bytes, as many as there are; M: a mask of each. */
#define LANES_OF(T, M)                                                      \
	typedef T T##_lanes __attribute__((vector_size(64),                 \
					   aligned(sizeof(T)), may_alias)); \
	typedef M T##_mask __attribute__((vector_size(64)));                \
	enum {                                                              \
		T##_LANES = VECTORS * 64ul / sizeof(T)                      \
	}

LANES_OF(float, int32_t);
LANES_OF(double, int64_t);

#define VECTOR(T, from, k) (((const T##_lanes *)(from))[k])

/* Takes elements of @next that are better than those of @best. */
#define BETTER(T, best, next, op, stays)                              \
	do {                                                          \
		const T##_lanes other = (next), first = (best);       \
		const T##_mask stay =                                 \
			(first op other) |                            \
			(stays(first, other) != stays(first, other)); \
                                                                      \
		best = (T##_lanes)(((T##_mask)first & stay) |         \
				   ((T##_mask)other & ~stay));        \
	} while (0)

#define FIRST(a, b) (a)
#define SECOND(a, b) (b)

/* @stays: the number of the two that, if it is a NaN, lets the first one stay */
#define FLOATS(name, T, op, stays)                                            \
	DRAY_INLINE T name##_of(T a, T b)                                     \
	{                                                                     \
		return (a op b) | (stays(a, b) != stays(a, b)) ? a : b;       \
	}                                                                     \
	DRAY_LINES_SINGLY(name##_apart, T, name##_of)                         \
	DRAY_LINE_LOOP(name##_line)                                           \
	{                                                                     \
		const T *dense = (const void *)data;                          \
		const int64_t lead =                                          \
			(int64_t)(-(uintptr_t)data % 64 / sizeof(T));         \
		T##_lanes best[1], a, b, c, d;                                \
		int64_t i;                                                    \
                                                                              \
		if (stride != sizeof(T) || count < INT64_C(3) * T##_LANES) {  \
			name##_apart_line(result, data, stride, count);       \
			return;                                               \
		}                                                             \
		/* A vector in two lines of the cache takes two loads. */     \
		name##_apart_line(result, data, stride, lead);                \
		dense += lead;                                                \
		count -= lead;                                                \
		a = VECTOR(T, dense, 0), b = VECTOR(T, dense, 1);             \
		c = VECTOR(T, dense, 2), d = VECTOR(T, dense, 3);             \
		for (i = T##_LANES; i + T##_LANES <= count; i += T##_LANES) { \
			BETTER(T, a, VECTOR(T, dense + i, 0), op, stays);     \
			BETTER(T, b, VECTOR(T, dense + i, 1), op, stays);     \
			BETTER(T, c, VECTOR(T, dense + i, 2), op, stays);     \
			BETTER(T, d, VECTOR(T, dense + i, 3), op, stays);     \
		}                                                             \
		BETTER(T, a, b, op, stays);                                   \
		BETTER(T, c, d, op, stays);                                   \
		BETTER(T, a, c, op, stays);                                   \
		best[0] = a;                                                  \
		name##_apart_line(result, (const char *)best, sizeof(T),      \
				  T##_LANES / VECTORS);                       \
		if (i < count)                                                \
			name##_apart_line(result, (const char *)(dense + i),  \
					  sizeof(T), count - i);              \
	}

FLOATS(maximum_float, float, >=, FIRST)
FLOATS(maximum_double, double, >=, FIRST)
FLOATS(minimum_float, float, <=, FIRST)
FLOATS(minimum_double, double, <=, FIRST)
/* These leave out every NaN. */
FLOATS(fmax_float, float, >=, SECOND)
FLOATS(fmax_double, double, >=, SECOND)
FLOATS(fmin_float, float, <=, SECOND)
FLOATS(fmin_double, double, <=, SECOND)

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

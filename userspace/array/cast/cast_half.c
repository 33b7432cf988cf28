// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loops between float16 and floats, at any address.  This file is compiled once for
 * each level of the processor's instructions, with DRAY_LOOPS_LEVEL as the ending of
 * its name.
 */
#include <stdint.h>

#include "cast/fp_flags.h"
#include "private.h"
#include "cast/cast_each.h"
#include "cast/cast_half.h"

/* At -O2, gcc 12 vectorises no loop that may leave a rest. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#ifndef DRAY_LOOPS_LEVEL
#define DRAY_LOOPS_LEVEL
#endif
#define PASTED(a, b) a##b
#define PASTE(a, b) PASTED(a, b)

DEFINE_STORE_OF(uint16_t)
DEFINE_STORE_OF(float)
DEFINE_STORE_OF(double)

DEFINE_EACH(static, to_float, uint16_t, 2, 4, store_float, dray_half_to_float)
DEFINE_EACH(static, to_double, uint16_t, 2, 8, store_double, dray_half_to_float)
DEFINE_EACH(static, convert_float, float, 4, 2, store_uint16_t,
	    dray_half_from_float)
DEFINE_EACH(static, convert_double, double, 8, 2, store_uint16_t,
	    dray_half_from_double)

/* Items that are looked at for errors before they are converted. */
#define PART 512

/* Arithmetic of integers notes no errors: a look at the items does. */
#define LOOK(stride)                                       \
	for (i = 0; i < part; i++) {                       \
		memcpy(&x, src + i * (stride), sizeof(x)); \
		over |= OVERFLOWS(x);                      \
		under |= UNDERFLOWS(x);                    \
	}

#define DEFINE_ROUNDING(type, Bits)                                           \
	static int of_##type(char *const *data, const int64_t *strides,       \
			     int64_t count)                                   \
	{                                                                     \
		char *parts[2] = { data[0], data[1] };                        \
		Bits over = 0, under = 0;                                     \
		int64_t part, i;                                              \
		type x;                                                       \
                                                                              \
		for (; count > 0; count -= part) {                            \
			const char *const src = parts[1];                     \
                                                                              \
			part = count < PART ? count : PART;                   \
			if (strides[1] == sizeof(type))                       \
				LOOK((int64_t)sizeof(type))                   \
			else                                                  \
				LOOK(strides[1])                              \
			convert_##type(parts, strides, part, NULL);           \
			parts[0] += part * strides[0];                        \
			parts[1] += part * strides[1];                        \
		}                                                             \
		return (over ? FE_OVERFLOW : 0) | (under ? FE_UNDERFLOW : 0); \
	}

#define OVERFLOWS dray_half_overflows
#define UNDERFLOWS dray_half_underflows
DEFINE_ROUNDING(float, uint32_t)
#undef OVERFLOWS
#undef UNDERFLOWS
#define OVERFLOWS dray_half_overflows_double
#define UNDERFLOWS dray_half_underflows_double
DEFINE_ROUNDING(double, uint64_t)

extern const struct dray_half_casts PASTE(dray_half_casts_of, DRAY_LOOPS_LEVEL);
const struct dray_half_casts PASTE(dray_half_casts_of, DRAY_LOOPS_LEVEL) = {
	to_float,
	to_double,
	of_float,
	of_double,
};

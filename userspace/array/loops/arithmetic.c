// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Sums, differences and products. */
#include "loops/half_loops.h"
#include "loops/times.h"

#define ADD(a, b) ((a) + (b))
#define SUBTRACT(a, b) ((a) - (b))
#define MULTIPLY(a, b) ((a) * (b))

/* Integers wrap, so one loop serves both signs. */
#define INTEGERS(name, op)                                       \
	DRAY_BINARY(name##_8, uint8_t, uint8_t, uint8_t, op)     \
	DRAY_BINARY(name##_16, uint16_t, uint16_t, uint16_t, op) \
	DRAY_BINARY(name##_32, uint32_t, uint32_t, uint32_t, op) \
	DRAY_BINARY(name##_64, uint64_t, uint64_t, uint64_t, op)

#define FLOATS(name, op)                                       \
	DRAY_BINARY(name##_float, float, float, float, op)     \
	DRAY_BINARY(name##_double, double, double, double, op) \
	DRAY_HALF_OF(name##_half, name##_float);

#define COMPLEX_NUMBERS(name, op)                                          \
	DRAY_BINARY(name##_complex64, struct dray_complex64,               \
		    struct dray_complex64, struct dray_complex64, op##_64) \
	DRAY_BINARY(name##_complex128, struct dray_complex128,             \
		    struct dray_complex128, struct dray_complex128, op##_128)

#define COMPLEX_OPS(number, bits, negative)                                    \
	DRAY_INLINE struct number sum_##bits(struct number a, struct number b) \
	{                                                                      \
		return (struct number){ a.re + b.re, a.im + b.im };            \
	}                                                                      \
	DRAY_INLINE struct number difference_##bits(struct number a,           \
						    struct number b)           \
	{                                                                      \
		return (struct number){ a.re - b.re, a.im - b.im };            \
	}                                                                      \
	DRAY_INLINE struct number product_##bits(struct number a,              \
						 struct number b)              \
	{                                                                      \
		return (struct number){ a.re * b.re + a.im * negative(b.im),   \
					a.re * b.im + a.im * b.re };           \
	}

COMPLEX_OPS(dray_complex64, 64, dray_negative_float)
COMPLEX_OPS(dray_complex128, 128, dray_negative_double)

/* Products of small numbers as int overflow where those of unsigned do not. */
#define MULTIPLY_16(a, b) ((uint32_t)(a) * (b))

INTEGERS(add, ADD)
INTEGERS(subtract, SUBTRACT)
DRAY_BINARY(multiply_8, uint8_t, uint8_t, uint8_t, MULTIPLY)
DRAY_BINARY(multiply_16, uint16_t, uint16_t, uint16_t, MULTIPLY_16)
DRAY_BINARY(multiply_32, uint32_t, uint32_t, uint32_t, MULTIPLY)
DRAY_BINARY(multiply_64, uint64_t, uint64_t, uint64_t, MULTIPLY)
FLOATS(add, ADD)
FLOATS(subtract, SUBTRACT)
FLOATS(multiply, MULTIPLY)
COMPLEX_NUMBERS(add, sum)
COMPLEX_NUMBERS(subtract, difference)
COMPLEX_NUMBERS(multiply, product)

#define TRUE_OR(a, b) (((a) | (b)) != 0)
#define TRUE_AND(a, b) (((a) != 0) & ((b) != 0))
DRAY_BINARY(add_bool, uint8_t, uint8_t, uint8_t, TRUE_OR)
DRAY_BINARY(multiply_bool, uint8_t, uint8_t, uint8_t, TRUE_AND)

#define NUMBER_ENTRIES(name)                                                \
	DRAY_QUIET("bbb", name##_8), DRAY_QUIET("BBB", name##_8),           \
		DRAY_QUIET("hhh", name##_16), DRAY_QUIET("HHH", name##_16), \
		DRAY_QUIET("iii", name##_32), DRAY_QUIET("III", name##_32), \
		DRAY_QUIET("qqq", name##_64), DRAY_QUIET("QQQ", name##_64), \
		DRAY_HALF_ENTRY("eee", dray_half_binary, name##_half),      \
		DRAY_ENTRY("fff", name##_float),                            \
		DRAY_ENTRY("ddd", name##_double),                           \
		DRAY_ENTRY("FFF", name##_complex64),                        \
		DRAY_ENTRY("DDD", name##_complex128)

static const struct dray_loop_entry add[] = {
	DRAY_QUIET("???", add_bool),	  NUMBER_ENTRIES(add),
	DRAY_QUIET("MmM", dray_time_add), DRAY_QUIET("mmm", dray_time_add),
	DRAY_QUIET("mMM", dray_time_add),
};

static const struct dray_loop_entry subtract[] = {
	NUMBER_ENTRIES(subtract),
	DRAY_QUIET("MmM", dray_time_subtract),
	DRAY_QUIET("mmm", dray_time_subtract),
	DRAY_QUIET("MMm", dray_time_subtract),
};

static const struct dray_loop_entry multiply[] = {
	DRAY_QUIET("???", multiply_bool),
	NUMBER_ENTRIES(multiply),
	DRAY_QUIET("mqm", dray_time_times_integer),
	DRAY_QUIET("qmm", dray_integer_times_time),
	DRAY_ENTRY("mdm", dray_time_times_float),
	DRAY_ENTRY("dmm", dray_float_times_time),
};

static const struct dray_ufunc_definition definitions[] = {
	{ "add", 2, 1, DRAY_IDENTITY_ZERO, add, DRAY_COUNT(add),
	  dray_resolve_add },
	{ "subtract", 2, 1, DRAY_IDENTITY_NONE, subtract, DRAY_COUNT(subtract),
	  dray_resolve_subtract },
	{ "multiply", 2, 1, DRAY_IDENTITY_ONE, multiply, DRAY_COUNT(multiply),
	  dray_resolve_multiply },
};

DRAY_LOOPS_LIST(arithmetic, definitions);

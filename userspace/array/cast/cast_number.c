// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loops between plain numbers in the machine's byte order, at any address: a
 * loop for each pair, made by macros, and loops of complex numbers.
 * The compiler turns the dense case into vectors.
 *
 * In C, the conversion of a float outside of an integer's range is undefined.
 * Here it yields the result of the machine's instruction, as in NumPy: on x86,
 * the bits of the least int32_t or int64_t, cut to the type's size.
 */
#include <string.h>

#include "cast/cast_each.h"

/* At -O2, gcc 12 vectorises no loop that may leave a rest. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define ANY_FLOAT __attribute__((no_sanitize("float-cast-overflow")))

#if defined(__x86_64__) || defined(__i386__)
/* Spelt out where vectors would yield another result than single numbers. */
#define TO_UINT8(x) ((uint8_t)(int16_t)(x))
#define TO_UINT16(x) ((uint16_t)(int32_t)(x))
#define TO_UINT32(x) ((uint32_t)(int64_t)(x))
#define TO_UINT64(x)                                                    \
	((x) >= 0x1p63f ? (uint64_t)(int64_t)((x)-0x1p63f) ^ 1ull << 63 \
			: (uint64_t)(int64_t)(x))
#else
/* Vectors would convert to signed numbers first. */
#define TO_UINT8(x) ((uint8_t)(uint32_t)(x))
#define TO_UINT16(x) ((uint16_t)(uint32_t)(x))
#define TO_UINT32(x) ((uint32_t)(x))
#define TO_UINT64(x) ((uint64_t)(x))
#endif
#define TO_INT8(x) ((int8_t)(x))
#define TO_INT16(x) ((int16_t)(x))
#define TO_INT32(x) ((int32_t)(x))
#define TO_INT64(x) ((int64_t)(x))
#define TO_FLOAT(x) ((float)(x))
#define TO_DOUBLE(x) ((double)(x))
#define TO_LONG(x) ((long double)(x))
#define TO_BOOL(x) ((uint8_t)((x) != 0))

/* Cuts off the bits of an integer that do not fit. */
#define CUT_INT8(x) ((int8_t)(x))
#define CUT_INT16(x) ((int16_t)(x))
#define CUT_INT32(x) ((int32_t)(x))
#define CUT_INT64(x) ((int64_t)(x))

typedef uint8_t type_BOOL;
typedef int8_t type_INT8;
typedef int16_t type_INT16;
typedef int32_t type_INT32;
typedef int64_t type_INT64;
typedef uint8_t type_UINT8;
typedef uint16_t type_UINT16;
typedef uint32_t type_UINT32;
typedef uint64_t type_UINT64;
typedef float type_FLOAT;
typedef double type_DOUBLE;
typedef long double type_LONG;

#define DEFINE_STORE(name)                                        \
	static inline void store_##name(char *dst, type_##name x) \
	{                                                         \
		memcpy(dst, &x, sizeof(x));                       \
	}

DEFINE_STORE(BOOL)
DEFINE_STORE(INT8)
DEFINE_STORE(INT16)
DEFINE_STORE(INT32)
DEFINE_STORE(INT64)
DEFINE_STORE(UINT8)
DEFINE_STORE(UINT16)
DEFINE_STORE(UINT32)
DEFINE_STORE(UINT64)
DEFINE_STORE(FLOAT)
DEFINE_STORE(DOUBLE)

/* The x87's numbers occupy 10 bytes; the others are cleared. */
#define LONG_BYTES (LDBL_MANT_DIG == 64 ? 10 : sizeof(long double))

static inline void store_LONG(char *dst, long double x)
{
	memset(dst, 0, sizeof(x));
	memcpy(dst, &x, LONG_BYTES);
}

#define DEFINE_LOOP(to, from, convert)                                  \
	DEFINE_EACH(ANY_FLOAT static, loop_##from##_##to, type_##from,  \
		    sizeof(type_##from), sizeof(type_##to), store_##to, \
		    convert)

/*
 * Vectors of arm64 convert double to 64 bits and cut them, single numbers end at the
 * limits of 32 bits.
 */
#if defined(__aarch64__) && defined(__GNUC__) && !defined(__clang__)
#define ONE_BY_ONE_DOUBLE __attribute__((optimize("no-tree-vectorize")))
#else
#define ONE_BY_ONE_DOUBLE
#endif
#define ONE_BY_ONE_FLOAT
#define ONE_BY_ONE_LONG

#define DEFINE_NARROW(to, from, convert)                                    \
	DEFINE_EACH(ANY_FLOAT ONE_BY_ONE_##from static, loop_##from##_##to, \
		    type_##from, sizeof(type_##from), sizeof(type_##to),    \
		    store_##to, convert)

/* Of integers of equal size, signed and unsigned, the bits are the same. */
#define DEFINE_FROM_INTEGER(from)            \
	DEFINE_LOOP(BOOL, from, TO_BOOL)     \
	DEFINE_LOOP(INT8, from, CUT_INT8)    \
	DEFINE_LOOP(INT16, from, CUT_INT16)  \
	DEFINE_LOOP(INT32, from, CUT_INT32)  \
	DEFINE_LOOP(INT64, from, CUT_INT64)  \
	DEFINE_LOOP(FLOAT, from, TO_FLOAT)   \
	DEFINE_LOOP(DOUBLE, from, TO_DOUBLE) \
	DEFINE_LOOP(LONG, from, TO_LONG)

#define DEFINE_FROM_FLOAT(from)                \
	DEFINE_LOOP(BOOL, from, TO_BOOL)       \
	DEFINE_NARROW(INT8, from, TO_INT8)     \
	DEFINE_NARROW(INT16, from, TO_INT16)   \
	DEFINE_NARROW(INT32, from, TO_INT32)   \
	DEFINE_LOOP(INT64, from, TO_INT64)     \
	DEFINE_NARROW(UINT8, from, TO_UINT8)   \
	DEFINE_NARROW(UINT16, from, TO_UINT16) \
	DEFINE_NARROW(UINT32, from, TO_UINT32) \
	DEFINE_LOOP(UINT64, from, TO_UINT64)   \
	DEFINE_LOOP(FLOAT, from, TO_FLOAT)     \
	DEFINE_LOOP(DOUBLE, from, TO_DOUBLE)   \
	DEFINE_LOOP(LONG, from, TO_LONG)

/* Any byte but 0 is true, and converts as 1. */
#define TRUTH_OF(to)                                  \
	static inline type_##to truth_##to(uint8_t x) \
	{                                             \
		return x != 0;                        \
	}                                             \
	DEFINE_LOOP(to, BOOL, truth_##to)

TRUTH_OF(BOOL)
TRUTH_OF(INT8)
TRUTH_OF(INT16)
TRUTH_OF(INT32)
TRUTH_OF(INT64)
TRUTH_OF(FLOAT)
TRUTH_OF(DOUBLE)
TRUTH_OF(LONG)
DEFINE_FROM_INTEGER(INT8)
DEFINE_FROM_INTEGER(INT16)
DEFINE_FROM_INTEGER(INT32)
DEFINE_FROM_INTEGER(INT64)
DEFINE_FROM_INTEGER(UINT8)
DEFINE_FROM_INTEGER(UINT16)
DEFINE_FROM_INTEGER(UINT32)
DEFINE_FROM_INTEGER(UINT64)
DEFINE_FROM_FLOAT(FLOAT)
DEFINE_FROM_FLOAT(DOUBLE)
DEFINE_FROM_FLOAT(LONG)

/* [to][from] */
#define ROW(of_unsigned, to)                                     \
	[DRAY_CLASS_##of_unsigned] = {                           \
		[DRAY_CLASS_BOOL] = loop_BOOL_##to,              \
		[DRAY_CLASS_INT8] = loop_INT8_##to,              \
		[DRAY_CLASS_INT16] = loop_INT16_##to,            \
		[DRAY_CLASS_INT32] = loop_INT32_##to,            \
		[DRAY_CLASS_INT64] = loop_INT64_##to,            \
		[DRAY_CLASS_UINT8] = loop_UINT8_##to,            \
		[DRAY_CLASS_UINT16] = loop_UINT16_##to,          \
		[DRAY_CLASS_UINT32] = loop_UINT32_##to,          \
		[DRAY_CLASS_UINT64] = loop_UINT64_##to,          \
		[DRAY_CLASS_FLOAT] = loop_FLOAT_##of_unsigned,   \
		[DRAY_CLASS_DOUBLE] = loop_DOUBLE_##of_unsigned, \
		[DRAY_CLASS_LONG] = loop_LONG_##of_unsigned,     \
	}

dray_loop *const dray_number_loops[DRAY_PLAIN_NUMBERS][DRAY_PLAIN_NUMBERS] = {
	ROW(BOOL, BOOL),    ROW(INT8, INT8),	 ROW(INT16, INT16),
	ROW(INT32, INT32),  ROW(INT64, INT64),	 ROW(UINT8, INT8),
	ROW(UINT16, INT16), ROW(UINT32, INT32),	 ROW(UINT64, INT64),
	ROW(FLOAT, FLOAT),  ROW(DOUBLE, DOUBLE), ROW(LONG, LONG),
};

/*
 * A NaN is NaT, without an error: no NaN is converted, also where compilers make
 * vectors of both branches.
 */
#define DEFINE_TIME_OF(from, type, bits_type)                                \
	ANY_FLOAT static inline int64_t time_of_##from(type x)               \
	{                                                                    \
		const bits_type known = -(bits_type)(x == x);                \
		bits_type bits;                                              \
                                                                             \
		memcpy(&bits, &x, sizeof(bits));                             \
		bits &= known;                                               \
		memcpy(&x, &bits, sizeof(bits));                             \
		return ((int64_t)x & known) | (INT64_MIN & ~(int64_t)known); \
	}

DEFINE_TIME_OF(FLOAT, float, int32_t)
DEFINE_TIME_OF(DOUBLE, double, int64_t)

ANY_FLOAT static inline int64_t time_of_LONG(long double x)
{
	return x != x ? INT64_MIN : (int64_t)x;
}

#define DEFINE_TIME(from)                                              \
	DEFINE_EACH(ANY_FLOAT static, loop_##from##_time, type_##from, \
		    sizeof(type_##from), sizeof(int64_t), store_INT64, \
		    time_of_##from)

DEFINE_TIME(FLOAT)
DEFINE_TIME(DOUBLE)
DEFINE_TIME(LONG)

dray_loop *const dray_to_time_loops[3] = {
	loop_FLOAT_time,
	loop_DOUBLE_time,
	loop_LONG_time,
};

#define AS_IT_IS(x) (x)
#define IS_TRUE(x) ((uint8_t)((x).real != 0 || (x).imaginary != 0))

/* Macros: with a sanitizer, gcc warns of the second address in a function. */
#define STORE_PAIR(part, at, x)                              \
	do {                                                 \
		store_##part(at, x);                         \
		store_##part((at) + sizeof(type_##part), 0); \
	} while (0)
#define STORE_PAIR_FLOAT(at, x) STORE_PAIR(FLOAT, at, x)
#define STORE_PAIR_DOUBLE(at, x) STORE_PAIR(DOUBLE, at, x)
#define STORE_PAIR_LONG(at, x) STORE_PAIR(LONG, at, x)

/* Real numbers to complex numbers of the same parts, back, and to bools. */
#define DEFINE_COMPLEX(part)                                              \
	struct pair_##part {                                              \
		type_##part real, imaginary;                              \
	};                                                                \
                                                                          \
	DEFINE_EACH(ANY_FLOAT static, loop_##part##_complex, type_##part, \
		    sizeof(type_##part), 2 * sizeof(type_##part),         \
		    STORE_PAIR_##part, AS_IT_IS)                          \
	DEFINE_EACH(ANY_FLOAT static, loop_complex_##part, type_##part,   \
		    2 * sizeof(type_##part), sizeof(type_##part),         \
		    store_##part, AS_IT_IS)                               \
	DEFINE_EACH(ANY_FLOAT static, loop_##part##_complex_bool,         \
		    struct pair_##part, 2 * sizeof(type_##part), 1,       \
		    store_BOOL, IS_TRUE)

DEFINE_COMPLEX(FLOAT)
DEFINE_COMPLEX(DOUBLE)
DEFINE_COMPLEX(LONG)

dray_loop *const dray_to_complex_loops[3] = {
	loop_FLOAT_complex,
	loop_DOUBLE_complex,
	loop_LONG_complex,
};

dray_loop *const dray_from_complex_loops[3] = {
	loop_complex_FLOAT,
	loop_complex_DOUBLE,
	loop_complex_LONG,
};

dray_loop *const dray_complex_bool_loops[3] = {
	loop_FLOAT_complex_bool,
	loop_DOUBLE_complex_bool,
	loop_LONG_complex_bool,
};

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Quotients and remainders.  Those of floats that round down have the sign of the
 * divisor, as Python has them; fmod has that of the dividend.
 */
#include <math.h>

#include "loops/divide.h"
#include "loops/half_loops.h"
#include "loops/times.h"

#define DIVIDE(a, b) ((a) / (b))
DRAY_BINARY(divide_float, float, float, float, DIVIDE)
DRAY_BINARY(divide_double, double, double, double, DIVIDE)
DRAY_HALF_OF(divide_half, divide_float);

/*
 * By the larger part of the divisor, so that no square overflows: R. L. Smith,
 * "Algorithm 116: Complex division", 1962.
 */
#define COMPLEX(number, bits, T, fabs, negative)                               \
	DRAY_INLINE struct number quotient_##bits(struct number a,             \
						  struct number b)             \
	{                                                                      \
		const T re = fabs(b.re), im = fabs(b.im);                      \
                                                                               \
		if (re >= im) {                                                \
			const T ratio = b.im / b.re;                           \
			const T scale = 1 / (b.re + b.im * ratio);             \
                                                                               \
			if (re == 0 && im == 0)                                \
				return (struct number){ a.re / re,             \
							a.im / im };           \
			return (struct number){                                \
				(a.re + a.im * ratio) * scale,                 \
				(a.im + a.re * negative(ratio)) * scale        \
			};                                                     \
		} else {                                                       \
			const T ratio = b.re / b.im;                           \
			const T scale = 1 / (b.im + b.re * ratio);             \
                                                                               \
			return (struct number){                                \
				(a.re * ratio + a.im) * scale,                 \
				(a.im * ratio + negative(a.re)) * scale        \
			};                                                     \
		}                                                              \
	}                                                                      \
	DRAY_BINARY_SINGLY(divide_complex##bits, struct number, struct number, \
			   struct number, quotient_##bits)

COMPLEX(dray_complex64, 64, float, fabsf, dray_negative_float)
COMPLEX(dray_complex128, 128, double, fabs, dray_negative_double)

/* By doubles, if the quotient leaves room for the exact remainder. */
DRAY_INLINE float fmod_of_float(float a, float b)
{
	const double by = fabs((double)b), size = fabs((double)a);
	double rest;

	if (by == 0 || !isless(by, (double)INFINITY) ||
	    !isless(size, by * 0x1p28))
		return fmodf(a, b);
	rest = size - (double)(int64_t)(size / by) * by;
	rest += rest < 0 ? by : 0;
	return copysignf((float)rest, a);
}

/* By integers, 11 bits of the quotient at a time. */
DRAY_INLINE double fmod_of_double(double a, double b)
{
	const uint64_t size = dray_bits_of_double(a) & ~(1ull << 63);
	const uint64_t by = dray_bits_of_double(b) & ~(1ull << 63);
	const uint64_t hidden = 1ull << 52;
	uint64_t rest, divisor;
	int shift;

	/* The scale of the remainder is a normal number. */
	if (by < 54ull << 52 || by >= 0x7ff0000000000000 ||
	    size >= 0x7ff0000000000000)
		return fmod(a, b);
	if (size < by)
		return a;
	divisor = (by & (hidden - 1)) | hidden;
	rest = (size & (hidden - 1)) | hidden;
	for (shift = (int)(size >> 52) - (int)(by >> 52); shift > 11;
	     shift -= 11)
		rest = (rest << 11) % divisor;
	rest = (rest << shift) % divisor;
	return copysign(
		(double)rest * dray_double_of_bits(((by >> 52) - 52) << 52), a);
}

/* As CPython's divmod() of floats; the quotient is made whole by the remainder. */
#define REAL(name, T, fmod, floor, copysign)                              \
	DRAY_INLINE T divmod_of_##name(T a, T b, T *rest)                 \
	{                                                                 \
		const T chopped = fmod(a, b);                             \
		T quotient, whole;                                        \
                                                                          \
		*rest = chopped;                                          \
		if (b == 0)                                               \
			return a / b;                                     \
		quotient = (a - chopped) / b;                             \
		if (chopped == 0) {                                       \
			*rest = copysign((T)0, b);                        \
		} else if (isless(b, (T)0) != isless(chopped, (T)0)) {    \
			*rest += b;                                       \
			quotient -= 1;                                    \
		}                                                         \
		if (quotient == 0)                                        \
			return copysign((T)0, a / b);                     \
		whole = floor(quotient);                                  \
		return isgreater(quotient - whole, (T)0.5) ? whole + 1    \
							   : whole;       \
	}                                                                 \
	DRAY_INLINE T floor_of_##name(T a, T b)                           \
	{                                                                 \
		T rest;                                                   \
                                                                          \
		return b == 0 ? a / b : divmod_of_##name(a, b, &rest);    \
	}                                                                 \
	DRAY_INLINE T rest_of_##name(T a, T b)                            \
	{                                                                 \
		T rest;                                                   \
                                                                          \
		if (b == 0)                                               \
			return fmod(a, b);                                \
		divmod_of_##name(a, b, &rest);                            \
		return rest;                                              \
	}                                                                 \
	DRAY_BINARY_SINGLY(floor_##name, T, T, T, floor_of_##name)        \
	DRAY_BINARY_SINGLY(remainder_##name, T, T, T, rest_of_##name)     \
	DRAY_BINARY_SINGLY(fmod_##name, T, T, T, fmod)                    \
	DRAY_LOOP(divmod_##name)                                          \
	{                                                                 \
		int64_t i;                                                \
                                                                          \
		for (i = 0; i < count; i++) {                             \
			T rest;                                           \
			const T whole = divmod_of_##name(                 \
				ITEM_AT(const T, data[0], i, strides[0]), \
				ITEM_AT(const T, data[1], i, strides[1]), \
				&rest);                                   \
                                                                          \
			ITEM_AT(T, data[2], i, strides[2]) = whole;       \
			ITEM_AT(T, data[3], i, strides[3]) = rest;        \
		}                                                         \
		return 0;                                                 \
	}

REAL(float, float, fmod_of_float, floorf, copysignf)
REAL(double, double, fmod_of_double, floor, copysign)

DRAY_HALF_OF(floor_half, floor_float);
DRAY_HALF_OF(remainder_half, remainder_float);
DRAY_HALF_OF(fmod_half, fmod_float);
DRAY_HALF_OF(divmod_of_half, divmod_float);

DRAY_LOOP(divmod_half)
{
	return dray_half_loop(data, strides, count, context, 2, 2);
}

#define BLOCK 256

/*
 * Quotients wait aside, since they may take the place of an input.  The rest of a
 * division by 0 is 0.
 */
#define DIVMOD(suffix, T)                                                      \
	DRAY_LOOP(divmod_##suffix)                                             \
	{                                                                      \
		const int64_t steps[] = { strides[0], strides[1], sizeof(T) }; \
		T aside[BLOCK];                                                \
		int64_t done, part, i;                                         \
                                                                               \
		for (done = 0; done < count; done += part) {                   \
			char *const a = data[0] + done * strides[0];           \
			char *const b = data[1] + done * strides[1];           \
			char *const out = data[2] + done * strides[2];         \
			char *const rest = data[3] + done * strides[3];        \
			char *const quotients[] = { a, b, (char *)aside };     \
                                                                               \
			part = count - done < BLOCK ? count - done : BLOCK;    \
			DRAY_LEVELLED(dray_floor_##suffix)                     \
			(quotients, steps, part, context);                     \
			for (i = 0; i < part; i++) {                           \
				const uint64_t x = (uint64_t)ITEM_AT(          \
					const T, a, i, strides[0]);            \
				const uint64_t y = (uint64_t)ITEM_AT(          \
					const T, b, i, strides[1]);            \
				const uint64_t q = (uint64_t)aside[i];         \
                                                                               \
				ITEM_AT(T, out, i, strides[2]) = (T)q;         \
				ITEM_AT(T, rest, i, strides[3]) =              \
					y ? (T)(x - q * y) : 0;                \
			}                                                      \
		}                                                              \
		return 0;                                                      \
	}
DIVMOD(i8, int8_t)
DIVMOD(8, uint8_t)
DIVMOD(i16, int16_t)
DIVMOD(16, uint16_t)
DIVMOD(i32, int32_t)
DIVMOD(32, uint32_t)
DIVMOD(i64, int64_t)
DIVMOD(64, uint64_t)

#define INTEGER_ENTRIES(name)                                        \
	DRAY_ENTRY("bbb", DRAY_LEVELLED(dray_##name##_i8)),          \
		DRAY_ENTRY("BBB", DRAY_LEVELLED(dray_##name##_8)),   \
		DRAY_ENTRY("hhh", DRAY_LEVELLED(dray_##name##_i16)), \
		DRAY_ENTRY("HHH", DRAY_LEVELLED(dray_##name##_16)),  \
		DRAY_ENTRY("iii", DRAY_LEVELLED(dray_##name##_i32)), \
		DRAY_ENTRY("III", DRAY_LEVELLED(dray_##name##_32)),  \
		DRAY_ENTRY("qqq", DRAY_LEVELLED(dray_##name##_i64)), \
		DRAY_ENTRY("QQQ", DRAY_LEVELLED(dray_##name##_64))
#define FLOAT_ENTRIES(name)                                    \
	DRAY_HALF_ENTRY("eee", dray_half_binary, name##_half), \
		DRAY_ENTRY("fff", name##_float),               \
		DRAY_ENTRY("ddd", name##_double)
static const struct dray_loop_entry divide[] = {
	DRAY_HALF_ENTRY("eee", dray_half_binary, divide_half),
	DRAY_ENTRY("fff", divide_float),
	DRAY_ENTRY("ddd", divide_double),
	DRAY_ENTRY("FFF", divide_complex64),
	DRAY_ENTRY("DDD", divide_complex128),
	DRAY_ENTRY("mqm", dray_time_by_integer),
	DRAY_ENTRY("mdm", dray_time_by_float),
	DRAY_ENTRY("mmd", dray_time_by_time),
};

static const struct dray_loop_entry floor_divide[] = {
	INTEGER_ENTRIES(floor),
	FLOAT_ENTRIES(floor),
	DRAY_ENTRY("mqm", dray_time_by_integer),
	DRAY_ENTRY("mdm", dray_time_by_float),
	DRAY_ENTRY("mmq", dray_time_floor_by_time),
};

static const struct dray_loop_entry remainder_entries[] = {
	INTEGER_ENTRIES(remainder),
	FLOAT_ENTRIES(remainder),
	DRAY_ENTRY("mmm", dray_time_remainder),
};

static const struct dray_loop_entry fmod_entries[] = {
	INTEGER_ENTRIES(fmod),
	FLOAT_ENTRIES(fmod),
};

static const struct dray_loop_entry divmod[] = {
	DRAY_ENTRY("bbbb", divmod_i8),
	DRAY_ENTRY("BBBB", divmod_8),
	DRAY_ENTRY("hhhh", divmod_i16),
	DRAY_ENTRY("HHHH", divmod_16),
	DRAY_ENTRY("iiii", divmod_i32),
	DRAY_ENTRY("IIII", divmod_32),
	DRAY_ENTRY("qqqq", divmod_i64),
	DRAY_ENTRY("QQQQ", divmod_64),
	DRAY_HALF_ENTRY("eeee", divmod_half, divmod_of_half),
	DRAY_ENTRY("ffff", divmod_float),
	DRAY_ENTRY("dddd", divmod_double),
	DRAY_ENTRY("mmqm", dray_time_divmod),
};

#define DEFINITION(name, outputs, entries, resolver)           \
	{                                                      \
		name, 2, outputs, DRAY_IDENTITY_NONE, entries, \
			DRAY_COUNT(entries), resolver          \
	}

static const struct dray_ufunc_definition definitions[] = {
	DEFINITION("divide", 1, divide, dray_resolve_divide),
	DEFINITION("true_divide", 1, divide, dray_resolve_divide),
	DEFINITION("floor_divide", 1, floor_divide, dray_resolve_divide),
	DEFINITION("remainder", 1, remainder_entries, dray_resolve_remainder),
	DEFINITION("mod", 1, remainder_entries, dray_resolve_remainder),
	DEFINITION("fmod", 1, fmod_entries, NULL),
	DEFINITION("divmod", 2, divmod, dray_resolve_remainder),
};

DRAY_LOOPS_LIST(divide, definitions);

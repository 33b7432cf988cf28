// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Signs and sizes of one number: negative, positive, absolute, sign, conjugate. */
#include <math.h>

#include "loops/hypot.h"
#include "loops/times.h"

struct size_bits_128 {
	uint64_t re, im;
};

/* The same number, of any type that has this size. */
#define SAME(a) (a)
DRAY_UNARY(same_8, uint8_t, uint8_t, SAME)
DRAY_UNARY(same_16, uint16_t, uint16_t, SAME)
DRAY_UNARY(same_32, uint32_t, uint32_t, SAME)
DRAY_UNARY(same_64, uint64_t, uint64_t, SAME)
DRAY_UNARY(same_128, struct size_bits_128, struct size_bits_128, SAME)

/* Integers wrap: the least one is its own opposite. */
#define NEGATIVE(a) (0 - (a))
#define SIGN(a) (((a) > 0) - ((a) < 0))
#define HAS_SIZE(a) ((a) != 0)
#define INTEGER(bits)                                                         \
	DRAY_INLINE uint##bits##_t absolute_of_##bits(int##bits##_t a)        \
	{                                                                     \
		const uint##bits##_t size = (uint##bits##_t)a;                \
                                                                              \
		return (uint##bits##_t)(a < 0 ? 0 - size : size);             \
	}                                                                     \
	DRAY_UNARY(negative_##bits, uint##bits##_t, uint##bits##_t, NEGATIVE) \
	DRAY_UNARY(absolute_##bits, int##bits##_t, uint##bits##_t,            \
		   absolute_of_##bits)                                        \
	DRAY_UNARY(sign_i##bits, int##bits##_t, int##bits##_t, SIGN)          \
	DRAY_UNARY(sign_##bits, uint##bits##_t, uint##bits##_t, HAS_SIZE)

INTEGER(8)
INTEGER(16)
INTEGER(32)
INTEGER(64)

/* Floats by their bits: NaN has a sign too. */
#define HALF_NEGATIVE(a) ((a) ^ 0x8000u)
#define FLOAT_NEGATIVE(a) ((a) ^ 0x80000000u)
#define DOUBLE_NEGATIVE(a) ((a) ^ 0x8000000000000000u)
#define HALF_ABSOLUTE(a) ((a)&0x7fffu)
#define FLOAT_ABSOLUTE(a) ((a)&0x7fffffffu)
#define DOUBLE_ABSOLUTE(a) ((a)&0x7fffffffffffffffu)
DRAY_UNARY(negative_half, uint16_t, uint16_t, HALF_NEGATIVE)
DRAY_UNARY(negative_float, uint32_t, uint32_t, FLOAT_NEGATIVE)
DRAY_UNARY(negative_double, uint64_t, uint64_t, DOUBLE_NEGATIVE)
DRAY_UNARY(absolute_half, uint16_t, uint16_t, HALF_ABSOLUTE)
DRAY_UNARY(absolute_float, uint32_t, uint32_t, FLOAT_ABSOLUTE)
DRAY_UNARY(absolute_double, uint64_t, uint64_t, DOUBLE_ABSOLUTE)

/* A NaN stays as it is, and of 0 the sign is lost. */
#define HALF_SIGN(a)                                           \
	((HALF_ABSOLUTE(a) > 0x7c00) ? (a)                     \
	 : HALF_ABSOLUTE(a)	     ? ((a)&0x8000u) | 0x3c00u \
				     : 0)
DRAY_INLINE float sign_of_float(float a)
{
	const float sign = (float)(a > 0) - (float)(a < 0);

	return a != a ? a : sign;
}

DRAY_INLINE double sign_of_double(double a)
{
	const double sign = (double)(a > 0) - (double)(a < 0);

	return a != a ? a : sign;
}

DRAY_UNARY(sign_half, uint16_t, uint16_t, HALF_SIGN)
DRAY_UNARY(sign_float, float, float, sign_of_float)
DRAY_UNARY(sign_double, double, double, sign_of_double)

#define COMPLEX(number, bits, T, size, sign_of)                              \
	DRAY_INLINE struct number negative_of_##bits(struct number a)        \
	{                                                                    \
		return (struct number){ sign_of(a.re), sign_of(a.im) };      \
	}                                                                    \
	DRAY_INLINE struct number conjugate_of_##bits(struct number a)       \
	{                                                                    \
		return (struct number){ a.re, sign_of(a.im) };               \
	}                                                                    \
	/* On the circle of radius 1; no direction has a NaN */              \
	DRAY_INLINE struct number sign_of_##bits(struct number a, T length)  \
	{                                                                    \
		if (isnan(length) || (isinf(a.re) && isinf(a.im)))           \
			return (struct number){ (T)NAN, (T)NAN };            \
		if (isinf(a.re))                                             \
			return (struct number){ a.re > 0 ? 1 : -1, 0 };      \
		if (isinf(length))                                           \
			return (struct number){ 0, a.im > 0 ? 1 : -1 };      \
		if (length == 0)                                             \
			return (struct number){ 0, 0 };                      \
		return (struct number){ a.re / length, a.im / length };      \
	}                                                                    \
	DRAY_INLINE T absolute_of_complex##bits(struct number a)             \
	{                                                                    \
		return size(a.re, a.im);                                     \
	}                                                                    \
	DRAY_UNARY(negative_complex##bits, struct number, struct number,     \
		   negative_of_##bits)                                       \
	DRAY_UNARY(conjugate_complex##bits, struct number, struct number,    \
		   conjugate_of_##bits)                                      \
	DRAY_UNARY_BLOCKS(absolute_complex##bits, struct number, T,          \
			  absolute_of_complex##bits)                         \
	DRAY_LOOP(sign_complex##bits)                                        \
	{                                                                    \
		const int64_t step = strides[0], out_step = strides[1];      \
		const int64_t steps[] = { step, sizeof(T) };                 \
		T lengths[DRAY_UNARY_BLOCK];                                 \
		int64_t done, part, i;                                       \
                                                                             \
		for (done = 0; done < count; done += part) {                 \
			char *const in = data[0] + done * step;              \
			char *const out = data[1] + done * out_step;         \
			char *const parts[] = { in, (char *)lengths };       \
                                                                             \
			part = count - done < DRAY_UNARY_BLOCK               \
				       ? count - done                        \
				       : DRAY_UNARY_BLOCK;                   \
			absolute_complex##bits(parts, steps, part, context); \
			for (i = 0; i < part; i++)                           \
				ITEM_AT(struct number, out, i, out_step) =   \
					sign_of_##bits(                      \
						ITEM_AT(const struct number, \
							in, i, step),        \
						lengths[i]);                 \
		}                                                            \
		return 0;                                                    \
	}

COMPLEX(dray_complex64, 64, float, dray_hypot_float, dray_negative_float)
COMPLEX(dray_complex128, 128, double, dray_hypot_double, dray_negative_double)

#define SIGNED_ENTRIES(name)                                              \
	DRAY_QUIET("bb", name##_8), DRAY_QUIET("BB", name##_8),           \
		DRAY_QUIET("hh", name##_16), DRAY_QUIET("HH", name##_16), \
		DRAY_QUIET("ii", name##_32), DRAY_QUIET("II", name##_32), \
		DRAY_QUIET("qq", name##_64), DRAY_QUIET("QQ", name##_64)
#define FLOAT_ENTRIES(name)                                            \
	DRAY_QUIET("ee", name##_half), DRAY_QUIET("ff", name##_float), \
		DRAY_QUIET("dd", name##_double)
#define SAME_FLOATS                                           \
	DRAY_QUIET("ee", same_16), DRAY_QUIET("ff", same_32), \
		DRAY_QUIET("dd", same_64)

static const struct dray_loop_entry negative[] = {
	SIGNED_ENTRIES(negative),
	FLOAT_ENTRIES(negative),
	DRAY_QUIET("mm", dray_time_negative),
	DRAY_QUIET("FF", negative_complex64),
	DRAY_QUIET("DD", negative_complex128),
};

static const struct dray_loop_entry positive[] = {
	SIGNED_ENTRIES(same),
	SAME_FLOATS,
	DRAY_QUIET("mm", dray_time_positive),
	DRAY_QUIET("FF", same_64),
	DRAY_QUIET("DD", same_128),
};

static const struct dray_loop_entry absolute[] = {
	DRAY_QUIET("??", same_8),
	DRAY_QUIET("bb", absolute_8),
	DRAY_QUIET("BB", same_8),
	DRAY_QUIET("hh", absolute_16),
	DRAY_QUIET("HH", same_16),
	DRAY_QUIET("ii", absolute_32),
	DRAY_QUIET("II", same_32),
	DRAY_QUIET("qq", absolute_64),
	DRAY_QUIET("QQ", same_64),
	FLOAT_ENTRIES(absolute),
	DRAY_QUIET("mm", dray_time_absolute),
	DRAY_ENTRY("Ff", absolute_complex64),
	DRAY_ENTRY("Dd", absolute_complex128),
};

static const struct dray_loop_entry fabs_entries[] = {
	FLOAT_ENTRIES(absolute),
};

static const struct dray_loop_entry sign[] = {
	DRAY_QUIET("bb", sign_i8),
	DRAY_QUIET("BB", sign_8),
	DRAY_QUIET("hh", sign_i16),
	DRAY_QUIET("HH", sign_16),
	DRAY_QUIET("ii", sign_i32),
	DRAY_QUIET("II", sign_32),
	DRAY_QUIET("qq", sign_i64),
	DRAY_QUIET("QQ", sign_64),
	FLOAT_ENTRIES(sign),
	DRAY_ENTRY("FF", sign_complex64),
	DRAY_ENTRY("DD", sign_complex128),
	DRAY_QUIET("mm", dray_time_sign),
};

static const struct dray_loop_entry conjugate[] = {
	SIGNED_ENTRIES(same),
	SAME_FLOATS,
	DRAY_QUIET("FF", conjugate_complex64),
	DRAY_QUIET("DD", conjugate_complex128),
};

#define DEFINITION(name, entries, resolver)                                   \
	{                                                                     \
		name, 1, 1, DRAY_IDENTITY_NONE, entries, DRAY_COUNT(entries), \
			resolver                                              \
	}

static const struct dray_ufunc_definition definitions[] = {
	DEFINITION("negative", negative, dray_resolve_signed),
	DEFINITION("positive", positive, dray_resolve_signed),
	DEFINITION("absolute", absolute, dray_resolve_unary),
	DEFINITION("abs", absolute, dray_resolve_unary),
	DEFINITION("fabs", fabs_entries, dray_resolve_unary),
	DEFINITION("sign", sign, dray_resolve_signed),
	DEFINITION("conjugate", conjugate, dray_resolve_unary),
	DEFINITION("conj", conjugate, dray_resolve_unary),
};

DRAY_LOOPS_LIST(sizes, definitions);

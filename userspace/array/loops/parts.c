// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Parts of floats: exponents, fractions, signs, neighbours, and the step. */
#include <math.h>

#include "loops/half_loops.h"

/* Moves a sign from a number to another. */
#define HALF_COPYSIGN(a, b) (((a)&0x7fffu) | ((b)&0x8000u))
#define FLOAT_COPYSIGN(a, b) (((a)&0x7fffffffu) | ((b)&0x80000000u))
#define DOUBLE_COPYSIGN(a, b) \
	(((a)&0x7fffffffffffffffu) | ((b)&0x8000000000000000u))
DRAY_BINARY(copysign_half, uint16_t, uint16_t, uint16_t, HALF_COPYSIGN)
DRAY_BINARY(copysign_float, uint32_t, uint32_t, uint32_t, FLOAT_COPYSIGN)
DRAY_BINARY(copysign_double, uint64_t, uint64_t, uint64_t, DOUBLE_COPYSIGN)

/* 0 below 0, 1 above; at 0 the second number. */
#define HEAVISIDE(a, b) ((a) > 0 ? 1 : (a) < 0 ? 0 : (a) == 0 ? (b) : (a))
DRAY_BINARY(heaviside_float, float, float, float, HEAVISIDE)
DRAY_BINARY(heaviside_double, double, double, double, HEAVISIDE)
DRAY_HALF_OF(heaviside_half, heaviside_float);

/* Bits of floats: without the sign, of infinity, and of a NaN. */
#define SIZE(U, a) ((a) & (U)((U) ~(U)0 >> 1))
#define BITS_HALF 0x7c00u, 0x7e00u
#define BITS_FLOAT 0x7f800000u, 0x7fc00000u
#define BITS_DOUBLE 0x7ff0000000000000u, 0x7ff8000000000000u

/*
 * The next number on the way to another.  It overflows if it is infinite, and
 * underflows if it is less than normal, as in the C library.
 */
#define NEXT_OPS(name, U, I, bits) NEXT_OPS_OF(name, U, I, bits)
#define NEXT_OPS_OF(name, U, I, infinity, none)                            \
	DRAY_INLINE U next_of_##name(U a, U b, U *over, U *under)          \
	{                                                                  \
		const U size_a = SIZE(U, a), size_b = SIZE(U, b);          \
		const U sign_a = (U) - (a != size_a),                      \
			sign_b = (U) - (b != size_b);                      \
		const I key_a = (I)((size_a ^ sign_a) - sign_a);           \
		const I key_b = (I)((size_b ^ sign_b) - sign_b);           \
		const U up = (U) - (key_a < key_b);                        \
		/* The size grows, or becomes less. */                     \
		const U step = (U)(size_a + (((up ^ sign_a) & 2) - 1));    \
		const U first = (U)((b ^ size_b) | 1);                     \
		const U next = size_a ? (U)(step | (a ^ size_a)) : first;  \
		const U nan =                                              \
			(U) - ((size_a > infinity) | (size_b > infinity)); \
		const U same = (U)(-(key_a == key_b) & ~nan);              \
		const U moves = (U) ~(nan | same);                         \
                                                                           \
		*over |= (U)(moves & -(SIZE(U, next) == infinity));        \
		*under |= (U)(moves & -((next & infinity) == 0));          \
		return (U)((nan & none) | (same & (EQUAL_##name)) |        \
			   (moves & next));                                \
	}
/* Of equal numbers it is the second, but the first of halves. */
#define EQUAL_half a
#define EQUAL_float b
#define EQUAL_double b
NEXT_OPS(half, uint16_t, int16_t, BITS_HALF)
NEXT_OPS(float, uint32_t, int32_t, BITS_FLOAT)
NEXT_OPS(double, uint64_t, int64_t, BITS_DOUBLE)

/* Halves never underflow. */
#define NEXTAFTER(name, U, underflows)                                         \
	DRAY_LOOP(nextafter_##name)                                            \
	{                                                                      \
		char *const a = data[0], *const b = data[1];                   \
		char *const out = data[2];                                     \
		const int64_t step_a = strides[0], step_b = strides[1];        \
		const int64_t out_step = strides[2];                           \
		const U *const dense_a = (const void *)a;                      \
		const U *const dense_b = (const void *)b;                      \
		U *const to = (void *)out;                                     \
		U over = 0, under = 0;                                         \
		int64_t i;                                                     \
                                                                               \
		if (step_a == sizeof(U) && step_b == sizeof(U) &&              \
		    out_step == sizeof(U) &&                                   \
		    dray_is_apart(out, a, count * step_a) &&                   \
		    dray_is_apart(out, b, count * step_b)) {                   \
			DRAY_EACH for (i = 0; i < count; i++) to[i] =          \
				next_of_##name(dense_a[i], dense_b[i], &over,  \
					       &under);                        \
		} else {                                                       \
			for (i = 0; i < count; i++) {                          \
				DRAY_SINGLY;                                   \
				ITEM_AT(U, out, i, out_step) = next_of_##name( \
					ITEM_AT(const U, a, i, step_a),        \
					ITEM_AT(const U, b, i, step_b), &over, \
					&under);                               \
			}                                                      \
		}                                                              \
		if (over)                                                      \
			dray_raise_over();                                     \
		if (under && underflows)                                       \
			dray_raise_under();                                    \
		return 0;                                                      \
	}
NEXTAFTER(half, uint16_t, false)
NEXTAFTER(float, uint32_t, true)
NEXTAFTER(double, uint64_t, true)

/* The distance to the next number away from 0, with the sign; at 0 upwards. */
#define SPACING(name, T, U, infinity, float_of, bits_of)                       \
	DRAY_INLINE T spacing_of_##name(T a, U *over, U *under)                \
	{                                                                      \
		const U bits = bits_of(a);                                     \
		const U size = SIZE(U, bits);                                  \
		const U none = (U) - (size == 0);                              \
		const U next = (bits & ~none) + 1;                             \
		const U finite = (U) - (size < infinity);                      \
		const T distance =                                             \
			float_of(next & finite) - float_of(bits & finite);     \
                                                                               \
		*over |= finite & -(U)(SIZE(U, next) == infinity);             \
		*under |= finite & ~none & -(U)((next & infinity) == 0);       \
		return float_of((bits_of(distance) & finite) |                 \
				(~finite & (infinity | infinity >> 1)));       \
	}                                                                      \
	DRAY_LOOP(spacing_##name)                                              \
	{                                                                      \
		char *const in = data[0], *const out = data[1];                \
		const int64_t step = strides[0], out_step = strides[1];        \
		const T *const dense = (const void *)in;                       \
		T *const to = (void *)out;                                     \
		U over = 0, under = 0;                                         \
		int64_t i;                                                     \
                                                                               \
		if (step == sizeof(T) && out_step == sizeof(T) &&              \
		    dray_is_apart(out, in, count * step)) {                    \
			DRAY_EACH for (i = 0; i < count; i++) to[i] =          \
				spacing_of_##name(dense[i], &over, &under);    \
		} else {                                                       \
			for (i = 0; i < count; i++) {                          \
				DRAY_SINGLY;                                   \
				ITEM_AT(T, out, i, out_step) =                 \
					spacing_of_##name(ITEM_AT(const T, in, \
								  i, step),    \
							  &over, &under);      \
			}                                                      \
		}                                                              \
		if (over)                                                      \
			dray_raise_over();                                     \
		if (under)                                                     \
			dray_raise_under();                                    \
		return 0;                                                      \
	}
SPACING(float, float, uint32_t, 0x7f800000u, dray_float_of_bits,
	dray_bits_of_float)
SPACING(double, double, uint64_t, 0x7ff0000000000000u, dray_double_of_bits,
	dray_bits_of_double)

/* Upwards, as NumPy's of this type only: below a power of two it is half. */
DRAY_INLINE uint16_t spacing_of_half(uint16_t a)
{
	const int exponent = a >> 10 & 0x1f;
	const int step = exponent - (a & 0x8000u && !(a & 0x3ffu));

	if (exponent == 0x1f) {
		dray_raise_invalid();
		return 0x7e00;
	}
	if (a == 0x7bff) {
		dray_raise_over();
		return 0x7c00;
	}
	if (step > 10)
		return (uint16_t)((step - 10) << 10);
	return (uint16_t)(step > 1 ? 1 << (step - 1) : 1);
}

DRAY_UNARY_SINGLY(spacing_half, uint16_t, uint16_t, spacing_of_half)

/* An exponent beyond these turns any number into 0 or infinity. */
#define LIMIT 4200
#define EXPONENT(b) ((b) > LIMIT ? LIMIT : (b) < -LIMIT ? -LIMIT : (int)(b))

/* A double holds the exact product, so it is rounded once. */
DRAY_INLINE float ldexp_of_float(float a, int64_t b)
{
	const int64_t exponent = b > 320 ? 320 : b < -320 ? -320 : b;

	return (float)(a *
		       dray_double_of_bits((uint64_t)(exponent + 1023) << 52));
}

DRAY_INLINE float ldexp_of_float_32(float a, int32_t b)
{
	const int32_t exponent = b > 320 ? 320 : b < -320 ? -320 : b;

	return (float)(a *
		       dray_double_of_bits((uint64_t)(exponent + 1023) << 52));
}

/* A single product, unless the power of two is beyond a double. */
DRAY_INLINE double ldexp_of_double(double a, int64_t b)
{
	if (b < -1022 || b > 1023)
		return ldexp(a, EXPONENT(b));
	return a * dray_double_of_bits((uint64_t)(b + 1023) << 52);
}

DRAY_INLINE uint16_t ldexp_of_half(uint16_t a, int64_t b)
{
	uint16_t out;
	const float scaled = ldexp_of_float(dray_half_to_float(a), b);

	dray_floats_to_halves((char *)&out, sizeof(out), &scaled, 1);
	return out;
}

DRAY_BINARY_SINGLY(ldexp_half, uint16_t, int32_t, uint16_t, ldexp_of_half)
DRAY_BINARY_SINGLY(ldexp_half_64, uint16_t, int64_t, uint16_t, ldexp_of_half)
DRAY_BINARY(ldexp_float, float, int32_t, float, ldexp_of_float_32)
DRAY_BINARY(ldexp_float_64, float, int64_t, float, ldexp_of_float)
DRAY_BINARY_SINGLY(ldexp_double_any, double, int32_t, double, ldexp_of_double)
DRAY_BINARY_SINGLY(ldexp_double_64, double, int64_t, double, ldexp_of_double)

#define PRODUCT(a, b) \
	((a)*dray_double_of_bits((uint64_t)((int64_t)(b) + 1023) << 52))
DRAY_BINARY(ldexp_double_near, double, int32_t, double, PRODUCT)

/* Powers of two from -512 to 511 are the common case, of a single product. */
DRAY_LOOP(ldexp_double)
{
	const int32_t *const dense = (const void *)data[1];
	const int64_t last = strides[1] ? count : 1;
	uint32_t far = 0;
	int64_t i;

	if (strides[1] && strides[1] != sizeof(*dense))
		return ldexp_double_any(data, strides, count, context);
	for (i = 0; i < last; i++)
		far |= ((uint32_t)dense[i] + 512) & ~(uint32_t)1023;
	return far ? ldexp_double_any(data, strides, count, context)
		   : ldexp_double_near(data, strides, count, context);
}

/* R and S = op(A) */
#define TWO_OUTPUTS(name, A, R, S, op)                                         \
	DRAY_LOOP(name)                                                        \
	{                                                                      \
		char *const in = data[0], *const out = data[1];                \
		char *const more = data[2];                                    \
		const int64_t step = strides[0], out_step = strides[1];        \
		const int64_t more_step = strides[2];                          \
		const A *const dense = (const void *)in;                       \
		R *const to = (void *)out;                                     \
		S *const too = (void *)more;                                   \
		int64_t i;                                                     \
                                                                               \
		if (step == sizeof(A) && out_step == sizeof(R) &&              \
		    more_step == sizeof(S) &&                                  \
		    dray_is_apart(out, in, count * step) &&                    \
		    dray_is_apart(more, in, count * step)) {                   \
			DRAY_EACH for (i = 0; i < count; i++)                  \
			{                                                      \
				S second;                                      \
				const R first = (R)op(dense[i], &second);      \
                                                                               \
				to[i] = first;                                 \
				too[i] = second;                               \
			}                                                      \
			return 0;                                              \
		}                                                              \
		for (i = 0; i < count; i++) {                                  \
			S second;                                              \
			const R first =                                        \
				(R)op(ITEM_AT(const A, in, i, step), &second); \
                                                                               \
			DRAY_SINGLY;                                           \
			ITEM_AT(R, out, i, out_step) = first;                  \
			ITEM_AT(S, more, i, more_step) = second;               \
		}                                                              \
		return 0;                                                      \
	}

/*
 * The fraction from 0.5 to 1 and the exponent, by bits.  0, infinity and NaN stay
 * as they are, with the exponent 0.
 */
#define FREXP_OPS(name, U, digits, bias, bits_of, float_of, up)              \
	DRAY_INLINE U frexp_of_##name(U a, int32_t *exponent)                \
	{                                                                    \
		const U infinity = (U)(2 * (bias) + 1) << (digits);          \
		const U size = SIZE(U, a);                                   \
		const bool small = size < (U)1 << (digits);                  \
		const bool plain = (size == 0) | (size >= infinity);         \
		const U scaled = bits_of(float_of(plain ? 0 : size) * (up)); \
		const U used = small ? scaled : size;                        \
		const int32_t power = (int32_t)(used >> (digits)) - (bias) + \
				      1 - (small ? (digits) + 2 : 0);        \
                                                                             \
		*exponent = plain ? 0 : power;                               \
		return plain ? a                                             \
			     : (a ^ size) |                                  \
				       (used & (((U)1 << (digits)) - 1)) |   \
				       (U)((bias)-1) << (digits);            \
	}
FREXP_OPS(float, uint32_t, 23, 127, dray_bits_of_float, dray_float_of_bits,
	  0x1p25f)
FREXP_OPS(double, uint64_t, 52, 1023, dray_bits_of_double, dray_double_of_bits,
	  0x1p54)

/* Every fraction of a half is a half, and so is its whole part. */
DRAY_INLINE uint16_t frexp_of_half(uint16_t a, int32_t *exponent)
{
	const uint32_t bits = dray_bits_of_float(dray_half_to_float(a));

	return dray_half_from_float(
		dray_float_of_bits(frexp_of_float(bits, exponent)));
}

#define MODF_OPS(T, name, trunc, copysign)                        \
	DRAY_INLINE T name(T a, T *whole)                         \
	{                                                         \
		*whole = trunc(a);                                \
		return copysign(isinf(a) ? (T)0 : a - *whole, a); \
	}
MODF_OPS(float, modf_of_float, truncf, copysignf)
MODF_OPS(double, modf_of_double, trunc, copysign)

DRAY_INLINE uint16_t modf_of_half(uint16_t a, uint16_t *whole)
{
	float part;
	const float rest = modf_of_float(dray_half_to_float(a), &part);

	*whole = dray_half_from_float(part);
	return dray_half_from_float(rest);
}

TWO_OUTPUTS(frexp_half, uint16_t, uint16_t, int32_t, frexp_of_half)
TWO_OUTPUTS(frexp_float, uint32_t, uint32_t, int32_t, frexp_of_float)
TWO_OUTPUTS(frexp_double, uint64_t, uint64_t, int32_t, frexp_of_double)
TWO_OUTPUTS(modf_half, uint16_t, uint16_t, uint16_t, modf_of_half)
TWO_OUTPUTS(modf_float, float, float, float, modf_of_float)
TWO_OUTPUTS(modf_double, double, double, double, modf_of_double)

static const struct dray_loop_entry copysign_entries[] = {
	DRAY_QUIET("eee", copysign_half),
	DRAY_QUIET("fff", copysign_float),
	DRAY_QUIET("ddd", copysign_double),
};

static const struct dray_loop_entry heaviside[] = {
	{ "eee", dray_half_binary, &heaviside_half, DRAY_LOOP_NO_FP_ERRORS },
	DRAY_QUIET("fff", heaviside_float),
	DRAY_QUIET("ddd", heaviside_double),
};

static const struct dray_loop_entry nextafter_entries[] = {
	DRAY_ENTRY("eee", nextafter_half),
	DRAY_ENTRY("fff", nextafter_float),
	DRAY_ENTRY("ddd", nextafter_double),
};

static const struct dray_loop_entry spacing[] = {
	DRAY_ENTRY("ee", spacing_half),
	DRAY_ENTRY("ff", spacing_float),
	DRAY_ENTRY("dd", spacing_double),
};

static const struct dray_loop_entry ldexp_entries[] = {
	DRAY_ENTRY("eie", ldexp_half),	  DRAY_ENTRY("fif", ldexp_float),
	DRAY_ENTRY("eqe", ldexp_half_64), DRAY_ENTRY("fqf", ldexp_float_64),
	DRAY_ENTRY("did", ldexp_double),  DRAY_ENTRY("dqd", ldexp_double_64),
};

static const struct dray_loop_entry frexp_entries[] = {
	DRAY_QUIET("eei", frexp_half),
	DRAY_QUIET("ffi", frexp_float),
	DRAY_QUIET("ddi", frexp_double),
};

static const struct dray_loop_entry modf_entries[] = {
	DRAY_QUIET("eee", modf_half),
	DRAY_QUIET("fff", modf_float),
	DRAY_QUIET("ddd", modf_double),
};

#define DEFINITION(name, inputs, outputs, entries)                  \
	{                                                           \
		name, inputs, outputs, DRAY_IDENTITY_NONE, entries, \
			DRAY_COUNT(entries), NULL                   \
	}

static const struct dray_ufunc_definition definitions[] = {
	DEFINITION("copysign", 2, 1, copysign_entries),
	DEFINITION("heaviside", 2, 1, heaviside),
	DEFINITION("nextafter", 2, 1, nextafter_entries),
	DEFINITION("spacing", 1, 1, spacing),
	DEFINITION("ldexp", 2, 1, ldexp_entries),
	DEFINITION("frexp", 1, 2, frexp_entries),
	DEFINITION("modf", 1, 2, modf_entries),
};

DRAY_LOOPS_LIST(parts, definitions);

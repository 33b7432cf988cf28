// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Parts of floats: exponents, fractions, signs, neighbours, and the step. */
#include <limits.h>
#include <math.h>

#include "loops/half_loops.h"
#include "loops/half_order.h"

/* A sign moves from one number to another. */
#define HALF_COPYSIGN(a, b) (((a) & 0x7fffu) | ((b) & 0x8000u))
#define FLOAT_COPYSIGN(a, b) (((a) & 0x7fffffffu) | ((b) & 0x80000000u))
#define DOUBLE_COPYSIGN(a, b) \
	(((a) & 0x7fffffffffffffffu) | ((b) & 0x8000000000000000u))
DRAY_BINARY(copysign_half, uint16_t, uint16_t, uint16_t, HALF_COPYSIGN)
DRAY_BINARY(copysign_float, uint32_t, uint32_t, uint32_t, FLOAT_COPYSIGN)
DRAY_BINARY(copysign_double, uint64_t, uint64_t, uint64_t, DOUBLE_COPYSIGN)

/* 0 below 0, 1 above; at 0 the second number. */
#define HEAVISIDE(a, b) ((a) > 0 ? 1 : (a) < 0 ? 0 : (a) == 0 ? (b) : (a))
DRAY_BINARY(heaviside_float, float, float, float, HEAVISIDE)
DRAY_BINARY(heaviside_double, double, double, double, HEAVISIDE)
DRAY_HALF_OF(heaviside_half, heaviside_float);

DRAY_BINARY_SINGLY(nextafter_float, float, float, float, nextafterf)
DRAY_BINARY_SINGLY(nextafter_double, double, double, double, nextafter)

DRAY_INLINE uint16_t nextafter_of_half(uint16_t a, uint16_t b)
{
	const int16_t key_a = dray_half_key(a), key_b = dray_half_key(b);
	uint16_t next;

	if (!dray_half_ordered(a, b))
		return 0x7e00;
	if (key_a == key_b)
		return a;
	if (!key_a)
		return (uint16_t)((b & 0x8000u) | 1);
	next = (uint16_t)((key_a < key_b) == (key_a > 0) ? a + 1 : a - 1);
	if ((next & 0x7fff) == 0x7c00 && (a & 0x7fff) != 0x7c00)
		dray_raise_over();
	return next;
}

DRAY_BINARY_SINGLY(nextafter_half, uint16_t, uint16_t, uint16_t,
		   nextafter_of_half)

/* The distance to the next number away from 0, with the sign; at 0 upwards. */
#define SPACING_OPS(T, name, nextafter, copysign)                         \
	DRAY_INLINE T name(T a)                                           \
	{                                                                 \
		const T end = a == 0 ? (T)INFINITY                        \
				     : copysign((T)INFINITY, a);          \
                                                                          \
		return isinf(a) ? (T)NAN : nextafter(a, end) - a;         \
	}
SPACING_OPS(float, spacing_of_float, nextafterf, copysignf)
SPACING_OPS(double, spacing_of_double, nextafter, copysign)

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

DRAY_UNARY_SINGLY(spacing_float, float, float, spacing_of_float)
DRAY_UNARY_SINGLY(spacing_double, double, double, spacing_of_double)
DRAY_UNARY_SINGLY(spacing_half, uint16_t, uint16_t, spacing_of_half)

/* An exponent beyond an int takes any number to 0 or infinity. */
DRAY_INLINE int exponent_of(int64_t a)
{
	return a > INT_MAX ? INT_MAX : a < INT_MIN ? INT_MIN : (int)a;
}

#define LONG_LDEXP(a, b) ldexpf(a, exponent_of(b))
#define LONG_LDEXP_DOUBLE(a, b) ldexp(a, exponent_of(b))

DRAY_INLINE uint16_t ldexp_of_half(uint16_t a, int32_t b)
{
	uint16_t out;
	const float scaled = ldexpf(dray_half_to_float(a), b);

	dray_floats_to_halves((char *)&out, sizeof(out), &scaled, 1);
	return out;
}

#define LONG_LDEXP_HALF(a, b) ldexp_of_half(a, exponent_of(b))
DRAY_BINARY_SINGLY(ldexp_half, uint16_t, int32_t, uint16_t, ldexp_of_half)
DRAY_BINARY_SINGLY(ldexp_half_64, uint16_t, int64_t, uint16_t, LONG_LDEXP_HALF)
DRAY_BINARY_SINGLY(ldexp_float, float, int32_t, float, ldexpf)
DRAY_BINARY_SINGLY(ldexp_float_64, float, int64_t, float, LONG_LDEXP)
DRAY_BINARY_SINGLY(ldexp_double, double, int32_t, double, ldexp)
DRAY_BINARY_SINGLY(ldexp_double_64, double, int64_t, double, LONG_LDEXP_DOUBLE)

/* R and S = op(A) */
#define TWO_OUTPUTS(name, A, R, S, op)                                       \
	DRAY_LOOP(name)                                                      \
	{                                                                    \
		char *const in = data[0], *const out = data[1];              \
		char *const more = data[2];                                  \
		const int64_t step = strides[0], out_step = strides[1];      \
		const int64_t more_step = strides[2];                        \
		int64_t i;                                                   \
                                                                             \
		for (i = 0; i < count; i++) {                                \
			S second;                                            \
			const R first = (R)op(                               \
				DRAY_AT(const A, in, i, step), &second);     \
                                                                             \
			DRAY_AT(R, out, i, out_step) = first;                \
			DRAY_AT(S, more, i, more_step) = second;             \
		}                                                            \
		return 0;                                                    \
	}

/* Neither infinity nor NaN has an exponent; it is 0 on all machines. */
#define FREXP_OPS(T, name, frexp)                       \
	DRAY_INLINE T name(T a, int32_t *exponent)      \
	{                                               \
		*exponent = 0;                          \
		return isfinite(a) ? frexp(a, exponent) : a + a; \
	}
FREXP_OPS(float, frexp_of_float, frexpf)
FREXP_OPS(double, frexp_of_double, frexp)

/* Every fraction of a half is one, and so is its whole part. */
DRAY_INLINE uint16_t frexp_of_half(uint16_t a, int32_t *exponent)
{
	return dray_half_from_float(
		frexp_of_float(dray_half_to_float(a), exponent));
}

DRAY_INLINE uint16_t modf_of_half(uint16_t a, uint16_t *whole)
{
	float part;
	const float rest = modff(dray_half_to_float(a), &part);

	*whole = dray_half_from_float(part);
	return dray_half_from_float(rest);
}

TWO_OUTPUTS(frexp_half, uint16_t, uint16_t, int32_t, frexp_of_half)
TWO_OUTPUTS(frexp_float, float, float, int32_t, frexp_of_float)
TWO_OUTPUTS(frexp_double, double, double, int32_t, frexp_of_double)
TWO_OUTPUTS(modf_half, uint16_t, uint16_t, uint16_t, modf_of_half)
TWO_OUTPUTS(modf_float, float, float, float, modff)
TWO_OUTPUTS(modf_double, double, double, double, modf)

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

#define DEFINITION(name, inputs, outputs, entries)             \
	{ name, inputs, outputs, DRAY_IDENTITY_NONE, entries,  \
	  DRAY_COUNT(entries), NULL }

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

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Functions of float32, computed in float64: short polynomials are exact enough, where
 * SLEEF carries two float32 along.  Nothing is fused, so that bits are the same in
 * both families.  elementary_vector.h includes this file, with VECTOR_D, LANES_D, and
 * VECTOR_I, integers of the same lanes; the coefficients are those of Taylor's series.
 *
 * Each function holds for arguments in a range, which DRAY_WIDE_FUNCTIONS has: numbers
 * beyond, and NaNs, are left to SLEEF.
 */
#include "dtype/half.h"

typedef VECTOR_D wide;
typedef VECTOR_I wide_bits;

#define EACH(number) ((wide){ 0 } + (number))
#define EACH_BITS(number) ((wide_bits){ 0 } + (number))

/* Sums with it have a whole number in their last bits. */
#define WHOLE 0x1.8p52

ALWAYS wide whole_of(wide x)
{
	return x + WHOLE;
}

/* A power of 2 times @x; @whole is the exponent, from whole_of(). */
ALWAYS wide scaled(wide x, wide whole)
{
	return OF_BITS(BITS_OF(x) + (BITS_OF(whole) << 52));
}

ALWAYS wide either(wide_bits mask, wide yes, wide no)
{
	return OF_BITS((BITS_OF(yes) & mask) | (BITS_OF(no) & ~mask));
}

ALWAYS wide with_sign(wide size, wide sign)
{
	const wide_bits top = EACH_BITS(1ull << 63);

	return OF_BITS((BITS_OF(size) & ~top) | (BITS_OF(sign) & top));
}

ALWAYS wide size_of(wide x)
{
	return OF_BITS(BITS_OF(x) & EACH_BITS(~0ull >> 1));
}

/* (e**x - 1 - x) / x**2, for half of ln(2). */
ALWAYS wide exp_rest(wide x)
{
	wide p = x * (1. / 3628800) + 1. / 362880;

	p = p * x + 1. / 40320;
	p = p * x + 1. / 5040;
	p = p * x + 1. / 720;
	p = p * x + 1. / 120;
	p = p * x + 1. / 24;
	p = p * x + 1. / 6;
	return p * x + 0.5;
}

#define LN2_UPPER 0x1.62e42fefa38p-1 /* 43 bits, so that products are exact */
#define LN2_LOWER 0x1.ef35793c7673p-45

ALWAYS wide wide_exp(wide x)
{
	const wide whole = whole_of(x * M_LOG2E);
	const wide n = whole - WHOLE;
	const wide r = (x - n * LN2_UPPER) - n * LN2_LOWER;

	return scaled(r * r * exp_rest(r) + r + 1, whole);
}

ALWAYS wide wide_expm1(wide x)
{
	const wide whole = whole_of(x * M_LOG2E);
	const wide n = whole - WHOLE;
	const wide r = (x - n * LN2_UPPER) - n * LN2_LOWER;
	const wide unit = scaled(EACH(1.0), whole);

	return with_sign(unit * (r * r * exp_rest(r) + r) + (unit - 1), x);
}

/* Splits a number into a power of 2 and one near 1, from half the root of 2 on. */
ALWAYS wide split(wide x, wide *exponent)
{
	const wide_bits least = EACH_BITS(0x3fe6a09e667f3bcd);
	const wide_bits one = EACH_BITS(1023ull << 52);
	const wide_bits biased = (BITS_OF(x) - least + one) >> 52;

	*exponent =
		OF_BITS(biased | EACH_BITS(1075ull << 52)) - (0x1p52 + 1023);
	return OF_BITS(BITS_OF(x) - (biased << 52) + one);
}

/* Writes the exponent, and returns the logarithm of the rest. */
ALWAYS wide log_part(wide x, wide *exponent)
{
	const wide m = split(x, exponent);
	const wide s = (m - 1) / (m + 1), s2 = s * s;
	wide p = s2 * (2. / 17) + 2. / 15;

	p = p * s2 + 2. / 13;
	p = p * s2 + 2. / 11;
	p = p * s2 + 2. / 9;
	p = p * s2 + 2. / 7;
	p = p * s2 + 2. / 5;
	p = p * s2 + 2. / 3;
	return p * s2 * s + 2 * s;
}

ALWAYS wide wide_log(wide x)
{
	wide exponent, part = log_part(x, &exponent);

	return exponent * M_LN2 + part;
}

/*
 * The logarithm as exact as float64 needs.  That of 1 + f is f - f**2 / 2 and a
 * remainder, which are small beside f, so that their rounding counts little; parts are
 * added from the least on.
 */
ALWAYS wide long_log(wide x)
{
	wide n;
	const wide f = split(x, &n) - 1;
	const wide s = f / (f + 2), s2 = s * s, half = f * f * 0.5;
	wide p = s2 * (2. / 21) + 2. / 19;

	p = p * s2 + 2. / 17;
	p = p * s2 + 2. / 15;
	p = p * s2 + 2. / 13;
	p = p * s2 + 2. / 11;
	p = p * s2 + 2. / 9;
	p = p * s2 + 2. / 7;
	p = p * s2 + 2. / 5;
	p = p * s2 + 2. / 3;
	p = s * (half + p * s2) + n * LN2_LOWER;
	return n * LN2_UPPER - ((half - p) - f);
}

/* The sum drops bits of a small argument, which are added at the end. */
ALWAYS wide wide_log1p(wide x)
{
	const wide sum = x + 1;

	return with_sign(wide_log(sum) + (x - (sum - 1)), x);
}

ALWAYS wide wide_sinh(wide x)
{
	const wide t = wide_expm1(size_of(x));

	return with_sign((t + t / (t + 1)) * 0.5, x);
}

ALWAYS wide wide_cosh(wide x)
{
	const wide power = wide_exp(x);

	return (power + 1 / power) * 0.5;
}

ALWAYS wide wide_tanh(wide x)
{
	const wide t = wide_expm1(x + x);

	return t / (t + 2);
}

ALWAYS wide wide_asinh(wide x)
{
	const wide size = size_of(x), square = x * x;

	return with_sign(wide_log1p(size + square / (SQRT_D(square + 1) + 1)),
			 x);
}

ALWAYS wide wide_acosh(wide x)
{
	const wide t = x - 1;

	return wide_log1p(t + SQRT_D(t * (t + 2)));
}

ALWAYS wide wide_atanh(wide x)
{
	return wide_log1p((x + x) / (1 - x)) * 0.5;
}

/* Sine and cosine of at most a quarter of pi. */
ALWAYS wide sin_part(wide x)
{
	const wide x2 = x * x;
	wide p = x2 * (-1. / 39916800) + 1. / 362880;

	p = p * x2 - 1. / 5040;
	p = p * x2 + 1. / 120;
	p = p * x2 - 1. / 6;
	return with_sign(p * x2 * x + x, x);
}

ALWAYS wide cos_part(wide x)
{
	const wide x2 = x * x;
	wide p = x2 * (1. / 479001600) - 1. / 3628800;

	p = p * x2 + 1. / 40320;
	p = p * x2 - 1. / 720;
	p = p * x2 + 1. / 24;
	p = p * x2 - 0.5;
	return p * x2 + 1;
}

/* Subtracts right angles; their number is in the last bits of @whole. */
ALWAYS wide turned(wide x, wide *whole)
{
	wide n;

	*whole = whole_of(x * M_2_PI);
	n = *whole - WHOLE;
	/* 33 bits of pi / 2, so that products are exact, and the rest */
	return (x - n * 0x1.921fb544p+0) - n * 0x1.0b4611a626331p-34;
}

ALWAYS wide wide_tan(wide x)
{
	wide whole;
	const wide r = turned(x, &whole);
	const wide_bits odd = 0 - (BITS_OF(whole) & 1);
	const wide sine = sin_part(r), cosine = cos_part(r);

	return either(odd, 0 - cosine, sine) / either(odd, sine, cosine);
}

ALWAYS wide wide_hypot(wide x, wide y)
{
	return SQRT_D(x * x + y * y);
}

/* Large powers, and those that are none, become one that float32 has no place for. */
ALWAYS wide wide_pow(wide x, wide y)
{
	const wide power = y * wide_log(x);

	return wide_exp(BETWEEN(power, -200.0, 200.0));
}

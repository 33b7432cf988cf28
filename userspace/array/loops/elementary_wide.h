/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Functions of float32, computed in float64: short polynomials are exact enough, where
 * SLEEF carries two float32 along.  PLUS_D() is a product and a sum, which are fused on
 * processors that can.  The result of float32 has the same bits without: tests/elementary
 * compares all arguments.  Powers are too many for that, so results near the middle
 * of two float32 are computed again without.
 * elementary_vector.h includes this file, with VECTOR_D, LANES_D, and VECTOR_I, integers
 * of the same lanes.
 *
 * The polynomials have the least relative error; tests/elementary/minimax.py finds them.
 *
 * Each function holds for arguments in a range, which DRAY_WIDE_FUNCTIONS lists:
 * numbers beyond, and NaNs, are left to SLEEF.
 */
#include "private.h"

typedef VECTOR_D wide;
typedef VECTOR_I wide_bits;

#define EACH(number) ((wide){ 0 } + (number))
#define EACH_BITS(number) ((wide_bits){ 0 } + (number))
#define EACH_BITS_F(number) ((VECTOR_I_F){ 0 } + (number))

ALWAYS wide plus(wide x, wide y, wide z)
{
	return PLUS_D(x, y, z);
}

/* Sums with it end in the bits of a whole number. */
#define WHOLE 0x1.8p52

/* A power of 2 times @x; the exponent is in the last bits of @whole. */
ALWAYS wide scaled(wide x, wide whole)
{
	return OF_BITS(BITS_OF(x) + (BITS_OF(whole) << 52));
}

ALWAYS wide either(wide_bits mask, wide yes, wide no)
{
	return OF_BITS((BITS_OF(yes) & mask) | (BITS_OF(no) & ~mask));
}

ALWAYS wide size_of(wide x)
{
	return OF_BITS(BITS_OF(x) & EACH_BITS(~0ull >> 1));
}

/* (2**x - 1) / x, for half of a power at most; 2**-43, and 2**-28. */
ALWAYS wide long_power_part(wide x)
{
	wide p = plus(x, EACH(0x1.b525408122829p-24),
		      EACH(0x1.63d0c559fc218p-20));

	p = plus(p, x, EACH(0x1.ffcca814e289cp-17));
	p = plus(p, x, EACH(0x1.4308ace86e906p-13));
	p = plus(p, x, EACH(0x1.5d87fe312b092p-10));
	p = plus(p, x, EACH(0x1.3b2ab717ea116p-7));
	p = plus(p, x, EACH(0x1.c6b08d706a290p-5));
	p = plus(p, x, EACH(0x1.ebfbdff823e78p-3));
	return plus(p, x, EACH(0x1.62e42fefa39abp-1));
}

ALWAYS wide power_part(wide x)
{
	wide p = plus(x, EACH(0x1.470b9644902a3p-13),
		      EACH(0x1.5f72794148113p-10));

	p = plus(p, x, EACH(0x1.3b270df9d3606p-7));
	p = plus(p, x, EACH(0x1.c6ae72d9dc208p-5));
	p = plus(p, x, EACH(0x1.ebfbe2c5c39acp-3));
	return plus(p, x, EACH(0x1.62e431173910ep-1));
}

/* sin(x) / x of the square of at most a right angle; 2**-35. */
ALWAYS wide sine_part(wide x2)
{
	wide p = plus(x2, EACH(-0x1.9a68936d554cdp-26),
		      EACH(0x1.717080b8129e3p-19));

	p = plus(p, x2, EACH(-0x1.a017d9a53e1bdp-13));
	p = plus(p, x2, EACH(0x1.11110c4a11967p-7));
	p = plus(p, x2, EACH(-0x1.5555554769a98p-3));
	return plus(p, x2, EACH(1.0));
}

/* log(1 + f) / f, for a number between half the root of 2 and the root; 2**-28. */
ALWAYS wide logarithm_part(wide f)
{
	wide p = plus(f, EACH(0x1.14175b058f4d4p-9),
		      EACH(-0x1.3da889b68f1b5p-4));

	p = plus(p, f, EACH(0x1.07b9d6c4844f5p-3));
	p = plus(p, f, EACH(-0x1.0eaafca731476p-3));
	p = plus(p, f, EACH(0x1.22739445e0d07p-3));
	p = plus(p, f, EACH(-0x1.5430ec8508436p-3));
	p = plus(p, f, EACH(0x1.99a434096b214p-3));
	p = plus(p, f, EACH(-0x1.000407ac73239p-2));
	p = plus(p, f, EACH(0x1.55554f730c241p-2));
	p = plus(p, f, EACH(-0x1.fffff8617f9c2p-2));
	return plus(p, f, EACH(1.0));
}

/* Returns @x times @factor, less the whole number in the last bits of @whole. */
ALWAYS wide fraction(wide x, double factor, wide *whole)
{
	*whole = plus(x, EACH(factor), EACH(WHOLE));
	return plus(x, EACH(factor), WHOLE - *whole);
}

ALWAYS wide power(wide x, double factor)
{
	wide whole;
	const wide f = fraction(x, factor, &whole);

	return scaled(f * power_part(f) + 1, whole);
}

ALWAYS wide wide_exp2(wide x)
{
	return power(x, 1.0);
}

ALWAYS wide wide_exp(wide x)
{
	return power(x, M_LOG2E);
}

/* 2**(@x * @factor) - 1 */
ALWAYS wide power_less_1(wide x, double factor)
{
	wide whole;
	const wide f = fraction(x, factor, &whole);
	const wide unit = scaled(EACH(1.0), whole);

	return plus(unit, f * long_power_part(f), unit - 1);
}

ALWAYS wide wide_expm1(wide x)
{
	/* 1 more in the last place, so that no argument is near a middle. */
	return power_less_1(x, 0x1.71547652b82ffp+0);
}

ALWAYS wide wide_sinh(wide x)
{
	const wide t = power_less_1(size_of(x), M_LOG2E);

	return (t + t / (t + 1)) * 0.5;
}

ALWAYS wide wide_cosh(wide x)
{
	wide whole;
	const wide f = fraction(x, M_LOG2E, &whole);
	const wide e = scaled(f * long_power_part(f) + 1, whole);

	return (e + 1 / e) * 0.5;
}

ALWAYS wide wide_tanh(wide x)
{
	const wide t = power_less_1(x, 2 * M_LOG2E);

	return t / (t + 2);
}

/* Splits a number into a power of 2 and a factor from half the root of 2 on. */
ALWAYS wide split(wide x, wide *exponent)
{
	const wide_bits least = EACH_BITS(0x3fe6a09e667f3bcd);
	const wide_bits one = EACH_BITS(1023ull << 52);
	const wide_bits biased = (BITS_OF(x) - least + one) >> 52;

	*exponent =
		OF_BITS(biased | EACH_BITS(1075ull << 52)) - (0x1p52 + 1023);
	return OF_BITS(BITS_OF(x) - (biased << 52) + one);
}

/* The same of float32, less 1. */
ALWAYS VECTOR_F split_short(VECTOR_F x, VECTOR_F *exponent)
{
	const VECTOR_I_F least = EACH_BITS_F(0x3f3504f3u);
	const VECTOR_I_F one = EACH_BITS_F(127u << 23);
	const VECTOR_I_F biased = (BITS_OF_F(x) - least + one) >> 23;

	*exponent =
		OF_BITS_F(biased | EACH_BITS_F(150u << 23)) - (0x1p23f + 127);
	return OF_BITS_F(BITS_OF_F(x) - (biased << 23) + one) - 1;
}

/* Logarithms of 1 + f, and n powers of 2. */
ALWAYS wide wide_log(wide f, wide n)
{
	return plus(n, EACH(M_LN2), f * logarithm_part(f));
}

ALWAYS wide wide_log2(wide f, wide n)
{
	return plus(f * logarithm_part(f), EACH(M_LOG2E), n);
}

ALWAYS wide wide_log10(wide f, wide n)
{
	return wide_log(f, n) * M_LOG10E;
}

/* (log(1 + f) - 2 * s) / s**3, where s is f / (f + 2); 2**-51. */
ALWAYS wide area_part(wide s2)
{
	wide p = plus(s2, EACH(0x1.58785440fdca6p-3),
		      EACH(0x1.732c14d6aa557p-3));

	p = plus(p, s2, EACH(0x1.c72278926423ap-3));
	p = plus(p, s2, EACH(0x1.24924176e3d94p-2));
	p = plus(p, s2, EACH(0x1.999999a294a68p-2));
	return plus(p, s2, EACH(0x1.5555555553960p-1));
}

ALWAYS wide exact_log(wide f)
{
	const wide s = f / (f + 2), s2 = s * s;

	return plus(area_part(s2) * s2, s, s + s);
}

/*
 * The sum drops bits of a small argument, which are added at the end.  The rest of a
 * large argument is bounded: it does not change the logarithm.
 */
ALWAYS wide log_with_1(wide x, double ln2)
{
	const wide sum = x + 1, rest = x - (sum - 1);
	wide n, f = split(sum, &n) - 1;

	return plus(n, EACH(ln2), exact_log(f)) +
	       BETWEEN(rest, -0x1p-53, 0x1p-53);
}

ALWAYS wide wide_log1p(wide x)
{
	/* 1 less in the last place, so that no argument is near a middle. */
	return log_with_1(x, 0x1.62e42fefa39eep-1);
}

ALWAYS wide wide_asinh(wide x)
{
	const wide size = size_of(x), square = x * x;

	return log_with_1(size + square / (SQRT_D(square + 1) + 1), M_LN2);
}

ALWAYS wide wide_acosh(wide x)
{
	const wide t = x - 1;

	return log_with_1(t + SQRT_D(t * (t + 2)), M_LN2);
}

ALWAYS wide wide_atanh(wide x)
{
	return log_with_1((x + x) / (1 - x), M_LN2) * 0.5;
}

/* Angles less multiples of a half turn; an odd multiple changes the sign. */
#define PI_UPPER 0x1.921fb544p+1 /* 31 bits: products are exact */
#define PI_LOWER 0x1.0b4611a626331p-33

ALWAYS wide turned_sine(wide x, wide whole, double part)
{
	const wide n = whole - WHOLE - part;
	const wide r = plus(n, EACH(-PI_LOWER), plus(n, EACH(-PI_UPPER), x));

	return OF_BITS(BITS_OF(r * sine_part(r * r)) ^ BITS_OF(whole) << 63);
}

ALWAYS wide wide_sin(wide x)
{
	return turned_sine(x, plus(x, EACH(M_1_PI), EACH(WHOLE)), 0);
}

ALWAYS wide wide_cos(wide x)
{
	return turned_sine(x, plus(x, EACH(M_1_PI), EACH(0.5)) + WHOLE, 0.5);
}

/* cos(x) of the square of at most half of a right angle; 2**-43. */
ALWAYS wide cosine_part(wide x2)
{
	wide p = plus(x2, EACH(-0x1.23d81b472c0ebp-22),
		      EACH(0x1.a00f1210d0469p-16));

	p = plus(p, x2, EACH(-0x1.6c16b40150de0p-10));
	p = plus(p, x2, EACH(0x1.55555546f5ba4p-5));
	p = plus(p, x2, EACH(-0x1.ffffffffebfefp-2));
	return plus(p, x2, EACH(1.0));
}

ALWAYS wide wide_tan(wide x)
{
	const wide whole = plus(x, EACH(M_2_PI), EACH(WHOLE));
	const wide n = whole - WHOLE;
	const wide r =
		plus(n, EACH(-PI_LOWER / 2), plus(n, EACH(-PI_UPPER / 2), x));
	const wide_bits odd = 0 - (BITS_OF(whole) & 1);
	const wide sine = r * sine_part(r * r), cosine = cosine_part(r * r);

	return either(odd, 0 - cosine, sine) / either(odd, sine, cosine);
}

ALWAYS wide wide_hypot(wide x, wide y)
{
	return SQRT_D(x * x + y * y);
}

/* Large powers, and NaNs, become a power beyond the range of float32. */
ALWAYS wide wide_pow(wide f, wide n, wide y)
{
	const wide power = y * plus(exact_log(f), EACH(M_LOG2E), n);
	const wide bounded = BETWEEN(power, -300.0, 300.0);
	wide whole;
	const wide rest = fraction(bounded, 1, &whole);

	return scaled(plus(rest, long_power_part(rest), EACH(1.0)), whole);
}

/* Bits that are zero for a number that lies almost in the middle of two float32. */
ALWAYS wide_bits middle_bits(wide x)
{
	return (BITS_OF(x) + EACH_BITS(0x10000200)) & EACH_BITS(0x1ffffc00);
}

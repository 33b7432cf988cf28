/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Functions of float64: numbers carry a lower part where its rounding would count,
 * so that results are as exact as SLEEF's, of fewer steps.  Nothing is fused, since
 * there are too many arguments to compare.  elementary_vector.h includes this file
 * behind elementary_wide.h; DRAY_LONG_FUNCTIONS lists the ranges of arguments.
 */
#define LN2_UPPER 0x1.62e42fefa38p-1 /* 43 bits, so that products are exact */
#define LN2_LOWER 0x1.ef35793c7673p-45

/*
 * The logarithm of 1 + f is f - f**2 / 2 and a remainder, which are small beside f, so
 * that their rounding counts little; parts are added from the least on.
 */
ALWAYS wide long_log_part(wide f, wide half)
{
	const wide s = f / (f + 2), s2 = s * s;
	wide p = s2 * 0x1.2f05625a35532p-3 + 0x1.39a1bad95e77bp-3; /* 2**-58 */

	p = p * s2 + 0x1.74663ee6f1bd2p-3;
	p = p * s2 + 0x1.c71c520965641p-3;
	p = p * s2 + 0x1.24924941f1180p-2;
	p = p * s2 + 0x1.999999997fdb9p-2;
	p = p * s2 + 0x1.5555555555592p-1;
	return s * (half + p * s2);
}

ALWAYS wide long_log(wide x)
{
	wide n;
	const wide f = split(x, &n) - 1, half = f * f * 0.5;
	const wide p = long_log_part(f, half) + n * LN2_LOWER;

	return n * LN2_UPPER - ((half - p) - f);
}

/*
 * The logarithm times a constant in two parts, 32 bits and the rest: the upper 21
 * bits of a number times 32 are exact.  @whole, @rest: the same of a power of 2.
 */
ALWAYS wide log_times(wide f, double upper, double lower, wide whole, wide rest)
{
	const wide half = f * f * 0.5;
	const wide high = OF_BITS(BITS_OF(f - half) & EACH_BITS(~0ull << 32));
	const wide low = ((f - high) - half) + long_log_part(f, half);
	const wide large = high * upper, sum = whole + large;

	rest = rest + ((low + high) * lower + low * upper);
	return sum + (rest + ((whole - sum) + large));
}

ALWAYS wide long_log2(wide x)
{
	wide n;
	const wide f = split(x, &n) - 1;

	return log_times(f, 0x1.71547652p+0, 0x1.705fc2eefa2p-33, n, EACH(0.0));
}

ALWAYS wide long_log10(wide x)
{
	wide n;
	const wide f = split(x, &n) - 1;

	return log_times(f, 0x1.bcb7b152p-2, 0x1.b9438ca9aadd5p-36,
			 n * 0x1.34413509f78p-2, n * 0x1.fef311f12b358p-46);
}

/* (e**r - 1 - r) / r**2, for half of ln(2) at most; 2**-58. */
ALWAYS wide rest_part(wide r)
{
	wide p = r * 0x1.ae85367facd38p-26 + 0x1.28af2b7b67c9dp-22;

	p = p * r + 0x1.71de81780f85dp-19;
	p = p * r + 0x1.a01997f346da8p-16;
	p = p * r + 0x1.a01a0172b85bep-13;
	p = p * r + 0x1.6c16c1850f0c0p-10;
	p = p * r + 0x1.111111111aa51p-7;
	p = p * r + 0x1.555555555038ep-5;
	p = p * r + 0x1.555555555552cp-3;
	return p * r + 0x1.000000000000bp-1;
}

/* A sum of two, the first of which is larger or 0, and the part that it drops. */
ALWAYS wide sum_of(wide large, wide small, wide *dropped)
{
	const wide sum = large + small;

	*dropped = (large - sum) + small;
	return sum;
}

ALWAYS wide long_exp(wide x)
{
	const wide whole = x * M_LOG2E + WHOLE;
	const wide n = whole - WHOLE;
	const wide upper = x - n * LN2_UPPER, lower = n * LN2_LOWER;
	const wide r = upper - lower;
	wide dropped;
	const wide sum = sum_of(EACH(1.0), upper, &dropped);

	return scaled(sum + ((dropped - lower) + r * r * rest_part(r)), whole);
}

/*
 * Returns e**x less the power of 2 that is near it, @unit, and the lower part of this.
 */
ALWAYS wide unit_power(wide x, wide *low, wide *unit)
{
	const wide whole = x * M_LOG2E + WHOLE;
	const wide n = whole - WHOLE;
	wide r, dropped, power, part;

	r = sum_of(x - n * LN2_UPPER, -n * LN2_LOWER, &dropped);
	power = sum_of(r, r * r * rest_part(r) + dropped, &part);
	*unit = scaled(EACH(1.0), whole);
	*low = *unit * part;
	return *unit * power;
}

/* Adds @number and a power that unit_power() returned; and to the lower part. */
ALWAYS wide power_plus(wide unit, double number, wide power, wide *low)
{
	wide below, dropped;
	const wide whole = sum_of(unit, EACH(number), &below);
	const wide sum = sum_of(whole, power, &dropped);

	*low = *low + below + dropped;
	return sum;
}

ALWAYS wide with_sign(wide size, wide sign)
{
	return OF_BITS(BITS_OF(size) | (BITS_OF(sign) & EACH_BITS(1ull << 63)));
}

ALWAYS wide long_expm1(wide x)
{
	wide low, unit;
	const wide p = unit_power(x, &low, &unit);

	return with_sign(power_plus(unit, -1, p, &low) + low, x);
}

/* The upper 26 bits of a number: products of two are exact. */
ALWAYS wide upper_of(wide x)
{
	return OF_BITS(BITS_OF(x) & EACH_BITS(~0ull << 27));
}

/* A quotient, with the lower parts of both: the rest of @x is divided, too. */
ALWAYS wide quotient(wide x, wide x_low, wide y, wide y_low, wide *low)
{
	const wide inverse = 1 / y, q = x * inverse;
	const wide q_upper = upper_of(q), q_lower = q - q_upper;
	const wide y_upper = upper_of(y), y_lower = y - y_upper;
	const wide rest = ((x - q_upper * y_upper) - q_upper * y_lower) -
			  q_lower * y_upper - q_lower * y_lower;

	*low = (rest + (x_low - q * y_low)) * inverse;
	return q;
}

/* From 22 on, the result is 1. */
ALWAYS wide long_tanh(wide x)
{
	wide less_low, unit, rest;
	const wide size = BETWEEN(size_of(x), 0.0, 22.0);
	const wide p = unit_power(size + size, &less_low, &unit);
	wide more_low = less_low;
	const wide more = power_plus(unit, 1, p, &more_low);
	const wide less = power_plus(unit, -1, p, &less_low);
	const wide q = quotient(less, less_low, more, more_low, &rest);

	return with_sign(q + rest, x);
}

/* Of t = e**x - 1 it is (t + t / (t + 1)) / 2. */
ALWAYS wide long_sinh(wide x)
{
	wide less_low, unit, rest, dropped;
	const wide p = unit_power(size_of(x), &less_low, &unit);
	wide low = less_low;
	const wide power = power_plus(unit, 0, p, &low);
	const wide less = power_plus(unit, -1, p, &less_low);
	const wide q = quotient(less, less_low, power, low, &rest);
	const wide sum = sum_of(less, q, &dropped);

	return with_sign((sum + (dropped + (rest + less_low))) * 0.5, x);
}

ALWAYS wide long_cosh(wide x)
{
	wide low, unit, dropped;
	const wide p = unit_power(size_of(x), &low, &unit);
	const wide power = power_plus(unit, 0, p, &low);
	const wide sum = sum_of(power, 1 / power, &dropped);

	return (sum + (dropped + low)) * 0.5;
}

/*
 * (3 * (atanh(s) / s - 1) - s**2) / s**4, of the square of s, which is (m - 1) / (m + 1)
 * for a number between half the root of 2 and the root; 2**-68 of the logarithm.
 */
ALWAYS wide quartic_part(wide s2)
{
	wide p = s2 * 0x1.956338a780ff9p-3 + 0x1.973ff3d03fbfcp-3;

	p = p * s2 + 0x1.d8ae6129abdb7p-3;
	p = p * s2 + 0x1.1745af6cf5cbap-2;
	p = p * s2 + 0x1.555555a205e4fp-2;
	p = p * s2 + 0x1.b6db6db683ca0p-2;
	return p * s2 + 0x1.3333333333464p-1;
}

/*
 * The logarithm to base 2 as two numbers, the first of 26 bits: 3 + s**2 and the rest,
 * times s and 2 / (3 * ln(2)).  Upper parts hold 26 bits, so that products are exact.
 */
ALWAYS wide long_log_pair(wide x, wide *low)
{
	const double factor_upper = 0x1.ec709d8p-1;
	const double factor_lower = 0x1.0e80ff5d27f05p-27;
	wide n;
	const wide m = split(x, &n), f = m - 1, d = m + 1;
	const wide inverse = 1 / d, s = f * inverse, s2 = s * s;
	const wide s_upper = upper_of(s), d_upper = upper_of(d);
	const wide d_lower = (d - d_upper) + (m - (d - 1));
	const wide s_lower =
		((f - s_upper * d_upper) - s_upper * d_lower) * inverse;
	const wide square = s_upper * s_upper;
	const wide rest = s2 * s2 * quartic_part(s2) + s_lower * (s_upper + s);
	const wide sum_upper = upper_of(3 + square + rest);
	const wide sum_lower = rest - ((sum_upper - 3) - square);
	const wide large = s_upper * sum_upper;
	const wide small = s_lower * sum_upper + sum_lower * s;
	const wide upper = upper_of(large + small);
	const wide lower = small - (upper - large);
	const wide whole = upper * factor_upper;
	const wide part =
		upper * factor_lower + lower * (factor_upper + factor_lower);
	const wide log = upper_of((whole + part) + n);

	*low = part - ((log - n) - whole);
	return log;
}

/* Usual powers are 2**e with e from -LONG_POWER to LONG_POWER. */
#define LONG_POWER 1021.0

/* Returns a power of a positive number, and its @logarithm to base 2. */
ALWAYS wide long_pow(wide x, wide y, wide *logarithm)
{
	const double ln2_upper = 0x1.62e42f8p-1;
	const double ln2_lower = 0x1.be8e7bcd5e4f2p-27;
	const wide y_upper = upper_of(y);
	wide low, dropped;
	const wide log = long_log_pair(x, &low);
	const wide large = y_upper * log;
	const wide small = (y - y_upper) * log + y * low;
	const wide power = large + small, whole = power + WHOLE;
	const wide fraction = large - (whole - WHOLE);
	const wide upper = upper_of(fraction + small);
	const wide lower = small - (upper - fraction);
	const wide exact = upper * ln2_upper;
	const wide rest = lower * (ln2_upper + ln2_lower) + upper * ln2_lower;
	const wide r = exact + rest, r_low = rest - (r - exact);
	const wide sum = sum_of(EACH(1.0), r, &dropped);

	*logarithm = power;
	return scaled(
		sum + (dropped + (r * r * rest_part(r) + (r_low + r_low * r))),
		whole);
}

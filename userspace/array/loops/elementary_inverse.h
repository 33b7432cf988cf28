/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * More functions of float32, computed in float64: inverses of angles, and the cubic root.
 * They fuse nothing: on arm64 a sum that begins with a constant needs two
 * instructions all the same.  elementary_vector.h includes this file behind
 * elementary_wide.h.
 */
/* Returns all bits if @x is larger than @limit, else none; neither is below 0. */
ALWAYS wide_bits beyond(wide x, double limit)
{
	return 0 - ((BITS_OF(EACH(limit)) - BITS_OF(x)) >> 63);
}

/* Returns (atan(x) / x - 1) / x**2 for x up to 1, by x**2; within 2**-31. */
ALWAYS wide arctangent_part(wide x2)
{
	wide p = x2 * 0x1.298159ce531d9p-10 - 0x1.e67464bce72ccp-8;

	p = p * x2 + 0x1.74e86dcae2174p-6;
	p = p * x2 - 0x1.7033e8acf1aa6p-5;
	p = p * x2 + 0x1.14df63627b342p-4;
	p = p * x2 - 0x1.693863725b49bp-4;
	p = p * x2 + 0x1.c5071635db95ep-4;
	p = p * x2 - 0x1.247503600a9a8p-3;
	p = p * x2 + 0x1.9997fd0e36b05p-3;
	p = p * x2 - 0x1.5555515fd0d0ep-2;
	return p;
}

/* Above 1, atan(x) is pi / 2 - atan(1 / x). */
ALWAYS wide wide_atan(wide x)
{
	const wide size = size_of(x);
	const wide_bits far = beyond(size, 1.0);
	const wide t =
		either(far, EACH(-1.0), size) / either(far, size, EACH(1.0));
	const wide t2 = t * t;

	return OF_BITS(BITS_OF(EACH(M_PI_2)) & far) +
	       (t + t * (t2 * arctangent_part(t2)));
}

/*
 * Returns asin(size) for a size up to 0.5.  For a larger size, sets all bits of @far
 * and returns asin(sqrt((1 - size) / 2)), which is half of acos(size).
 */
ALWAYS wide arcsine_part(wide size, wide_bits *far)
{
	wide z, p;

	*far = beyond(size, 0.5);
	z = either(*far, (1 - size) * 0.5, size * size);
	p = z * 0x1.33bbc8e1b12bdp-5 + 0x1.d7f23ec0be5efp-7;
	p = p * z + 0x1.04a656fa2a0eep-5;
	p = p * z + 0x1.6cac3c2eb43e2p-5;
	p = p * z + 0x1.33388ea98d4d2p-4;
	p = p * z + 0x1.55554c36b77b0p-3;
	return SQRT_D(z) * (1 + z * p);
}

ALWAYS wide wide_asin(wide x)
{
	wide_bits far;
	const wide part = arcsine_part(size_of(x), &far);

	return either(far, M_PI_2 - 2 * part, part);
}

ALWAYS wide wide_acos(wide x)
{
	const wide_bits sign = EACH_BITS(1ull << 63);
	wide_bits far;
	const wide part = arcsine_part(size_of(x), &far);
	const wide_bits below = 0 - (BITS_OF(x) >> 63);
	const wide base =
		either(far, OF_BITS(BITS_OF(EACH(M_PI)) & below), EACH(M_PI_2));
	const wide size = either(far, part + part, part);

	return base + OF_BITS(BITS_OF(size) ^ ((below ^ ~far) & sign));
}

/* Returns (cbrt(1 + f) - 1) / f for 1 + f from sqrt(2) / 2 to sqrt(2); within 2**-30. */
ALWAYS wide cube_part(wide f)
{
	wide p = f * 0x1.5f9158f6a4df5p-7 - 0x1.2c23022e4be74p-6;

	p = p * f + 0x1.45edc47fe1bc0p-6;
	p = p * f - 0x1.7dcdbad8764e6p-6;
	p = p * f + 0x1.ed4c6f1eaab31p-6;
	p = p * f - 0x1.51282e18c7496p-5;
	p = p * f + 0x1.f9b1d01d0d5f9p-5;
	p = p * f - 0x1.c71c65c9c6429p-4;
	p = p * f + 0x1.555554729e46ap-2;
	return p;
}

/* The rest of the exponent is -1, 0 or 1: the factor is a parabola through 2**(rest / 3). */
ALWAYS wide wide_cbrt(wide x)
{
	wide n;
	const wide f = split(size_of(x), &n) - 1;
	const wide third = n * (1.0 / 3) + WHOLE;
	const wide rest = n - 3 * (third - WHOLE);
	const wide factor =
		1 + rest * (0x1.dd68e9bbaedb4p-3 + rest * 0x1.b744985853500p-6);

	return scaled((1 + f * cube_part(f)) * factor, third);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Powers of complex numbers.  Whole exponents below 100 are products, so that those
 * of whole numbers are exact.  0 to a power without a positive real part is a NaN.
 * The C library computes all others.  (Source: NumPy's rules.)
 */
#include <complex.h>
#include <fenv.h>
#include <math.h>
#include <stdlib.h>

#include "loops/elementary_power.h"

/* Whole exponents from which on the C library computes. */
#define LIMIT 100

static double complex elementary_power_product(double complex a,
					       double complex b)
{
	return dray_pair_double(creal(a) * creal(b) - cimag(a) * cimag(b),
				creal(a) * cimag(b) + cimag(a) * creal(b));
}

static float complex product_float(float complex a, float complex b)
{
	return dray_pair_float(crealf(a) * crealf(b) - cimagf(a) * cimagf(b),
			       crealf(a) * cimagf(b) + cimagf(a) * crealf(b));
}

/* Divides by the larger part first; sums with 0 give zeros NumPy's signs. */
static double complex elementary_power_reciprocal(double complex a)
{
	const double real = creal(a), imaginary = cimag(a);
	double ratio, size;

	if (a == 0)
		return dray_pair_double(1 / fabs(real), 0 / fabs(real));
	if (fabs(real) >= fabs(imaginary)) {
		ratio = imaginary / real;
		size = 1 / (real + imaginary * ratio);
		return dray_pair_double(size, (0 - ratio) * size);
	}
	ratio = real / imaginary;
	size = 1 / (real * ratio + imaginary);
	return dray_pair_double((ratio + 0) * size, -size);
}

static float complex reciprocal_float(float complex a)
{
	const float real = crealf(a), imaginary = cimagf(a);
	float ratio, size;

	if (a == 0)
		return dray_pair_float(1 / fabsf(real), 0 / fabsf(real));
	if (fabsf(real) >= fabsf(imaginary)) {
		ratio = imaginary / real;
		size = 1 / (real + imaginary * ratio);
		return dray_pair_float(size, (0 - ratio) * size);
	}
	ratio = real / imaginary;
	size = 1 / (real * ratio + imaginary);
	return dray_pair_float((ratio + 0) * size, -size);
}

static double complex whole_power(double complex a, int exponent)
{
	unsigned int left = (unsigned int)abs(exponent);
	double complex result = 1;

	if (exponent > 0 && exponent <= 3) {
		result = a;
		while (--exponent)
			result = elementary_power_product(a, result);
		return result;
	}
	for (;;) {
		if (left & 1)
			result = elementary_power_product(result, a);
		left >>= 1;
		if (!left)
			break;
		a = elementary_power_product(a, a);
	}
	return exponent < 0 ? elementary_power_reciprocal(result) : result;
}

static float complex whole_power_float(float complex a, int exponent)
{
	unsigned int left = (unsigned int)abs(exponent);
	float complex result = 1;

	if (exponent > 0 && exponent <= 3) {
		result = a;
		while (--exponent)
			result = product_float(a, result);
		return result;
	}
	for (;;) {
		if (left & 1)
			result = product_float(result, a);
		left >>= 1;
		if (!left)
			break;
		a = product_float(a, a);
	}
	return exponent < 0 ? reciprocal_float(result) : result;
}

static bool power_is_whole(double exponent)
{
	return fabs(exponent) < LIMIT && exponent == trunc(exponent);
}

static double complex loops_elementary_power(double complex a, double complex b)
{
	if (b == 0)
		return 1;
	if (a == 0) {
		if (creal(b) > 0)
			return 0;
		feraiseexcept(FE_INVALID);
		return dray_pair_double(NAN, NAN);
	}
	if (cimag(b) == 0 && power_is_whole(creal(b)))
		return whole_power(a, (int)creal(b));
	return cpow(a, b);
}

static float complex power_float(float complex a, float complex b)
{
	if (b == 0)
		return 1;
	if (a == 0) {
		if (crealf(b) > 0)
			return 0;
		feraiseexcept(FE_INVALID);
		return dray_pair_float(NAN, NAN);
	}
	if (cimagf(b) == 0 && power_is_whole((double)crealf(b)))
		return whole_power_float(a, (int)crealf(b));
	return cpowf(a, b);
}

int dray_power_complex_double(char *const *data, const int64_t *strides,
			      int64_t count, void *context)
{
	int64_t i;

	(void)context;
	for (i = 0; i < count; i++)
		*(double complex *)(void *)(data[2] + i * strides[2]) =
			loops_elementary_power(
				*(const double complex
					  *)(void *)(data[0] + i * strides[0]),
				*(const double complex
					  *)(void *)(data[1] + i * strides[1]));
	return 0;
}

int dray_power_complex_float(char *const *data, const int64_t *strides,
			     int64_t count, void *context)
{
	int64_t i;

	(void)context;
	for (i = 0; i < count; i++)
		*(float complex *)(void *)(data[2] + i * strides[2]) =
			power_float(
				*(const float complex *)(void *)(data[0] +
								 i * strides[0]),
				*(const float complex
					  *)(void *)(data[1] + i * strides[1]));
	return 0;
}

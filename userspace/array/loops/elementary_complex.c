// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Complex functions, by the C library: their special values are those of C's Annex
 * G, as NumPy's are.  The hardware notes errors.  Bits are not the same on all
 * machines.
 */
#include <complex.h>
#include <math.h>

#include "loops/elementary_power.h"

typedef double complex function_double(double complex x);
typedef float complex function_float(float complex x);

static double complex log2_double(double complex x)
{
	const double complex log = clog(x);

	return dray_pair_double(creal(log) * M_LOG2E, cimag(log) * M_LOG2E);
}

static double complex log10_double(double complex x)
{
	const double complex log = clog(x);

	return dray_pair_double(creal(log) * M_LOG10E, cimag(log) * M_LOG10E);
}

static double complex log1p_double(double complex x)
{
	const double real = creal(x) + 1, imaginary = cimag(x);

	return dray_pair_double(log(hypot(real, imaginary)),
				atan2(imaginary, real));
}

static double complex exp2_double(double complex x)
{
	return cexp(dray_pair_double(creal(x) * M_LN2, cimag(x) * M_LN2));
}

static double complex expm1_double(double complex x)
{
	const double real = creal(x), imaginary = cimag(x);
	const double half = sin(imaginary / 2);

	return dray_pair_double(expm1(real) * cos(imaginary) - 2 * half * half,
				exp(real) * sin(imaginary));
}

static float complex log2_float(float complex x)
{
	const float complex log = clogf(x);

	return dray_pair_float(crealf(log) * (float)M_LOG2E,
			       cimagf(log) * (float)M_LOG2E);
}

static float complex log10_float(float complex x)
{
	const float complex log = clogf(x);

	return dray_pair_float(crealf(log) * (float)M_LOG10E,
			       cimagf(log) * (float)M_LOG10E);
}

static float complex log1p_float(float complex x)
{
	const float real = crealf(x) + 1, imaginary = cimagf(x);

	return dray_pair_float(logf(hypotf(real, imaginary)),
			       atan2f(imaginary, real));
}

static float complex exp2_float(float complex x)
{
	return cexpf(dray_pair_float(crealf(x) * (float)M_LN2,
				     cimagf(x) * (float)M_LN2));
}

static float complex expm1_float(float complex x)
{
	const float real = crealf(x), imaginary = cimagf(x);
	const float half = sinf(imaginary / 2);

	return dray_pair_float(expm1f(real) * cosf(imaginary) - 2 * half * half,
			       expf(real) * sinf(imaginary));
}

static const struct {
	function_double *of_double;
	function_float *of_float;
} functions[] = {
	[DRAY_FUNCTION_exp] = { cexp, cexpf },
	[DRAY_FUNCTION_exp2] = { exp2_double, exp2_float },
	[DRAY_FUNCTION_expm1] = { expm1_double, expm1_float },
	[DRAY_FUNCTION_log] = { clog, clogf },
	[DRAY_FUNCTION_log2] = { log2_double, log2_float },
	[DRAY_FUNCTION_log10] = { log10_double, log10_float },
	[DRAY_FUNCTION_log1p] = { log1p_double, log1p_float },
	[DRAY_FUNCTION_sin] = { csin, csinf },
	[DRAY_FUNCTION_cos] = { ccos, ccosf },
	[DRAY_FUNCTION_tan] = { ctan, ctanf },
	[DRAY_FUNCTION_asin] = { casin, casinf },
	[DRAY_FUNCTION_acos] = { cacos, cacosf },
	[DRAY_FUNCTION_atan] = { catan, catanf },
	[DRAY_FUNCTION_sinh] = { csinh, csinhf },
	[DRAY_FUNCTION_cosh] = { ccosh, ccoshf },
	[DRAY_FUNCTION_tanh] = { ctanh, ctanhf },
	[DRAY_FUNCTION_asinh] = { casinh, casinhf },
	[DRAY_FUNCTION_acosh] = { cacosh, cacoshf },
	[DRAY_FUNCTION_atanh] = { catanh, catanhf },
	[DRAY_FUNCTION_sqrt] = { csqrt, csqrtf },
};

int dray_complex_double(char *const *data, const int64_t *strides,
			int64_t count, void *context)
{
	const uintptr_t number = (uintptr_t)context & ~DRAY_LOOP_FAST;
	function_double *compute = functions[number].of_double;
	int64_t i;

	for (i = 0; i < count; i++)
		*(double complex *)(void *)(data[1] + i * strides[1]) = compute(
			*(const double complex *)(void *)(data[0] +
							  i * strides[0]));
	return 0;
}

int dray_complex_float(char *const *data, const int64_t *strides, int64_t count,
		       void *context)
{
	const uintptr_t number = (uintptr_t)context & ~DRAY_LOOP_FAST;
	function_float *compute = functions[number].of_float;
	int64_t i;

	for (i = 0; i < count; i++)
		*(float complex *)(void *)(data[1] + i * strides[1]) = compute(
			*(const float complex *)(void *)(data[0] +
							 i * strides[0]));
	return 0;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Errors of results, derived from arguments and result as IEEE 754 and C say.
 * Kernels ask only for results that are zero, subnormal, infinite or not a number.
 */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "loops/elementary.h"

/* An infinite result of finite arguments: a pole, or else too large a number. */
static bool is_pole(enum dray_function function, double x, double y)
{
	switch (function) {
	case DRAY_FUNCTION_log:
	case DRAY_FUNCTION_log2:
	case DRAY_FUNCTION_log10:
		return x == 0;
	case DRAY_FUNCTION_log1p:
		return x == -1;
	case DRAY_FUNCTION_atanh:
		return x == 1 || x == -1;
	case DRAY_FUNCTION_pow:
		return x == 0 && y < 0 && isfinite(y);
	default:
		return false;
	}
}

/* A zero or subnormal result without a rounding error. */
static bool mend_is_exact(enum dray_function function, double x, double y,
			  double result)
{
	switch (function) {
	case DRAY_FUNCTION_log:
	case DRAY_FUNCTION_log2:
	case DRAY_FUNCTION_log10:
	case DRAY_FUNCTION_acos:
	case DRAY_FUNCTION_acosh:
		return x == 1;
	case DRAY_FUNCTION_exp:
	case DRAY_FUNCTION_expm1:
		return x == 0 || isinf(x);
	case DRAY_FUNCTION_exp2:
		return isinf(x) || (result != 0 && x == rint(x));
	case DRAY_FUNCTION_atan2:
		return x == 0 || isinf(y);
	case DRAY_FUNCTION_pow:
		return x == 0 || isinf(x) || isinf(y) || y == 1;
	case DRAY_FUNCTION_hypot:
		return true;
	default:
		return x == 0;
	}
}

static int errors_of(enum dray_function function, double x, double y,
		     double result, double least)
{
	if (isnan(result))
		return isnan(x) || isnan(y) ? 0 : FE_INVALID;
	if (isinf(result)) {
		if (is_pole(function, x, y))
			return FE_DIVBYZERO;
		return isinf(x) || isinf(y) ? 0 : FE_OVERFLOW;
	}
	if (fabs(result) < least && !mend_is_exact(function, x, y, result))
		return FE_UNDERFLOW;
	return 0;
}

static double elementary_mend_scalar(enum dray_function function, double x,
				     double y)
{
	double out;

	dray_kernels_scalar.of_double[function](&x, &y, &out, 1);
	return out;
}

/* e**size / 2, where e**size is too large for a double. */
static double half_of_exp(double size)
{
	/* 1023 * ln(2), of which the upper part is subtracted exactly. */
	const double upper = 0x1.628b76e4p+9, lower = -0x1.6127d19508763p-25;
	const double part =
		elementary_mend_scalar(DRAY_FUNCTION_exp, size - upper, 0);

	return (part + part * (lower * lower / 2 - lower)) * 0x1p1022;
}

/* x**y, where it is too large, or almost. */
static double elementary_mend_power(double x, double y)
{
	const double root =
		elementary_mend_scalar(DRAY_FUNCTION_pow, fabs(x), y / 2);
	const double result = y == 1 ? fabs(x) : root * root;

	return x < 0 && fmod(y, 2) != 0 ? -result : result;
}

/* Whether a subnormal number is its own result. */
static bool is_tangent(enum dray_function function)
{
	switch (function) {
	case DRAY_FUNCTION_sin:
	case DRAY_FUNCTION_tan:
	case DRAY_FUNCTION_asinh:
	case DRAY_FUNCTION_atanh:
	case DRAY_FUNCTION_expm1:
	case DRAY_FUNCTION_sinh:
	case DRAY_FUNCTION_tanh:
	case DRAY_FUNCTION_log1p:
	case DRAY_FUNCTION_asin:
	case DRAY_FUNCTION_atan:
		return true;
	default:
		return false;
	}
}

/* The largest argument of exp() with a finite result. */
#define LARGEST_EXP 0x1.62e42fefa39efp+9

/*
 * Computes results that SLEEF gives up early: it squares the argument of asinh and
 * acosh, adds 1 to the argument of log1p with a part too large, and returns infinity
 * for sinh and cosh where exp overflows, and for exp and pow a little before the
 * largest number.  Subnormal numbers lose places in it.
 */
static double elementary_mend_mended(enum dray_function function, double x,
				     double y, double result)
{
	const double size = fabs(x);

	if (size < DBL_MIN && is_tangent(function))
		return x;
	if (!isfinite(x) || !isinf(result))
		return result;
	switch (function) {
	case DRAY_FUNCTION_log1p:
		return x > 0 ? elementary_mend_scalar(DRAY_FUNCTION_log, x, 0)
			     : result;
	case DRAY_FUNCTION_asinh:
		return copysign(elementary_mend_scalar(DRAY_FUNCTION_log, size,
						       0) +
					M_LN2,
				x);
	case DRAY_FUNCTION_acosh:
		return elementary_mend_scalar(DRAY_FUNCTION_log, x, 0) + M_LN2;
	case DRAY_FUNCTION_exp:
	case DRAY_FUNCTION_expm1:
		return x <= LARGEST_EXP ? 2 * half_of_exp(x) : result;
	case DRAY_FUNCTION_sinh:
		return size < 711 ? copysign(half_of_exp(size), x) : result;
	case DRAY_FUNCTION_cosh:
		return size < 711 ? half_of_exp(size) : result;
	case DRAY_FUNCTION_pow:
		return isfinite(y) && x != 0 ? elementary_mend_power(x, y)
					     : result;
	default:
		return result;
	}
}

int dray_mend_double(enum dray_function function, const double *x,
		     const double *y, double *out, int lanes)
{
	int i, errors = 0;

	for (i = 0; i < lanes; i++) {
		out[i] = elementary_mend_mended(function, x[i], y[i], out[i]);
		errors |= errors_of(function, x[i], y[i], out[i], DBL_MIN);
	}
	return errors;
}

int dray_mend_float(enum dray_function function, const float *x, const float *y,
		    float *out, int lanes)
{
	int i, errors = 0;

	for (i = 0; i < lanes; i++) {
		const float size = fabsf(out[i]);

		/* Doubles reach farther; other lanes stay as they are. */
		if ((size > 0 || (x[i] != 0 && fabsf(x[i]) < FLT_MIN)) &&
		    !(size >= FLT_MIN && size <= FLT_MAX) && isfinite(x[i]) &&
		    isfinite(y[i]))
			out[i] = (float)elementary_mend_scalar(
				function, (double)x[i], (double)y[i]);
		errors |= errors_of(function, (double)x[i], (double)y[i],
				    (double)out[i], (double)FLT_MIN);
	}
	return errors;
}

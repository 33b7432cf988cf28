// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Errors of results, told from arguments and result as IEEE 754 and C say.  Kernels
 * ask only for results that are zero, subnormal, infinite or no number.
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
		return x == 0 && y < 0;
	default:
		return false;
	}
}

/* A zero or subnormal result without a rounding error. */
static bool is_exact(enum dray_function function, double x, double y,
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
		if (isinf(x) || isinf(y))
			return 0;
		return is_pole(function, x, y) ? FE_DIVBYZERO : FE_OVERFLOW;
	}
	if (fabs(result) < least && !is_exact(function, x, y, result))
		return FE_UNDERFLOW;
	return 0;
}

int dray_mend_double(enum dray_function function, const double *x,
		     const double *y, double *out, int lanes)
{
	int i, errors = 0;

	for (i = 0; i < lanes; i++)
		errors |= errors_of(function, x[i], y[i], out[i], DBL_MIN);
	return errors;
}

int dray_mend_float(enum dray_function function, const float *x,
		    const float *y, float *out, int lanes)
{
	int i, errors = 0;

	for (i = 0; i < lanes; i++)
		errors |= errors_of(function, (double)x[i], (double)y[i],
				    (double)out[i], (double)FLT_MIN);
	return errors;
}

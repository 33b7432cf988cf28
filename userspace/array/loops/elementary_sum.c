// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Sums of powers, as their logarithms: the larger of both plus log(1 + a power that
 * is 1 at most).  They are made of the kernels, so that their bits are as equal.
 */
#include <float.h>
#include <math.h>

#include "loops/elementary.h"
#include "loops/elementary_part.h"

/* Equal ones may be infinite. */
int dray_sum_double(const struct dray_kernels *kernels, bool binary,
		    const double *x, const double *y, double *out, size_t count)
{
	const int power = binary ? DRAY_FUNCTION_exp2 : DRAY_FUNCTION_exp;
	const double unit = binary ? M_LOG2E : 1;
	double part[DRAY_PART];
	int errors;
	size_t i;

	if (!count)
		return 0;
	for (i = 0; i < count; i++)
		part[i] = x[i] == y[i] ? 0 : -fabs(x[i] - y[i]);
	errors = kernels->of_double[power](part, NULL, part, count);
	kernels->of_double[DRAY_FUNCTION_log1p](part, NULL, part, count);
	for (i = 0; i < count; i++)
		out[i] = (x[i] > y[i] ? x[i] : y[i]) + unit * part[i];
	return errors;
}

int dray_sum_float(const struct dray_kernels *kernels, bool binary,
		   const float *x, const float *y, float *out, size_t count)
{
	const int power = binary ? DRAY_FUNCTION_exp2 : DRAY_FUNCTION_exp;
	const float unit = binary ? (float)M_LOG2E : 1;
	float part[DRAY_PART];
	int errors;
	size_t i;

	if (!count)
		return 0;
	for (i = 0; i < count; i++)
		part[i] = x[i] == y[i] ? 0 : -fabsf(x[i] - y[i]);
	errors = kernels->of_float[power](part, NULL, part, count);
	kernels->of_float[DRAY_FUNCTION_log1p](part, NULL, part, count);
	for (i = 0; i < count; i++)
		out[i] = (x[i] > y[i] ? x[i] : y[i]) + unit * part[i];
	return errors;
}

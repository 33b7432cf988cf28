/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Loops that definitions of several files share; contexts are DRAY_FUNCTION_*. */
#ifndef DRAY_LOOPS_ELEMENTARY_POWER_H
#define DRAY_LOOPS_ELEMENTARY_POWER_H

#include <complex.h>
#include <string.h>

#include "loops/elementary.h"
#include "loops/loops.h"

/* A complex number of its parts, as they are: CMPLX() is not in every compiler. */
static inline double complex dray_pair_double(double real, double imaginary)
{
	const double parts[] = { real, imaginary };
	double complex out;

	memcpy(&out, parts, sizeof(out));
	return out;
}

static inline float complex dray_pair_float(float real, float imaginary)
{
	const float parts[] = { real, imaginary };
	float complex out;

	memcpy(&out, parts, sizeof(out));
	return out;
}

/* Of floats: one or two inputs, as the function has. */
dray_loop dray_elementary_half;
dray_loop dray_elementary_float;
dray_loop dray_elementary_double;

/* Square roots, without a context, compiled for each level of instructions. */
struct dray_roots {
	dray_loop *of_float;
	dray_loop *of_double;
};

/* Of complex numbers: one input. */
dray_loop dray_complex_float;
dray_loop dray_complex_double;

/* Powers; they need no context. */
dray_loop dray_power_complex_float;
dray_loop dray_power_complex_double;

/*
 * Computes powers with the operands of a loop, if the exponent is one of few for all
 * of them.  Returns false, without a result, for others.
 */
bool dray_power_simple_float(char *const *data, const int64_t *strides,
			     int64_t count);
bool dray_power_simple_double(char *const *data, const int64_t *strides,
			      int64_t count);

#define DRAY_NUMBER(function) ((void *)(uintptr_t)DRAY_FUNCTION_##function)

#endif /* DRAY_LOOPS_ELEMENTARY_POWER_H */

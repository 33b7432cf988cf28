// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Measures the errors of the elementary functions against MPFR, in ULPs: distances
 * to the exact result, in units of the last place of the type there.  It prints a
 * table, and fails if a function is worse than the table in ulp_bounds.h.
 *
 *	ulp [--points N] [--set NAME] [FUNCTION]...
 */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpfr.h>

#include "dtype/half.h"
#include "loops/elementary.h"

/* More than twice the digits of a double. */
#define PRECISION 160
#define BLOCK 256

typedef int exact_function(mpfr_t result, const mpfr_t x, const mpfr_t y);

#define EXACT_UNARY(name, call)                                              \
	static int exact_##name(mpfr_t result, const mpfr_t x,               \
				const mpfr_t y)                              \
	{                                                                    \
		(void)y;                                                     \
		return call(result, x, MPFR_RNDN);                           \
	}
#define EXACT_BINARY(name, call)                                             \
	static int exact_##name(mpfr_t result, const mpfr_t x,               \
				const mpfr_t y)                              \
	{                                                                    \
		return call(result, x, y, MPFR_RNDN);                        \
	}
EXACT_UNARY(cbrt, mpfr_cbrt)
EXACT_UNARY(exp, mpfr_exp)
EXACT_UNARY(exp2, mpfr_exp2)
EXACT_UNARY(expm1, mpfr_expm1)
EXACT_UNARY(log, mpfr_log)
EXACT_UNARY(log2, mpfr_log2)
EXACT_UNARY(log10, mpfr_log10)
EXACT_UNARY(log1p, mpfr_log1p)
EXACT_UNARY(sin, mpfr_sin)
EXACT_UNARY(cos, mpfr_cos)
EXACT_UNARY(tan, mpfr_tan)
EXACT_UNARY(asin, mpfr_asin)
EXACT_UNARY(acos, mpfr_acos)
EXACT_UNARY(atan, mpfr_atan)
EXACT_UNARY(sinh, mpfr_sinh)
EXACT_UNARY(cosh, mpfr_cosh)
EXACT_UNARY(tanh, mpfr_tanh)
EXACT_UNARY(asinh, mpfr_asinh)
EXACT_UNARY(acosh, mpfr_acosh)
EXACT_UNARY(atanh, mpfr_atanh)
EXACT_BINARY(atan2, mpfr_atan2)
EXACT_BINARY(hypot, mpfr_hypot)
EXACT_BINARY(pow, mpfr_pow)

/* Where to look: everywhere by random bits, and evenly from low to high. */
static const struct {
	const char *name;
	enum dray_function function;
	exact_function *exact;
	double low, high;
} functions[] = {
#define IN(name, low, high) { #name, DRAY_FUNCTION_##name, exact_##name, low, high }
	IN(cbrt, -100, 100), IN(exp, -745, 710), IN(exp2, -1075, 1024),
	IN(expm1, -40, 710), IN(log, 0, 4), IN(log2, 0, 4), IN(log10, 0, 4),
	IN(log1p, -1, 4), IN(sin, -100, 100), IN(cos, -100, 100),
	IN(tan, -100, 100), IN(asin, -1, 1), IN(acos, -1, 1), IN(atan, -10, 10),
	IN(sinh, -711, 711), IN(cosh, -711, 711), IN(tanh, -20, 20),
	IN(asinh, -100, 100), IN(acosh, 1, 100), IN(atanh, -1, 1),
	IN(atan2, -10, 10), IN(hypot, -100, 100), IN(pow, 0, 20),
};
#define COUNT (sizeof(functions) / sizeof(functions[0]))

/* A type, by its digits and the exponent of its least number. */
struct type {
	char letter;
	int digits, least, most;
};

static const struct type types[] = {
	{ 'e', 11, -24, 16 }, { 'f', 24, -149, 128 }, { 'd', 53, -1074, 1024 }
};

struct worst {
	double ulps, x, y, got;
};

static uint64_t state = 88172645463325252u;

static uint64_t dice(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static double of_bits(char letter, uint64_t bits)
{
	if (letter == 'd')
		return dray_double_of_bits(bits);
	if (letter == 'f')
		return (double)dray_float_of_bits((uint32_t)bits);
	return (double)dray_half_to_float((uint16_t)bits);
}

static double rounded(char letter, double x)
{
	if (letter == 'd')
		return x;
	if (letter == 'f')
		return (double)(float)x;
	return (double)dray_half_to_float(dray_half_from_double(x));
}

static double chosen(size_t f, char letter, unsigned int way, uint64_t number)
{
	const double low = functions[f].low, high = functions[f].high;
	double limit = high - low, even;

	switch (way % 4) {
	case 0:
	case 1:
		return of_bits(letter, letter == 'e' && way < 4 ? number : dice());
	case 2: /* near 1, near multiples of pi/2 */
		even = (double)(int64_t)(dice() % 64) - 32;
		even = functions[f].function >= DRAY_FUNCTION_sin &&
				       functions[f].function <= DRAY_FUNCTION_tan
			       ? even * (M_PI / 2)
			       : 1;
		return rounded(letter, even * (1 + ldexp((double)(dice() % 2048) - 1024,
							-10 - (int)(dice() % 45))));
	default:
		if (letter != 'd' && limit > 300)
			limit = 300;
		return rounded(letter,
			       (limit < high - low ? -limit / 2 : low) +
				       limit * ((double)(dice() >> 11) * 0x1p-53));
	}
}

static double ulps(const struct type *type, exact_function *exact, double x,
		   double y, double got, mpfr_t *at)
{
	mpfr_exp_t exponent;
	double error;

	mpfr_set_d(at[0], x, MPFR_RNDN);
	mpfr_set_d(at[1], y, MPFR_RNDN);
	exact(at[2], at[0], at[1]);
	if (mpfr_nan_p(at[2]))
		return isnan(got) ? 0 : INFINITY;
	if (mpfr_inf_p(at[2]))
		return got == mpfr_get_d(at[2], MPFR_RNDN) ? 0 : INFINITY;
	if (isnan(got))
		return INFINITY;
	if (mpfr_zero_p(at[2]))
		return got == 0 ? 0 : INFINITY;
	exponent = mpfr_get_exp(at[2]) - type->digits;
	if (exponent < type->least)
		exponent = type->least;
	if (exponent > type->most - type->digits)
		exponent = type->most - type->digits;
	if (isinf(got)) /* as the number above the largest */
		mpfr_set_d(at[1], copysign(1, got), MPFR_RNDN),
			mpfr_mul_2si(at[1], at[1], type->most, MPFR_RNDN);
	else
		mpfr_set_d(at[1], got, MPFR_RNDN);
	if (isinf(got) && mpfr_cmpabs(at[2], at[1]) >= 0 &&
	    mpfr_sgn(at[2]) == mpfr_sgn(at[1]))
		return 0;
	mpfr_sub(at[1], at[1], at[2], MPFR_RNDN);
	mpfr_mul_2si(at[1], at[1], -exponent, MPFR_RNDN);
	error = fabs(mpfr_get_d(at[1], MPFR_RNDN));
	return error;
}

static void compute(const struct dray_kernels *kernels, size_t f, char letter,
		    const double *x, const double *y, double *got)
{
	float xs[BLOCK], ys[BLOCK], out[BLOCK];
	int i;

	if (letter == 'd') {
		kernels->of_double[functions[f].function](x, y, got, BLOCK);
		return;
	}
	for (i = 0; i < BLOCK; i++) {
		xs[i] = (float)x[i];
		ys[i] = (float)y[i];
	}
	kernels->of_float[functions[f].function](xs, ys, out, BLOCK);
	for (i = 0; i < BLOCK; i++)
		got[i] = letter == 'f' ? (double)out[i]
				       : (double)dray_half_to_float(
						 dray_half_from_float(out[i]));
}

static struct worst measure(const struct dray_kernels *kernels, size_t f,
			    const struct type *type, uint64_t points)
{
	double x[BLOCK], y[BLOCK], got[BLOCK];
	struct worst worst = { 0, 0, 0, 0 };
	mpfr_t at[3];
	uint64_t done;
	int i;

	for (i = 0; i < 3; i++)
		mpfr_init2(at[i], PRECISION);
	for (done = 0; done < points; done += BLOCK) {
		for (i = 0; i < BLOCK; i++) {
			x[i] = chosen(f, type->letter, (unsigned int)dice(), done + i);
			y[i] = chosen(f, type->letter, (unsigned int)dice(), dice());
		}
		compute(kernels, f, type->letter, x, y, got);
		for (i = 0; i < BLOCK; i++) {
			const double error =
				ulps(type, functions[f].exact, x[i], y[i],
				     got[i], at);

			if (error > worst.ulps)
				worst = (struct worst){ error, x[i], y[i],
							got[i] };
		}
	}
	for (i = 0; i < 3; i++)
		mpfr_clear(at[i]);
	return worst;
}

int main(int argc, char **argv)
{
	const struct dray_kernels *kernels = dray_kernels_exact();
	uint64_t points = 20000;
	size_t f, t;
	int a;

	for (a = 1; a < argc; a++) {
		if (!strcmp(argv[a], "--points") && a + 1 < argc)
			points = strtoull(argv[++a], NULL, 10);
		else if (!strcmp(argv[a], "--fused"))
			kernels = dray_kernels_fused();
		else
			break;
	}
	printf("%s, %llu points\n", kernels->name, (unsigned long long)points);
	for (f = 0; f < COUNT; f++) {
		if (a < argc && strcmp(argv[a], functions[f].name))
			continue;
		printf("%-6s", functions[f].name);
		for (t = 0; t < 3; t++) {
			struct worst worst = measure(kernels, f, &types[t], points);

			printf(" | %c %.3f (%a %a: %a)", types[t].letter, worst.ulps,
			       worst.x, worst.y, worst.got);
			fflush(stdout);
		}
		printf("\n");
	}
	return 0;
}

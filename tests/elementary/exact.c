// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <stddef.h>

#include "exact.h"

/* The larger plus log(1 + 1 / a power of the difference), in logarithms of 2 or e. */
static int sum_of_powers(mpfr_t out, const mpfr_t x, const mpfr_t y,
			 mpfr_rnd_t round,
			 int (*power)(mpfr_t, const mpfr_t, mpfr_rnd_t),
			 int binary)
{
	mpfr_t part, log;

	if (mpfr_nan_p(x) || mpfr_nan_p(y)) {
		mpfr_set_nan(out);
		return 0;
	}
	if (mpfr_inf_p(x) || mpfr_inf_p(y))
		return mpfr_max(out, x, y, round);
	mpfr_init2(part, PRECISION);
	mpfr_init2(log, PRECISION);
	mpfr_sub(part, x, y, round);
	mpfr_abs(part, part, round);
	mpfr_neg(part, part, round);
	power(part, part, round);
	mpfr_log1p(part, part, round);
	mpfr_const_log2(log, round);
	if (binary)
		mpfr_div(part, part, log, round);
	mpfr_max(out, x, y, round);
	mpfr_add(out, out, part, round);
	mpfr_clear(part);
	mpfr_clear(log);
	return 0;
}

static int logaddexp(mpfr_t out, const mpfr_t x, const mpfr_t y,
		     mpfr_rnd_t round)
{
	return sum_of_powers(out, x, y, round, mpfr_exp, 0);
}

static int logaddexp2(mpfr_t out, const mpfr_t x, const mpfr_t y,
		      mpfr_rnd_t round)
{
	return sum_of_powers(out, x, y, round, mpfr_exp2, 1);
}

static int degrees(mpfr_t out, const mpfr_t x, mpfr_rnd_t round)
{
	mpfr_const_pi(out, round);
	mpfr_div(out, x, out, round);
	return mpfr_mul_ui(out, out, 180, round);
}

static int radians(mpfr_t out, const mpfr_t x, mpfr_rnd_t round)
{
	mpfr_const_pi(out, round);
	mpfr_mul(out, x, out, round);
	return mpfr_div_ui(out, out, 180, round);
}

const struct exact exact_functions[] = {
	{ "arccos", mpfr_acos, NULL, -1, 1 },
	{ "arccosh", mpfr_acosh, NULL, 1, 100 },
	{ "arcsin", mpfr_asin, NULL, -1, 1 },
	{ "arcsinh", mpfr_asinh, NULL, -100, 100 },
	{ "arctan", mpfr_atan, NULL, -10, 10 },
	{ "arctan2", NULL, mpfr_atan2, -10, 10 },
	{ "arctanh", mpfr_atanh, NULL, -1, 1 },
	{ "cbrt", mpfr_cbrt, NULL, -100, 100 },
	{ "cos", mpfr_cos, NULL, -100, 100 },
	{ "cosh", mpfr_cosh, NULL, -711, 711 },
	{ "degrees", degrees, NULL, -10, 10 },
	{ "exp", mpfr_exp, NULL, -746, 711 },
	{ "exp2", mpfr_exp2, NULL, -1076, 1025 },
	{ "expm1", mpfr_expm1, NULL, -40, 711 },
	{ "hypot", NULL, mpfr_hypot, -100, 100 },
	{ "log", mpfr_log, NULL, 0, 4 },
	{ "log10", mpfr_log10, NULL, 0, 4 },
	{ "log1p", mpfr_log1p, NULL, -1, 4 },
	{ "log2", mpfr_log2, NULL, 0, 4 },
	{ "logaddexp", NULL, logaddexp, -50, 50 },
	{ "logaddexp2", NULL, logaddexp2, -50, 50 },
	{ "power", NULL, mpfr_pow, 0, 20 },
	{ "radians", radians, NULL, -360, 360 },
	{ "sin", mpfr_sin, NULL, -100, 100 },
	{ "sinh", mpfr_sinh, NULL, -711, 711 },
	{ "sqrt", mpfr_sqrt, NULL, 0, 100 },
	{ "tan", mpfr_tan, NULL, -100, 100 },
	{ "tanh", mpfr_tanh, NULL, -20, 20 },
};

const size_t exact_count = sizeof(exact_functions) / sizeof(exact_functions[0]);

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Floating-point errors of elementary functions, and results near the limits. */
#include <fenv.h>
#include <math.h>

#include <dray/array.h>

#include "elementary.h"
#include "ufunc.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Errors of one call, among arguments without any. */
static const struct {
	const char *name;
	double x, y, result;
	int errors;
} cases[] = {
	{ "exp", 1, 0, M_E, 0 },
	{ "exp", 1000, 0, INFINITY, FE_OVERFLOW },
	{ "exp", -1000, 0, 0, FE_UNDERFLOW },
	{ "exp", -INFINITY, 0, 0, 0 },
	{ "exp", INFINITY, 0, INFINITY, 0 },
	{ "exp2", -1074, 0, 0x1p-1074, 0 },
	{ "log", 0, 0, -INFINITY, FE_DIVBYZERO },
	{ "log", -1, 0, NAN, FE_INVALID },
	{ "log", 1, 0, 0, 0 },
	{ "log", INFINITY, 0, INFINITY, 0 },
	{ "log1p", -1, 0, -INFINITY, FE_DIVBYZERO },
	{ "sin", INFINITY, 0, NAN, FE_INVALID },
	{ "sin", NAN, 0, NAN, 0 },
	{ "sin", 0x1p-1074, 0, 0x1p-1074, FE_UNDERFLOW },
	{ "sin", 0, 0, 0, 0 },
	{ "sqrt", -1, 0, NAN, FE_INVALID },
	{ "arcsin", 2, 0, NAN, FE_INVALID },
	{ "arccosh", 0, 0, NAN, FE_INVALID },
	{ "arccosh", 1e300, 0, 691.46867507877371, 0 },
	{ "arctanh", 1, 0, INFINITY, FE_DIVBYZERO },
	{ "sinh", -1000, 0, -INFINITY, FE_OVERFLOW },
	{ "hypot", 1.5e308, 1.5e308, INFINITY, FE_OVERFLOW },
	{ "power", 0, -1.5, INFINITY, FE_DIVBYZERO },
	{ "power", 0, 1.5, 0, 0 },
	{ "power", 0, 0, 1, 0 },
	{ "power", 0, INFINITY, 0, 0 },
	{ "power", 0, NAN, NAN, 0 },
	{ "power", -0.0, 1.5, 0, 0 },
	{ "power", -2, 0.75, NAN, FE_INVALID },
	{ "power", 1e200, 2.5, INFINITY, FE_OVERFLOW },
	{ "power", 1e-200, 2.5, 0, FE_UNDERFLOW },
	{ "degrees", 1e308, 0, INFINITY, FE_OVERFLOW },
};

static int errors_of(size_t c, int count, double *out)
{
	double x[20], y[20];
	int inputs, i;
	struct dray_ufunc_loop loop = loop_of(cases[c].name, 2, &inputs);
	const int64_t strides[] = { 8, 8, 8 };
	char *data[] = { (char *)x, inputs == 2 ? (char *)y : (char *)out,
			 (char *)out };

	for (i = 0; i < count; i++) {
		x[i] = strcmp(cases[c].name, "arccosh") ? 0.5 : 2;
		y[i] = 0.25;
	}
	x[count / 2] = cases[c].x;
	y[count / 2] = cases[c].y;
	feclearexcept(FE_ALL_EXCEPT);
	loop.loop(data, strides, count, loop.context);
	return fetestexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW |
			    FE_INVALID);
}

FACT_ON(flags_are_kept, errors_are_those_of_the_results, NULL, NULL)
{
	double out[20];
	int count, errors;
	size_t c;

	for (c = 0; c < COUNT(cases); c++)
		for (count = 1; count < 20; count++) {
			errors = errors_of(c, count, out);
			if (errors != cases[c].errors)
				fail_msg(
					"%s of %a and %a, one of %d: errors %#x, not %#x",
					cases[c].name, cases[c].x, cases[c].y,
					count, errors, cases[c].errors);
			if (isnan(cases[c].result))
				assert_true(isnan(out[count / 2]));
			else
				assert_true(out[count / 2] == cases[c].result ||
					    fabs(out[count / 2] -
						 cases[c].result) < 1e-9);
		}
}

FACT_ON(flags_are_kept, errors_from_before_a_loop_stay, NULL, NULL)
{
	double x = 1, out;
	int inputs;
	struct dray_ufunc_loop loop = loop_of("exp", 2, &inputs);
	const int64_t strides[] = { 8, 8 };
	char *data[] = { (char *)&x, (char *)&out };

	feclearexcept(FE_ALL_EXCEPT);
	feraiseexcept(FE_DIVBYZERO);
	loop.loop(data, strides, 1, loop.context);
	assert_int_equal(fetestexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW),
			 FE_DIVBYZERO);
}

FACT(a_call_computes_faster_on_request)
{
	struct dray_ufunc *tan = dray_ufunc_find("tan");
	const struct dray_ufunc_options fast = { .flags = DRAY_UFUNC_FAST },
					unknown = { .flags = 2 };
	double x = 2.5, out = 0;
	struct dray_view in, to;
	const struct dray_view *inputs[] = { &in }, *outputs[] = { &to };

	assert_works(dray_view_init(&in, &x, DRAY_FLOAT64, 0, NULL, NULL));
	assert_works(dray_view_init(&to, &out, DRAY_FLOAT64, 0, NULL, NULL));
	assert_works(dray_ufunc_call(tan, inputs, outputs, &fast, NULL));
	assert_true(fabs(out + 0.74702229723866029) < 1e-15);
	assert_fails(dray_ufunc_call(tan, inputs, outputs, &unknown, NULL),
		     -EINVAL, "unknown flags of a call: 0x2");
}

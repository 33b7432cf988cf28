// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Measures elementary functions against MPFR, in ULPs: distances to the exact
 * result, in units of the last place of the type there.  Prints a row of a table for
 * each function, or compares it with the row of a page, as TAP.
 *
 *	ulp [--points N] [--page FILE] [--worst] [FUNCTION]...
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dray/array.h>

#include "dtype/half.h"
#include "exact.h"
#include "named.h"

#define BLOCK 256
#define COLUMNS 5

/* A column: a type by its digits and the exponents of its numbers, and a way. */
static const struct column {
	dray_dtype dtype;
	int digits, least, most;
	uint32_t flags;
} columns[COLUMNS] = {
	{ DRAY_FLOAT16, 11, -24, 16, 0 },
	{ DRAY_FLOAT32, 24, -149, 128, 0 },
	{ DRAY_FLOAT64, 53, -1074, 1024, 0 },
	{ DRAY_FLOAT32, 24, -149, 128, DRAY_UFUNC_FAST },
	{ DRAY_FLOAT64, 53, -1074, 1024, DRAY_UFUNC_FAST },
};

struct worst {
	double ulps, x, y, got;
};

static uint64_t state;

static uint64_t dice(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static double of_bits(dray_dtype dtype, uint64_t bits)
{
	if (dtype == DRAY_FLOAT64)
		return dray_double_of_bits(bits);
	if (dtype == DRAY_FLOAT32)
		return (double)dray_float_of_bits((uint32_t)bits);
	return (double)dray_half_to_float((uint16_t)bits);
}

static double rounded(dray_dtype dtype, double x)
{
	if (dtype == DRAY_FLOAT64)
		return x;
	if (dtype == DRAY_FLOAT32)
		return (double)(float)x;
	return (double)dray_half_to_float(dray_half_from_double(x));
}

/* Near 1 or, for angles, near a multiple of a right one. */
static double near_special(const struct exact *exact)
{
	const double offset =
		ldexp((double)(dice() % 2048) - 1024, -10 - (int)(dice() % 45));
	const double turns = (double)(dice() % 64) - 32;

	return (exact->high == 100 ? turns * M_PI_2 : 1) * (1 + offset);
}

/* A power of 2, an end of a range of finite results, or one some places from it. */
static double near_end(const struct exact *exact, dray_dtype dtype)
{
	static const double ends[] = { 0x1.62e42fefa39efp+9, 0x1.62e430p+6,
				       1024, 128, 0 };
	const int digits = dtype == DRAY_FLOAT64   ? 53
			   : dtype == DRAY_FLOAT32 ? 24
						   : 11;
	const int range = dtype == DRAY_FLOAT64	  ? 1074
			  : dtype == DRAY_FLOAT32 ? 149
						  : 24;
	const double least = ldexp(1, -range);
	const double places = (double)(dice() % 8) - 4;
	double end = ends[dice() % 8 % 5];

	if (dice() % 2)
		end = ldexp(1, (int)(dice() % (2 * (uint64_t)range)) - range);
	if (dice() % 2)
		end = -end;
	end += places * (end == 0 ? least : ldexp(end, 1 - digits));
	return rounded(dtype, exact->high < 1 ? fmod(end, 1) : end);
}

static double argument(const struct exact *exact, dray_dtype dtype,
		       uint64_t number)
{
	/* The range of float32's exponentials is a tenth of float64's. */
	const double scale =
		dtype == DRAY_FLOAT64 || exact->high < 700 ? 1 : 0.13;
	const double part = (double)(dice() >> 11) * 0x1p-53;

	if (dice() % 16 == 0)
		return near_end(exact, dtype);
	switch (dice() % 4) {
	case 0:
		return of_bits(dtype, dice());
	case 1: /* all float16, in turn */
		return of_bits(dtype, dtype == DRAY_FLOAT16 ? number : dice());
	case 2:
		return rounded(dtype, near_special(exact));
	default:
		return rounded(dtype,
			       scale * (exact->low +
					part * (exact->high - exact->low)));
	}
}

/* The exact result less the result, in units of the last place at @scale. */
static double distance(const struct column *column, const mpfr_t exact,
		       const mpfr_t scale, double got)
{
	mpfr_exp_t unit = mpfr_zero_p(scale)
				  ? column->least
				  : mpfr_get_exp(scale) - column->digits;
	double ulps;
	mpfr_t part;

	if (unit < column->least)
		unit = column->least;
	if (unit > column->most - column->digits)
		unit = column->most - column->digits;
	mpfr_init2(part, PRECISION);
	/* Infinity stands for the number above the largest, and all beyond. */
	if (isinf(got))
		mpfr_set_si_2exp(part, got < 0 ? -1 : 1, column->most,
				 MPFR_RNDN);
	else
		mpfr_set_d(part, got, MPFR_RNDN);
	if (isinf(got) && mpfr_cmpabs(exact, part) >= 0 &&
	    mpfr_sgn(exact) == mpfr_sgn(part)) {
		mpfr_clear(part);
		return 0;
	}
	mpfr_sub(part, part, exact, MPFR_RNDN);
	mpfr_mul_2si(part, part, -unit, MPFR_RNDN);
	ulps = fabs(mpfr_get_d(part, MPFR_RNDN));
	mpfr_clear(part);
	return ulps;
}

static double error_of(const struct exact *exact, const struct column *column,
		       const double *xy, double got, mpfr_t *at)
{
	int i;

	mpfr_set_d(at[0], xy[0], MPFR_RNDN);
	mpfr_set_d(at[1], xy[1], MPFR_RNDN);
	if (exact->of_one)
		exact->of_one(at[2], at[0], MPFR_RNDN);
	else
		exact->of_two(at[2], at[0], at[1], MPFR_RNDN);
	if (mpfr_nan_p(at[2]) || isnan(got))
		return mpfr_nan_p(at[2]) && isnan(got) ? 0 : INFINITY;
	if (mpfr_inf_p(at[2]))
		return got == mpfr_get_d(at[2], MPFR_RNDN) ? 0 : INFINITY;
	/* Sums lose places if they cancel. */
	if (strncmp(exact->name, "logadd", 6) || !mpfr_number_p(at[0]))
		mpfr_set(at[0], at[2], MPFR_RNDN);
	else
		for (i = 1; i < 3; i++)
			if (mpfr_number_p(at[i]) &&
			    mpfr_cmpabs(at[i], at[0]) > 0)
				mpfr_set(at[0], at[i], MPFR_RNDN);
	return distance(column, at[2], at[0], got);
}

static void compute(const struct exact *exact, const struct column *column,
		    const double (*xy)[2], double *got)
{
	static const struct dray_fp_state silent = { .buffer_size = 8192 };
	const struct dray_ufunc_options options = { .flags = column->flags };
	const size_t size = dray_dtype_itemsize(column->dtype);
	static uint64_t operands[3][BLOCK];
	const struct dray_view *inputs[2], *output;
	struct dray_view views[3];
	uint64_t bits;
	int i, o;

	for (o = 0; o < 2; o++)
		for (i = 0; i < BLOCK; i++) {
			bits = size == 8   ? dray_bits_of_double(xy[i][o])
			       : size == 4 ? dray_bits_of_float((float)xy[i][o])
					   : dray_half_from_double(xy[i][o]);
			memcpy((char *)operands[o] + i * size, &bits, size);
		}
	for (o = 0; o < 3; o++)
		dray_view_init(&views[o], operands[o], column->dtype, 1,
			       (int64_t[]){ BLOCK }, NULL);
	inputs[0] = &views[0];
	inputs[1] = &views[1];
	output = &views[2];
	dray_set_fp_state(&silent);
	if (dray_ufunc_call(dray_ufunc_find(exact->name), inputs, &output,
			    &options, NULL)) {
		fprintf(stderr, "%s: %s\n", exact->name, dray_last_error());
		exit(1);
	}
	for (i = 0; i < BLOCK; i++) {
		bits = 0;
		memcpy(&bits, (char *)operands[2] + i * size, size);
		got[i] = of_bits(column->dtype, bits);
	}
}

static struct worst measure(const struct exact *exact,
			    const struct column *column, uint64_t points)
{
	struct worst worst = { 0, 0, 0, 0 };
	double xy[BLOCK][2], got[BLOCK];
	uint64_t done;
	mpfr_t at[3];
	int i;

	state = 88172645463325252u;
	for (i = 0; i < 3; i++)
		mpfr_init2(at[i], PRECISION);
	for (done = 0; done < points; done += BLOCK) {
		for (i = 0; i < BLOCK; i++) {
			xy[i][0] = argument(exact, column->dtype, done + i);
			xy[i][1] = argument(exact, column->dtype, dice());
		}
		compute(exact, column, xy, got);
		for (i = 0; i < BLOCK; i++) {
			const double ulps =
				error_of(exact, column, xy[i], got[i], at);

			if (ulps > worst.ulps)
				worst = (struct worst){ ulps, xy[i][0],
							xy[i][1], got[i] };
		}
	}
	for (i = 0; i < 3; i++)
		mpfr_clear(at[i]);
	return worst;
}

/* Reads the row of a function; false if the page has none. */
static bool find_row(FILE *page, const char *name, double *limits)
{
	char line[512], found[32];

	rewind(page);
	while (fgets(line, sizeof(line), page))
		if (sscanf(line,
			   "| `%31[a-z0-9]` | %lf | %lf | %lf | %lf | %lf |",
			   found, &limits[0], &limits[1], &limits[2],
			   &limits[3], &limits[4]) == 1 + COLUMNS &&
		    !strcmp(found, name))
			return true;
	return false;
}

/* Prints a row, with the arguments of each maximum. */
static void print_row(const struct exact *exact, uint64_t points, bool tells)
{
	struct worst worst;
	int c;

	printf("| `%s` |", exact->name);
	for (c = 0; c < COLUMNS; c++) {
		worst = measure(exact, &columns[c], points);
		/* Rounded up: it is a bound. */
		printf(" %.2f |", ceil(worst.ulps * 100) / 100);
		if (tells)
			printf(" (%a, %a: %a)", worst.x, worst.y, worst.got);
		fflush(stdout);
	}
	printf("\n");
}

/* Returns whether the function is as exact as its row says. */
static bool compare_row(const struct exact *exact, uint64_t points, FILE *page)
{
	double limits[COLUMNS];
	struct worst worst;
	bool holds = true;
	int c;

	if (!find_row(page, exact->name, limits)) {
		printf("# the page has no row of %s\n", exact->name);
		return false;
	}
	for (c = 0; c < COLUMNS; c++) {
		worst = measure(exact, &columns[c], points);
		if (worst.ulps <= limits[c])
			continue;
		printf("# column %d: %.3f ULPs, not %.2f: %a, %a gave %a\n",
		       c + 1, worst.ulps, limits[c], worst.x, worst.y,
		       worst.got);
		holds = false;
	}
	return holds;
}

int main(int argc, char **argv)
{
	uint64_t points = 1 << 12;
	FILE *page = NULL;
	bool tells = false;
	int a, failed = 0, done = 0;
	size_t f;

	for (a = 1; a < argc && argv[a][0] == '-'; a++) {
		if (!strcmp(argv[a], "--points") && a + 1 < argc) {
			points = strtoull(argv[++a], NULL, 10);
		} else if (!strcmp(argv[a], "--page") && a + 1 < argc) {
			page = fopen(argv[++a], "r");
			if (!page) {
				perror(argv[a]);
				return 2;
			}
		} else if (!strcmp(argv[a], "--worst")) {
			tells = true;
		} else {
			fprintf(stderr,
				"usage: ulp [--points N] [--page FILE] [--worst] [FUNCTION]...\n");
			return 2;
		}
	}
	for (f = 0; f < exact_count; f++) {
		const struct exact *exact = &exact_functions[f];
		bool holds = true;

		if (!is_named(exact->name, argc - a, argv + a))
			continue;
		done++;
		if (!page) {
			print_row(exact, points, tells);
			continue;
		}
		holds = compare_row(exact, points, page);
		printf("%sok %d - %s is as exact as the page says\n",
		       holds ? "" : "not ", done, exact->name);
		fflush(stdout);
		failed += !holds;
	}
	if (page)
		printf("1..%d\n", done);
	if (!done)
		fprintf(stderr, "no such function\n");
	return failed || !done;
}

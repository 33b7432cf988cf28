// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Elementary functions: equal bits on all machines and for all vectors, operands of
 * any strides, and floating-point errors.  Their values are compared with MPFR's in
 * tests/elementary, and with NumPy's in test_elementary_numpy.py.
 */
#include "unit.h"

#include <fenv.h>
#include <math.h>

#include "base/cpu.h"
#include "dtype/half.h"
#include "elementary_bits.h"
#include "loops/elementary.h"
#include "loops/elementary_power.h"

#define POINTS 4096
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const dray_dtype types[] = { DRAY_FLOAT16, DRAY_FLOAT32, DRAY_FLOAT64 };
static const size_t sizes[] = { 2, 4, 8 };

/* The loop of a function for a type; its inputs. */
static struct dray_ufunc_loop loop_of(const char *name, int type, int *inputs)
{
	struct dray_ufunc *ufunc = dray_ufunc_find(name);
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_ufunc_loop loop;
	size_t i;

	assert_non_null(ufunc);
	*inputs = dray_ufunc_inputs(ufunc);
	for (i = 0; !dray_ufunc_get_loop(ufunc, i, dtypes, &loop); i++)
		if (dtypes[0] == types[type])
			return loop;
	fail_msg("%s has no loop for type %d", name, type);
	return loop;
}

/*
 * Numbers of any bits, half of them of a size near 1, that are the same everywhere.
 * They are written as bits.
 */
static void set_arguments(int type, uint64_t seed, void *out, size_t count)
{
	static const int mantissa[] = { 10, 23, 52 };
	static const uint64_t bias[] = { 15, 127, 1023 };
	struct dice dice = { 88172645463325252u ^ seed << 32 };
	size_t i;

	for (i = 0; i < count; i++) {
		uint64_t bits = roll(&dice, UINT64_MAX);

		if (roll(&dice, 2)) {
			bits &= ~(~0ull << mantissa[type]) |
				1ull << (8 * sizes[type] - 1);
			bits |= (bias[type] - 6 + roll(&dice, 12))
				<< mantissa[type];
		}
		memcpy((char *)out + i * sizes[type], &bits, sizes[type]);
	}
}

static bool is_nan(int type, uint64_t bits)
{
	static const uint64_t infinite[] = { 0x7c00, 0x7f800000,
					     0x7ffull << 52 };
	const uint64_t sign = 1ull << (8 * sizes[type] - 1);

	return (bits & (sign - 1)) > infinite[type];
}

/* FNV-1a over results; one NaN is as good as another. */
static uint64_t sum_of(int type, const void *results, size_t count)
{
	uint64_t sum = 0xcbf29ce484222325u;
	size_t i, byte;

	for (i = 0; i < count; i++) {
		uint64_t bits = 0;

		memcpy(&bits, (const char *)results + i * sizes[type],
		       sizes[type]);
		if (is_nan(type, bits))
			bits = ~0ull;
		for (byte = 0; byte < 8; byte++)
			sum = (sum ^ (bits >> 8 * byte & 0xff)) *
			      0x100000001b3u;
	}
	return sum;
}

static uint64_t bits_of(const char *name, int type, uintptr_t way)
{
	static uint64_t x[POINTS], y[POINTS], out[POINTS];
	int inputs;
	struct dray_ufunc_loop loop = loop_of(name, type, &inputs);
	char *data[] = { (char *)x, inputs == 2 ? (char *)y : (char *)out,
			 (char *)out };
	const int64_t size = (int64_t)sizes[type];
	const int64_t strides[] = { size, size, size };

	set_arguments(type, 1, x, POINTS);
	set_arguments(type, 2, y, POINTS);
	assert_int_equal(loop.loop(data, strides, POINTS,
				   (char *)loop.context + way),
			 0);
	return sum_of(type, out, POINTS);
}

static bool has_kernels(void)
{
	return strcmp(dray_kernels_exact()->name, "libm") != 0;
}

/* Prints all rows if one differs, for elementary_bits.h. */
static void compare_bits(const struct bits *rows, size_t count, uintptr_t way)
{
	size_t row, wrong = 0;
	int type;

	for (row = 0; row < count; row++)
		for (type = 0; type < 3; type++)
			wrong += bits_of(rows[row].name, type, way) !=
				 rows[row].sums[type];
	for (row = 0; wrong && row < count; row++)
		print_error("\t{ \"%s\",\n\t  { 0x%016" PRIx64 ", 0x%016" PRIx64
			    ",\n\t    0x%016" PRIx64 " } },\n",
			    rows[row].name, bits_of(rows[row].name, 0, way),
			    bits_of(rows[row].name, 1, way),
			    bits_of(rows[row].name, 2, way));
	if (wrong)
		fail_msg("%zu functions of a type have other bits with %s",
			 wrong,
			 way ? dray_kernels_fused()->name
			     : dray_kernels_exact()->name);
}

FACT_ON(has_kernels, functions_have_the_bits_of_all_machines, NULL, NULL)
{
	compare_bits(exact_bits, COUNT(exact_bits), 0);
}

static bool fuses(void)
{
	return has_kernels() && dray_kernels_fused() != dray_kernels_exact();
}

FACT_ON(fuses, fused_functions_have_the_bits_of_all_machines_that_fuse, NULL,
	NULL)
{
	compare_bits(fused_bits, COUNT(fused_bits), DRAY_LOOP_FAST);
}

/* The sets of a family that this processor runs. */
static size_t sets_of(bool fused, const struct dray_kernels **sets)
{
	size_t count = 0;

#ifdef __x86_64__
	if (fused && dray_cpu_has_fma() && dray_cpu_has_avx2())
		sets[count++] = &dray_kernels_avx2_fused;
	if (fused && dray_cpu_has_avx512())
		sets[count++] = &dray_kernels_avx512_fused;
	if (!fused) {
		sets[count++] = &dray_kernels_sse2;
		if (dray_cpu_has_avx2())
			sets[count++] = &dray_kernels_avx;
		if (dray_cpu_has_avx512())
			sets[count++] = &dray_kernels_avx512;
	}
#elif defined(__aarch64__)
	sets[count++] = fused ? &dray_kernels_neon_fused : &dray_kernels_neon;
#endif
	if (!fused)
		sets[count++] = &dray_kernels_scalar;
	return count;
}

static uint64_t sum_of_set(const struct dray_kernels *kernels, int function,
			   int type, int *errors)
{
	static double x[POINTS], y[POINTS], out[POINTS];

	set_arguments(type, 3, x, POINTS);
	set_arguments(type, 4, y, POINTS);
	*errors = type == 2
			  ? kernels->of_double[function](x, y, out, POINTS)
			  : kernels->of_float[function]((float *)x, (float *)y,
							(float *)out, POINTS);
	return sum_of(type, out, POINTS);
}

static void compare_sets(bool fused)
{
	const struct dray_kernels *sets[8];
	const size_t count = sets_of(fused, sets);
	int function, type, errors, first_errors;
	uint64_t first;
	size_t set;

	for (function = 0; function < DRAY_FUNCTION_COUNT; function++)
		for (type = 1; type < 3; type++) {
			first = sum_of_set(sets[0], function, type,
					   &first_errors);
			for (set = 1; set < count; set++)
				if (sum_of_set(sets[set], function, type,
					       &errors) != first ||
				    errors != first_errors)
					fail_msg(
						"function %d of type %d: %s and %s differ",
						function, type, sets[set]->name,
						sets[0]->name);
		}
}

FACT_ON(has_kernels, vectors_of_all_widths_have_the_same_bits, NULL, NULL)
{
	compare_sets(false);
}

FACT_ON(fuses, fused_vectors_of_all_widths_have_the_same_bits, NULL, NULL)
{
	compare_sets(true);
}

/* Computes with strides in elements, and again with copies that are contiguous. */
static void compare_strides(const char *name, int type, const int64_t *steps,
			    int64_t count)
{
	static uint64_t x[3 * POINTS], y[3 * POINTS], out[3 * POINTS];
	static uint64_t near[3][POINTS];
	static int written = -1;
	const int64_t size = (int64_t)sizes[type];
	const int64_t sides[] = { size, size, size };
	int inputs;
	struct dray_ufunc_loop loop = loop_of(name, type, &inputs);
	char *data[] = { (char *)(x + POINTS), (char *)(y + POINTS),
			 (char *)(out + POINTS) };
	char *copies[] = { (char *)near[0], (char *)near[1], (char *)near[2] };
	int64_t strides[3], i;
	int o;

	if (written != type) {
		set_arguments(type, 5, x, 3 * POINTS);
		set_arguments(type, 6, y, 3 * POINTS);
		written = type;
	}
	for (o = 0; o < 3; o++)
		strides[o] = steps[o] * size;
	if (inputs == 1) {
		data[1] = data[2];
		strides[1] = strides[2];
		copies[1] = copies[2];
	}
	for (i = 0; i < count; i++)
		for (o = 0; o < inputs; o++)
			memcpy(copies[o] + i * size, data[o] + i * strides[o],
			       (size_t)size);
	assert_int_equal(loop.loop(data, strides, count, loop.context), 0);
	assert_int_equal(loop.loop(copies, sides, count, loop.context), 0);
	for (i = 0; i < count; i++)
		assert_memory_equal(data[2] + i * strides[2],
				    copies[2] + i * size, (size_t)size);
}

FACT(operands_of_any_strides_have_the_results_of_contiguous_ones)
{
	static const char *const names[] = { "exp",	  "sqrt",    "tanh",
					     "arctan2",	  "hypot",   "power",
					     "logaddexp", "degrees", "log" };
	static const int64_t steps[][3] = {
		{ 2, 1, 1 }, { 1, 3, 2 }, { 3, 2, 3 },	{ 0, 1, 1 },
		{ 1, 0, 1 }, { 0, 0, 2 }, { -1, 1, 1 }, { 1, -2, -1 },
	};
	static const int64_t counts[] = { 0, 1, 7, 17, 511, 513, 1100 };
	size_t n, s, c;
	int type;

	for (type = 0; type < 3; type++)
		for (n = 0; n < COUNT(names); n++)
			for (s = 0; s < COUNT(steps); s++)
				for (c = 0; c < COUNT(counts); c++) {
					/* One exponent has its own way. */
					if (!strcmp(names[n], "power") &&
					    !steps[s][1])
						continue;
					compare_strides(names[n], type,
							steps[s], counts[c]);
				}
}

FACT(results_may_take_the_place_of_arguments)
{
	double x[37], y[37], want[37];
	int inputs, i;
	struct dray_ufunc_loop loop = loop_of("arctan2", 2, &inputs);
	const int64_t strides[] = { 8, 8, 8 };
	char *apart[] = { (char *)x, (char *)y, (char *)want };
	char *first[] = { (char *)x, (char *)y, (char *)x };

	for (i = 0; i < 37; i++) {
		x[i] = i - 18;
		y[i] = 7 - i;
	}
	loop.loop(apart, strides, 37, loop.context);
	loop.loop(first, strides, 37, loop.context);
	assert_memory_equal(x, want, sizeof(x));
}

FACT(a_reduction_takes_each_result_as_the_next_argument)
{
	const double legs[] = { 4, 12, 84 };
	double sum = 3;
	int inputs;
	struct dray_ufunc_loop loop = loop_of("hypot", 2, &inputs);
	const int64_t strides[] = { 0, 8, 0 };
	char *data[] = { (char *)&sum, (char *)legs, (char *)&sum };

	loop.loop(data, strides, 3, loop.context);
	assert_true(sum == 85);
}

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

FACT(errors_are_those_of_the_results)
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

FACT(errors_from_before_a_loop_stay)
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

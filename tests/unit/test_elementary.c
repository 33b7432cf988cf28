// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Elementary functions: equal bits on all machines and for all vectors, and operands of
 * any strides.  Their values are compared with MPFR's in
 * tests/elementary, and with NumPy's in test_elementary_numpy.py.
 */
#include <dray/array.h>

#include "elementary.h"

#include "base/cpu.h"
#include "dtype/half.h"
#include "elementary_bits.h"
#include "loops/elementary.h"
#include "loops/elementary_power.h"

#define POINTS 4096
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

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
				1ull << (8 * float_sizes[type] - 1);
			bits |= (bias[type] - 6 + roll(&dice, 12))
				<< mantissa[type];
		}
		memcpy((char *)out + i * float_sizes[type], &bits,
		       float_sizes[type]);
	}
}

static bool is_nan(int type, uint64_t bits)
{
	static const uint64_t infinite[] = { 0x7c00, 0x7f800000,
					     0x7ffull << 52 };
	const uint64_t sign = 1ull << (8 * float_sizes[type] - 1);

	return (bits & (sign - 1)) > infinite[type];
}

/* FNV-1a over results; one NaN is as good as another. */
static uint64_t sum_of(int type, const void *results, size_t count)
{
	uint64_t sum = 0xcbf29ce484222325u;
	size_t i, byte;

	for (i = 0; i < count; i++) {
		uint64_t bits = 0;

		memcpy(&bits, (const char *)results + i * float_sizes[type],
		       float_sizes[type]);
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
	const int64_t size = (int64_t)float_sizes[type];
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

#if defined(DRAY_HAS_SLEEF) && defined(__x86_64__)
	if (fused && dray_cpu_has_fma() && dray_cpu_has_avx2())
		sets[count++] = &dray_kernels_avx2_fused;
	if (fused && dray_cpu_has_avx512())
		sets[count++] = &dray_kernels_avx512_fused;
	if (!fused) {
		sets[count++] = &dray_kernels_sse2;
		if (dray_cpu_has_avx2() && dray_cpu_has_fma())
			sets[count++] = &dray_kernels_avx;
		if (dray_cpu_has_avx512())
			sets[count++] = &dray_kernels_avx512;
	}
#elif defined(DRAY_HAS_SLEEF) && defined(__aarch64__)
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
	const int64_t size = (int64_t)float_sizes[type];
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

FACT(a_power_of_zero_leaves_those_around_it_alone)
{
	double x[37], y[37], want[37], out[37];
	int inputs, i, zero;
	struct dray_ufunc_loop loop = loop_of("power", 2, &inputs);
	const int64_t strides[] = { 8, 8, 8 };
	char *apart[] = { (char *)x, (char *)y, (char *)want };
	char *among[] = { (char *)x, (char *)y, (char *)out };

	for (i = 0; i < 37; i++) {
		x[i] = 0.1 + i;
		y[i] = 0.3 + i / 4.0;
	}
	loop.loop(apart, strides, 37, loop.context);
	for (zero = 0; zero < 37; zero++) {
		x[zero] = want[zero] = 0;
		loop.loop(among, strides, 37, loop.context);
		assert_memory_equal(out, want, sizeof(want));
	}
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

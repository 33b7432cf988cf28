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

static const char *const names[] = { "exp",   "sqrt",	   "arctan2",
				     "power", "logaddexp", "degrees" };

/* Operands of any strides give what contiguous ones do. */
FACT(strides_do_not_change_results)
{
	static const int64_t steps[][3] = {
		{ 2, 1, 1 }, { 1, 3, 2 }, { 3, 2, 3 },	{ 0, 1, 1 },
		{ 1, 0, 1 }, { 0, 0, 2 }, { -1, 1, 1 }, { 1, -2, -1 },
	};
	static uint64_t x[3 * POINTS], y[3 * POINTS], out[3 * POINTS];
	static uint64_t near_x[POINTS], near_y[POINTS], near_out[POINTS];
	static const int64_t counts[] = { 0, 1, 7, 17, 511, 513, 1100 };
	size_t n, s, c;
	int type, inputs;

	for (n = 0; n < COUNT(names); n++)
		for (type = 0; type < 3; type++)
			for (s = 0; s < COUNT(steps); s++)
				for (c = 0; c < COUNT(counts); c++) {
					struct dray_ufunc_loop loop = loop_of(
						names[n], type, &inputs);
					const size_t size = sizes[type];
					const int64_t count = counts[c];
					int64_t step[3], near[3], i;
					char *at[3], *data[3], *nears[3];

					memcpy(step, steps[s], sizeof(step));
					if (inputs == 1)
						step[1] = step[2];
					set_arguments(type, 5, x, 3 * POINTS);
					set_arguments(type, 6, y, 3 * POINTS);
					at[0] = (char *)(x + POINTS);
					at[1] = inputs == 1
							? (char *)(out + POINTS)
							: (char *)(y + POINTS);
					at[2] = (char *)(out + POINTS);
					for (i = 0; i < 3; i++) {
						data[i] = at[i];
						step[i] *= (int64_t)size;
						near[i] = (int64_t)size;
					}
					for (i = 0; i < count; i++) {
						memcpy((char *)near_x +
							       i * near[0],
						       data[0] + i * step[0],
						       size);
						memcpy((char *)near_y +
							       i * near[1],
						       data[1] + i * step[1],
						       size);
					}
					nears[0] = (char *)near_x;
					nears[1] = (char *)near_y;
					nears[2] = (char *)near_out;
					if (inputs == 1)
						nears[1] = nears[2];
					loop.loop(data, step, count,
						  loop.context);
					/* One exponent for all has its own way. */
					if (!strcmp(names[n], "power") &&
					    !step[1])
						continue;
					loop.loop(nears, near, count,
						  loop.context);
					for (i = 0; i < count; i++)
						assert_memory_equal(
							data[2] + i * step[2],
							(char *)near_out +
								i * (int64_t)size,
							size);
				}
}

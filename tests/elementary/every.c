// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Compares all results of float32 functions of one argument by kernels that fuse
 * products and sums with those that do not.  Prints TAP.
 *
 *	every [--step N] [FUNCTION]...
 *
 * Only each Nth argument is computed, of about four billion.
 */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dtype/half.h"
#include "loops/elementary.h"
#include "named.h"

#define BLOCK 4096

static const struct function {
	const char *name;
	enum dray_function number;
	/* Arguments between both are fused, or those of a size between them. */
	float low, high;
	bool sizes;
} functions[] = {
#define ANY false
#define ODD true
#define TURN true
#define ABOVE true
#define ROW(name, accuracy, kind, low, high, ...) \
	{ #name, DRAY_FUNCTION_##name, low, high, kind },
	DRAY_WIDE_FUNCTIONS(ROW) DRAY_LONG_FUNCTIONS(ROW)
#undef ROW
#define ROW(name, ...) { #name, DRAY_FUNCTION_##name, FLT_MIN, FLT_MAX, false },
		DRAY_LOG_FUNCTIONS(ROW)
#undef ROW
};

static bool differ(float a, float b)
{
	return dray_bits_of_float(a) != dray_bits_of_float(b);
}

/* Writes the next arguments that are fused, and returns how many they are. */
static int next_arguments(const struct function *function, uint64_t *bits,
			  uint64_t step, float *x)
{
	int count = 0;

	for (; count < BLOCK && *bits < 1ull << 32; *bits += step) {
		const float next = dray_float_of_bits((uint32_t)*bits);
		const float range = function->sizes ? fabsf(next) : next;

		if (range >= function->low && range <= function->high)
			x[count++] = next;
	}
	return count;
}

/* Returns how many results differ. */
static int compare(const struct function *function, uint64_t step)
{
	static float x[BLOCK], fused[BLOCK], plain[BLOCK];
#ifdef __x86_64__
	const struct dray_kernels *others = &dray_kernels_sse2;
#else
	const struct dray_kernels *others = &dray_kernels_scalar;
#endif
	uint64_t bits = 0;
	int wrong = 0, count, i;

	do {
		count = next_arguments(function, &bits, step, x);
		dray_kernels_exact()->of_float[function->number](x, NULL, fused,
								 (size_t)count);
		others->of_float[function->number](x, NULL, plain,
						   (size_t)count);
		for (i = 0; i < count; i++)
			if (differ(fused[i], plain[i]) && wrong++ < 8)
				printf("# %a: %a is fused, %a is not\n",
				       (double)x[i], (double)fused[i],
				       (double)plain[i]);
	} while (count);
	return wrong;
}

int main(int argc, char **argv)
{
	uint64_t step = 1;
	int a = 1, done = 0, failed = 0, wrong;
	size_t f;

	if (argc > 2 && !strcmp(argv[1], "--step")) {
		step = strtoull(argv[2], NULL, 10);
		a = 3;
	}
	if (!step) {
		fprintf(stderr, "usage: every [--step N] [FUNCTION]...\n");
		return 2;
	}
	for (f = 0; f < sizeof(functions) / sizeof(functions[0]); f++) {
		if (!is_named(functions[f].name, argc - a, argv + a))
			continue;
		wrong = compare(&functions[f], step);
		if (wrong)
			printf("# %d results differ\n", wrong);
		printf("%sok %d - %s has the same bits with %s and without vectors that fuse\n",
		       wrong ? "not " : "", ++done, functions[f].name,
		       dray_kernels_exact()->name);
		fflush(stdout);
		failed += wrong != 0;
	}
	printf("1..%d\n", done);
	return failed || !done;
}

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

#define BLOCK 4096

static const struct {
	const char *name;
	enum dray_function function;
} functions[] = {
#define ROW(name, ...) { #name, DRAY_FUNCTION_##name },
	DRAY_WIDE_FUNCTIONS(ROW) DRAY_LOG_FUNCTIONS(ROW)
#undef ROW
};

static bool differ(float a, float b)
{
	return dray_bits_of_float(a) != dray_bits_of_float(b) &&
	       !(isnan(a) && isnan(b));
}

static int compare(enum dray_function function, uint64_t step)
{
	static float x[BLOCK], fused[BLOCK], plain[BLOCK];
	const struct dray_kernels *kernels = dray_kernels_exact();
	uint64_t bits = 0;
	int wrong = 0, i;

	while (bits < 1ull << 32) {
		for (i = 0; i < BLOCK; i++, bits += step)
			x[i] = dray_float_of_bits((uint32_t)bits);
		kernels->of_float[function](x, NULL, fused, BLOCK);
#ifdef __x86_64__
		dray_kernels_sse2.of_float[function](x, NULL, plain, BLOCK);
#else
		dray_kernels_scalar.of_float[function](x, NULL, plain, BLOCK);
#endif
		if (!memcmp(fused, plain, sizeof(plain)))
			continue;
		for (i = 0; i < BLOCK; i++)
			if (differ(fused[i], plain[i]) && wrong++ < 8)
				printf("# %a: %a is fused, %a is not\n",
				       (double)x[i], (double)fused[i],
				       (double)plain[i]);
	}
	return wrong;
}

static bool is_named(const char *name, int count, char **names)
{
	int i;

	for (i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return !count;
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
		wrong = compare(functions[f].function, step);
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Powers by one exponent for all elements, where NumPy takes a product, a quotient
 * or a root: the hardware rounds them correctly and notes their errors.
 */
#include "private.h"
#include "loops/elementary_power.h"

extern const struct dray_roots dray_roots_of;
#ifdef DRAY_LOOPS_HAS_LEVELS
extern const struct dray_roots dray_roots_of_avx2;
#define ROOTS (dray_cpu_has_avx2_f16c() ? &dray_roots_of_avx2 : &dray_roots_of)
#else
#define ROOTS (&dray_roots_of)
#endif

#define SIMPLE(type)                                                          \
	static void simple_##type(const type *x, int64_t step, type *out,     \
				  int64_t out_step, int64_t count,            \
				  int exponent)                               \
	{                                                                     \
		int64_t i;                                                    \
                                                                              \
		for (i = 0; exponent == 2 && i < count; i++)                  \
			out[i * out_step] = x[i * step] * x[i * step];        \
		for (i = 0; exponent == -1 && i < count; i++)                 \
			out[i * out_step] = 1 / x[i * step];                  \
		for (i = 0; exponent == 1 && i < count; i++)                  \
			out[i * out_step] = x[i * step];                      \
		for (i = 0; exponent == 0 && i < count; i++)                  \
			out[i * out_step] = 1;                                \
	}                                                                     \
                                                                              \
	bool dray_power_simple_##type(char *const *data,                      \
				      const int64_t *strides, int64_t count)  \
	{                                                                     \
		char *const operands[] = { data[0], data[2] };                \
		const int64_t steps[] = { strides[0], strides[2] };           \
		const int64_t size = sizeof(type);                            \
		const type *x = (const type *)(const void *)data[0];          \
		type *out = (type *)(void *)data[2];                          \
		type exponent;                                                \
                                                                              \
		if (strides[1] != 0 || count < 1 || strides[0] % size ||      \
		    strides[2] % size)                                        \
			return false;                                         \
		exponent = *(const type *)(const void *)data[1];              \
		if (exponent == (type)0.5)                                    \
			return !ROOTS->of_##type(operands, steps, count,      \
						 NULL);                       \
		if (exponent != 2 && exponent != 1 && exponent != 0 &&        \
		    exponent != -1)                                           \
			return false;                                         \
		if (steps[0] == size && steps[1] == size)                     \
			simple_##type(x, 1, out, 1, count, (int)exponent);    \
		else                                                          \
			simple_##type(x, steps[0] / size, out,                \
				      steps[1] / size, count, (int)exponent); \
		return true;                                                  \
	}

SIMPLE(double)
SIMPLE(float)

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Sums, differences, products and quotients. */
#include "loops/loops.h"

static int add_double(char *const *data, const int64_t *strides, int64_t count,
		      void *context)
{
	int64_t i;

	(void)context;
	for (i = 0; i < count; i++)
		*(double *)(void *)(data[2] + i * strides[2]) =
			*(const double *)(void *)(data[0] + i * strides[0]) +
			*(const double *)(void *)(data[1] + i * strides[1]);
	return 0;
}

static const struct dray_loop_entry add[] = {
	{ "ddd", add_double, NULL, 0 },
};

static const struct dray_ufunc_definition definitions[] = {
	{ "add", 2, 1, DRAY_IDENTITY_ZERO, add, 1, NULL },
};

const struct dray_ufunc_list dray_arithmetic_ufuncs = {
	definitions,
	sizeof(definitions) / sizeof(definitions[0]),
};

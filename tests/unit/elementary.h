/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Loops of elementary functions, for tests of them. */
#ifndef DRAY_TESTS_ELEMENTARY_H
#define DRAY_TESTS_ELEMENTARY_H

#include <dray/array.h>

#include "unit.h"

__attribute__((unused)) static const dray_dtype float_types[] = { DRAY_FLOAT16, DRAY_FLOAT32, DRAY_FLOAT64 };
__attribute__((unused)) static const size_t float_sizes[] = { 2, 4, 8 };

/* The loop of a function for a type; its inputs. */
static inline struct dray_ufunc_loop loop_of(const char *name, int type, int *inputs)
{
	struct dray_ufunc *ufunc = dray_ufunc_find(name);
	dray_dtype dtypes[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_ufunc_loop loop;
	size_t i;

	assert_non_null(ufunc);
	*inputs = dray_ufunc_inputs(ufunc);
	for (i = 0; !dray_ufunc_get_loop(ufunc, i, dtypes, &loop); i++)
		if (dtypes[0] == float_types[type])
			return loop;
	fail_msg("%s has no loop for type %d", name, type);
	return loop;
}

#endif /* DRAY_TESTS_ELEMENTARY_H */

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The lists of all files of this room, at the level of the processor. */
#include <stddef.h>

#include "base/cpu.h"
#include "loops/loops.h"

#define LEVEL(level)                                                    \
	extern const struct dray_ufunc_list dray_arithmetic_ufuncs##level, \
		dray_compare_ufuncs##level;                             \
	static const struct dray_ufunc_list *const lists##level[] = {   \
		&dray_arithmetic_ufuncs##level,                         \
		&dray_compare_ufuncs##level,                            \
		&dray_angle_ufuncs,                                     \
		&dray_elementary_ufuncs,                                \
		NULL,                                                   \
	}

LEVEL();
#ifdef DRAY_LOOPS_HAS_LEVELS
LEVEL(_avx2);
LEVEL(_avx512);
#endif

const struct dray_ufunc_list *const *dray_loops_lists(void)
{
#ifdef DRAY_LOOPS_HAS_LEVELS
	if (dray_cpu_has_avx512())
		return lists_avx512;
	if (dray_cpu_has_avx2_f16c())
		return lists_avx2;
#endif
	return lists;
}

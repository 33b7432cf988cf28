// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The lists of all files of this room, at the level of the processor. */
#include <stddef.h>

#include "private.h"
#include "loops/loops.h"

/* Those that are compiled for each level. */
#define LISTS(OF, level)                                                    \
	OF(arithmetic, level), OF(bits, level), OF(compare, level),         \
		OF(divide, level), OF(extremes, level), OF(logical, level), \
		OF(parts, level), OF(power, level), OF(powers, level),      \
		OF(root, level), OF(rounding, level), OF(sizes, level),     \
		OF(tests, level)
/* And the others. */
#define PLAIN_LISTS \
	&dray_angle_ufuncs, &dray_elementary_ufuncs, &dray_whole_ufuncs

#define NAME(name, level) dray_##name##_ufuncs##level
#define ADDRESS(name, level) &NAME(name, level)
#define LEVEL(level)                                                  \
	extern const struct dray_ufunc_list LISTS(NAME, level);       \
	static const struct dray_ufunc_list *const lists##level[] = { \
		LISTS(ADDRESS, level),                                \
		PLAIN_LISTS,                                          \
		NULL,                                                 \
	}

LEVEL();
#ifdef DRAY_LOOPS_HAS_LEVELS
LEVEL(_avx2);
LEVEL(_avx512);
#endif

const struct dray_ufunc_list *const *dray_loops_lists(void)
{
	return DRAY_AT_LEVEL(lists);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Finds short cuts by the name of a ufunc and types, at the processor's level. */
#include <string.h>

#include "private.h"
#include "loops/line.h"

#define LEVEL(level)                                                 \
	extern const struct dray_line_list dray_sum_lines##level,    \
		dray_best_lines##level, dray_bit_lines##level;       \
	static const struct dray_line_list *const lists##level[] = { \
		&dray_sum_lines##level,                              \
		&dray_best_lines##level,                             \
		&dray_bit_lines##level,                              \
		NULL,                                                \
	}

LEVEL();
#ifdef DRAY_LOOPS_HAS_LEVELS
LEVEL(_avx2);
LEVEL(_avx512);
#endif

const struct dray_line *dray_line_find(const char *name, dray_dtype dtype,
				       dray_dtype from)
{
	const struct dray_line_list *const *list = DRAY_AT_LEVEL(lists);
	size_t i;

	for (; *list; list++) {
		for (i = 0; i < (*list)->count; i++) {
			const struct dray_line *line = &(*list)->lines[i];

			if (line->dtype == dtype && line->from == from &&
			    !strcmp(line->name, name))
				return line;
		}
	}
	return NULL;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Finds short cuts by the name of a ufunc and types. */
#include <string.h>

#include "loops/line.h"

const struct dray_line *dray_line_find(const char *name, dray_dtype dtype,
				       dray_dtype from)
{
	(void)name;
	(void)dtype;
	(void)from;
	return NULL;
}

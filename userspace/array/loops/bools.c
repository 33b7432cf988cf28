// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Functions of integers that refuse bools. */
#include <errno.h>

#include "private.h"
#include "loops/loops.h"

int dray_resolve_no_bools(const struct dray_ufunc_definition *definition,
			  const dray_dtype *given, dray_dtype *out)
{
	int o;

	(void)out;
	for (o = 0; o < definition->inputs; o++)
		if (given[o] != DRAY_BOOL)
			return -ENOENT;
	return dray_fail(-EINVAL, "%s has no loop for bools", definition->name);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Chooses the loop of a call: the first whose inputs are converted to safely. */
#include <errno.h>

#include "base/error.h"
#include "ufunc/ufunc.h"

int dray_ufunc_resolve(const struct dray_ufunc *ufunc, const dray_dtype *given,
		       const struct dray_ufunc_options *options,
		       struct dray_resolved *out)
{
	const struct dray_ufunc_table *table =
		__atomic_load_n(&ufunc->table, __ATOMIC_ACQUIRE);
	size_t i;
	int o;

	(void)options;
	for (i = 0; i < table->count; i++) {
		const struct dray_ufunc_row *row = &table->rows[i];

		for (o = 0; o < ufunc->inputs; o++)
			if (!dray_can_cast(given[o], row->dtypes[o],
					   DRAY_CASTING_SAFE))
				break;
		if (o < ufunc->inputs)
			continue;
		for (o = 0; o < dray_ufunc_operands(ufunc); o++)
			out->dtypes[o] = row->dtypes[o];
		out->loop = row->loop;
		return 0;
	}
	return dray_fail(-EOPNOTSUPP, "%s has no loop for these types",
			 ufunc->name);
}

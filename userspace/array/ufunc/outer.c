// SPDX-License-Identifier: Apache-2.0 OR MIT
/* All pairs: a call with axes of one element behind those of the first input. */
#include <errno.h>

#include "private.h"
#include "ufunc/ufunc.h"

#include <dray/array/reduce.h>

int dray_ufunc_outer(struct dray_ufunc *ufunc, const struct dray_view *a,
		     const struct dray_view *b, const struct dray_view *to,
		     const struct dray_ufunc_options *options,
		     struct dray_array **out)
{
	struct dray_view spread;
	const struct dray_view *const inputs[] = { &spread, b };
	int axes[DRAY_MAX_NDIM];
	int i, ret;

	if (!dray_given(ufunc, __func__) || !dray_given(a, __func__) ||
	    !dray_given(b, __func__) || (!to && !dray_given(out, __func__)))
		return -EINVAL;
	if (ufunc->inputs != 2)
		return dray_fail(-EINVAL,
				 "%s has %d input%s: there is outer only of 2",
				 ufunc->name, ufunc->inputs,
				 dray_plural(ufunc->inputs));
	if (to && ufunc->outputs != 1)
		return dray_fail(-EINVAL,
				 "%s has %d outputs, which outer makes itself",
				 ufunc->name, ufunc->outputs);
	ret = dray_view_check(b, "the second input", NULL);
	if (ret)
		return ret;
	for (i = 0; i < b->ndim; i++)
		axes[i] = i - b->ndim;
	ret = dray_view_expand(a, axes, b->ndim, &spread);
	return ret ? ret
		   : dray_ufunc_call(ufunc, inputs, to ? &to : NULL, options,
				     out);
}

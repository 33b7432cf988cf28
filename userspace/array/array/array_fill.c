// SPDX-License-Identifier: Apache-2.0 OR MIT
/* New arrays of which all elements are the same. */
#include <errno.h>

#include "array/array.h"
#include "private.h"

int dray_array_full(dray_dtype dtype, int ndim, const int64_t *shape,
		    const void *value, struct dray_array **out)
{
	struct dray_view all, one;
	struct dray_array *array;
	int i, ret;

	if (!dray_given(value, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_array_empty(dtype, ndim, shape, &array);
	if (ret)
		return ret;
	dray_view_copy(&one, dray_array_view(array, &all));
	one.data = (void *)value;
	one.flags = DRAY_READ;
	/* The axes of a sub-array lie behind them. */
	for (i = 0; i < ndim; i++)
		one.strides[i] = 0;
	ret = dray_view_assign(&all, &one);
	if (ret)
		dray_array_unref(array);
	else
		*out = array;
	return ret;
}

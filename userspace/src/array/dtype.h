/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks and comparisons of element types. */
#ifndef DRAY_ARRAY_DTYPE_H
#define DRAY_ARRAY_DTYPE_H

#include <stdbool.h>

#include <dray/array.h>

/* Returns 0, or -EINVAL for a type that no typestr describes. */
int dray_dtype_check(const struct dray_dtype *dtype);

/* Fills @out with the form that parsing its typestr would give. */
int dray_dtype_normalize(const struct dray_dtype *dtype,
			 struct dray_dtype *out);

/* Whether two types that passed the check have the same typestr. */
bool dray_dtype_equal(const struct dray_dtype *a, const struct dray_dtype *b);

#endif /* DRAY_ARRAY_DTYPE_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks of element types. */
#ifndef DRAY_ARRAY_DTYPE_H
#define DRAY_ARRAY_DTYPE_H

#include <dray/dtype.h>

/*
 * Fills @out with the one form of a type, which its typestr would be parsed to.
 * -EINVAL for any other word.
 */
int dray_dtype_normalize(dray_dtype dtype, dray_dtype *out);

#endif /* DRAY_ARRAY_DTYPE_H */

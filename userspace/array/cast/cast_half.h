/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Conversions of float16, at the level of the processor's instructions. */
#ifndef DRAY_CAST_CAST_HALF_H
#define DRAY_CAST_CAST_HALF_H

#include <dray/dtype.h>

/* Returns the floating-point errors of rounding, as in <fenv.h>. */
typedef int dray_half_rounding(char *const *data, const int64_t *strides,
			       int64_t count);

/* As casts: outputs first, and elements at any address. */
struct dray_half_casts {
	dray_loop *to_float;
	dray_loop *to_double;
	dray_half_rounding *of_float;
	dray_half_rounding *of_double;
};

const struct dray_half_casts *dray_half_casts(void);

#endif /* DRAY_CAST_CAST_HALF_H */

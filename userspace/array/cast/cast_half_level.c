// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Chooses the conversions of float16 for this processor, and notes their errors. */
#include <fenv.h>

#include "private.h"
#include "cast/cast.h"
#include "cast/cast_half.h"

extern const struct dray_half_casts dray_half_casts_of;
#ifdef DRAY_LOOPS_HAS_LEVELS
extern const struct dray_half_casts dray_half_casts_of_avx2,
	dray_half_casts_of_avx512;
#endif

const struct dray_half_casts *dray_half_casts(void)
{
	return DRAY_AT_LEVEL(&dray_half_casts_of);
}

int dray_loop_half_to_float(char *const *data, const int64_t *strides,
			    int64_t count, void *context)
{
	return dray_half_casts()->to_float(data, strides, count, context);
}

int dray_loop_half_to_double(char *const *data, const int64_t *strides,
			     int64_t count, void *context)
{
	return dray_half_casts()->to_double(data, strides, count, context);
}

static void half_level_note(int errors)
{
	if (errors)
		feraiseexcept(errors);
}

int dray_loop_float_to_half(char *const *data, const int64_t *strides,
			    int64_t count, void *context)
{
	(void)context;
	half_level_note(dray_half_casts()->of_float(data, strides, count));
	return 0;
}

int dray_loop_double_to_half(char *const *data, const int64_t *strides,
			     int64_t count, void *context)
{
	(void)context;
	half_level_note(dray_half_casts()->of_double(data, strides, count));
	return 0;
}

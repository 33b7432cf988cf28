// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The lists of all files of this room, at the level of the processor. */
#include <stddef.h>

#include "private.h"
#include "loops/loops.h"

/*
 * Those that are compiled for levels, with the level that they have on a processor
 * with AVX2, and on another with AVX-512: README.md tells which of them gain by it.
 */
#define LISTS(OF)                      \
	OF(arithmetic, _avx2, _avx512) \
	OF(bits, _avx2, _avx512)       \
	OF(compare, _avx2, _avx512)    \
	OF(divide, _avx2, _avx512)     \
	OF(extremes, _avx2, _avx512)   \
	OF(logical, _avx2, _avx512)    \
	OF(parts, _avx2, _avx512)      \
	OF(powers, _avx2, _avx512)     \
	OF(root, _avx2, _avx2)         \
	OF(rounding, _avx2, _avx512)   \
	OF(sizes, _avx2, _avx512)      \
	OF(tests, _avx2, _avx512)
/* Functions that join several ufuncs in a pass, for this library alone. */
#define JOINED_LISTS(OF)         \
	OF(clip, _avx2, _avx512) \
	OF(scaled, _avx2, _avx512)
/* And the others. */
#define PLAIN_LISTS                                                      \
	&dray_angle_ufuncs, &dray_elementary_ufuncs, &dray_power_ufuncs, \
		&dray_whole_ufuncs

#define DECLARE(name, avx2, avx512)                               \
	extern const struct dray_ufunc_list dray_##name##_ufuncs, \
		dray_##name##_ufuncs##avx2, dray_##name##_ufuncs##avx512;
LISTS(DECLARE)
JOINED_LISTS(DECLARE)
extern const struct dray_ufunc_list dray_power_ufuncs;

#define PLAIN(name, avx2, avx512) &dray_##name##_ufuncs,
#define AVX2(name, avx2, avx512) &dray_##name##_ufuncs##avx2,
#define AVX512(name, avx2, avx512) &dray_##name##_ufuncs##avx512,

static const struct dray_ufunc_list *const lists[] = { LISTS(PLAIN) PLAIN_LISTS,
						       NULL };
static const struct dray_ufunc_list *const joined[] = { JOINED_LISTS(PLAIN)
								NULL };
#ifdef DRAY_LOOPS_HAS_LEVELS
static const struct dray_ufunc_list *const lists_avx2[] = { LISTS(AVX2)
								    PLAIN_LISTS,
							    NULL };
static const struct dray_ufunc_list *const lists_avx512[] = {
	LISTS(AVX512) PLAIN_LISTS, NULL
};
static const struct dray_ufunc_list *const joined_avx2[] = { JOINED_LISTS(AVX2)
								     NULL };
static const struct dray_ufunc_list *const joined_avx512[] = { JOINED_LISTS(
	AVX512) NULL };
#endif

const struct dray_ufunc_list *const *dray_loops_lists(void)
{
	return DRAY_AT_LEVEL(lists);
}

const struct dray_ufunc_list *const *dray_loops_joined(void)
{
	return DRAY_AT_LEVEL(joined);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Rounding to whole numbers: to the nearest, down, up, and towards 0. */
#include <math.h>

#include "loops/half_loops.h"

#define SAME(a) (a)
DRAY_UNARY(same_8, uint8_t, uint8_t, SAME)
DRAY_UNARY(same_16, uint16_t, uint16_t, SAME)
DRAY_UNARY(same_32, uint32_t, uint32_t, SAME)
DRAY_UNARY(same_64, uint64_t, uint64_t, SAME)

#define REAL(name, of_float, of_double)                         \
	DRAY_UNARY(name##_float, float, float, of_float)        \
	DRAY_UNARY(name##_double, double, double, of_double)    \
	DRAY_HALF_OF(name##_half, name##_float);

REAL(rint, rintf, rint)
REAL(floor, floorf, floor)
REAL(ceil, ceilf, ceil)
REAL(trunc, truncf, trunc)

DRAY_INLINE struct dray_complex64 rint_of_64(struct dray_complex64 a)
{
	return (struct dray_complex64){ rintf(a.re), rintf(a.im) };
}

DRAY_INLINE struct dray_complex128 rint_of_128(struct dray_complex128 a)
{
	return (struct dray_complex128){ rint(a.re), rint(a.im) };
}

DRAY_UNARY(rint_complex64, struct dray_complex64, struct dray_complex64,
	   rint_of_64)
DRAY_UNARY(rint_complex128, struct dray_complex128, struct dray_complex128,
	   rint_of_128)

#define REAL_ENTRIES(name)                                    \
	DRAY_HALF_ENTRY("ee", dray_half_unary, name##_half),  \
	DRAY_ENTRY("ff", name##_float),                       \
	DRAY_ENTRY("dd", name##_double)

static const struct dray_loop_entry rint_entries[] = {
	REAL_ENTRIES(rint),
	DRAY_ENTRY("FF", rint_complex64),
	DRAY_ENTRY("DD", rint_complex128),
};

#define ENTRIES(name)                                                    \
	static const struct dray_loop_entry name##_entries[] = {         \
		DRAY_QUIET("??", same_8),  DRAY_QUIET("bb", same_8),     \
		DRAY_QUIET("BB", same_8),  DRAY_QUIET("hh", same_16),    \
		DRAY_QUIET("HH", same_16), DRAY_QUIET("ii", same_32),    \
		DRAY_QUIET("II", same_32), DRAY_QUIET("qq", same_64),    \
		DRAY_QUIET("QQ", same_64), REAL_ENTRIES(name),           \
	}

ENTRIES(floor);
ENTRIES(ceil);
ENTRIES(trunc);

#define DEFINITION(name)                                  \
	{ #name, 1, 1, DRAY_IDENTITY_NONE, name##_entries, \
	  DRAY_COUNT(name##_entries), NULL }

static const struct dray_ufunc_definition definitions[] = {
	DEFINITION(rint),
	DEFINITION(floor),
	DEFINITION(ceil),
	DEFINITION(trunc),
};

DRAY_LOOPS_LIST(rounding, definitions);

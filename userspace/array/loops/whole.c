// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Divisors and multiples of whole numbers. */
#include "loops/form.h"

/* Of sizes, so that the least number has one; results wrap. */
#define DIVISOR_OPS(U, name)                           \
	DRAY_INLINE U gcd_of_##name(U a, U b)          \
	{                                              \
		while (a) {                            \
			const U rest = b % a;          \
                                                       \
			b = a;                         \
			a = rest;                      \
		}                                      \
		return b;                              \
	}                                              \
	DRAY_INLINE U lcm_of_##name(U a, U b)          \
	{                                              \
		const U divisor = gcd_of_##name(a, b); \
                                                       \
		return divisor ? a / divisor * b : 0;  \
	}

DIVISOR_OPS(uint32_t, u32)
DIVISOR_OPS(uint64_t, u64)

#define SIZE(U, a) (DRAY_BELOW_0(a) ? 0 - (U)(a) : (U)(a))
#define GCD_32(a, b) gcd_of_u32(SIZE(uint32_t, a), SIZE(uint32_t, b))
#define LCM_32(a, b) lcm_of_u32(SIZE(uint32_t, a), SIZE(uint32_t, b))
#define GCD_64(a, b) gcd_of_u64(SIZE(uint64_t, a), SIZE(uint64_t, b))
#define LCM_64(a, b) lcm_of_u64(SIZE(uint64_t, a), SIZE(uint64_t, b))

#define DIVISORS(suffix, T, bits)                             \
	DRAY_BINARY_SINGLY(gcd_##suffix, T, T, T, GCD_##bits) \
	DRAY_BINARY_SINGLY(lcm_##suffix, T, T, T, LCM_##bits)

DIVISORS(i8, int8_t, 32)
DIVISORS(8, uint8_t, 32)
DIVISORS(i16, int16_t, 32)
DIVISORS(16, uint16_t, 32)
DIVISORS(i32, int32_t, 32)
DIVISORS(32, uint32_t, 32)
DIVISORS(i64, int64_t, 64)
DIVISORS(64, uint64_t, 64)

#define ENTRIES(name)                                                        \
	static const struct dray_loop_entry name[] = {                       \
		DRAY_QUIET("bbb", name##_i8),  DRAY_QUIET("BBB", name##_8),  \
		DRAY_QUIET("hhh", name##_i16), DRAY_QUIET("HHH", name##_16), \
		DRAY_QUIET("iii", name##_i32), DRAY_QUIET("III", name##_32), \
		DRAY_QUIET("qqq", name##_i64), DRAY_QUIET("QQQ", name##_64), \
	}

ENTRIES(gcd);
ENTRIES(lcm);

static const struct dray_ufunc_definition definitions[] = {
	{ "gcd", 2, 1, DRAY_IDENTITY_ZERO, gcd, DRAY_COUNT(gcd),
	  dray_resolve_no_bools },
	{ "lcm", 2, 1, DRAY_IDENTITY_NONE, lcm, DRAY_COUNT(lcm),
	  dray_resolve_no_bools },
};

DRAY_LOOPS_LIST(whole, definitions);

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Functions of whole numbers: divisors, multiples and powers. */
#include <errno.h>

#include "base/error.h"
#include "loops/form.h"
#include "loops/power_integer.h"

/* Of sizes, so that the least number has one; results wrap. */
#define DIVISOR_OPS(U, name)                                    \
	DRAY_INLINE U gcd_of_##name(U a, U b)                   \
	{                                                       \
		while (a) {                                     \
			const U rest = b % a;                   \
                                                                \
			b = a;                                  \
			a = rest;                               \
		}                                               \
		return b;                                       \
	}                                                       \
	DRAY_INLINE U lcm_of_##name(U a, U b)                   \
	{                                                       \
		const U divisor = gcd_of_##name(a, b);          \
                                                                \
		return divisor ? a / divisor * b : 0;           \
	}

DIVISOR_OPS(uint32_t, u32)
DIVISOR_OPS(uint64_t, u64)

#define SIZE(U, a) (DRAY_BELOW_0(a) ? 0 - (U)(a) : (U)(a))
#define GCD_32(a, b) gcd_of_u32(SIZE(uint32_t, a), SIZE(uint32_t, b))
#define LCM_32(a, b) lcm_of_u32(SIZE(uint32_t, a), SIZE(uint32_t, b))
#define GCD_64(a, b) gcd_of_u64(SIZE(uint64_t, a), SIZE(uint64_t, b))
#define LCM_64(a, b) lcm_of_u64(SIZE(uint64_t, a), SIZE(uint64_t, b))

#define DIVISORS(suffix, T, bits)                                      \
	DRAY_BINARY_SINGLY(gcd_##suffix, T, T, T, GCD_##bits)          \
	DRAY_BINARY_SINGLY(lcm_##suffix, T, T, T, LCM_##bits)

DIVISORS(i8, int8_t, 32)
DIVISORS(8, uint8_t, 32)
DIVISORS(i16, int16_t, 32)
DIVISORS(16, uint16_t, 32)
DIVISORS(i32, int32_t, 32)
DIVISORS(32, uint32_t, 32)
DIVISORS(i64, int64_t, 64)
DIVISORS(64, uint64_t, 64)

static int fail_power(void)
{
	return dray_fail(
		-EINVAL,
		"Integers to negative integer powers are not allowed.");
}

#define BLOCK 128

/*
 * Squares the base for each bit of the exponent.  With one exponent for all,
 * blocks of bases go through it side by side.
 */
#define POWER(suffix, T, U)                                                   \
	DRAY_INLINE T power_of_##suffix(T base, T exponent)                   \
	{                                                                     \
		U square = (U)base, result = 1;                               \
		T left;                                                       \
                                                                              \
		for (left = exponent; left; left = (T)(left >> 1)) {          \
			if (left & 1)                                         \
				result = (U)(result * square);                \
			square = (U)(square * square);                        \
		}                                                             \
		return (T)result;                                             \
	}                                                                     \
	int dray_power_##suffix(char *const *data, const int64_t *strides,    \
				int64_t count, void *context)                 \
	{                                                                     \
		char *const a = data[0], *const b = data[1];                  \
		char *const out = data[2];                                    \
		const int64_t step_a = strides[0], step_b = strides[1];       \
		const int64_t out_step = strides[2];                          \
		int64_t i, done, part;                                        \
                                                                              \
		(void)context;                                                \
		if (step_b || !out_step || !dray_is_apart(out, a)) {          \
			for (i = 0; i < count; i++) {                         \
				const T exponent =                            \
					DRAY_AT(const T, b, i, step_b);       \
                                                                              \
				if (DRAY_BELOW_0(exponent))                           \
					return fail_power();                  \
				DRAY_AT(T, out, i, out_step) =                \
					power_of_##suffix(                    \
						DRAY_AT(const T, a, i,        \
							step_a),              \
						exponent);                    \
			}                                                     \
			return 0;                                             \
		}                                                             \
		if (DRAY_BELOW_0(*(const T *)(const void *)b))                \
			return fail_power();                                  \
		for (done = 0; done < count; done += part) {                  \
			U squares[BLOCK], results[BLOCK];                     \
			T left = *(const T *)(const void *)b;                 \
                                                                              \
			part = count - done < BLOCK ? count - done : BLOCK;   \
			for (i = 0; i < part; i++) {                          \
				squares[i] = DRAY_AT(const U, a, done + i,    \
						     step_a);                 \
				results[i] = 1;                               \
			}                                                     \
			for (; left; left = (T)(left >> 1)) {                 \
				for (i = 0; left & 1 && i < part; i++)        \
					results[i] = (U)((uint64_t)results[i] * \
							 squares[i]);         \
				for (i = 0; left > 1 && i < part; i++)        \
					squares[i] = (U)((uint64_t)squares[i] * \
							 squares[i]);         \
			}                                                     \
			for (i = 0; i < part; i++)                            \
				DRAY_AT(U, out, done + i, out_step) =         \
					results[i];                           \
		}                                                             \
		return 0;                                                     \
	}

POWER(i8, int8_t, uint8_t)
POWER(8, uint8_t, uint8_t)
POWER(i16, int16_t, uint16_t)
POWER(16, uint16_t, uint16_t)
POWER(i32, int32_t, uint32_t)
POWER(32, uint32_t, uint32_t)
POWER(i64, int64_t, uint64_t)
POWER(64, uint64_t, uint64_t)

#define ENTRIES(name)                                                 \
	static const struct dray_loop_entry name[] = {                \
		DRAY_QUIET("bbb", name##_i8),  DRAY_QUIET("BBB", name##_8),  \
		DRAY_QUIET("hhh", name##_i16), DRAY_QUIET("HHH", name##_16), \
		DRAY_QUIET("iii", name##_i32), DRAY_QUIET("III", name##_32), \
		DRAY_QUIET("qqq", name##_i64), DRAY_QUIET("QQQ", name##_64), \
	}

ENTRIES(gcd);
ENTRIES(lcm);

static const struct dray_ufunc_definition definitions[] = {
	{ "gcd", 2, 1, DRAY_IDENTITY_ZERO, gcd, DRAY_COUNT(gcd), NULL },
	{ "lcm", 2, 1, DRAY_IDENTITY_NONE, lcm, DRAY_COUNT(lcm), NULL },
};

DRAY_LOOPS_LIST(whole, definitions);

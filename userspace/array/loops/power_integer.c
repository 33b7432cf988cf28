// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Powers of integers, and the whole table of powers.  Products wrap, and an
 * exponent below 0 is an error.
 */
#include <errno.h>

#include "private.h"
#include "loops/elementary_power.h"
#include "loops/form.h"

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
#define POWER(suffix, T, U)                                                    \
	DRAY_INLINE T power_of_##suffix(T base, T exponent)                    \
	{                                                                      \
		U square = (U)base, result = 1;                                \
		T left;                                                        \
                                                                               \
		for (left = exponent; left > 1; left = (T)(left >> 1)) {       \
			if (left & 1)                                          \
				result = (U)((uint64_t)result * square);       \
			square = (U)((uint64_t)square * square);               \
		}                                                              \
		return (T)(left ? (U)((uint64_t)result * square) : result);    \
	}                                                                      \
	DRAY_LOOP(power_##suffix)                                              \
	{                                                                      \
		char *const a = data[0], *const b = data[1];                   \
		char *const out = data[2];                                     \
		const int64_t step_a = strides[0], step_b = strides[1];        \
		const int64_t out_step = strides[2];                           \
		int64_t i, done, part;                                         \
                                                                               \
		if (step_b || dray_follows(out, out_step, a, BLOCK)) {         \
			for (i = 0; i < count; i++) {                          \
				const T exponent =                             \
					ITEM_AT(const T, b, i, step_b);        \
                                                                               \
				if (DRAY_BELOW_0(exponent))                    \
					return fail_power();                   \
				ITEM_AT(T, out, i, out_step) =                 \
					power_of_##suffix(ITEM_AT(const T, a,  \
								  i, step_a),  \
							  exponent);           \
			}                                                      \
			return 0;                                              \
		}                                                              \
		if (DRAY_BELOW_0(*(const T *)(const void *)b))                 \
			return fail_power();                                   \
		for (done = 0; done < count; done += part) {                   \
			U squares[BLOCK], results[BLOCK];                      \
			T left = *(const T *)(const void *)b;                  \
                                                                               \
			part = count - done < BLOCK ? count - done : BLOCK;    \
			for (i = 0; i < part; i++) {                           \
				squares[i] =                                   \
					ITEM_AT(const U, a, done + i, step_a); \
				results[i] = 1;                                \
			}                                                      \
			for (; left; left = (T)(left >> 1)) {                  \
				for (i = 0; left & 1 && i < part; i++)         \
					results[i] =                           \
						(U)((uint64_t)results[i] *     \
						    squares[i]);               \
				for (i = 0; left > 1 && i < part; i++)         \
					squares[i] =                           \
						(U)((uint64_t)squares[i] *     \
						    squares[i]);               \
			}                                                      \
			for (i = 0; i < part; i++)                             \
				ITEM_AT(U, out, done + i, out_step) =          \
					results[i];                            \
		}                                                              \
		return 0;                                                      \
	}

POWER(i8, int8_t, uint8_t)
POWER(8, uint8_t, uint8_t)
POWER(i16, int16_t, uint16_t)
POWER(16, uint16_t, uint16_t)
POWER(i32, int32_t, uint32_t)
POWER(32, uint32_t, uint32_t)
POWER(i64, int64_t, uint64_t)
POWER(64, uint64_t, uint64_t)

static const struct dray_loop_entry power[] = {
	DRAY_QUIET("bbb", power_i8),
	DRAY_QUIET("BBB", power_8),
	DRAY_QUIET("hhh", power_i16),
	DRAY_QUIET("HHH", power_16),
	DRAY_QUIET("iii", power_i32),
	DRAY_QUIET("III", power_32),
	DRAY_QUIET("qqq", power_i64),
	DRAY_QUIET("QQQ", power_64),
	{ "eee", dray_elementary_half, DRAY_NUMBER(pow), DRAY_LOOP_HAS_FAST },
	{ "fff", dray_elementary_float, DRAY_NUMBER(pow), DRAY_LOOP_HAS_FAST },
	{ "ddd", dray_elementary_double, DRAY_NUMBER(pow), DRAY_LOOP_HAS_FAST },
	{ "FFF", dray_power_complex_float, NULL, 0 },
	{ "DDD", dray_power_complex_double, NULL, 0 },
};

static const struct dray_ufunc_definition definitions[] = {
	{ "power", 2, 1, DRAY_IDENTITY_NONE, power, DRAY_COUNT(power), NULL },
	{ "pow", 2, 1, DRAY_IDENTITY_NONE, power, DRAY_COUNT(power), NULL },
};

DRAY_LOOPS_LIST(power, definitions);

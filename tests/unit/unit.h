/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What every unit test includes: cmocka in its order, and the library. */
#ifndef DRAY_TESTS_UNIT_H
#define DRAY_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dray/dray.h>

/* The code that is expected, and a sentence that holds @part. */
#define assert_fails(call, code, part)                                        \
	do {                                                                  \
		int result = (call);                                          \
                                                                              \
		assert_int_equal(result, (code));                             \
		if (!strstr(dray_last_error(), (part)))                       \
			fail_msg("'%s' does not say '%s'", dray_last_error(), \
				 (part));                                     \
	} while (0)

/* As assert_int_equal(call, 0), showing the sentence. */
#define assert_works(call)                                                     \
	do {                                                                   \
		int result = (call);                                           \
                                                                               \
		if (result)                                                    \
			fail_msg("%s: %d, %s", #call, result,                  \
				 dray_last_error());                           \
	} while (0)

/* Decimal digits of SIZE_MAX, as a sentence has them. */
#if SIZE_MAX > UINT32_MAX
#define SIZE_MAX_TEXT "18446744073709551615"
#else
#define SIZE_MAX_TEXT "4294967295"
#endif

/* Numbers that are the same in every run: xorshift. */
struct dice {
	uint64_t state;
};

static inline uint64_t roll(struct dice *dice, uint64_t sides)
{
	dice->state ^= dice->state << 13;
	dice->state ^= dice->state >> 7;
	dice->state ^= dice->state << 17;
	return dice->state % sides;
}

#endif /* DRAY_TESTS_UNIT_H */

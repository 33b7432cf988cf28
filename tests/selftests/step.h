/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Steps of a child process or a thread, which cannot assert.  The first one that
 * fails writes a line with the values to stderr, and ends its function with
 * STEP_FAILED, which the test finds instead of 0.  As with ASSERT_EQ() the
 * expected value comes first.
 */
#ifndef SELFTEST_STEP_H
#define SELFTEST_STEP_H

#include <stdio.h>

#define STEP_FAILED 99

#define STEP_COMPARE(expected, sign, seen)                                   \
	do {                                                                 \
		long long expected_ = (long long)(expected);                 \
		long long seen_ = (long long)(seen);                         \
                                                                             \
		if (!(expected_ sign seen_)) {                               \
			fprintf(stderr,                                      \
				"# %s:%d: expected %lld %s %s, "             \
				"which is %lld\n",                           \
				__FILE__, __LINE__, expected_, #sign, #seen, \
				seen_);                                      \
			return STEP_FAILED;                                  \
		}                                                            \
	} while (0)

#define STEP_EQ(expected, seen) STEP_COMPARE(expected, ==, seen)
#define STEP_NE(expected, seen) STEP_COMPARE(expected, !=, seen)
#define STEP_LE(expected, seen) STEP_COMPARE(expected, <=, seen)
#define STEP_GE(expected, seen) STEP_COMPARE(expected, >=, seen)

/* For what is no number. */
#define STEP_TRUE(fact)                                                     \
	do {                                                                \
		if (!(fact)) {                                              \
			fprintf(stderr, "# %s:%d: expected %s\n", __FILE__, \
				__LINE__, #fact);                           \
			return STEP_FAILED;                                 \
		}                                                           \
	} while (0)

#endif

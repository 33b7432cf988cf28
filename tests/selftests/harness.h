/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The kernel's harness, with the main() of each program.  A test gets 20 minutes,
 * not 30 seconds: longer than its waits, so that a wait in vain fails with its
 * line.
 */
#ifndef SELFTEST_HARNESS_H
#define SELFTEST_HARNESS_H

#include "kselftest_harness.h"

#include "system.h"

/* Newer harnesses make a fixture's functions static.  Not each program uses all. */
#pragma GCC diagnostic ignored "-Wunused-function"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 1200

#define SKIP_IF(condition, reason)            \
	do {                                  \
		if (condition)                \
			SKIP(return, reason); \
	} while (0)

/* A test of one call. */
#define BRIEF(test, call)      \
	test                   \
	{                      \
		call;          \
	}                      \
	struct __test_metadata

TEST_HARNESS_MAIN

#endif

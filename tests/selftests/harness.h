/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The kernel's harness, with more than its 30 seconds for a test: an emulated
 * board with checkers, on a host that does other things too, needs them.
 */
#ifndef SELFTEST_HARNESS_H
#define SELFTEST_HARNESS_H

#include "kselftest_harness.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 120

#endif

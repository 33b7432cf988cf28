/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Rules that another file, or a caller, keeps.  Builds with debugging check them;
 * clang's analyzer, which reads each file alone, believes them.
 */
#ifndef DRAY_BASE_HOLDS_H
#define DRAY_BASE_HOLDS_H

#include <assert.h>

#ifdef __clang_analyzer__
#define DRAY_HOLDS(rule) __builtin_assume(rule)
#else
#define DRAY_HOLDS(rule) assert(rule)
#endif

#endif /* DRAY_BASE_HOLDS_H */

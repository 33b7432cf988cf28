/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Sentences for the kernel's replies beside errno. */
#ifndef DRAY_MEMORY_REASON_H
#define DRAY_MEMORY_REASON_H

#include <stdint.h>

#include "base/error.h"

/*
 * Keeps "WHAT:  REASON" for dray_last_error() and returns @error.
 *
 * @reason: enum dray_reason; if it has no sentence, errno's own words are taken
 * @limit: the value that the kernel sent with it
 * @format: the request, with its values
 */
int dray_fail_reason(int error, uint32_t reason, uint64_t limit,
		     const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#ifdef __clang_analyzer__
#define dray_fail_reason(...) dray_negative(dray_fail_reason(__VA_ARGS__))
#endif

#endif /* DRAY_MEMORY_REASON_H */

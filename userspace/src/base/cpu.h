/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Instructions that not every processor of a family has.  glibc knows them
 * without a constructor; the compiler's own question brings one along.
 */
#ifndef DRAY_BASE_CPU_H
#define DRAY_BASE_CPU_H

#include <stdbool.h>

#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif

static inline bool dray_cpu_has_avx2(void)
{
#if defined(CPU_FEATURE_ACTIVE)
	return CPU_FEATURE_ACTIVE(AVX2);
#elif defined(__x86_64__)
	return __builtin_cpu_supports("avx2");
#else
	return false;
#endif
}

/* AVX512F, BW, DQ and VL. */
static inline bool dray_cpu_has_avx512(void)
{
#if defined(CPU_FEATURE_ACTIVE)
	return CPU_FEATURE_ACTIVE(AVX512F) && CPU_FEATURE_ACTIVE(AVX512BW) &&
	       CPU_FEATURE_ACTIVE(AVX512DQ) && CPU_FEATURE_ACTIVE(AVX512VL);
#elif defined(__x86_64__)
	return __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vl");
#else
	return false;
#endif
}

#endif /* DRAY_BASE_CPU_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tells which optional instructions this processor has.  glibc knows them without a
 * constructor; __builtin_cpu_supports() adds one to the library.
 */
#ifndef DRAY_BASE_CPU_H
#define DRAY_BASE_CPU_H

#include <stdbool.h>

#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif

#if defined(CPU_FEATURE_ACTIVE)
/* As CPU_FEATURE_ACTIVE(), which shifts an int by 31 bits. */
static inline bool dray_cpu_is_active(unsigned int feature)
{
	const struct cpuid_feature *leaf =
		__x86_get_cpuid_feature_leaf(feature / 128);

	return leaf->active_array[feature % 128 / 32] >> feature % 32 & 1;
}
#define DRAY_CPU_HAS(name, text) dray_cpu_is_active(x86_cpu_##name)
#elif defined(__x86_64__)
#define DRAY_CPU_HAS(name, text) __builtin_cpu_supports(text)
#else
#define DRAY_CPU_HAS(name, text) false
#endif

static inline bool dray_cpu_has_avx2(void)
{
	return DRAY_CPU_HAS(AVX2, "avx2");
}

/* Whether loops that are compiled for AVX2 run: they use all of these. */
static inline bool dray_cpu_has_avx2_f16c(void)
{
	return dray_cpu_has_avx2() && DRAY_CPU_HAS(F16C, "f16c") &&
	       DRAY_CPU_HAS(BMI2, "bmi2") && DRAY_CPU_HAS(POPCNT, "popcnt");
}

static inline bool dray_cpu_has_fma(void)
{
	return DRAY_CPU_HAS(FMA, "fma");
}

/* Whether loops that are compiled for AVX-512 run. */
static inline bool dray_cpu_has_avx512(void)
{
	return DRAY_CPU_HAS(AVX512F, "avx512f") &&
	       DRAY_CPU_HAS(AVX512BW, "avx512bw") &&
	       DRAY_CPU_HAS(AVX512DQ, "avx512dq") &&
	       DRAY_CPU_HAS(AVX512VL, "avx512vl");
}

/* Whether bytes are found in two vectors at once. */
static inline bool dray_cpu_has_avx512_vbmi(void)
{
	return dray_cpu_has_avx512() && DRAY_CPU_HAS(AVX512_VBMI, "avx512vbmi");
}

static inline bool dray_cpu_has_avx512_vbmi2(void)
{
	return DRAY_CPU_HAS(AVX512_VBMI2, "avx512vbmi2");
}

/* The best variant of @name for this processor: there is one for each level. */
#ifdef DRAY_LOOPS_HAS_LEVELS
#define DRAY_AT_LEVEL(name)                         \
	(dray_cpu_has_avx512()	    ? name##_avx512 \
	 : dray_cpu_has_avx2_f16c() ? name##_avx2   \
				    : name)
#else
#define DRAY_AT_LEVEL(name) (name)
#endif

#endif /* DRAY_BASE_CPU_H */

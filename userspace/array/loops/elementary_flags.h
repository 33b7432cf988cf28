/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The hardware's floating-point errors around kernels, which note errors that did
 * not happen.  fenv.h's functions take 50 times as long on a PC.
 */
#ifndef DRAY_LOOPS_ELEMENTARY_FLAGS_H
#define DRAY_LOOPS_ELEMENTARY_FLAGS_H

#include <fenv.h>
#include <stdint.h>

#if defined(__x86_64__)
typedef unsigned int dray_flags;

static inline dray_flags dray_flags_keep(void)
{
	return __builtin_ia32_stmxcsr();
}

/* Forgets all errors since dray_flags_keep(), and notes @errors. */
static inline void dray_flags_restore(dray_flags kept, int errors)
{
	__builtin_ia32_ldmxcsr(kept | (unsigned int)errors);
}
#elif defined(__aarch64__)
typedef uint64_t dray_flags;

static inline dray_flags dray_flags_keep(void)
{
	dray_flags kept;

	__asm__ volatile("mrs %0, fpsr" : "=r"(kept) : : "memory");
	return kept;
}

static inline void dray_flags_restore(dray_flags kept, int errors)
{
	__asm__ volatile("msr fpsr, %0"
			 :
			 : "r"(kept | (unsigned int)errors)
			 : "memory");
}
#else
typedef int dray_flags;

static inline dray_flags dray_flags_keep(void)
{
	return fetestexcept(FE_ALL_EXCEPT);
}

static inline void dray_flags_restore(dray_flags kept, int errors)
{
	feclearexcept(FE_ALL_EXCEPT);
	feraiseexcept(kept | errors);
}
#endif

#endif /* DRAY_LOOPS_ELEMENTARY_FLAGS_H */

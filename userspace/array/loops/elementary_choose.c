// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Chooses the sets of kernels for this processor, once. */
#include "private.h"
#include "loops/elementary.h"

static const struct dray_kernels *choose_exact(void)
{
#if defined(DRAY_HAS_SLEEF) && defined(__x86_64__)
	if (dray_cpu_has_avx512())
		return &dray_kernels_avx512;
	if (dray_cpu_has_avx2() && dray_cpu_has_fma())
		return &dray_kernels_avx;
	return &dray_kernels_sse2;
#elif defined(DRAY_HAS_SLEEF) && defined(__aarch64__)
	return &dray_kernels_neon;
#else
	return &dray_kernels_scalar;
#endif
}

static const struct dray_kernels *choose_fused(void)
{
#if defined(DRAY_HAS_SLEEF) && defined(__x86_64__)
	if (dray_cpu_has_avx512())
		return &dray_kernels_avx512_fused;
	if (dray_cpu_has_avx2() && dray_cpu_has_fma())
		return &dray_kernels_avx2_fused;
#elif defined(DRAY_HAS_SLEEF) && defined(__aarch64__)
	return &dray_kernels_neon_fused;
#endif
	return choose_exact();
}

/* Threads that are first at once choose the same. */
static const struct dray_kernels *
elementary_choose_once(const struct dray_kernels **chosen,
		       const struct dray_kernels *choose(void))
{
	const struct dray_kernels *kernels =
		__atomic_load_n(chosen, __ATOMIC_RELAXED);

	if (!kernels) {
		kernels = choose();
		__atomic_store_n(chosen, kernels, __ATOMIC_RELAXED);
	}
	return kernels;
}

const struct dray_kernels *dray_kernels_exact(void)
{
	static const struct dray_kernels *chosen;

	return elementary_choose_once(&chosen, choose_exact);
}

const struct dray_kernels *dray_kernels_fused(void)
{
	static const struct dray_kernels *chosen;

	return elementary_choose_once(&chosen, choose_fused);
}

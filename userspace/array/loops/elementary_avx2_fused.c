// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Vectors of 32 bytes, fused. */
#if defined(DRAY_HAS_SLEEF) && defined(__AVX2__)
#include "loops/elementary_pc.h"

#define SET avx2_fused
#define SLEEF_D(name, accuracy) Sleef_finz_##name##d4_##accuracy##avx2
#define SLEEF_F(name, accuracy) Sleef_finz_##name##f8_##accuracy##avx2

#include "loops/elementary_vector.h"
#endif

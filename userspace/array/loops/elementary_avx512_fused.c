// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Vectors of 64 bytes, fused. */
#if defined(DRAY_HAS_SLEEF) && defined(__AVX512F__)
#include "loops/elementary_pc.h"

#define SET avx512_fused
#define SLEEF_D(name, accuracy) Sleef_finz_##name##d8_##accuracy##avx512f
#define SLEEF_F(name, accuracy) Sleef_finz_##name##f16_##accuracy##avx512f

#include "loops/elementary_vector.h"
#endif

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Vectors of arm64, fused. */
#if defined(DRAY_HAS_SLEEF) && defined(__aarch64__)
#include "loops/elementary_arm.h"

#define SET neon_fused
#define SLEEF_D(name, accuracy) Sleef_finz_##name##d2_##accuracy##advsimd
#define SLEEF_F(name, accuracy) Sleef_finz_##name##f4_##accuracy##advsimd

#include "loops/elementary_vector.h"
#endif

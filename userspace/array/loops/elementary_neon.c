// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Vectors of arm64, in exact order. */
#if defined(DRAY_HAS_SLEEF) && defined(__aarch64__)
#include "loops/elementary_arm.h"

#define SET neon
#define SLEEF_D(name, accuracy) Sleef_cinz_##name##d2_##accuracy##advsimdnofma
#define SLEEF_F(name, accuracy) Sleef_cinz_##name##f4_##accuracy##advsimdnofma

#include "loops/elementary_vector.h"
#endif

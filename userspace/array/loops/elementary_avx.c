// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Vectors of 32 bytes, in exact order. */
#if defined(DRAY_HAS_SLEEF) && defined(__AVX2__)
#include "loops/elementary_pc.h"

#define SET avx
#define SLEEF_D(name, accuracy) Sleef_cinz_##name##d4_##accuracy##avx
#define SLEEF_F(name, accuracy) Sleef_cinz_##name##f8_##accuracy##avx

#include "loops/elementary_vector.h"
#endif

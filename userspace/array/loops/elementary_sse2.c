// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Vectors of 16 bytes, which each 64-bit PC has. */
#if defined(DRAY_HAS_SLEEF) && defined(__x86_64__)
#include "loops/elementary_pc.h"

#define SET sse2
#define SLEEF_D(name, accuracy) Sleef_cinz_##name##d2_##accuracy##sse2
#define SLEEF_F(name, accuracy) Sleef_cinz_##name##f4_##accuracy##sse2

#include "loops/elementary_vector.h"
#endif

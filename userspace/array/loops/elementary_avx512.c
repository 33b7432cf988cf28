// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Vectors of 64 bytes, in exact order. */
#if defined(DRAY_HAS_SLEEF) && defined(__AVX512F__)
#include "loops/elementary_pc.h"

#define SET avx512
#define SLEEF_D(name, accuracy) Sleef_cinz_##name##d8_##accuracy##avx512fnofma
#define SLEEF_F(name, accuracy) Sleef_cinz_##name##f16_##accuracy##avx512fnofma

#include "loops/elementary_vector.h"
#endif

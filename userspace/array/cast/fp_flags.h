/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Flags of floating-point errors, 0 where the machine has none. */
#ifndef DRAY_BASE_FP_FLAGS_H
#define DRAY_BASE_FP_FLAGS_H

#include <fenv.h>

/* ARM without an FPU, and others, have fewer flags. */
#ifndef FE_DIVBYZERO
#define FE_DIVBYZERO 0
#endif
#ifndef FE_OVERFLOW
#define FE_OVERFLOW 0
#endif
#ifndef FE_UNDERFLOW
#define FE_UNDERFLOW 0
#endif
#ifndef FE_INVALID
#define FE_INVALID 0
#endif

#endif /* DRAY_BASE_FP_FLAGS_H */

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Kernels without vectors.  The 32-bit ARM takes them: its vectors make subnormal
 * numbers zero.  Without SLEEF they are the C library's functions.
 */
#include <float.h>
#include <math.h>

#ifdef DRAY_HAS_SLEEF
#include <sleef.h>

#define SLEEF_D(name, accuracy) Sleef_cinz_##name##d1_##accuracy##purec
#define SLEEF_F(name, accuracy) Sleef_cinz_##name##f1_##accuracy##purec
#define LOWER(x) ((double)(x))
#define UPPER(x) ((double)(x))
#define HALVES(lower, upper) ((void)(upper), (float)(lower))
#define BETWEEN(x, low, high) fmin(fmax(x, low), high)
#define VECTOR_I uint64_t
#define VECTOR_I_F uint32_t
#define BITS_OF(x) dray_bits_of_double(x)
#define OF_BITS(bits) dray_double_of_bits(bits)
#define BITS_OF_F(x) dray_bits_of_float(x)
#define OF_BITS_F(bits) dray_float_of_bits(bits)
#define OUTSIDE(x, low, high) !((x) >= (low) && (x) <= (high))
#define OUTSIDE_F OUTSIDE
#else
#define NAME "libm"
#define SLEEF_D(name, accuracy) name
#define SLEEF_F(name, accuracy) name##f
#endif

#define SET scalar
#define VECTOR_D double
#define VECTOR_F float
#define LANES_D 1
#define LANES_F 1
#define LOAD_D(from) (*(from))
#define LOAD_F(from) (*(from))
#define STORE_D(to, x) (*(to) = (x))
#define STORE_F(to, x) (*(to) = (x))
#define SQRT_D sqrt
#define PLUS_D(x, y, z) ((x) * (y) + (z))
#define ANY_ZERO(x, y) ((void)(x), (void)(y), 0)
#define UNUSUAL_D(x) !(fabs(x) >= DBL_MIN && fabs(x) <= DBL_MAX)
#define UNUSUAL_F(x) !(fabsf(x) >= FLT_MIN && fabsf(x) <= FLT_MAX)

#include "loops/elementary_vector.h"

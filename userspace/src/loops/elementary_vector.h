/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Makes a set of kernels.  The file that includes it defines SET (in the name of the
 * structure) and
 * VECTOR_, LANES_, LOAD_, STORE_, SQRT_, UNUSUAL_ and SLEEF_ of D (double) and F
 * (float), as elementary_walk.h tells.
 */
#include <string.h>

#include "loops/elementary.h"

#define ALWAYS static inline __attribute__((always_inline))
#define JOINED(a, b) a##_##b
#define JOIN(a, b) JOINED(a, b)
#define ON(name) JOIN(name, TYPE)

#define TYPE double
#define VECTOR VECTOR_D
#define LANES LANES_D
#define LOAD LOAD_D
#define STORE STORE_D
#define SQRT SQRT_D
#define UNUSUAL UNUSUAL_D
#define SLEEF SLEEF_D
#include "loops/elementary_walk.h"
#undef TYPE
#undef VECTOR
#undef LANES
#undef LOAD
#undef STORE
#undef SQRT
#undef UNUSUAL
#undef SLEEF

#define TYPE float
#define VECTOR VECTOR_F
#define LANES LANES_F
#define LOAD LOAD_F
#define STORE STORE_F
#define SQRT SQRT_F
#define UNUSUAL UNUSUAL_F
#define SLEEF SLEEF_F
#include "loops/elementary_walk.h"

#define OF_DOUBLE(name, accuracy) [DRAY_FUNCTION_##name] = name##_of_double,
#define OF_FLOAT(name, accuracy) [DRAY_FUNCTION_##name] = name##_of_float,
#define QUOTED(word) #word
#define QUOTE(word) QUOTED(word)
#ifndef NAME
#define NAME QUOTE(SET)
#endif

const struct dray_kernels JOIN(dray_kernels, SET) = {
	.name = NAME,
	.of_double = { DRAY_UNARY_FUNCTIONS(OF_DOUBLE)
			       DRAY_BINARY_FUNCTIONS(OF_DOUBLE) },
	.of_float = { DRAY_UNARY_FUNCTIONS(OF_FLOAT)
			      DRAY_BINARY_FUNCTIONS(OF_FLOAT) },
	.sqrt_double = root_double,
	.sqrt_float = root_float,
};

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Makes a set of kernels.  The file that includes it defines SET (in the name of the
 * structure) and
 * VECTOR_, LANES_, LOAD_, STORE_, SQRT_, UNUSUAL_ and SLEEF_ of D (double) and F
 * (float), as elementary_walk.h tells.
 */
#include <float.h>
#include <math.h>
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
#define UNUSUAL UNUSUAL_D
#define SLEEF SLEEF_D
#include "loops/elementary_walk.h"
#undef TYPE
#undef VECTOR
#undef LANES
#undef LOAD
#undef STORE
#undef UNUSUAL
#undef SLEEF

#define TYPE float
#define VECTOR VECTOR_F
#define LANES LANES_F
#define LOAD LOAD_F
#define STORE STORE_F
#define UNUSUAL UNUSUAL_F
#define SLEEF SLEEF_F
#include "loops/elementary_walk.h"

#ifdef HALVES
#include "loops/elementary_wide.h"
#include "loops/elementary_inverse.h"
#include "loops/elementary_long.h"
#include "loops/elementary_wide_walk.h"
#define BEST(name) name##_of_wide
#define BEST_LONG(name) name##_of_long
#else
#define BEST(name) name##_of_float
#define BEST_LONG(name) name##_of_double
#endif

#define OF_DOUBLE(name, ...) [DRAY_FUNCTION_##name] = name##_of_double,
#define OF_FLOAT(name, ...) [DRAY_FUNCTION_##name] = name##_of_float,
#define BEST_OF_DOUBLE(name, ...) [DRAY_FUNCTION_##name] = BEST_LONG(name),
#define BEST_OF_FLOAT(name, ...) [DRAY_FUNCTION_##name] = BEST(name),
#define QUOTED(word) #word
#define QUOTE(word) QUOTED(word)
#ifndef NAME
#define NAME QUOTE(SET)
#endif

const struct dray_kernels JOIN(dray_kernels, SET) = {
	.name = NAME,
	.of_double = { DRAY_WIDE_FUNCTIONS(
		OF_DOUBLE) OF_DOUBLE(hypot) BEST_OF_DOUBLE(pow)
			       DRAY_LONG_FUNCTIONS(BEST_OF_DOUBLE)
			       DRAY_LOG_FUNCTIONS(BEST_OF_DOUBLE)
				       OF_DOUBLE(atan2) },
	.of_float = { DRAY_WIDE_FUNCTIONS(
		BEST_OF_FLOAT) DRAY_WIDE_BINARY_FUNCTIONS(BEST_OF_FLOAT)
			      DRAY_LONG_FUNCTIONS(BEST_OF_FLOAT)
			      DRAY_LOG_FUNCTIONS(BEST_OF_FLOAT)
				      OF_FLOAT(atan2) },
	.plain_double = { DRAY_LONG_FUNCTIONS(OF_DOUBLE)
				  DRAY_LOG_FUNCTIONS(OF_DOUBLE) },
	.plain_float = { DRAY_WIDE_FUNCTIONS(OF_FLOAT)
				 DRAY_WIDE_BINARY_FUNCTIONS(OF_FLOAT)
				 DRAY_LONG_FUNCTIONS(OF_FLOAT)
					 DRAY_LOG_FUNCTIONS(OF_FLOAT) },
};

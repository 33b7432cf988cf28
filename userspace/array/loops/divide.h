/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Division of integers.  By 0 it gives 0, and raises the exception of a division
 * by zero; the least number by -1 is itself, and an overflow.
 */
#ifndef DRAY_LOOPS_DIVIDE_H
#define DRAY_LOOPS_DIVIDE_H

#include "loops/form.h"

#define DRAY_INTEGER_DIVISION(suffix)                   \
	dray_loop DRAY_LEVELLED(dray_floor_##suffix),   \
		DRAY_LEVELLED(dray_remainder_##suffix), \
		DRAY_LEVELLED(dray_fmod_##suffix)

DRAY_INTEGER_DIVISION(i8);
DRAY_INTEGER_DIVISION(8);
DRAY_INTEGER_DIVISION(i16);
DRAY_INTEGER_DIVISION(16);
DRAY_INTEGER_DIVISION(i32);
DRAY_INTEGER_DIVISION(32);
DRAY_INTEGER_DIVISION(i64);
DRAY_INTEGER_DIVISION(64);

#endif /* DRAY_LOOPS_DIVIDE_H */

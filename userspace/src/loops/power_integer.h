/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Powers of integers, the first entries of "power": products wrap, and an exponent
 * below 0 is an error.
 */
#ifndef DRAY_LOOPS_POWER_INTEGER_H
#define DRAY_LOOPS_POWER_INTEGER_H

#include "loops/loops.h"

dray_loop dray_power_i8, dray_power_8, dray_power_i16, dray_power_16;
dray_loop dray_power_i32, dray_power_32, dray_power_i64, dray_power_64;

#define DRAY_POWER_INTEGER_ENTRIES                                 \
	{ "bbb", dray_power_i8, NULL, DRAY_LOOP_NO_FP_ERRORS },    \
	{ "BBB", dray_power_8, NULL, DRAY_LOOP_NO_FP_ERRORS },     \
	{ "hhh", dray_power_i16, NULL, DRAY_LOOP_NO_FP_ERRORS },   \
	{ "HHH", dray_power_16, NULL, DRAY_LOOP_NO_FP_ERRORS },    \
	{ "iii", dray_power_i32, NULL, DRAY_LOOP_NO_FP_ERRORS },   \
	{ "III", dray_power_32, NULL, DRAY_LOOP_NO_FP_ERRORS },    \
	{ "qqq", dray_power_i64, NULL, DRAY_LOOP_NO_FP_ERRORS },   \
	{ "QQQ", dray_power_64, NULL, DRAY_LOOP_NO_FP_ERRORS }

#endif /* DRAY_LOOPS_POWER_INTEGER_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Dates and durations: loops of their 64-bit numbers, in one unit, and the choice
 * of that unit.
 */
#ifndef DRAY_LOOPS_TIMES_H
#define DRAY_LOOPS_TIMES_H

#include "loops/loops.h"

/* Of any two dates and durations. */
dray_loop dray_time_add, dray_time_subtract;
dray_loop dray_time_times_integer, dray_integer_times_time;
dray_loop dray_time_times_float, dray_float_times_time;
dray_loop dray_time_by_integer, dray_time_by_float, dray_time_by_time;
dray_loop dray_time_floor_by_time, dray_time_remainder, dray_time_divmod;
dray_loop dray_time_negative, dray_time_positive, dray_time_absolute;
dray_loop dray_time_sign, dray_time_is_nat, dray_time_is_finite;
dray_loop dray_time_never;
dray_loop dray_time_equal, dray_time_not_equal, dray_time_less;
dray_loop dray_time_less_equal, dray_time_greater, dray_time_greater_equal;
dray_loop dray_time_maximum, dray_time_minimum, dray_time_fmax, dray_time_fmin;

dray_loop_resolver dray_resolve_add, dray_resolve_subtract;
dray_loop_resolver dray_resolve_multiply, dray_resolve_divide;
dray_loop_resolver dray_resolve_remainder;
/* Comparisons, maximum and its like: a unit in common. */
dray_loop_resolver dray_resolve_common;
/* One input: its own unit. */
dray_loop_resolver dray_resolve_unary;
/* One input of a sign, which no bool has. */
dray_loop_resolver dray_resolve_signed;
/* One input, which has to be a time. */
dray_loop_resolver dray_resolve_is_nat;

#endif /* DRAY_LOOPS_TIMES_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The order of float16 by integers, which raises no exception. */
#ifndef DRAY_LOOPS_HALF_ORDER_H
#define DRAY_LOOPS_HALF_ORDER_H

#include "loops/form.h"

DRAY_INLINE bool dray_half_is_nan(uint16_t a)
{
	return (a & 0x7fff) > 0x7c00;
}

/* Grows with the number; both zeros have 0. */
DRAY_INLINE int16_t dray_half_key(uint16_t a)
{
	const int16_t size = (int16_t)(a & 0x7fff);
	const int16_t sign = (int16_t) - (a >> 15);

	return (int16_t)((size ^ sign) - sign);
}

DRAY_INLINE bool dray_half_ordered(uint16_t a, uint16_t b)
{
	return !dray_half_is_nan(a) & !dray_half_is_nan(b);
}

DRAY_INLINE bool dray_half_equal(uint16_t a, uint16_t b)
{
	return (dray_half_key(a) == dray_half_key(b)) & dray_half_ordered(a, b);
}

DRAY_INLINE bool dray_half_less(uint16_t a, uint16_t b)
{
	return (dray_half_key(a) < dray_half_key(b)) & dray_half_ordered(a, b);
}

DRAY_INLINE bool dray_half_less_equal(uint16_t a, uint16_t b)
{
	return (dray_half_key(a) <= dray_half_key(b)) & dray_half_ordered(a, b);
}

#endif /* DRAY_LOOPS_HALF_ORDER_H */

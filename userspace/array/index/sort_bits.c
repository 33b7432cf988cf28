// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Sorts of dense numbers of all sizes. */
#include <string.h>

#include "index/sort_numbers.h"

#define SHORT_LINE 48 /* numbers; sorting by bytes is faster from here on */
#define MANY 500 /* numbers; sorting by one byte is faster than by vectors */

#define BITS 8
#include "index/sort_digits.h"
#undef BITS
#define BITS 16
#include "index/sort_digits.h"
#undef BITS
#define BITS 32
#include "index/sort_digits.h"
#undef BITS
#define BITS 64
#include "index/sort_digits.h"

void dray_bits_of(struct dray_bits *bits, const struct dray_sorting *order)
{
	*bits = (struct dray_bits){ .size = order->size,
				    .used = 8 * (int)order->size };
	switch (order->kind) {
	case DRAY_SORTING_UNSIGNED:
		bits->add = order->sign;
		break;
	case DRAY_SORTING_TIME: /* NaT is the lowest number. */
		bits->add = ~UINT64_C(0);
		break;
	case DRAY_SORTING_FLOAT:
		bits->flip = order->sign - 1;
		bits->infinity = order->infinity;
		break;
	default:
		break;
	}
}

void dray_sort_numbers(void *data, void *room, size_t count,
		       const struct dray_bits *bits)
{
	switch (count > 1 ? bits->size : 0) {
	case sizeof(uint8_t):
		sort_8(data, room, count, bits);
		break;
	case sizeof(uint16_t):
		sort_16(data, room, count, bits);
		break;
	case sizeof(uint32_t):
		sort_32(data, room, count, bits);
		break;
	case sizeof(uint64_t):
		sort_64(data, room, count, bits);
		break;
	default:
		break;
	}
}

bool dray_sort_in_place(void *data, size_t count, const struct dray_bits *bits)
{
	if ((uintptr_t)data % bits->size)
		return false;
	switch (bits->size) {
	case sizeof(uint16_t):
		return sort_in_place_16(data, count, bits);
	case sizeof(uint32_t):
		return sort_in_place_32(data, count, bits);
	case sizeof(uint64_t):
		return sort_in_place_64(data, count, bits);
	default:
		return false;
	}
}

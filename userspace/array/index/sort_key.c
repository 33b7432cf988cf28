// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Keys of elements: unsigned numbers of the same order.  All NaN have the highest
 * key, and both zeros have one.
 */
#include <string.h>

#include "private.h"
#include "index/sort.h"

static uint64_t key_of(const struct dray_sorting *order, uint64_t raw)
{
	uint64_t sign = order->sign, highest = sign | (sign - 1);
	uint64_t size = raw & ~sign;

	switch (order->kind) {
	case DRAY_SORTING_SIGNED:
		return raw ^ sign;
	case DRAY_SORTING_TIME: /* NaT is the lowest number. */
		return (raw ^ sign) - 1;
	case DRAY_SORTING_FLOAT:
		if (size > order->infinity)
			return highest;
		if (!size)
			return sign;
		return raw & sign ? ~raw & highest : raw | sign;
	default:
		return raw;
	}
}

#define AS_IT_IS(raw) (raw)

#define DEFINE_KEYS(type, swap)                                            \
	static void keys_##type(const struct dray_sorting *order,          \
				const unsigned char *data, int64_t stride, \
				size_t count, uint64_t *keys)              \
	{                                                                  \
		const struct dray_sorting by = *order;                     \
		size_t i;                                                  \
                                                                           \
		for (i = 0; i < count; i++) {                              \
			type raw;                                          \
                                                                           \
			memcpy(&raw, data, sizeof(raw));                   \
			if (by.swapped)                                    \
				raw = swap(raw);                           \
			keys[i] = key_of(&by, raw);                        \
			data += stride;                                    \
		}                                                          \
	}

DEFINE_KEYS(uint8_t, AS_IT_IS)
DEFINE_KEYS(uint16_t, __builtin_bswap16)
DEFINE_KEYS(uint32_t, __builtin_bswap32)
DEFINE_KEYS(uint64_t, __builtin_bswap64)

static enum dray_sorting_kind key_kind_of(dray_dtype dtype)
{
	uint32_t size = dray_dtype_itemsize(dtype);

	switch (dray_dtype_kind(dtype)) {
	case '?':
	case 'b':
	case 'u':
		return DRAY_SORTING_UNSIGNED;
	case 'i':
		return DRAY_SORTING_SIGNED;
	case 'm':
	case 'M':
		return DRAY_SORTING_TIME;
	case 'f':
		return size <= 8 ? DRAY_SORTING_FLOAT : DRAY_SORTING_COMPARED;
	default:
		return DRAY_SORTING_COMPARED;
	}
}

void dray_sorting_of(struct dray_sorting *order, dray_dtype dtype)
{
	static dray_key_loop *const loops[] = { keys_uint8_t, keys_uint16_t,
						keys_uint32_t, keys_uint64_t };
	static const uint64_t infinities[] = { 0, 0x7c00, 0x7f800000,
					       0x7ff0000000000000 };
	char byte_order = dray_dtype_order(dtype);
	int which;

	memset(order, 0, sizeof(*order));
	order->dtype = dtype;
	order->kind = dray_dtype_is_builtin(dtype) ? key_kind_of(dtype)
						   : DRAY_SORTING_COMPARED;
	order->size = dray_dtype_itemsize(dtype);
	order->swapped = byte_order != '|' && byte_order != DRAY_NATIVE_ORDER;
	if (order->kind == DRAY_SORTING_COMPARED) {
		order->functions = dray_dtype_functions(dtype);
		return;
	}
	DRAY_HOLDS(order->size && order->size <= 8);
	which = __builtin_ctz(order->size);
	order->sign = UINT64_C(1) << (8 * order->size - 1);
	order->infinity = infinities[which];
	order->keys = loops[which];
}

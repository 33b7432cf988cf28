// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Bits, of which Arrow has the first in the lowest place of a byte, and bools of a
 * byte each.  Bits are made in whole multiples of 64 bytes, as Arrow recommends.
 */
#include <errno.h>
#include <string.h>

#include "interop/arrow.h"
#include "private.h"

#define ROOM 64 /* bytes that the room for bits is a multiple of */

/* Fills bytes with @count bits; returns how many are 1. */
static int64_t arrow_bits_pack(const uint8_t *bools, int64_t count, bool invert,
			       uint8_t *bits)
{
	int64_t i, set = 0;
	uint8_t bit;

	for (i = 0; i < count; i++) {
		bit = !bools[i] == invert;
		bits[i / 8] |= (uint8_t)(bit << (i % 8));
		set += bit;
	}
	return set;
}

/* Returns @view's elements in C order without gaps: one reference, or @view. */
static int arrow_bits_straighten(const struct dray_view *view,
				 struct dray_array **copy, const uint8_t **data)
{
	int ret;

	*copy = NULL;
	*data = view->data;
	if (dray_view_is_contiguous(view))
		return 0;
	ret = dray_array_copy(view, DRAY_ORDER_C, copy);
	if (!ret)
		*data = (*copy)->data;
	return ret;
}

int dray_arrow_pack(const struct dray_view *bools, bool invert,
		    struct dray_array **out, int64_t *set)
{
	int64_t count = dray_view_size(bools);
	int64_t room = (count / 8 / ROOM + 1) * ROOM;
	struct dray_array *copy, *bits = NULL;
	const uint8_t *data;
	int ret = arrow_bits_straighten(bools, &copy, &data);

	if (!ret)
		ret = dray_array_zeros(DRAY_UINT8, 1, &room, &bits);
	if (!ret) {
		*set = arrow_bits_pack(data, count, invert, bits->data);
		*out = bits;
	}
	dray_array_unref(copy);
	return ret;
}

int dray_arrow_unpack(const uint8_t *bits, int64_t first, int64_t count,
		      struct dray_array **out)
{
	struct dray_array *bools;
	uint8_t *to;
	int64_t i;
	int ret = dray_array_empty(DRAY_BOOL, 1, &count, &bools);

	if (ret)
		return ret;
	to = bools->data;
	for (i = 0; i < count; i++)
		to[i] = dray_arrow_bit(bits, first + i);
	*out = bools;
	return 0;
}

int64_t dray_arrow_count(const uint8_t *bits, int64_t first, int64_t count)
{
	int64_t at = first, end = first + count, set = 0;
	uint64_t word;

	while (at < end && at % 8)
		set += dray_arrow_bit(bits, at++);
	for (; end - at >= 64; at += 64) {
		memcpy(&word, bits + at / 8, sizeof(word));
		set += __builtin_popcountll(word);
	}
	while (at < end)
		set += dray_arrow_bit(bits, at++);
	return set;
}

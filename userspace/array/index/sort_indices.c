// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Indices that sort a line with keys.  Each index is packed below the highest bits
 * of its key in one number, and the numbers are sorted.  If some bits of the keys
 * do not fit, groups of numbers with equal bits above are sorted by the next bits.
 */
#include <string.h>

#include "index/sort_numbers.h"

#define PIECE 512 /* keys that are made at once */

struct packing {
	const struct dray_sorting *order;
	const struct dray_sort_line *line;
	const unsigned char *data;
	uint64_t least; /* key */
	int shift; /* lowest bits that all keys share */
	int width; /* bits of the others, above the least key */
	struct dray_bits bits;
	uint64_t *room; /* for sorting */
};

static int indices_bits_of(uint64_t number)
{
	return number ? 64 - __builtin_clzll(number) : 0;
}

static int64_t piece_at(const struct packing *packing, int64_t at,
			uint64_t *keys)
{
	int64_t left = packing->line->count - at,
		stride = packing->line->stride;
	int64_t piece = left < PIECE ? left : PIECE;

	packing->order->keys(packing->order, packing->data + at * stride,
			     stride, (size_t)piece, keys);
	return piece;
}

/* Finds the bits in which keys differ. */
static void find_width(struct packing *packing)
{
	uint64_t keys[PIECE], low = UINT64_MAX, high = 0, ones = 0, first = 0;
	int64_t at, piece, i;

	for (at = 0; at < packing->line->count; at += piece) {
		piece = piece_at(packing, at, keys);
		first = at ? first : keys[0];
		for (i = 0; i < piece; i++) {
			low = keys[i] < low ? keys[i] : low;
			high = keys[i] > high ? keys[i] : high;
			ones |= keys[i] ^ first;
		}
	}
	packing->least = low;
	packing->shift = ones ? __builtin_ctzll(ones) : 0;
	packing->width = indices_bits_of((high - low) >> packing->shift);
}

/* Packs the bits of keys from @shift on. */
static void pack_all(const struct packing *packing, uint64_t *packs, int shift)
{
	uint64_t keys[PIECE];
	int64_t at, piece, i;

	for (at = 0; at < packing->line->count; at += piece) {
		piece = piece_at(packing, at, keys);
		for (i = 0; i < piece; i++)
			packs[at + i] = (keys[i] - packing->least) >>
						shift << packing->bits.ordered |
					(uint64_t)(at + i);
	}
}

static void pack_group(const struct packing *packing, uint64_t *packs,
		       size_t count, int shift)
{
	uint64_t indices = (UINT64_C(1) << packing->bits.ordered) - 1, key;
	size_t i;

	for (i = 0; i < count; i++) {
		int64_t index = (int64_t)(packs[i] & indices);

		packing->order->keys(packing->order,
				     packing->data +
					     index * packing->line->stride,
				     0, 1, &key);
		packs[i] = (key - packing->least) >>
				   shift << packing->bits.ordered |
			   (uint64_t)index;
	}
}

/* Sorts packed indices of which all key bits but the lowest @width are equal. */
static void sort_packs(const struct packing *packing, uint64_t *packs,
		       size_t count, int width)
{
	int ordered = packing->bits.ordered, fit = 64 - ordered;
	int left = width > fit ? width - fit : 0;
	struct dray_bits bits = packing->bits;
	size_t at, end;

	bits.used = ordered + width - left;
	if (width == packing->width)
		pack_all(packing, packs, packing->shift + left);
	else
		pack_group(packing, packs, count, packing->shift + left);
	dray_sort_numbers(packs, packing->room, count, &bits);
	for (at = 0; left && at < count; at = end) {
		for (end = at + 1; end < count; end++) {
			if (packs[at] >> ordered != packs[end] >> ordered)
				break;
		}
		if (end > at + 1)
			sort_packs(packing, packs + at, end - at, left);
	}
}

void dray_line_argsort_keys(const struct dray_sorting *order,
			    const struct dray_sort_line *line,
			    const unsigned char *data, unsigned char *out,
			    int64_t step)
{
	struct packing packing = {
		.order = order,
		.line = line,
		.data = data,
		.width = 8 * (int)order->size,
		.bits = { .size = sizeof(uint64_t), .add = UINT64_C(1) << 63 },
		.room = line->memory,
	};
	bool dense = step == sizeof(int64_t);
	uint64_t *packs =
		dense ? (uint64_t *)out : packing.room + 2 * line->count;
	uint64_t indices;
	int64_t i;

	packing.bits.ordered = indices_bits_of((uint64_t)line->count - 1);
	if (packing.width + packing.bits.ordered > 64)
		find_width(&packing);
	sort_packs(&packing, packs, (size_t)line->count, packing.width);
	indices = (UINT64_C(1) << packing.bits.ordered) - 1;
	if (dense) {
		for (i = 0; i < line->count; i++)
			packs[i] &= indices;
		return;
	}
	for (i = 0; i < line->count; i++) {
		int64_t index = (int64_t)(packs[i] & indices);

		memcpy(out + i * step, &index, sizeof(index));
	}
}

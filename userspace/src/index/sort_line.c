// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Sorts of elements with keys.  Short lines are sorted by insertion, others byte
 * by byte from the lowest, with the bytes that all keys share left out.  Each
 * key carries the element's own bits, or its index.
 */
#include <string.h>

#include "index/sort.h"
#include "base/number.h"

#define SHORT_LINE 48 /* elements; sorting by bytes is faster from here on */
#define PIECE 512 /* keys that are made at once */

struct pair {
	uint64_t key;
	uint64_t payload;
};

static void sort_by_insertion(struct pair *pairs, size_t count)
{
	size_t i, k;

	for (i = 1; i < count; i++) {
		struct pair pair = pairs[i];

		for (k = i; k > 0 && pairs[k - 1].key > pair.key; k--)
			pairs[k] = pairs[k - 1];
		pairs[k] = pair;
	}
}

/* Moves pairs in the order of one byte; @starts: of each value. */
static void sort_by_byte(const struct pair *from, struct pair *to, size_t count,
			 int byte, size_t *starts)
{
	size_t i, start = 0;

	for (i = 0; i < 256; i++) {
		size_t n = starts[i];

		starts[i] = start;
		start += n;
	}
	for (i = 0; i < count; i++)
		to[starts[from[i].key >> 8 * byte & 0xff]++] = from[i];
}

/* Returns which of the two has the result. */
static struct pair *sort_by_bytes(struct pair *pairs, struct pair *other,
				  size_t count, int bytes)
{
	size_t counts[8][256];
	struct pair *swap;
	size_t i;
	int byte;

	memset(counts, 0, (size_t)bytes * sizeof(counts[0]));
	for (i = 0; i < count; i++) {
		uint64_t key = pairs[i].key;

		for (byte = 0; byte < bytes; byte++)
			counts[byte][key >> 8 * byte & 0xff]++;
	}
	for (byte = 0; byte < bytes; byte++) {
		if (counts[byte][pairs->key >> 8 * byte & 0xff] == count)
			continue;
		sort_by_byte(pairs, other, count, byte, counts[byte]);
		swap = pairs;
		pairs = other;
		other = swap;
	}
	return pairs;
}

static struct pair *sort_pairs(const struct dray_sorting *order,
			       struct pair *pairs, size_t count)
{
	if (count >= SHORT_LINE)
		return sort_by_bytes(pairs, pairs + count, count,
				     (int)order->size);
	sort_by_insertion(pairs, count);
	return pairs;
}

static void load_keys(const struct dray_sorting *order,
		      const struct dray_line *line, const unsigned char *data,
		      struct pair *pairs)
{
	int64_t at, piece, i;

	for (at = 0; at < line->count; at += piece) {
		uint64_t keys[PIECE];

		piece = line->count - at < PIECE ? line->count - at : PIECE;
		order->keys(order, data + at * line->stride, line->stride,
			    (size_t)piece, keys);
		for (i = 0; i < piece; i++)
			pairs[at + i].key = keys[i];
	}
}

#define DEFINE_ELEMENTS(size)                                                  \
	static void elements_##size(struct pair *pairs, unsigned char *data,   \
				    int64_t stride, int64_t count, bool store) \
	{                                                                      \
		int64_t i;                                                     \
                                                                               \
		for (i = 0; i < count; i++) {                                  \
			if (store)                                             \
				memcpy(data, &pairs[i].payload, size);         \
			else                                                   \
				memcpy(&pairs[i].payload, data, size);         \
			data += stride;                                        \
		}                                                              \
	}

DEFINE_ELEMENTS(1)
DEFINE_ELEMENTS(2)
DEFINE_ELEMENTS(4)
DEFINE_ELEMENTS(8)

/* Loads or stores the elements that go with the keys. */
static void move_elements(const struct dray_sorting *order,
			  const struct dray_line *line, struct pair *pairs,
			  unsigned char *data, bool store)
{
	switch (order->size) {
	case 1:
		elements_1(pairs, data, line->stride, line->count, store);
		break;
	case 2:
		elements_2(pairs, data, line->stride, line->count, store);
		break;
	case 4:
		elements_4(pairs, data, line->stride, line->count, store);
		break;
	default:
		elements_8(pairs, data, line->stride, line->count, store);
		break;
	}
}

bool dray_line_room_overflow(const struct dray_sorting *order, int64_t count,
			     size_t *room)
{
	/* Pairs twice; or indices twice, and the elements. */
	uint64_t each = order->keys ? 2 * sizeof(struct pair)
				    : 2 * sizeof(int64_t) + order->size;

	return dray_mul_overflow((uint64_t)count, each, room) ||
	       *room > PTRDIFF_MAX;
}

void dray_line_sort(const struct dray_sorting *order,
		    const struct dray_line *line, unsigned char *data)
{
	struct pair *pairs = line->memory;

	if (line->count < 2)
		return;
	if (!order->keys) {
		dray_line_sort_compared(order, line, data);
		return;
	}
	load_keys(order, line, data, pairs);
	move_elements(order, line, pairs, data, false);
	pairs = sort_pairs(order, pairs, (size_t)line->count);
	move_elements(order, line, pairs, data, true);
}

void dray_line_argsort(const struct dray_sorting *order,
		       const struct dray_line *line, const unsigned char *data,
		       unsigned char *out, int64_t step)
{
	struct pair *pairs = line->memory;
	int64_t i;

	if (!order->keys) {
		dray_line_argsort_compared(order, line, data, out, step);
		return;
	}
	load_keys(order, line, data, pairs);
	for (i = 0; i < line->count; i++)
		pairs[i].payload = (uint64_t)i;
	pairs = sort_pairs(order, pairs, (size_t)line->count);
	for (i = 0; i < line->count; i++)
		memcpy(out + i * step, &pairs[i].payload, sizeof(int64_t));
}

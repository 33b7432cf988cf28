// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Sorts lines of elements.  Vectors sort numbers where they lie.  Else they are copied,
 * sorted, and copied back: other sorts count digits, and other processes may write the
 * memory of an array meanwhile.
 */
#include <string.h>

#include "index/sort_numbers.h"
#include "private.h"

#define AS_IT_IS(bits) (bits)

#define DEFINE_COPIES(type, swap)                                             \
	static void load_##type(type *dense, const unsigned char *data,       \
				const struct dray_sort_line *line,            \
				bool swapped)                                 \
	{                                                                     \
		int64_t i;                                                    \
                                                                              \
		for (i = 0; i < line->count; i++) {                           \
			memcpy(&dense[i], data + i * line->stride,            \
			       sizeof(type));                                 \
			if (swapped)                                          \
				dense[i] = swap(dense[i]);                    \
		}                                                             \
	}                                                                     \
                                                                              \
	static void store_##type(const type *dense, unsigned char *data,      \
				 const struct dray_sort_line *line,           \
				 bool swapped)                                \
	{                                                                     \
		int64_t i;                                                    \
                                                                              \
		for (i = 0; i < line->count; i++) {                           \
			type bits = swapped ? swap(dense[i]) : dense[i];      \
                                                                              \
			memcpy(data + i * line->stride, &bits, sizeof(type)); \
		}                                                             \
	}

DEFINE_COPIES(uint8_t, AS_IT_IS)
DEFINE_COPIES(uint16_t, __builtin_bswap16)
DEFINE_COPIES(uint32_t, __builtin_bswap32)
DEFINE_COPIES(uint64_t, __builtin_bswap64)

/* Whether the bytes of a line are as the sort reads them. */
static bool sort_line_is_dense(const struct dray_sort_line *line,
			       const struct dray_sorting *order)
{
	return line->stride == order->size && !order->swapped;
}

static void sort_line_load(void *dense, const unsigned char *data,
			   const struct dray_sort_line *line,
			   const struct dray_sorting *order)
{
	if (sort_line_is_dense(line, order)) {
		memcpy(dense, data, (size_t)line->count * order->size);
		return;
	}
	switch (order->size) {
	case 1:
		load_uint8_t(dense, data, line, false);
		break;
	case 2:
		load_uint16_t(dense, data, line, order->swapped);
		break;
	case 4:
		load_uint32_t(dense, data, line, order->swapped);
		break;
	default:
		load_uint64_t(dense, data, line, order->swapped);
		break;
	}
}

static void sort_line_store(const void *dense, unsigned char *data,
			    const struct dray_sort_line *line,
			    const struct dray_sorting *order)
{
	if (sort_line_is_dense(line, order)) {
		memcpy(data, dense, (size_t)line->count * order->size);
		return;
	}
	switch (order->size) {
	case 1:
		store_uint8_t(dense, data, line, false);
		break;
	case 2:
		store_uint16_t(dense, data, line, order->swapped);
		break;
	case 4:
		store_uint32_t(dense, data, line, order->swapped);
		break;
	default:
		store_uint64_t(dense, data, line, order->swapped);
		break;
	}
}

bool dray_line_room_overflow(const struct dray_sorting *order, int64_t count,
			     size_t *room)
{
	/* Numbers, and room to sort them; or indices twice, and elements. */
	uint64_t each = order->keys ? 3 * sizeof(uint64_t)
				    : 2 * sizeof(int64_t) + order->size;

	return dray_mul_overflow((uint64_t)count, each, room) ||
	       *room > PTRDIFF_MAX;
}

static void sort_keys(const struct dray_sorting *order,
		      const struct dray_sort_line *line, unsigned char *data)
{
	size_t count = (size_t)line->count, bytes = count * order->size;
	unsigned char *room = line->memory, *dense = room + 2 * bytes;
	struct dray_bits bits;

	dray_bits_of(&bits, order);
	if (sort_line_is_dense(line, order) &&
	    dray_sort_in_place(data, count, &bits))
		return;
	sort_line_load(dense, data, line, order);
	dray_sort_numbers(dense, room, count, &bits);
	sort_line_store(dense, data, line, order);
}

void dray_line_sort(const struct dray_sorting *order,
		    const struct dray_sort_line *line, unsigned char *data)
{
	if (line->count < 2)
		return;
	if (order->keys)
		sort_keys(order, line, data);
	else
		dray_line_sort_compared(order, line, data);
}

void dray_line_argsort(const struct dray_sorting *order,
		       const struct dray_sort_line *line,
		       const unsigned char *data, unsigned char *out,
		       int64_t step)
{
	if (order->keys)
		dray_line_argsort_keys(order, line, data, out, step);
	else
		dray_line_argsort_compared(order, line, data, out, step);
}

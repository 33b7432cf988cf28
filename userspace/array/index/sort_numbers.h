/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sorts of dense numbers of 1, 2, 4 or 8 bytes, by their bits.  Equal numbers have
 * the same bits, so that their order cannot be seen.
 */
#ifndef DRAY_INDEX_SORT_NUMBERS_H
#define DRAY_INDEX_SORT_NUMBERS_H

#include "index/sort.h"

#define PASTE_AS_IT_IS(a, b) a##b
#define PASTE(a, b) PASTE_AS_IT_IS(a, b)
/* A name for numbers of BITS bits. */
#define NAME(name) PASTE(name##_, BITS)

/* Numbers in the order of signed (bits ^ (bits < 0 ? flip : 0)) + add. */
struct dray_bits {
	uint32_t size; /* bytes of a number */
	int ordered; /* lowest bits in which the numbers are in order already */
	int used; /* bits of the numbers that may differ */
	uint64_t flip;
	uint64_t add;
	uint64_t infinity; /* of floats, or 0 */
};

/* Bytes in which the numbers are not in order yet. */
static inline int dray_bits_digits(const struct dray_bits *bits)
{
	return (bits->used - bits->ordered + 7) / 8;
}

void dray_bits_of(struct dray_bits *bits, const struct dray_sorting *order);

/*
 * Sorts aligned numbers.  NaN are last, in the order in which they were, and so
 * are equal zeros.
 * @room: twice the bytes of the numbers
 */
void dray_sort_numbers(void *data, void *room, size_t count,
		       const struct dray_bits *bits);

/*
 * Sorts numbers where they lie, which other processes may write meanwhile: vectors read
 * each number once for each pass, and count no values.  False if vectors do not sort
 * them; the same numbers are there then, and NaN and zeros in the order in which they were.
 */
bool dray_sort_in_place(void *data, size_t count, const struct dray_bits *bits);

/*
 * Sorts by vectors.  False if the processor does not have them, if floats are NaN
 * or -0.0, or if the numbers are so unlike that digits are better; no bits are in
 * order then, as bits->ordered says.
 */
bool dray_sort_by_vectors(void *data, size_t count, struct dray_bits *bits);

#endif /* DRAY_INDEX_SORT_NUMBERS_H */

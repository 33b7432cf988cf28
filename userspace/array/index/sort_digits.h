/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sorts numbers of BITS bits; sort_bits.c includes this once for each size.
 * Short lines are sorted by insertion, others byte by byte from the lowest, with
 * the bytes that all numbers share left out.
 */

#define NUMBER PASTE(uint, PASTE(BITS, _t))
#define TOP ((NUMBER)((NUMBER)1 << (BITS - 1)))
#define BYTES ((int)sizeof(NUMBER))

/* The unsigned number of the same order. */
static NUMBER NAME(number)(NUMBER bits, const struct dray_bits *by)
{
	NUMBER flip = bits & TOP ? (NUMBER)by->flip : 0;

	return (NUMBER)(((NUMBER)(bits ^ flip) + (NUMBER)by->add) ^ TOP);
}

static NUMBER NAME(bits)(NUMBER number, const struct dray_bits *by)
{
	NUMBER bits = (NUMBER)((number ^ TOP) - (NUMBER)by->add);

	return bits & TOP ? bits ^ (NUMBER)by->flip : bits;
}

/* Whether all are in order, and NaN last. */
static bool NAME(is_sorted)(const NUMBER *data, size_t n,
			    const struct dray_bits *by)
{
	size_t i;

	for (i = 1; i < n; i++) {
		if (NAME(number)(data[i - 1], by) > NAME(number)(data[i], by))
			return false;
	}
	return !by->infinity || (data[0] & (NUMBER)by->flip) <= by->infinity;
}

static void NAME(sort_by_insertion)(NUMBER *data, size_t n)
{
	size_t i, k;

	for (i = 1; i < n; i++) {
		NUMBER number = data[i];

		for (k = i; k > 0 && data[k - 1] > number; k--)
			data[k] = data[k - 1];
		data[k] = number;
	}
}

/* Moves numbers in the order of a byte; @starts: counts of its values. */
static void NAME(sort_by_byte)(const NUMBER *from, NUMBER *to, size_t n,
			       int shift, size_t *starts)
{
	size_t i, start = 0;

	for (i = 0; i < 256; i++) {
		size_t count = starts[i];

		if (BITS == 8)
			memset(to + start, (int)i, count);
		starts[i] = start;
		start += count;
	}
	for (i = 0; i < n && BITS > 8; i++)
		to[starts[from[i] >> shift & 0xff]++] = from[i];
}

/* Returns the array, of the two, that holds the result. */
static NUMBER *NAME(sort_by_digits)(NUMBER *data, NUMBER *other, size_t n,
				    const struct dray_bits *by)
{
	int digits = dray_bits_digits(by), low = by->ordered, k;
	size_t counts[BYTES][256];
	NUMBER *swap;
	size_t i;

	memset(counts, 0, (size_t)digits * sizeof(counts[0]));
	for (i = 0; i < n; i++) {
		for (k = 0; k < digits; k++)
			counts[k][data[i] >> (low + 8 * k) & 0xff]++;
	}
	for (k = 0; k < digits; k++) {
		if (counts[k][data[0] >> (low + 8 * k) & 0xff] == n)
			continue;
		NAME(sort_by_byte)(data, other, n, low + 8 * k, counts[k]);
		swap = data;
		data = other;
		other = swap;
	}
	return data;
}

static void NAME(sort_plain)(NUMBER *data, NUMBER *other, size_t n,
			     const struct dray_bits *by)
{
	NUMBER *sorted = data;
	size_t i;

	for (i = 0; i < n; i++)
		data[i] = NAME(number)(data[i], by);
	if (n < SHORT_LINE)
		NAME(sort_by_insertion)(data, n);
	else
		sorted = NAME(sort_by_digits)(data, other, n, by);
	for (i = 0; i < n; i++)
		data[i] = NAME(bits)(sorted[i], by);
}

/*
 * Moves NaN to the end, and to the beginning of @aside; copies zeros to its end,
 * the first to the last place.  Returns the count of numbers without NaN.
 */
static size_t NAME(set_aside)(NUMBER *data, NUMBER *aside, size_t n,
			      const struct dray_bits *by, size_t *zeros)
{
	size_t i, kept = 0, nans = 0;

	for (i = 0; i < n; i++) {
		NUMBER bits = data[i], size = bits & (NUMBER)by->flip;

		if (size > by->infinity) {
			aside[nans++] = bits;
			continue;
		}
		if (!size)
			aside[n - ++*zeros] = bits;
		data[kept++] = bits;
	}
	memcpy(data + kept, aside, nans * sizeof(*data));
	return kept;
}

/* Writes zeros in the order in which they were to where they are now. */
static void NAME(write_zeros)(NUMBER *data, const NUMBER *end, size_t n,
			      const struct dray_bits *by, size_t zeros)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (NAME(number)(data[middle], by) < NAME(number)(TOP, by))
			low = middle + 1;
		else
			high = middle;
	}
	for (; zeros; zeros--)
		data[low++] = *--end;
}

/* Whether digits are faster than vectors: of a key of 1 or 2 bytes with an index. */
static bool NAME(has_few_digits)(size_t n, const struct dray_bits *by)
{
	return BITS == 64 && dray_bits_digits(by) <= 2 &&
	       n >= (size_t)dray_bits_digits(by) * MANY;
}

static void NAME(sort)(NUMBER *data, NUMBER *room, size_t n,
		       const struct dray_bits *by)
{
	struct dray_bits plain = *by;
	NUMBER *aside = room + n;
	size_t zeros = 0, kept = n;

	if (NAME(is_sorted)(data, n, by))
		return;
	if (NAME(has_few_digits)(n, by)) {
		NAME(sort_plain)(data, room, n, by);
		return;
	}
	if (dray_sort_by_vectors(data, n, &plain))
		return;
	plain.infinity = 0;
	if (by->infinity)
		kept = NAME(set_aside)(data, aside, n, by, &zeros);
	if (!by->infinity || !dray_sort_by_vectors(data, kept, &plain))
		NAME(sort_plain)(data, room, kept, &plain);
	NAME(write_zeros)(data, aside + n, kept, by, zeros);
}

#if BITS > 8
/* False: vectors do not sort it, and the numbers may have changed places. */
static bool NAME(sort_in_place)(NUMBER *data, size_t n,
				const struct dray_bits *by)
{
	struct dray_bits plain = *by;

	return NAME(is_sorted)(data, n, by) ||
	       dray_sort_by_vectors(data, n, &plain);
}
#endif

#undef NUMBER
#undef TOP
#undef BYTES

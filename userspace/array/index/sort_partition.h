/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sorts numbers by parting them: those below a pivot to the left, all others to
 * the right, until few are left.  sort_vector.c includes this behind
 * sort_network.h.
 *
 * Numbers move in blocks.  Two blocks lie aside, so that after the next block is
 * read, from the end with less space, there is space for all of it at both ends.
 */

#define DEEP (BITS == 16 ? 4 : 8) /* vectors of a block */
#define BLOCK ((size_t)DEEP * LANES)
#define AHEAD (4 * BLOCK) /* of the block that is read */

struct NAME(parting) {
	__m512i pivot;
	NUMBER *left; /* the end of the numbers below the pivot */
	NUMBER *right; /* the others */
};

/*
 * Writes the numbers of some lanes to both ends.
 * @wide: of all lanes, with space for a vector to the left
 */
INLINE void NAME(part)(struct NAME(parting) *to, __m512i v, MASK used,
		       bool wide)
{
	MASK above = AT_LEAST(used, v, to->pivot);
	MASK below = BELOW(used, v, to->pivot);
	size_t count = (size_t)__builtin_popcountll(above);

	to->right -= count;
	OP(mask_storeu)(to->right, LOWEST(count), OP(maskz_compress)(above, v));
	v = OP(maskz_compress)(below, v);
	if (wide) {
		_mm512_storeu_si512(to->left, v);
		to->left += LANES - count;
		return;
	}
	count = (size_t)__builtin_popcountll(below);
	OP(mask_storeu)(to->left, LOWEST(count), v);
	to->left += count;
}

INLINE void NAME(part_block)(struct NAME(parting) *to, const NUMBER *block)
{
	__m512i v[DEEP];
	int i;

	UNROLL for (i = 0; i < DEEP; i++)
		v[i] = _mm512_loadu_si512(block + (size_t)i * LANES);
	UNROLL for (i = 0; i < DEEP; i++)
		NAME(part)(to, v[i], ALL_LANES, true);
}

INLINE void NAME(prefetch)(const NUMBER *block)
{
	int i;

	UNROLL for (i = 0; i < DEEP; i++)
		_mm_prefetch((const char *)(block + (size_t)i * LANES),
			     _MM_HINT_T0);
}

/* Parts two blocks or more; returns the count of those below @pivot. */
SEPARATE size_t NAME(part_all)(NUMBER *data, size_t n, NUMBER pivot)
{
	NUMBER *from = data + BLOCK, *end = data + n - BLOCK;
	struct NAME(parting) to = { NAME(in_all)(pivot), data, data + n };
	NUMBER aside[3 * BLOCK];
	size_t i, count;

	memcpy(aside, data, BLOCK * sizeof(*data));
	memcpy(aside + BLOCK, end, BLOCK * sizeof(*data));
	while ((size_t)(end - from) >= BLOCK) {
		if (from - to.left <= to.right - end) {
			from += BLOCK;
			NAME(prefetch)(from + AHEAD);
			NAME(part_block)(&to, from - BLOCK);
		} else {
			end -= BLOCK;
			NAME(prefetch)(end - AHEAD);
			NAME(part_block)(&to, end);
		}
	}
	count = (size_t)(end - from);
	memcpy(aside + 2 * BLOCK, from, count * sizeof(*data));
	count += 2 * BLOCK;
	for (i = 0; i < count; i += LANES)
		NAME(part)(&to, _mm512_loadu_si512(aside + i),
			   NAME(lowest)(count - i), false);
	return (size_t)(to.left - data);
}

/* The median of some numbers at equal distances. */
static TARGET NUMBER NAME(choose_pivot)(const NUMBER *data, size_t n)
{
	const struct NAME(order) plain = { 0 };
	const size_t count = n > 4096 ? BLOCK : (size_t)2 * LANES;
	NUMBER sample[BLOCK];
	size_t i;

	for (i = 0; i < count; i++)
		sample[i] = data[n / count * i];
	NAME(sort_few)(sample, count, &plain);
	return sample[count / 2];
}

/* Turns numbers in or out; returns false if some floats were special. */
SEPARATE bool NAME(turn_all)(NUMBER *data, size_t n,
			     const struct NAME(order) *order, bool out)
{
	MASK special = 0;
	size_t i;

	for (i = 0; i < n; i += LANES) {
		MASK used = NAME(lowest)(n - i);
		__m512i v = OP(maskz_loadu)(used, data + i);

		special |= NAME(special)(v, order);
		v = out ? NAME(bits)(v, &order->out) :
			  NAME(number)(v, &order->in);
		if (TURNS)
			OP(mask_storeu)(data + i, used, v);
	}
	return !special;
}

/*
 * Sorts numbers that were turned in, and turns them out.  Returns false if pivots
 * were bad too often, and some are not sorted.
 */
static TARGET bool NAME(sort_parts)(NUMBER *data, size_t n,
				    const struct NAME(order) *order, int depth)
{
	bool sorted = true;

	while (n > (size_t)VECTORS * LANES) {
		NUMBER pivot = NAME(choose_pivot)(data, n);
		size_t below = NAME(part_all)(data, n, pivot);

		if (!depth--) {
			if (TURNS)
				NAME(turn_all)(data, n, order, true);
			return false;
		}
		if (below) {
			sorted &= NAME(sort_parts)(data, below, order, depth);
		} else { /* The pivot is the lowest, perhaps often. */
			below = pivot == HIGHEST ?
					n :
					NAME(part_all)(data, n, NEXT(pivot));
			if (TURNS)
				NAME(turn_all)(data, below, order, true);
		}
		data += below;
		n -= below;
	}
	NAME(sort_few)(data, n, order);
	return sorted;
}

static TARGET bool NAME(sort)(void *data, size_t n,
			      struct dray_bits *bits)
{
	struct NAME(order) order;

	order.out.flip = NAME(in_all)((NUMBER)bits->flip);
	order.out.add = NAME(in_all)((NUMBER)bits->add);
	order.infinity = NAME(in_all)((NUMBER)bits->infinity);
	order.floats = bits->infinity ? ALL_LANES : 0;
	order.in = order.out;
	if (n <= (size_t)VECTORS * LANES)
		return NAME(sort_few)(data, n, &order);
	if ((bits->flip || bits->add) &&
	    !NAME(turn_all)(data, n, &order, false)) {
		order.floats = 0;
		if (TURNS)
			NAME(turn_all)(data, n, &order, true);
		return false;
	}
	order.floats = 0;
	order.in = (struct NAME(turn)){ 0 };
	bits->ordered = 0;
	return NAME(sort_parts)(data, n, &order, 2 * (64 - __builtin_clzll(n)));
}

#undef NUMBER
#undef LANES
#undef ALL_LANES
#undef LOWEST
#undef VECTORS
#undef NEAR
#undef DEEP
#undef BLOCK
#undef AHEAD

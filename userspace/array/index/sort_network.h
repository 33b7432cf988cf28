/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sorts a few numbers in vectors of 64 bytes, by Batcher's bitonic network: sorted
 * halves are compared from both ends, then the halves of these halves.
 * sort_vector.c includes this once for each kind of numbers, of BITS bits and LANES
 * to a vector.  NAME() makes a name for the kind, OP() the name of an instruction;
 * MASK is the type of its masks.  LESSER() and others are the order of the kind.
 */

#define NUMBER PASTE(int, PASTE(BITS, _t))
#define LANES (512 / BITS)
#define ALL_LANES ((MASK)-1)
#define LOWEST(count) ((MASK)((UINT64_C(1) << (count)) - 1))
#define VECTORS (BITS == 16 ? 16 : 32) /* at most */
#define NEAR 16 /* vectors that fit in registers */

typedef NUMBER NAME(vector) __attribute__((vector_size(64)));

/* Numbers are (bits ^ (bits < 0 ? flip : 0)) + add. */
struct NAME(turn) {
	__m512i flip;
	__m512i add;
};

struct NAME(order) {
	struct NAME(turn) in; /* how bits are loaded */
	struct NAME(turn) out; /* how they are stored */
	__m512i infinity;
	MASK floats; /* all, if NaN and -0.0 are to be found */
};

/* The lowest @count lanes, at most all. */
INLINE MASK NAME(lowest)(size_t count)
{
	if (count < LANES)
		return LOWEST(count);
	return ALL_LANES;
}

INLINE __m512i NAME(in_all)(NUMBER number)
{
	return (__m512i)((NAME(vector)){ 0 } + number);
}

INLINE __m512i NAME(flip)(__m512i bits, __m512i flip)
{
	return bits ^ (OP(srai)(bits, BITS - 1) & flip);
}

INLINE __m512i NAME(number)(__m512i bits, const struct NAME(turn) *turn)
{
	return TURNS ? OP(add)(NAME(flip)(bits, turn->flip), turn->add) : bits;
}

INLINE __m512i NAME(bits)(__m512i number, const struct NAME(turn) *turn)
{
	return TURNS ? NAME(flip)(OP(sub)(number, turn->add), turn->flip) :
		       number;
}

/* Whether some are NaN or -0.0. */
INLINE MASK NAME(special)(__m512i bits, const struct NAME(order) *order)
{
	__m512i flip = order->in.flip;

	return OP_MASK(mask_cmpgt)(order->floats, bits & flip,
				   order->infinity) |
	       OP_MASK(mask_cmpeq)(order->floats, bits, ~flip);
}

/* Compares each lane with the lane at its place with the bits @turned flipped. */
INLINE void NAME(compare_lanes)(__m512i *v, int count, int turned, MASK high)
{
	const __m512i places = (__m512i)((NAME(vector)){ PASTE(FIRST_, BITS) } ^
					 (NUMBER)turned);
	int i;

	UNROLL for (i = 0; i < count; i++) {
		__m512i other = OP(permutexvar)(places, v[i]);

		v[i] = GREATER_OF(LESSER(v[i], other), high, v[i], other);
	}
}

/* Sorts parts of vectors, of 2 * @half lanes, that are bitonic. */
INLINE void NAME(merge_lanes)(__m512i *v, int count, int half)
{
	if (half >= 16)
		NAME(compare_lanes)(v, count, 16, (MASK)0xffff0000);
	if (half >= 8)
		NAME(compare_lanes)(v, count, 8, (MASK)0xff00ff00);
	if (half >= 4)
		NAME(compare_lanes)(v, count, 4, (MASK)0xf0f0f0f0);
	if (half >= 2)
		NAME(compare_lanes)(v, count, 2, (MASK)0xcccccccc);
	NAME(compare_lanes)(v, count, 1, (MASK)0xaaaaaaaa);
}

/* Compares vectors @apart. */
INLINE void NAME(compare_vectors)(__m512i *v, int count, int apart)
{
	int i;

	UNROLL for (i = 0; i < count; i++) {
		__m512i low = v[i], high = v[i | apart];

		if (i & apart)
			continue;
		v[i] = LESSER(low, high);
		v[i | apart] = GREATER(low, high);
	}
}

/* Compares each @half vectors with the next @half, from the end on. */
INLINE void NAME(compare_ends)(__m512i *v, const __m512i *other, int count,
			       int half)
{
	__m512i from_end[VECTORS];
	int i;

	UNROLL for (i = 0; i < count; i++)
		from_end[i] = other[i ^ (2 * half - 1)];
	UNROLL for (i = 0; i < count; i++) {
		if (i & half)
			continue;
		v[i | half] = GREATER(v[i], from_end[i]);
		v[i] = LESSER(v[i], from_end[i]);
	}
}

/* Sorts each @half vectors, of which each lane is bitonic. */
INLINE void NAME(compare_halves)(__m512i *v, int count, int half)
{
	if (half >= 16)
		NAME(compare_vectors)(v, count, 8);
	if (half >= 8)
		NAME(compare_vectors)(v, count, 4);
	if (half >= 4)
		NAME(compare_vectors)(v, count, 2);
	if (half >= 2)
		NAME(compare_vectors)(v, count, 1);
}

/* Sorts parts of vectors, of which parts of @run lanes are sorted. */
INLINE void NAME(sort_lanes)(__m512i *v, int count, int run)
{
	if (run < 2)
		NAME(compare_lanes)(v, count, 1, (MASK)0xaaaaaaaa);
	if (run < 4) {
		NAME(compare_lanes)(v, count, 3, (MASK)0xcccccccc);
		NAME(merge_lanes)(v, count, 1);
	}
	if (run < 8) {
		NAME(compare_lanes)(v, count, 7, (MASK)0xf0f0f0f0);
		NAME(merge_lanes)(v, count, 2);
	}
	if (run < 16 && LANES >= 16) {
		NAME(compare_lanes)(v, count, 15, (MASK)0xff00ff00);
		NAME(merge_lanes)(v, count, 4);
	}
	if (run < 32 && LANES >= 32) {
		NAME(compare_lanes)(v, count, 31, (MASK)0xffff0000);
		NAME(merge_lanes)(v, count, 8);
	}
}

/* Writes numbers at equal places of both to neighbouring lanes. */
INLINE void NAME(interleave)(__m512i *to, __m512i a, __m512i b)
{
	const NAME(vector) places = { PASTE(FIRST_, BITS) };
	const __m512i at =
		(__m512i)((places >> 1) | ((places & 1) * (NUMBER)LANES));

	to[0] = OP(permutex2var)(a, at, b);
	to[1] = OP(permutex2var)(a, at | NAME(in_all)(LANES / 2), b);
}

/* Sorts the numbers of each lane, and then moves them next to each other. */
INLINE void NAME(sort_columns)(__m512i *v, int count)
{
	__m512i from[VECTORS];
	int i, k;

	UNROLL for (k = 1; k < count; k *= 2) {
		NAME(compare_ends)(v, v, count, k);
		NAME(compare_halves)(v, count, k);
	}
	UNROLL for (k = 1; k < count; k *= 2) {
		UNROLL for (i = 0; i < count; i++)
			from[i] = v[i];
		UNROLL for (i = 0; i < count / 2; i++)
			NAME(interleave)(&v[(size_t)2 * i], from[i],
					 from[i + count / 2]);
	}
}

/* Merges each @half vectors with the next @half. */
INLINE void NAME(merge)(__m512i *v, int count, int half)
{
	const __m512i reversed =
		(__m512i)((NAME(vector)){ PASTE(FIRST_, BITS) } ^
			  (NUMBER)(LANES - 1));
	__m512i from_end[VECTORS];
	int i;

	UNROLL for (i = 0; i < count; i++)
		from_end[i] = OP(permutexvar)(reversed, v[i]);
	NAME(compare_ends)(v, from_end, count, half);
	UNROLL for (i = 0; i < count; i += NEAR) {
		const int near = count < NEAR ? count : NEAR;

		NAME(compare_halves)(&v[i], near, half);
		NAME(merge_lanes)(&v[i], near, LANES / 2);
	}
}

/* Sorts up to NEAR vectors. */
INLINE void NAME(sort_near)(__m512i *v, int count)
{
	NAME(sort_columns)(v, count);
	NAME(sort_lanes)(v, count, count);
	if (count >= 2 && count <= LANES)
		NAME(merge)(v, count, 1);
	if (count >= 4)
		NAME(merge)(v, count, 2);
	if (count >= 8)
		NAME(merge)(v, count, 4);
	if (count >= 16)
		NAME(merge)(v, count, 8);
}

/* Sorts up to @count vectors; returns false if some floats are special. */
INLINE bool NAME(sort_vectors)(NUMBER *data, size_t n,
			       const struct NAME(order) *order, int count)
{
	const __m512i highest = NAME(in_all)(HIGHEST);
	MASK used[VECTORS], special = 0;
	__m512i v[VECTORS];
	int i;

	UNROLL for (i = 0; i < count; i++) {
		size_t at = (size_t)i * LANES, rest = n > at ? n - at : 0;

		used[i] = NAME(lowest)(rest);
		v[i] = OP(maskz_loadu)(used[i], data + at);
		special |= NAME(special)(v[i], order);
		v[i] = OP(mask_blend)(used[i], highest,
				      NAME(number)(v[i], &order->in));
	}
	if (special)
		return false;
	UNROLL for (i = 0; i < count; i += NEAR)
		NAME(sort_near)(&v[i], count < NEAR ? count : NEAR);
	if (count > NEAR)
		NAME(merge)(v, count, NEAR);
	UNROLL for (i = 0; i < count; i++)
		OP(mask_storeu)(data + (size_t)i * LANES, used[i],
				NAME(bits)(v[i], &order->out));
	return true;
}

/* Sorts up to VECTORS vectors. */
SEPARATE UNCHECKED bool NAME(sort_few)(NUMBER *data, size_t n,
				       const struct NAME(order) *order)
{
	if (n <= LANES)
		return NAME(sort_vectors)(data, n, order, 1);
	if (n <= (size_t)2 * LANES)
		return NAME(sort_vectors)(data, n, order, 2);
	if (n <= (size_t)4 * LANES)
		return NAME(sort_vectors)(data, n, order, 4);
	if (n <= (size_t)8 * LANES)
		return NAME(sort_vectors)(data, n, order, 8);
	if (n <= (size_t)NEAR * LANES)
		return NAME(sort_vectors)(data, n, order, NEAR);
	return NAME(sort_vectors)(data, n, order, VECTORS);
}

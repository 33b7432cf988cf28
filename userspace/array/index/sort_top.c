// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Finds the largest of dense numbers, a block at a time: vectors compute the
 * largest number of a block, and the last block to raise it is searched for it.
 * Flipped bits make all integers signed, and the smallest number the largest.
 */
#include <string.h>

#include "index/sort.h"
#include "private.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#define BLOCK 32768 /* bytes at most */
#define AHEAD 8192 /* bytes that are fetched in advance */
#define STEP ((size_t)8 * 64) /* a multiple of all chains */

/*
 * The largest number of @bytes, at least @best; detects a NaN among them.
 * @chains: vectors, each independent of the others
 * @wide: bytes of a vector of the processor
 */
#define DEFINE_TOP(attributes, suffix, chains, wide, name, type, bits)        \
	attributes static type top_##name##suffix(const unsigned char *data,  \
						  size_t bytes, bits flip,    \
						  type best, bool *nan)       \
	{                                                                     \
		typedef type numbers __attribute__((vector_size(wide)));      \
		typedef bits masks __attribute__((vector_size(wide)));        \
		masks nans = { 0 }, raw, above;                               \
		numbers top[chains], at;                                      \
		size_t i, k;                                                  \
                                                                              \
		for (k = 0; k < chains; k++)                                  \
			top[k] = (numbers){ 0 } + best;                       \
		for (i = 0; i < bytes; i += (size_t)(chains) * (wide)) {      \
			for (k = 0; k < chains; k++) {                        \
				memcpy(&raw, data + i + k * wide, wide);      \
				if (k * wide % 64 == 0) /* a cache line */    \
					__builtin_prefetch(                   \
						&data[i + AHEAD + k * wide]); \
				raw ^= flip;                                  \
				at = (numbers)raw;                            \
				nans |= (masks)(at != at);                    \
				above = (masks)(at > top[k]);                 \
				top[k] = (numbers)((raw & above) |            \
						   ((masks)top[k] & ~above)); \
			}                                                     \
		}                                                             \
		for (k = 1; k < chains; k++) {                                \
			above = (masks)(top[k] > top[0]);                     \
			top[0] = (numbers)(((masks)top[k] & above) |          \
					   ((masks)top[0] & ~above));         \
		}                                                             \
		for (i = 0; i < wide / sizeof(type); i++) {                   \
			best = top[0][i] > best ? top[0][i] : best;           \
			*nan |= nans[i] != 0;                                 \
		}                                                             \
		return best;                                                  \
	}

/* Returns the first number of a group of such vectors that is or has @best, or @count. */
#define DEFINE_SEEK(attributes, suffix, chains, wide, name, type, bits)       \
	attributes static size_t seek_##name##suffix(                         \
		const unsigned char *data, size_t from, size_t count,         \
		bits flip, type best)                                         \
	{                                                                     \
		typedef type numbers __attribute__((vector_size(wide)));      \
		typedef bits masks __attribute__((vector_size(wide)));        \
		typedef int64_t longs __attribute__((vector_size(wide)));     \
		const size_t step = (size_t)(chains) * (wide) / sizeof(type); \
		const numbers all = (numbers){ 0 } + best;                    \
		masks raw, found;                                             \
		int64_t any;                                                  \
		size_t k;                                                     \
                                                                              \
		for (; from + step <= count; from += step) {                  \
			found = (masks){ 0 };                                 \
			for (k = 0; k < chains; k++) {                        \
				memcpy(&raw,                                  \
				       data + from * sizeof(type) + k * wide, \
				       wide);                                 \
				raw ^= flip;                                  \
				found |= (masks)((numbers)raw == all);        \
			}                                                     \
			any = 0;                                              \
			for (k = 0; k < (wide) / sizeof(any); k++)            \
				any |= ((longs)found)[k];                     \
			if (any)                                              \
				break;                                        \
		}                                                             \
		return from;                                                  \
	}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))
#define COMPARES_LONG dray_cpu_has_avx2() /* integers of 8 bytes */
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define DEFINE_TOPS(name, type, bits)                    \
	DEFINE_TOP(, _plain, 4, 16, name, type, bits)    \
	DEFINE_TOP(AVX2, _avx2, 4, 32, name, type, bits) \
	DEFINE_SEEK(, _plain, 4, 16, name, type, bits)   \
	DEFINE_SEEK(AVX2, _avx2, 4, 32, name, type, bits)

/* The same of floats: comparisons and maxima of them are instructions. */
#define DEFINE_FLOATS_AVX512(name, type, bits, vector, of)                     \
	AVX512 static type top_##name##_avx512(const unsigned char *data,      \
					       size_t bytes, bits flip,        \
					       type best, bool *nan)           \
	{                                                                      \
		const __m512i turn = FLIPS_##name(flip);                       \
		vector top[8], at;                                             \
		unsigned int nans = 0;                                         \
		size_t i, k;                                                   \
                                                                               \
		for (k = 0; k < 8; k++)                                        \
			top[k] = _mm512_set1_##of(best);                       \
		for (i = 0; i < bytes; i += (size_t)8 * 64)                    \
			for (k = 0; k < 8; k++) {                              \
				__builtin_prefetch(&data[i + AHEAD + k * 64]); \
				at = (vector)(_mm512_loadu_si512(data + i +    \
								 k * 64) ^     \
					      turn);                           \
				nans |= _mm512_cmp_##of##_mask(at, at,         \
							       _CMP_UNORD_Q);  \
				top[k] = _mm512_max_##of(at, top[k]);          \
			}                                                      \
		for (k = 1; k < 8; k++)                                        \
			top[0] = _mm512_max_##of(top[k], top[0]);              \
		for (i = 0; i < 64 / sizeof(type); i++)                        \
			best = top[0][i] > best ? top[0][i] : best;            \
		*nan |= nans != 0;                                             \
		return best;                                                   \
	}                                                                      \
                                                                               \
	AVX512 static size_t seek_##name##_avx512(const unsigned char *data,   \
						  size_t from, size_t count,   \
						  bits flip, type best)        \
	{                                                                      \
		const size_t lanes = 64 / sizeof(type);                        \
		const __m512i turn = FLIPS_##name(flip);                       \
		const vector all = _mm512_set1_##of(best);                     \
		unsigned int found;                                            \
                                                                               \
		for (; from + lanes <= count; from += lanes) {                 \
			const __m512i raw = _mm512_loadu_si512(                \
				data + from * sizeof(type));                   \
                                                                               \
			found = _mm512_cmp_##of##_mask((vector)(raw ^ turn),   \
						       all, _CMP_EQ_OQ);       \
			if (found)                                             \
				return from + (size_t)__builtin_ctz(found);    \
		}                                                              \
		return from;                                                   \
	}
#define FLIPS_float(flip) _mm512_set1_epi32((int)(flip))
#define FLIPS_double(flip) _mm512_set1_epi64((long long)(flip))
DEFINE_FLOATS_AVX512(float, float, uint32_t, __m512, ps)
DEFINE_FLOATS_AVX512(double, double, uint64_t, __m512d, pd)

#define DEFINE_INTEGERS(name, type, bits)                    \
	DEFINE_TOP(AVX512, _avx512, 8, 64, name, type, bits) \
	DEFINE_SEEK(AVX512, _avx512, 4, 64, name, type, bits)
DEFINE_INTEGERS(1, int8_t, uint8_t)
DEFINE_INTEGERS(2, int16_t, uint16_t)
DEFINE_INTEGERS(4, int32_t, uint32_t)
DEFINE_INTEGERS(8, int64_t, uint64_t)
#define SEEK(name)                                    \
	(dray_cpu_has_avx512() ? seek_##name##_avx512 \
	 : dray_cpu_has_avx2() ? seek_##name##_avx2   \
			       : seek_##name##_plain)
#define TOP(name)                                    \
	(dray_cpu_has_avx512() ? top_##name##_avx512 \
	 : dray_cpu_has_avx2() ? top_##name##_avx2   \
			       : top_##name##_plain)
#else
#define COMPARES_LONG (sizeof(void *) == sizeof(int64_t))
#define DEFINE_TOPS(name, type, bits)                 \
	DEFINE_TOP(, _plain, 4, 16, name, type, bits) \
	DEFINE_SEEK(, _plain, 4, 16, name, type, bits)
#define TOP(name) top_##name##_plain
#define SEEK(name) seek_##name##_plain
#endif

/* Bytes of the next block, of at most @count numbers; 0: too few are left. */
static size_t block_of(size_t count, size_t size)
{
	return count >= BLOCK / size ? BLOCK : count * size / STEP * STEP;
}

/* Else numbers would stay in memory, beside the vectors. */
#define SEPARATE __attribute__((noinline))

#define DEFINE_FIND(name, type, bits)                                            \
	DEFINE_TOPS(name, type, bits)                                            \
                                                                                 \
	static type load_##name(const unsigned char *data, size_t at,            \
				bits flip)                                       \
	{                                                                        \
		type number;                                                     \
		bits raw;                                                        \
                                                                                 \
		memcpy(&raw, data + at * sizeof(raw), sizeof(raw));              \
		raw ^= flip;                                                     \
		memcpy(&number, &raw, sizeof(number));                           \
		return number;                                                   \
	}                                                                        \
                                                                                 \
	/* The best stands at @where or behind, or will be found from @at on. */ \
	SEPARATE static size_t scan_##name(const unsigned char *data,            \
					   size_t count, bits flip, type best,   \
					   bool nan, size_t where, size_t at)    \
	{                                                                        \
		type number;                                                     \
                                                                                 \
		for (; !nan && at < count; at++) {                               \
			number = load_##name(data, at, flip);                    \
			nan = number != number;                                  \
			if (nan || number > best) {                              \
				best = number;                                   \
				where = at;                                      \
			}                                                        \
		}                                                                \
		/* Shared memory may no longer hold it. */                       \
		if (!nan)                                                        \
			where = SEEK(name)(data, where, count - 1, flip,         \
					   best);                                \
		for (; where < count - 1; where++) {                             \
			number = load_##name(data, where, flip);                 \
			if (nan ? number != number : number == best)             \
				break;                                           \
		}                                                                \
		return where;                                                    \
	}                                                                        \
                                                                                 \
	static size_t find_##name(const unsigned char *data, size_t count,       \
				  uint64_t flips)                                \
	{                                                                        \
		const bits flip = (bits)flips;                                   \
		type best = load_##name(data, 0, flip), number;                  \
		bool nan = best != best;                                         \
		size_t at, where = 0, bytes;                                     \
                                                                                 \
		for (at = 0; !nan; at += bytes / sizeof(type)) {                 \
			bytes = block_of(count - at, sizeof(type));              \
			if (!bytes)                                              \
				break;                                           \
			number = TOP(name)(data + at * sizeof(type), bytes,      \
					   flip, best, &nan);                    \
			if (nan || number > best) {                              \
				best = number;                                   \
				where = at;                                      \
			}                                                        \
		}                                                                \
		/* The rest, and numbers before it once more. */                 \
		if (!nan && at < count && count >= STEP / sizeof(type)) {        \
			number = TOP(name)(data + count * sizeof(type) - STEP,   \
					   STEP, flip, best, &nan);              \
			if (nan || number > best) {                              \
				best = number;                                   \
				where = at;                                      \
			}                                                        \
			at = count;                                              \
		}                                                                \
		return scan_##name(data, count, flip, best, nan, where, at);     \
	}

DEFINE_FIND(1, int8_t, uint8_t)
DEFINE_FIND(2, int16_t, uint16_t)
DEFINE_FIND(4, int32_t, uint32_t)
DEFINE_FIND(8, int64_t, uint64_t)
DEFINE_FIND(float, float, uint32_t)
DEFINE_FIND(double, double, uint64_t)

/* The first true byte, which is any but 0, or with @flip the first false byte. */
static size_t top_find_truth(const unsigned char *data, size_t count,
			     uint64_t flip)
{
	const unsigned char *const zero = flip ? memchr(data, 0, count) : NULL;
	uint64_t eight = 0;
	size_t at = 0;

	if (flip)
		return zero ? (size_t)(zero - data) : 0;
	for (; !eight && at + sizeof(eight) <= count; at += sizeof(eight))
		memcpy(&eight, data + at, sizeof(eight));
	if (eight)
		at -= sizeof(eight);
	while (at < count && !data[at])
		at++;
	return at < count ? at : 0;
}

static dray_top_loop *float_loop(uint32_t size)
{
	if (size == sizeof(float))
		return find_float;
	return size == sizeof(double) ? find_double : NULL;
}

dray_top_loop *dray_top_loop_of(const struct dray_sorting *order, bool smallest,
				uint64_t *flip)
{
	static dray_top_loop *const loops[] = { find_1, find_2, find_4,
						find_8 };

	if (order->swapped && order->size > 1)
		return NULL;
	if (order->size == sizeof(int64_t) && !COMPARES_LONG &&
	    order->kind != DRAY_SORTING_FLOAT)
		return NULL;
	*flip = 0;
	if (order->dtype == DRAY_BOOL) {
		*flip = smallest;
		return top_find_truth;
	}
	switch (order->kind) {
	case DRAY_SORTING_FLOAT:
		*flip = smallest ? order->sign : 0;
		return float_loop(order->size);
	case DRAY_SORTING_UNSIGNED:
		*flip = order->sign;
		break;
	case DRAY_SORTING_SIGNED:
		break;
	default:
		return NULL;
	}
	if (smallest)
		*flip = ~*flip;
	return loops[__builtin_ctz(order->size)];
}

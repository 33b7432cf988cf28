// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The largest of numbers that lie dense, a block at a time: vectors find the
 * largest number of a block, and the last block that raised it is searched for
 * it.  Flipped bits make all integers signed, and the smallest number the largest.
 */
#include <string.h>

#include "index/sort.h"
#include "base/cpu.h"

#define BLOCK 2048 /* bytes */
#define WIDE 32 /* bytes of a vector */
#define CHAINS 4 /* vectors that do not wait for each other */

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))
#define HAS_AVX2 dray_cpu_has_avx2()
#else
#define AVX2
#define HAS_AVX2 false
#endif

#define DEFINE_VECTORS(name, type, bits)                               \
	typedef type vector_##name __attribute__((vector_size(WIDE))); \
	typedef bits bits_##name __attribute__((vector_size(WIDE)));

/* The largest number of a block, at least @best; tells of a NaN in it. */
#define DEFINE_TOP(attributes, suffix, name, type, bits)                    \
	attributes static type top_##name##suffix(                          \
		const unsigned char *data, bits flip, type best, bool *nan) \
	{                                                                   \
		vector_##name top[CHAINS], at;                              \
		bits_##name nans = { 0 }, raw, above;                       \
		size_t i, k;                                                \
                                                                            \
		for (k = 0; k < CHAINS; k++)                                \
			top[k] = (vector_##name){ 0 } + best;               \
		for (i = 0; i < BLOCK; i += CHAINS * WIDE) {                \
			for (k = 0; k < CHAINS; k++) {                      \
				memcpy(&raw, data + i + k * WIDE, WIDE);    \
				raw ^= flip;                                \
				at = (vector_##name)raw;                    \
				nans |= (bits_##name)(at != at);            \
				above = (bits_##name)(at > top[k]);         \
				top[k] = (vector_##name)(                   \
					(raw & above) |                     \
					((bits_##name)top[k] & ~above));    \
			}                                                   \
		}                                                           \
		for (k = 1; k < CHAINS; k++) {                              \
			above = (bits_##name)(top[k] > top[0]);             \
			top[0] = (vector_##name)(                           \
				((bits_##name)top[k] & above) |             \
				((bits_##name)top[0] & ~above));            \
		}                                                           \
		for (i = 0; i < WIDE / sizeof(type); i++) {                 \
			best = top[0][i] > best ? top[0][i] : best;         \
			*nan |= nans[i] != 0;                               \
		}                                                           \
		return best;                                                \
	}

#define DEFINE_FIND(name, type, bits)                                         \
	DEFINE_VECTORS(name, type, bits)                                      \
	DEFINE_TOP(, _plain, name, type, bits)                                \
	DEFINE_TOP(AVX2, _avx2, name, type, bits)                             \
                                                                              \
	static type load_##name(const unsigned char *data, size_t at,         \
				bits flip)                                    \
	{                                                                     \
		type number;                                                  \
		bits raw;                                                     \
                                                                              \
		memcpy(&raw, data + at * sizeof(raw), sizeof(raw));           \
		raw ^= flip;                                                  \
		memcpy(&number, &raw, sizeof(number));                        \
		return number;                                                \
	}                                                                     \
                                                                              \
	static size_t find_##name(const unsigned char *data, size_t count,    \
				  uint64_t flips)                             \
	{                                                                     \
		const size_t block = BLOCK / sizeof(type);                    \
		const bool wide = count >= block && HAS_AVX2;                 \
		const bits flip = (bits)flips;                                \
		type best = load_##name(data, 0, flip), number;               \
		bool nan = best != best;                                      \
		size_t at = 0, where = 0;                                     \
                                                                              \
		for (; !nan && count - at >= block; at += block) {            \
			const unsigned char *from = data + at * sizeof(type); \
                                                                              \
			number = wide ? top_##name##_avx2(from, flip, best,   \
							  &nan)               \
				      : top_##name##_plain(from, flip, best,  \
							   &nan);             \
			if (nan || number > best) {                           \
				best = number;                                \
				where = at;                                   \
			}                                                     \
		}                                                             \
		for (; !nan && at < count; at++) {                            \
			number = load_##name(data, at, flip);                 \
			nan = number != number;                               \
			if (nan || number > best) {                           \
				best = number;                                \
				where = at;                                   \
			}                                                     \
		}                                                             \
		for (;; where++) {                                            \
			number = load_##name(data, where, flip);              \
			if (nan ? number != number : number == best)          \
				return where;                                 \
		}                                                             \
	}

DEFINE_FIND(1, int8_t, uint8_t)
DEFINE_FIND(2, int16_t, uint16_t)
DEFINE_FIND(4, int32_t, uint32_t)
DEFINE_FIND(8, int64_t, uint64_t)
DEFINE_FIND(float, float, uint32_t)
DEFINE_FIND(double, double, uint64_t)

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
	*flip = 0;
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

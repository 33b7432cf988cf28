// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Copies elements with their bytes in reverse. */
#include <string.h>

#include "layout/layout.h"
#include "layout/layout_vector.h"

static inline void swap_one_2(unsigned char *dst, const unsigned char *src)
{
	uint16_t word;

	memcpy(&word, src, sizeof(word));
	word = __builtin_bswap16(word);
	memcpy(dst, &word, sizeof(word));
}

static inline void swap_one_4(unsigned char *dst, const unsigned char *src)
{
	uint32_t word;

	memcpy(&word, src, sizeof(word));
	word = __builtin_bswap32(word);
	memcpy(dst, &word, sizeof(word));
}

static inline void swap_one_8(unsigned char *dst, const unsigned char *src)
{
	uint64_t word;

	memcpy(&word, src, sizeof(word));
	word = __builtin_bswap64(word);
	memcpy(dst, &word, sizeof(word));
}

static inline void swap_one_16(unsigned char *dst, const unsigned char *src)
{
	uint64_t low, high;

	memcpy(&low, src, sizeof(low));
	memcpy(&high, src + sizeof(low), sizeof(high));
	low = __builtin_bswap64(low);
	high = __builtin_bswap64(high);
	memcpy(dst, &high, sizeof(high));
	memcpy(dst + sizeof(high), &low, sizeof(low));
}

#ifdef WIDTH
/* Swaps bytes of each element of a vector. */
#if WIDTH == 16
#define SWAP_2(v) \
	SHUFFLE(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14)
#define SWAP_4(v) \
	SHUFFLE(v, v, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12)
#define SWAP_8(v) \
	SHUFFLE(v, v, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8)
#define SWAP_16(v) \
	SHUFFLE(v, v, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#else
#define SWAP_2(v)                                                           \
	SHUFFLE(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14, \
		17, 16, 19, 18, 21, 20, 23, 22, 25, 24, 27, 26, 29, 28, 31, \
		30)
#define SWAP_4(v)                                                           \
	SHUFFLE(v, v, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, \
		19, 18, 17, 16, 23, 22, 21, 20, 27, 26, 25, 24, 31, 30, 29, \
		28)
#define SWAP_8(v)                                                           \
	SHUFFLE(v, v, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, \
		23, 22, 21, 20, 19, 18, 17, 16, 31, 30, 29, 28, 27, 26, 25, \
		24)
#define SWAP_16(v)                                                          \
	SHUFFLE(v, v, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, \
		31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, \
		16)
#endif

/* Swaps elements without gaps; the last vector may swap some once more. */
#define DEFINE_DENSE(size)                                                  \
	TARGET static void swap_dense_##size(                               \
		unsigned char *dst, const unsigned char *src, size_t bytes) \
	{                                                                   \
		dray_vector_1 vector;                                       \
		size_t at;                                                  \
                                                                            \
		for (at = 0; at < bytes; at += WIDTH) {                     \
			if (bytes - at < WIDTH)                             \
				at = bytes - WIDTH;                         \
			memcpy(&vector, src + at, WIDTH);                   \
			vector = SWAP_##size(vector);                       \
			memcpy(dst + at, &vector, WIDTH);                   \
		}                                                           \
	}
#else
#define WIDTH SIZE_MAX
#define IS_ABLE false
#define DEFINE_DENSE(size)                                                    \
	static void swap_dense_##size(unsigned char *dst,                     \
				      const unsigned char *src, size_t bytes) \
	{                                                                     \
		(void)dst;                                                    \
		(void)src;                                                    \
		(void)bytes;                                                  \
	}
#endif

#define DEFINE_SWAP(size)                                                   \
	DEFINE_DENSE(size)                                                  \
                                                                            \
	static void swap_row_##size(unsigned char *dst, int64_t dst_stride, \
				    const unsigned char *src,               \
				    int64_t src_stride, size_t count,       \
				    const void *data)                       \
	{                                                                   \
		size_t i;                                                   \
                                                                            \
		(void)data;                                                 \
		if (dst_stride == (size) && src_stride == (size) &&         \
		    count * (size) >= WIDTH && IS_ABLE) {                   \
			swap_dense_##size(dst, src, count *(size));         \
			return;                                             \
		}                                                           \
		for (i = 0; i < count; i++) {                               \
			swap_one_##size(dst, src);                          \
			dst += dst_stride;                                  \
			src += src_stride;                                  \
		}                                                           \
	}

DEFINE_SWAP(2)
DEFINE_SWAP(4)
DEFINE_SWAP(8)
DEFINE_SWAP(16)

dray_layout_function *dray_layout_swap(size_t size)
{
	switch (size) {
	case 2:
		return swap_row_2;
	case 4:
		return swap_row_4;
	case 8:
		return swap_row_8;
	case 16:
		return swap_row_16;
	default:
		return NULL;
	}
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Copies elements with their bytes in reverse. */
#include <string.h>

#include "array/layout.h"

typedef uint16_t word_2;
typedef uint32_t word_4;
typedef uint64_t word_8;

static inline word_2 swap_2(word_2 word)
{
	return __builtin_bswap16(word);
}

static inline word_4 swap_4(word_4 word)
{
	return __builtin_bswap32(word);
}

static inline word_8 swap_8(word_8 word)
{
	return __builtin_bswap64(word);
}

/* The loop without gaps has vectors. */
#define DEFINE_SWAP(size)                                              \
	static void swap_row_##size(unsigned char *restrict dst,       \
				    int64_t dst_stride,                \
				    const unsigned char *restrict src, \
				    int64_t src_stride, size_t count,  \
				    const void *data)                  \
	{                                                              \
		word_##size word;                                      \
		size_t i;                                              \
                                                                       \
		(void)data;                                            \
		if (dst_stride == (size) && src_stride == (size)) {    \
			for (i = 0; i < count; i++) {                  \
				memcpy(&word, src + i * (size), size); \
				word = swap_##size(word);              \
				memcpy(dst + i * (size), &word, size); \
			}                                              \
			return;                                        \
		}                                                      \
		for (i = 0; i < count; i++) {                          \
			memcpy(&word, src, size);                      \
			word = swap_##size(word);                      \
			memcpy(dst, &word, size);                      \
			dst += dst_stride;                             \
			src += src_stride;                             \
		}                                                      \
	}

DEFINE_SWAP(2)
DEFINE_SWAP(4)
DEFINE_SWAP(8)

static void swap_row_16(unsigned char *restrict dst, int64_t dst_stride,
			const unsigned char *restrict src, int64_t src_stride,
			size_t count, const void *data)
{
	word_8 halves[2], word;
	size_t i;

	(void)data;
	for (i = 0; i < count; i++) {
		memcpy(halves, src, sizeof(halves));
		word = swap_8(halves[0]);
		halves[0] = swap_8(halves[1]);
		halves[1] = word;
		memcpy(dst, halves, sizeof(halves));
		dst += dst_stride;
		src += src_stride;
	}
}

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

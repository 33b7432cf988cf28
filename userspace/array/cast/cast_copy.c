// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Loops that move items as they are, or with their bytes reversed. */
#include "cast/cast_each.h"
#include "private.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

/* Vectors that reverse bytes, chosen at run time. */
#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))
#define HAS_AVX2 dray_cpu_has_avx2()
#else
#define AVX2
#define HAS_AVX2 false
#endif

#define KEEP(x) (x)

DEFINE_STORE_OF(uint8_t)
DEFINE_STORE_OF(uint16_t)
DEFINE_STORE_OF(uint32_t)
DEFINE_STORE_OF(uint64_t)

#define DEFINE_MOVE(scope, name, type, change)                     \
	DEFINE_EACH(scope, name, type, sizeof(type), sizeof(type), \
		    store_##type, change)

DEFINE_MOVE(static, copy_1, uint8_t, KEEP)
DEFINE_MOVE(static, copy_2, uint16_t, KEEP)
DEFINE_MOVE(static, copy_4, uint32_t, KEEP)
DEFINE_MOVE(static, copy_8, uint64_t, KEEP)
DEFINE_MOVE(static, swap_2, uint16_t, __builtin_bswap16)
DEFINE_MOVE(static, swap_4, uint32_t, __builtin_bswap32)
DEFINE_MOVE(static, swap_8, uint64_t, __builtin_bswap64)
DEFINE_MOVE(AVX2 static, swap_2_avx2, uint16_t, __builtin_bswap16)
DEFINE_MOVE(AVX2 static, swap_4_avx2, uint32_t, __builtin_bswap32)
DEFINE_MOVE(AVX2 static, swap_8_avx2, uint64_t, __builtin_bswap64)

/* Items of the destination's size, of a cast between equal types. */
static int cast_copy_any(char *const *data, const int64_t *strides,
			 int64_t count, void *context)
{
	const struct dray_cast *cast = context;
	const size_t size = dray_dtype_itemsize(cast->to);
	int64_t i;

	/* Elements of no bytes may lie at NULL. */
	for (i = 0; size && i < count; i++)
		memcpy(data[0] + i * strides[0], data[1] + i * strides[1],
		       size);
	return 0;
}

static inline void swap_item(char *dst, const char *src, size_t size)
{
	size_t k;

	for (k = 0; k < size; k++)
		dst[k] = src[size - 1 - k];
}

#define DEFINE_SWAP(size)                                                 \
	static int swap_##size(char *const *data, const int64_t *strides, \
			       int64_t count, void *context)              \
	{                                                                 \
		int64_t i;                                                \
                                                                          \
		(void)context;                                            \
		for (i = 0; i < count; i++)                               \
			swap_item(data[0] + i * strides[0],               \
				  data[1] + i * strides[1], size);        \
		return 0;                                                 \
	}

DEFINE_SWAP(12)
DEFINE_SWAP(16)

/* Numbers that have two parts of that size each. */
#define DEFINE_SWAP_PAIR(size)                                                 \
	static int swap_pair_##size(char *const *data, const int64_t *strides, \
				    int64_t count, void *context)              \
	{                                                                      \
		char *const others[2] = { data[0] + (size),                    \
					  data[1] + (size) };                  \
                                                                               \
		swap_##size(data, strides, count, context);                    \
		return swap_##size(others, strides, count, context);           \
	}

DEFINE_SWAP_PAIR(4)
DEFINE_SWAP_PAIR(8)
DEFINE_SWAP_PAIR(12)
DEFINE_SWAP_PAIR(16)

dray_loop *dray_swap_pair_loop(uint32_t part)
{
	switch (part) {
	case 4:
		return swap_pair_4;
	case 8:
		return swap_pair_8;
	case 12:
		return swap_pair_12;
	default:
		return swap_pair_16;
	}
}

dray_loop *dray_copy_loop(uint32_t size)
{
	switch (size) {
	case 1:
		return copy_1;
	case 2:
		return copy_2;
	case 4:
		return copy_4;
	case 8:
		return copy_8;
	default:
		return cast_copy_any;
	}
}

dray_loop *dray_swap_loop(uint32_t size)
{
	switch (size) {
	case 2:
		return HAS_AVX2 ? swap_2_avx2 : swap_2;
	case 4:
		return HAS_AVX2 ? swap_4_avx2 : swap_4;
	case 8:
		return HAS_AVX2 ? swap_8_avx2 : swap_8;
	case 12:
		return swap_12;
	default:
		return swap_16;
	}
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Sorts numbers of 2, 4 and 8 bytes with vectors of 64 bytes, on processors with
 * AVX-512.  The order of equal bits is lost, and cannot be seen.
 */
#include <string.h>

#include "index/sort_numbers.h"
#include "private.h"

/* With libFuzzer's counters and the sanitizers, clang takes minutes for this. */
#if defined(__x86_64__) && !defined(DRAY_LIBFUZZER)
#include <immintrin.h>

#define AVX512 "bmi2,avx512f,avx512bw,avx512dq,avx512vl"
/* With checks, a network of 1,000 instructions takes minutes to compile. */
#define UNCHECKED \
	__attribute__((no_sanitize("address"), no_sanitize("undefined")))
#define INLINE static TARGET UNCHECKED inline __attribute__((always_inline))
#define SEPARATE static TARGET __attribute__((noinline))
#define UNROLL _Pragma("GCC unroll 32")

/* Places of lanes. */
#define FIRST_64 0, 1, 2, 3, 4, 5, 6, 7
#define FIRST_32 FIRST_64, 8, 9, 10, 11, 12, 13, 14, 15
#define FIRST_16 \
	FIRST_32, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31

#define OP(name) PASTE(_mm512_##name##_epi, BITS)
#define OP_MASK(name) PASTE(OP(name), _mask)

/* A name for numbers of a kind; the order of integers. */
#undef NAME
#define NAME(name) PASTE(name##_, KIND)
#define KIND BITS
#define HIGHEST PASTE(PASTE(INT, BITS), _MAX)
#define LESSER(a, b) OP(min)(a, b)
#define GREATER(a, b) OP(max)(a, b)
#define GREATER_OF(v, high, a, b) OP(mask_max)(v, high, a, b)
#define AT_LEAST(used, v, pivot) OP_MASK(mask_cmpge)(used, v, pivot)
#define BELOW(used, v, pivot) OP_MASK(mask_cmplt)(used, v, pivot)
#define NEXT(number) ((number) + 1)
#define TURNS true

#define TARGET __attribute__((target(AVX512 ",avx512vbmi2")))
#define BITS 16
#define MASK __mmask32
#include "index/sort_network.h"
#include "index/sort_partition.h"
#undef TARGET
#undef BITS
#undef MASK

#define TARGET __attribute__((target(AVX512)))
#define BITS 32
#define MASK __mmask16
#include "index/sort_network.h"
#include "index/sort_partition.h"
#undef BITS
#undef MASK

#define BITS 64
#define MASK __mmask8
#include "index/sort_network.h"
#include "index/sort_partition.h"

/*
 * Doubles as they are, without NaN and -0.0: processors compare these twice as fast as
 * integers.
 */
#undef KIND
#undef HIGHEST
#undef LESSER
#undef GREATER
#undef GREATER_OF
#undef AT_LEAST
#undef BELOW
#undef NEXT
#undef TURNS
#define KIND double
#define HIGHEST INT64_C(0x7ff0000000000000)
#define DOUBLES(v) _mm512_castsi512_pd(v)
#define LESSER(a, b) _mm512_castpd_si512(_mm512_min_pd(DOUBLES(a), DOUBLES(b)))
#define GREATER(a, b) _mm512_castpd_si512(_mm512_max_pd(DOUBLES(a), DOUBLES(b)))
#define GREATER_OF(v, high, a, b) \
	_mm512_castpd_si512(      \
		_mm512_mask_max_pd(DOUBLES(v), high, DOUBLES(a), DOUBLES(b)))
#define AT_LEAST(used, v, pivot) \
	_mm512_mask_cmp_pd_mask(used, DOUBLES(v), DOUBLES(pivot), _CMP_GE_OQ)
#define BELOW(used, v, pivot) \
	_mm512_mask_cmp_pd_mask(used, DOUBLES(v), DOUBLES(pivot), _CMP_LT_OQ)
#define NEXT(number) ((number) < 0 ? (number)-1 : (number) + 1)
#define TURNS false
#include "index/sort_network.h"
#include "index/sort_partition.h"

/* Whether the thread's numbers below the least normal number are not 0. */
static bool doubles_are_compared_exactly(void)
{
	return !(_mm_getcsr() & _MM_DENORMALS_ZERO_MASK);
}

bool dray_sort_by_vectors(void *data, size_t count, struct dray_bits *bits)
{
	if (bits->size == 1 || !dray_cpu_has_avx512())
		return false;
	switch (bits->size) {
	case sizeof(int16_t):
		return dray_cpu_has_avx512_vbmi2() &&
		       sort_16(data, count, bits);
	case sizeof(int32_t):
		return sort_32(data, count, bits);
	default:
		return bits->infinity && doubles_are_compared_exactly()
			       ? sort_double(data, count, bits)
			       : sort_64(data, count, bits);
	}
}

#else
bool dray_sort_by_vectors(void *data, size_t count, struct dray_bits *bits)
{
	(void)data;
	(void)count;
	(void)bits;
	return false;
}
#endif

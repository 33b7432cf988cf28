// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Chooses how blocks are turned: by vectors of 64, 32 or 16 bytes, as the processor
 * has them, or element by element.
 */
#include <string.h>

#include "layout/layout_turn.h"
#include "layout/layout_vector.h"
#include "base/cpu.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

#undef WIDTH
#undef TARGET

#define UNROLL _Pragma("GCC unroll 32")

/* Interleave the first, or the last, halves of the lanes of two vectors. */
#ifdef __SSE2__
#define HAS_VECTORS
typedef __m128i vector_16;
#define MM(name) _mm_##name
#define FIRST_1 MM(unpacklo_epi8)
#define LAST_1 MM(unpackhi_epi8)
#define FIRST_2 MM(unpacklo_epi16)
#define LAST_2 MM(unpackhi_epi16)
#define FIRST_4 MM(unpacklo_epi32)
#define LAST_4 MM(unpackhi_epi32)
#define FIRST_8 MM(unpacklo_epi64)
#define LAST_8 MM(unpackhi_epi64)
#elif defined(SHUFFLE)
#define HAS_VECTORS
typedef uint8_t vector_16 __attribute__((vector_size(16)));
typedef uint16_t vector_16_of_2 __attribute__((vector_size(16)));
typedef uint32_t vector_16_of_4 __attribute__((vector_size(16)));
typedef uint64_t vector_16_of_8 __attribute__((vector_size(16)));
#define MIX(size, a, b, ...)                          \
	((vector_16)SHUFFLE((vector_16_of_##size)(a), \
			    (vector_16_of_##size)(b), __VA_ARGS__))
#define FIRST_1(a, b) \
	SHUFFLE(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define LAST_1(a, b)                                                        \
	SHUFFLE(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, \
		15, 31)
#define FIRST_2(a, b) MIX(2, a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define LAST_2(a, b) MIX(2, a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define FIRST_4(a, b) MIX(4, a, b, 0, 4, 1, 5)
#define LAST_4(a, b) MIX(4, a, b, 2, 6, 3, 7)
#define FIRST_8(a, b) MIX(8, a, b, 0, 2)
#define LAST_8(a, b) MIX(8, a, b, 1, 3)
#endif
#define FIRST_16(a, b) (a) /* not used: a square of one */
#define LAST_16(a, b) (b)

/* Fetches bytes to the second-level cache. */
static inline void block_fetch(const unsigned char *from, size_t bytes)
{
	size_t at;

	for (at = 0; at < bytes; at += DRAY_LINE)
		__builtin_prefetch(from + at, 0, 2);
}

/* Rows k of all lanes are @apart bytes from each other. */
#ifdef HAS_VECTORS
#define WIDTH 16
#define PIECE 16
#define NAME(name) name##_16
#define TARGET
#define WRITE(out, apart, k) memcpy(out, &first[k], 16)
#include "layout/layout_square.h"
#endif

#ifdef __x86_64__
typedef __m256i vector_32;
typedef __m512i vector_64;

#define WIDTH 32
#define PIECE 32
#define NAME(name) name##_32
#define TARGET __attribute__((target("avx2")))
#define MM(name) _mm256_##name
#define WRITE(out, apart, k) write_2(out, apart, first[k], second[k])

TARGET static inline void write_2(unsigned char *out, size_t apart, __m256i a,
				  __m256i b)
{
	const __m256i row_0 = _mm256_permute2x128_si256(a, b, 0x20);
	const __m256i row_1 = _mm256_permute2x128_si256(a, b, 0x31);

	memcpy(out, &row_0, sizeof(row_0));
	memcpy(out + apart, &row_1, sizeof(row_1));
}

#include "layout/layout_square.h"

#define WIDTH 64
#define PIECE 32
#define NAME(name) name##_64
#define TARGET __attribute__((target("avx512f,avx512bw")))
#define MM(name) _mm512_##name
#define WRITE(out, apart, k) write_4(out, apart, first[k], second[k])

TARGET static inline void write_4(unsigned char *out, size_t apart, __m512i a,
				  __m512i b)
{
	const __m512i rows_01 = _mm512_permutex2var_epi64(
		a, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), b);
	const __m512i rows_23 = _mm512_permutex2var_epi64(
		a, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), b);
	const __m256i rows[] = {
		_mm512_castsi512_si256(rows_01),
		_mm512_extracti64x4_epi64(rows_01, 1),
		_mm512_castsi512_si256(rows_23),
		_mm512_extracti64x4_epi64(rows_23, 1),
	};
	size_t r;

	UNROLL for (r = 0; r < 4; r++)
		memcpy(out + r * apart, &rows[r], sizeof(rows[r]));
}

#include "layout/layout_square.h"
#endif

/* Any step; memcpy() of a constant size becomes a load and a store. */
#define DEFINE_SCATTER(name, bytes)                                 \
	static void scatter_##name(const struct dray_tile *block)   \
	{                                                           \
		const size_t size = (bytes);                        \
		size_t i, r;                                        \
                                                                    \
		for (i = 0; i < block->count; i++) {                \
			const unsigned char *src =                  \
				block->src + block->lines[i];       \
			unsigned char *out = block->out + i * size; \
                                                                    \
			for (r = 0; r < block->rows; r++) {         \
				memcpy(out, src, size);             \
				out += block->pitch;                \
				src += block->step;                 \
			}                                           \
		}                                                   \
	}

DEFINE_SCATTER(1, 1)
DEFINE_SCATTER(2, 2)
DEFINE_SCATTER(3, 3)
DEFINE_SCATTER(4, 4)
DEFINE_SCATTER(6, 6)
DEFINE_SCATTER(8, 8)
DEFINE_SCATTER(12, 12)
DEFINE_SCATTER(16, 16)
DEFINE_SCATTER(any, block->size)

static dray_turn *layout_turn_scatter(size_t size)
{
	switch (size) {
	case 1:
		return scatter_1;
	case 2:
		return scatter_2;
	case 3:
		return scatter_3;
	case 4:
		return scatter_4;
	case 6:
		return scatter_6;
	case 8:
		return scatter_8;
	case 12:
		return scatter_12;
	case 16:
		return scatter_16;
	default:
		return scatter_any;
	}
}

/* Functions for elements of 1, 2, 4, 8 and 16 bytes. */
struct layout_turns {
	size_t width; /* bytes of each line at least */
	size_t piece; /* bytes of each row at least */
	dray_turn *of[5];
};

#define TURNS(width, piece)                                             \
	{                                                               \
		width, piece,                                           \
		{                                                       \
			turn_1_##width, turn_2_##width, turn_4_##width, \
				turn_8_##width, turn_16_##width         \
		}                                                       \
	}

static const struct layout_turns turns[] = {
#ifdef __x86_64__
	TURNS(64, 32),
	TURNS(32, 32),
#endif
#ifdef HAS_VECTORS
	TURNS(16, 16),
#endif
	{ 0, 0, { 0 } },
};

static bool has_width(size_t width)
{
	return width == 16 ||
	       (width == 32 ? dray_cpu_has_avx2() : dray_cpu_has_avx512());
}

void dray_turn_choose(struct dray_turning *turning, size_t size, int64_t step,
		      uint64_t lines, uint64_t rows)
{
	const struct layout_turns *each;

	*turning = (struct dray_turning){ layout_turn_scatter(size), 1, 1 };
	if (step != (int64_t)size || size > 16 || (size & (size - 1)))
		return;
	for (each = turns; each->width; each++) {
		if (lines * size >= each->piece && rows * size >= each->width &&
		    has_width(each->width)) {
			turning->turn = each->of[__builtin_ctzl(size)];
			turning->lines = each->piece / size;
			turning->rows = each->width / size;
			return;
		}
	}
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Chooses how blocks are turned: by vectors of 32 bytes if the processor has
 * them, of 16 bytes, or element by element.
 */
#include <string.h>

#include "layout/layout_turn.h"
#include "layout/layout_vector.h"
#include "base/cpu.h"

#undef WIDTH
#undef TARGET

#define LINE 64
#define UNROLL _Pragma("GCC unroll 32")

#ifdef SHUFFLE
/* Interleave halves of vectors, of each 16 bytes of them. */
#define LOW_1_16(a, b) \
	SHUFFLE(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH_1_16(a, b)                                                     \
	SHUFFLE(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, \
		15, 31)
#define LOW_2_16(a, b) SHUFFLE(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_2_16(a, b) SHUFFLE(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW_4_16(a, b) SHUFFLE(a, b, 0, 4, 1, 5)
#define HIGH_4_16(a, b) SHUFFLE(a, b, 2, 6, 3, 7)
#define LOW_8_16(a, b) SHUFFLE(a, b, 0, 2)
#define LOW_16_16(a, b) (a) /* not used: a square of one */
#define HIGH_16_16(a, b) (b)
#define HIGH_8_16(a, b) SHUFFLE(a, b, 1, 3)
#define LOW_1_32(a, b)                                                        \
	SHUFFLE(a, b, 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, \
		16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23,   \
		55)
#define HIGH_1_32(a, b)                                                     \
	SHUFFLE(a, b, 8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, \
		15, 47, 24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, \
		62, 31, 63)
#define LOW_2_32(a, b) \
	SHUFFLE(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27)
#define HIGH_2_32(a, b)                                                       \
	SHUFFLE(a, b, 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, \
		31)
#define LOW_4_32(a, b) SHUFFLE(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define HIGH_4_32(a, b) SHUFFLE(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define LOW_8_32(a, b) SHUFFLE(a, b, 0, 4, 2, 6)
#define LOW_16_32(a, b) (a) /* not used: a square of one */
#define HIGH_16_32(a, b) (b)
#define HIGH_8_32(a, b) SHUFFLE(a, b, 1, 5, 3, 7)
#define JOIN_1(a, b)                                                        \
	SHUFFLE(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, \
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, \
		31)
#define JOIN_2(a, b) \
	SHUFFLE(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define JOIN_4(a, b) SHUFFLE(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#define JOIN_16 JOIN_8
#define JOIN_8(a, b) SHUFFLE(a, b, 0, 1, 2, 3)

#define WIDTH 16
#define NAME(name) name##_16
#define TARGET
#include "layout/layout_square.h"
#undef WIDTH
#undef NAME
#undef TARGET

#ifdef __x86_64__
#define HAS_WIDE
#define WIDTH 32
#define NAME(name) name##_32
#define TARGET __attribute__((target("avx2")))
#include "layout/layout_square.h"

static dray_turn *wide_turn(size_t size)
{
	switch (size) {
	case 1:
		return turn_1_32;
	case 2:
		return turn_2_32;
	case 4:
		return turn_4_32;
	case 8:
		return turn_8_32;
	case 16:
		return turn_16_32;
	default:
		return NULL;
	}
}
#endif

static dray_turn *narrow_turn(size_t size)
{
	switch (size) {
	case 1:
		return turn_1_16;
	case 2:
		return turn_2_16;
	case 4:
		return turn_4_16;
	case 8:
		return turn_8_16;
	case 16:
		return turn_16_16;
	default:
		return NULL;
	}
}
#endif /* SHUFFLE */

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

static dray_turn *scatter(size_t size)
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

dray_turn *dray_turn_for(size_t size, int64_t step, uint64_t extent,
			 size_t *square)
{
	dray_turn *turn = NULL;

	*square = 1;
#ifdef SHUFFLE
	if (step == (int64_t)size && extent * size >= 16) {
		turn = narrow_turn(size);
		*square = turn ? 16 / size : 1;
	}
#endif
#ifdef HAS_WIDE
	if (turn && extent * size >= 32 && wide_turn(size) &&
	    dray_cpu_has_avx2()) {
		turn = wide_turn(size);
		*square = 32 / size;
	}
#endif
	return turn ? turn : scatter(size);
}

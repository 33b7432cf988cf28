// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Vectors of planes: each vector that is written consists of bytes of two to four that
 * were read.  AVX-512 with VBMI finds bytes in two vectors at once; AVX2 and NEON in
 * one, and joins them.  Only the former leaves out bytes of a vector, between the
 * elements of a plane that is put among others.
 */
#include <string.h>

#include "base/cpu.h"
#include "layout/layout_planes.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* Other threads may write the bytes between elements, which are not used. */
#define UNWATCHED __attribute__((no_sanitize("thread")))
#define UNROLL _Pragma("GCC unroll 4")
#define INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__)
#define VBMI      \
	UNWATCHED \
	__attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))

VBMI INLINE void network_store(unsigned char *to, __m512i vector,
			       __mmask64 used, bool whole, bool streams)
{
	if (!whole)
		_mm512_mask_storeu_epi8(to, used, vector);
	else if (streams)
		_mm512_stream_si512((__m512i *)(void *)to, vector);
	else
		_mm512_storeu_si512(to, vector);
}

/* @whole: all bytes are written */
VBMI INLINE void network_long(const struct dray_planes *planes,
			      unsigned char *const *to,
			      const unsigned char *const *from, size_t turns,
			      int inputs, int outputs, bool whole, bool streams)
{
	const size_t vector = PLANES_VECTOR, pixel = planes->pixel * vector;
	const size_t in_step = planes->splits ? pixel : vector;
	const size_t out_step = planes->splits ? vector : pixel;
	__mmask64 high[PLANES_MOST], used[PLANES_MOST];
	__m512i at[PLANES_MOST], in[PLANES_MOST], low, other;
	size_t t;
	int i, o;

	UNROLL for (o = 0; o < outputs; o++)
	{
		const __m512i vectors = _mm512_loadu_si512(planes->vectors[o]);
		const __m512i lanes = _mm512_loadu_si512(planes->lanes[o]);
		const __mmask64 odd =
			_mm512_test_epi8_mask(vectors, _mm512_set1_epi8(1));

		high[o] = _mm512_test_epi8_mask(vectors, _mm512_set1_epi8(2));
		used[o] = _mm512_cmpneq_epi8_mask(
			vectors, _mm512_set1_epi8((char)PLANES_NONE));
		at[o] = _mm512_mask_add_epi8(lanes, odd, lanes,
					     _mm512_set1_epi8(PLANES_VECTOR));
	}
	for (t = 0; t < turns; t++) {
		UNROLL for (i = 0; i < inputs; i++) in[i] =
			_mm512_loadu_si512(from[i] + t * in_step);
		UNROLL for (o = 0; o < outputs; o++)
		{
			low = inputs == 1
				      ? _mm512_permutexvar_epi8(at[o], in[0])
				      : _mm512_permutex2var_epi8(in[0], at[o],
								 in[1]);
			if (inputs == 3)
				low = _mm512_mask_permutexvar_epi8(
					low, high[o], at[o], in[2]);
			if (inputs == 4) {
				other = _mm512_permutex2var_epi8(in[2], at[o],
								 in[3]);
				low = _mm512_mask_blend_epi8(high[o], low,
							     other);
			}
			network_store(to[o] + t * out_step, low, used[o], whole,
				      streams);
		}
	}
}

#define LONG(inputs, outputs, whole, streams)                                 \
	VBMI static void long_##inputs##_##outputs##_##whole##_##streams(     \
		const struct dray_planes *planes, unsigned char *const *to,   \
		const unsigned char *const *from, size_t turns)               \
	{                                                                     \
		network_long(planes, to, from, turns, inputs, outputs, whole, \
			     streams);                                        \
	}

typedef void network_turns(const struct dray_planes *planes,
			   unsigned char *const *to,
			   const unsigned char *const *from, size_t turns);

/* Of 2 to 4 inputs, or to 2 to 4 outputs, that are whole. */
#define WHOLE(n)         \
	LONG(n, 1, 1, 0) \
	LONG(n, 1, 1, 1) \
	LONG(n, n, 1, 0) \
	LONG(n, n, 1, 1)
WHOLE(2)
WHOLE(3)
WHOLE(4)
LONG(3, 2, 1, 0)
LONG(4, 2, 1, 0)
LONG(4, 3, 1, 0)
LONG(1, 2, 0, 0)
LONG(1, 3, 0, 0)
LONG(1, 4, 0, 0)
LONG(2, 3, 0, 0)
LONG(2, 4, 0, 0)
LONG(3, 4, 0, 0)

static void network_vbmi(const struct dray_planes *planes,
			 unsigned char *const *to,
			 const unsigned char *const *from, size_t turns,
			 bool streams)
{
	/* By inputs and outputs; without and with streams. */
	static network_turns *const all[PLANES_MOST][PLANES_MOST][2] = {
		[0][1] = { long_1_2_0_0 },
		[0][2] = { long_1_3_0_0 },
		[0][3] = { long_1_4_0_0 },
		[1][0] = { long_2_1_1_0, long_2_1_1_1 },
		[1][1] = { long_2_2_1_0, long_2_2_1_1 },
		[1][2] = { long_2_3_0_0 },
		[1][3] = { long_2_4_0_0 },
		[2][0] = { long_3_1_1_0, long_3_1_1_1 },
		[2][1] = { long_3_2_1_0 },
		[2][2] = { long_3_3_1_0, long_3_3_1_1 },
		[2][3] = { long_3_4_0_0 },
		[3][0] = { long_4_1_1_0, long_4_1_1_1 },
		[3][1] = { long_4_2_1_0 },
		[3][2] = { long_4_3_1_0 },
		[3][3] = { long_4_4_1_0, long_4_4_1_1 },
	};
	network_turns *const *of = all[planes->inputs - 1][planes->outputs - 1];

	(of[streams] ? of[streams] : of[0])(planes, to, from, turns);
}
#endif

#if defined(__x86_64__)
#define SHORT UNWATCHED __attribute__((target("avx2")))
typedef __m128i network_vector;
#define LOAD(from) _mm_loadu_si128((const __m128i *)(const void *)(from))
#define STORE(to, v) _mm_storeu_si128((__m128i *)(void *)(to), v)
#define PICK(v, at) _mm_shuffle_epi8(v, at)
#define JOIN(a, b) _mm_or_si128(a, b)
#define IS_SHORT_ABLE dray_cpu_has_avx2()
#elif defined(__aarch64__)
#define SHORT UNWATCHED
typedef uint8x16_t network_vector;
#define LOAD(from) vld1q_u8(from)
#define STORE(to, v) vst1q_u8(to, v)
#define PICK(v, at) vqtbl1q_u8(v, at)
#define JOIN(a, b) vorrq_u8(a, b)
#define IS_SHORT_ABLE true
#endif

#ifdef SHORT
#define NARROW 16

/* Makes a vector of all inputs; lanes of others than the input are 0. */
SHORT INLINE void network_short(const struct dray_planes *planes,
				unsigned char *const *to,
				const unsigned char *const *from, size_t turns,
				int inputs, int outputs)
{
	const size_t pixel = planes->pixel * NARROW;
	const size_t in_step = planes->splits ? pixel : NARROW;
	const size_t out_step = planes->splits ? NARROW : pixel;
	network_vector at[PLANES_MOST][PLANES_MOST], in[PLANES_MOST], joined;
	unsigned char lanes[NARROW];
	size_t t;
	int i, o, b;

	for (o = 0; o < outputs; o++)
		for (i = 0; i < inputs; i++) {
			for (b = 0; b < NARROW; b++)
				lanes[b] = planes->vectors[o][b] == i
						   ? planes->lanes[o][b]
						   : 0x80;
			at[o][i] = LOAD(lanes);
		}
	for (t = 0; t < turns; t++) {
		UNROLL for (i = 0; i < inputs; i++) in[i] =
			LOAD(from[i] + t * in_step);
		UNROLL for (o = 0; o < outputs; o++)
		{
			joined = PICK(in[0], at[o][0]);
			UNROLL for (i = 1; i < inputs; i++) joined =
				JOIN(joined, PICK(in[i], at[o][i]));
			STORE(to[o] + t * out_step, joined);
		}
	}
}

SHORT static void network_narrow(const struct dray_planes *planes,
				 unsigned char *const *to,
				 const unsigned char *const *from, size_t turns,
				 bool streams)
{
	(void)streams;
#define OF(inputs, outputs)                                              \
	case (inputs)*PLANES_MOST + (outputs):                           \
		network_short(planes, to, from, turns, inputs, outputs); \
		break
	switch (planes->inputs * PLANES_MOST + planes->outputs) {
		OF(2, 1);
		OF(2, 2);
		OF(3, 1);
		OF(3, 2);
		OF(3, 3);
		OF(4, 1);
		OF(4, 2);
		OF(4, 3);
		OF(4, 4);
	default:
		break;
	}
#undef OF
}
#endif

bool dray_planes_choose(struct dray_planes *planes)
{
#if defined(__x86_64__)
	if (dray_cpu_has_avx512_vbmi()) {
		planes->width = PLANES_VECTOR;
		planes->network = network_vbmi;
		return true;
	}
#endif
#ifdef SHORT
	/* All bytes of a vector are written. */
	if (IS_SHORT_ABLE &&
	    (planes->splits || planes->planes.count == planes->pixel)) {
		planes->width = NARROW;
		planes->network = network_narrow;
		return true;
	}
#endif
	(void)planes;
	return false;
}

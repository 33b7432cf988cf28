// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Writes rows by vectors of 16 bytes, or of 32 if the processor has them. */
#include <string.h>

#include "layout/layout_row.h"
#include "base/cpu.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

#define AVX2 __attribute__((target("avx2")))
#define VECTOR 16ul
#define UNROLL _Pragma("GCC unroll 8")

uint64_t dray_tile_stream_from = 4u << 20;

static inline void copy_vector(unsigned char *dst, const unsigned char *src)
{
	unsigned char vector __attribute__((vector_size(VECTOR)));

	memcpy(&vector, src, VECTOR);
	memcpy(dst, &vector, VECTOR);
}

static inline void copy_line(unsigned char *dst, const unsigned char *src)
{
	copy_vector(dst, src);
	copy_vector(dst + VECTOR, src + VECTOR);
	copy_vector(dst + 2 * VECTOR, src + 2 * VECTOR);
	copy_vector(dst + 3 * VECTOR, src + 3 * VECTOR);
}

/* Copies the rest of a row behind its lines, some bytes again. */
static inline void copy_rest(unsigned char *dst, const unsigned char *src,
			     size_t at, size_t bytes)
{
	if (bytes < VECTOR) {
		memcpy(dst, src, bytes);
		return;
	}
	for (; bytes - at >= VECTOR; at += VECTOR)
		copy_vector(dst + at, src + at);
	if (at < bytes)
		copy_vector(dst + bytes - VECTOR, src + bytes - VECTOR);
}

#define DEFINE_COPY(name, TARGET, copy_line)                                   \
	TARGET static void name(const struct dray_layout_rows *rows)           \
	{                                                                      \
		const size_t bytes = rows->bytes, pitch = rows->pitch;         \
		const size_t count = rows->count;                              \
		const unsigned char *near = rows->near;                        \
		const int64_t *places = rows->places;                          \
		unsigned char *const dst = rows->dst;                          \
		size_t at, r;                                                  \
                                                                               \
		for (r = 0; r < count; r++, near += pitch) {                   \
			unsigned char *place = dst + places[r];                \
                                                                               \
			if (bytes == DRAY_ROW) { /* unrolled */                \
				UNROLL for (at = 0; at < DRAY_ROW;             \
					    at += DRAY_LINE)                   \
					copy_line(place + at, near + at);      \
				continue;                                      \
			}                                                      \
			for (at = 0; bytes - at >= DRAY_LINE; at += DRAY_LINE) \
				copy_line(place + at, near + at);              \
			copy_rest(place, near, at, bytes);                     \
		}                                                              \
	}

DEFINE_COPY(copy_narrow, , copy_line)

#ifdef __SSE2__
static inline void stream_line(unsigned char *dst, const unsigned char *src)
{
	size_t at;

	_Pragma("GCC unroll 4") for (at = 0; at < DRAY_LINE; at += VECTOR)
		_mm_stream_si128(
			(__m128i *)(void *)(dst + at),
			_mm_loadu_si128(
				(const __m128i *)(const void *)(src + at)));
}

#define DEFINE_STREAM(name, TARGET, stream_line)                            \
	TARGET static void name(const struct dray_layout_rows *rows)        \
	{                                                                   \
		const size_t count = rows->count, pitch = rows->pitch;      \
		const int64_t *places = rows->places;                       \
		size_t at, end, r;                                          \
                                                                            \
		for (r = 0; r < count; r++) {                               \
			const unsigned char *near = rows->near + r * pitch; \
			unsigned char *place = rows->dst + places[r];       \
			size_t in_line = (uintptr_t)place % DRAY_LINE;      \
                                                                            \
			if (!in_line && rows->bytes == DRAY_ROW) {          \
				UNROLL for (at = 0; at < DRAY_ROW;          \
					    at += DRAY_LINE)                \
					stream_line(place + at, near + at); \
				continue;                                   \
			}                                                   \
			if (rows->joins_last) {                             \
				place -= in_line;                           \
				near -= in_line;                            \
				end = rows->bytes + in_line;                \
				at = 0;                                     \
			} else {                                            \
				end = rows->bytes;                          \
				at = -in_line % DRAY_LINE;                  \
				at = at < end ? at : end;                   \
				memcpy(place, near, at);                    \
			}                                                   \
			for (; end - at >= DRAY_LINE; at += DRAY_LINE)      \
				stream_line(place + at, near + at);         \
			if (!rows->joins_next)                              \
				memcpy(place + at, near + at, end - at);    \
		}                                                           \
	}

DEFINE_STREAM(stream_narrow, , stream_line)
#endif

#ifdef __x86_64__
AVX2 static inline void copy_wide_line(unsigned char *dst,
				       const unsigned char *src)
{
	const __m256i *from = (const __m256i *)(const void *)src;
	__m256i *to = (__m256i *)(void *)dst;

	_mm256_storeu_si256(to, _mm256_loadu_si256(from));
	_mm256_storeu_si256(to + 1, _mm256_loadu_si256(from + 1));
}

AVX2 static inline void stream_wide_line(unsigned char *dst,
					 const unsigned char *src)
{
	const __m256i *from = (const __m256i *)(const void *)src;
	__m256i *to = (__m256i *)(void *)dst;

	_mm256_stream_si256(to, _mm256_loadu_si256(from));
	_mm256_stream_si256(to + 1, _mm256_loadu_si256(from + 1));
}

DEFINE_COPY(copy_wide, AVX2, copy_wide_line)
DEFINE_STREAM(stream_wide, AVX2, stream_wide_line)
#endif

dray_rows_write *dray_rows_copy(void)
{
#ifdef __x86_64__
	if (dray_cpu_has_avx2())
		return copy_wide;
#endif
	return copy_narrow;
}

dray_rows_write *dray_rows_stream(void)
{
#ifdef __x86_64__
	if (dray_cpu_has_avx2())
		return stream_wide;
#endif
#ifdef __SSE2__
	return stream_narrow;
#else
	return NULL;
#endif
}

void dray_rows_order(void)
{
#ifdef __SSE2__
	_mm_sfence();
#endif
}

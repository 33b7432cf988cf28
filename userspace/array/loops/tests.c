// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests of numbers for NaN, infinity and sign, by their bits; and of dates. */
#include "loops/form.h"
#include "loops/times.h"

#define NEVER(a) ((void)(a), 0)
#define ALWAYS(a) ((void)(a), 1)

#define INTEGER(bits)                                            \
	DRAY_UNARY(never_##bits, uint##bits##_t, uint8_t, NEVER) \
	DRAY_UNARY(always_##bits, uint##bits##_t, uint8_t, ALWAYS)

INTEGER(8)
INTEGER(16)
INTEGER(32)
INTEGER(64)

struct bits_64 {
	uint32_t re, im;
};
struct bits_128 {
	uint64_t re, im;
};

/* Bits of a float without its sign, and those of infinity. */
#define REAL(name, T, infinity)                    \
	DRAY_INLINE T size_##name(T a)             \
	{                                          \
		return a & (T)((T) ~(T)0 >> 1);    \
	}                                          \
	DRAY_INLINE bool is_nan_##name(T a)        \
	{                                          \
		return size_##name(a) > infinity;  \
	}                                          \
	DRAY_INLINE bool is_inf_##name(T a)        \
	{                                          \
		return size_##name(a) == infinity; \
	}                                          \
	DRAY_INLINE bool is_finite_##name(T a)     \
	{                                          \
		return size_##name(a) < infinity;  \
	}                                          \
	DRAY_INLINE bool is_negative_##name(T a)   \
	{                                          \
		return a >> (sizeof(T) * 8 - 1);   \
	}

#define INFINITE_half 0x7c00
#define INFINITE_float 0x7f800000
#define INFINITE_double 0x7ff0000000000000
REAL(half, uint16_t, INFINITE_half)
REAL(float, uint32_t, INFINITE_float)
REAL(double, uint64_t, INFINITE_double)

DRAY_UNARY(nan_half, uint16_t, uint8_t, is_nan_half)
DRAY_UNARY(inf_half, uint16_t, uint8_t, is_inf_half)
DRAY_UNARY(finite_half, uint16_t, uint8_t, is_finite_half)
DRAY_UNARY(negative_half, uint16_t, uint8_t, is_negative_half)

#if defined(__AVX2__) && !defined(__AVX512F__)
#include <immintrin.h>

/* Bytes of 1 where lanes have all bits: each step has half as many bytes for a lane. */
DRAY_INLINE __m256i bytes_of_float(const __m256i *masks)
{
	const __m256i lower = _mm256_packs_epi32(masks[0], masks[1]);
	const __m256i upper = _mm256_packs_epi32(masks[2], masks[3]);
	const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);

	return _mm256_and_si256(
		_mm256_permutevar8x32_epi32(_mm256_packs_epi16(lower, upper),
					    order),
		_mm256_set1_epi8(1));
}

/* Of lanes of 64 bits, pairs of bytes are left, of which the upper half has every second. */
DRAY_INLINE __m256i bytes_of_double(const __m256i *masks)
{
	const __m256i pairs[] = {
		_mm256_packs_epi32(masks[0], masks[1]),
		_mm256_packs_epi32(masks[2], masks[3]),
		_mm256_packs_epi32(masks[4], masks[5]),
		_mm256_packs_epi32(masks[6], masks[7]),
	};
	const __m256i lower = _mm256_packs_epi32(pairs[0], pairs[1]);
	const __m256i upper = _mm256_packs_epi32(pairs[2], pairs[3]);
	const __m256i all = _mm256_permute4x64_epi64(
		_mm256_packs_epi16(lower, upper), _MM_SHUFFLE(3, 1, 2, 0));
	const __m256i swapped = _mm256_shuffle_epi32(all, 0x4e);

	return _mm256_and_si256(_mm256_unpacklo_epi16(all, swapped),
				_mm256_set1_epi8(1));
}

#define LANES_float int32_t
#define LANES_double int64_t
#define SIGN_float INT32_MIN
#define SIGN_double INT64_MIN
#define MASK_nan(x) (((x) & ~sign) > infinity)
#define MASK_inf(x) (((x) & ~sign) == infinity)
#define MASK_finite(x) (((x) & ~sign) < infinity)
#define MASK_negative(x) (((x)&sign) == sign)

/* Tests 32 numbers at a time; returns the number of them. */
#define BY_VECTORS(test, T)                                                 \
	DRAY_INLINE int64_t test##s_##T(const char *in, char *out,          \
					int64_t count)                      \
	{                                                                   \
		typedef LANES_##T lanes __attribute__((vector_size(32)));   \
		const lanes infinity = (lanes){ 0 } + INFINITE_##T;         \
		const lanes sign = (lanes){ 0 } + SIGN_##T;                 \
		__m256i masks[sizeof(sign[0])];                             \
		int64_t i;                                                  \
		size_t v;                                                   \
                                                                            \
		(void)infinity;                                             \
		for (i = 0; i + 32 <= count; i += 32) {                     \
			for (v = 0; v < sizeof(sign[0]); v++) {             \
				const lanes x = (lanes)_mm256_loadu_si256(  \
					(const __m256i *)(const void *)in + \
					v);                                 \
                                                                            \
				masks[v] = (__m256i)MASK_##test(x);         \
			}                                                   \
			_mm256_storeu_si256((__m256i *)(void *)(out + i),   \
					    bytes_of_##T(masks));           \
			in += sizeof(masks);                                \
		}                                                           \
		return i;                                                   \
	}
#else
#define BY_VECTORS(test, T)                                              \
	DRAY_INLINE int64_t test##s_##T(const char *in, const char *out, \
					int64_t count)                   \
	{                                                                \
		(void)in;                                                \
		(void)out;                                               \
		return (void)count, 0;                                   \
	}
#endif

#define TEST(test, name, T)                                                  \
	BY_VECTORS(test, name)                                               \
	DRAY_UNARY(test##_rest_##name, T, uint8_t, is_##test##_##name)       \
	DRAY_LOOP(test##_##name)                                             \
	{                                                                    \
		char *const in = data[0], *const out = data[1];              \
		const int64_t size = sizeof(T);                              \
		int64_t done = 0;                                            \
                                                                             \
		if (strides[0] == size && strides[1] == 1 &&                 \
		    dray_is_apart(out, in, count * size))                    \
			done = test##s_##name(in, out, count);               \
		return test##_rest_##name((char *const[]){ in + done * size, \
							   out + done },     \
					  strides, count - done, NULL);      \
	}

#define TESTS(name, T)        \
	TEST(nan, name, T)    \
	TEST(inf, name, T)    \
	TEST(finite, name, T) \
	TEST(negative, name, T)

TESTS(float, uint32_t)
TESTS(double, uint64_t)

#define COMPLEX(bits, part)                                             \
	DRAY_INLINE bool has_nan_##bits(struct bits_##bits a)           \
	{                                                               \
		return is_nan_##part(a.re) | is_nan_##part(a.im);       \
	}                                                               \
	DRAY_INLINE bool has_inf_##bits(struct bits_##bits a)           \
	{                                                               \
		return is_inf_##part(a.re) | is_inf_##part(a.im);       \
	}                                                               \
	DRAY_INLINE bool both_finite_##bits(struct bits_##bits a)       \
	{                                                               \
		return is_finite_##part(a.re) & is_finite_##part(a.im); \
	}                                                               \
	DRAY_UNARY(nan_complex##bits, struct bits_##bits, uint8_t,      \
		   has_nan_##bits)                                      \
	DRAY_UNARY(inf_complex##bits, struct bits_##bits, uint8_t,      \
		   has_inf_##bits)                                      \
	DRAY_UNARY(finite_complex##bits, struct bits_##bits, uint8_t,   \
		   both_finite_##bits)

COMPLEX(64, float)
COMPLEX(128, double)

#define ENTRIES(name, integers, reals, times)                    \
	static const struct dray_loop_entry name##_entries[] = { \
		DRAY_QUIET("??", integers##_8),                  \
		DRAY_QUIET("b?", integers##_8),                  \
		DRAY_QUIET("B?", integers##_8),                  \
		DRAY_QUIET("h?", integers##_16),                 \
		DRAY_QUIET("H?", integers##_16),                 \
		DRAY_QUIET("i?", integers##_32),                 \
		DRAY_QUIET("I?", integers##_32),                 \
		DRAY_QUIET("q?", integers##_64),                 \
		DRAY_QUIET("Q?", integers##_64),                 \
		DRAY_QUIET("e?", reals##_half),                  \
		DRAY_QUIET("f?", reals##_float),                 \
		DRAY_QUIET("d?", reals##_double),                \
		DRAY_QUIET("F?", reals##_complex64),             \
		DRAY_QUIET("D?", reals##_complex128),            \
		DRAY_QUIET("m?", times),                         \
		DRAY_QUIET("M?", times),                         \
	}

ENTRIES(isnan, never, nan, dray_time_is_nat);
ENTRIES(isinf, never, inf, dray_time_never);
ENTRIES(isfinite, always, finite, dray_time_is_finite);

static const struct dray_loop_entry signbit_entries[] = {
	DRAY_QUIET("e?", negative_half),
	DRAY_QUIET("f?", negative_float),
	DRAY_QUIET("d?", negative_double),
};

static const struct dray_loop_entry isnat_entries[] = {
	DRAY_QUIET("M?", dray_time_is_nat),
	DRAY_QUIET("m?", dray_time_is_nat),
};

#define DEFINITION(name, resolver)                               \
	{                                                        \
#name, 1, 1, DRAY_IDENTITY_NONE, name##_entries, \
			DRAY_COUNT(name##_entries), resolver     \
	}

static const struct dray_ufunc_definition definitions[] = {
	DEFINITION(isnan, dray_resolve_unary),
	DEFINITION(isinf, dray_resolve_unary),
	DEFINITION(isfinite, dray_resolve_unary),
	DEFINITION(isnat, dray_resolve_is_nat),
	DEFINITION(signbit, NULL),
};

DRAY_LOOPS_LIST(tests, definitions);

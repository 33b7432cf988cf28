/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Vectors of a PC for elementary_vector.h, as wide as the compiler's options say. */
#include <float.h>
#include <immintrin.h>
#include <math.h>
#include <stdint.h>

#include <sleef.h>

#if defined(__AVX512F__)
#define VECTOR_D __m512d
#define VECTOR_F __m512
#define LANES_D 8
#define LANES_F 16
#define LOAD_D _mm512_loadu_pd
#define LOAD_F _mm512_loadu_ps
#define STORE_D _mm512_storeu_pd
#define STORE_F _mm512_storeu_ps
#define SQRT_D _mm512_sqrt_pd
#define PLUS_D _mm512_fmadd_pd
#define LOWER(x) _mm512_cvtps_pd(_mm512_castps512_ps256(x))
#define UPPER(x)                          \
	_mm512_cvtps_pd(_mm256_castpd_ps( \
		_mm512_extractf64x4_pd(_mm512_castps_pd(x), 1)))
#define HALVES(lower, upper)                                             \
	_mm512_castpd_ps(_mm512_insertf64x4(                             \
		_mm512_castps_pd(                                        \
			_mm512_castps256_ps512(_mm512_cvtpd_ps(lower))), \
		_mm256_castps_pd(_mm512_cvtpd_ps(upper)), 1))
#define BETWEEN(x, low, high)                                \
	_mm512_min_pd(_mm512_max_pd(x, _mm512_set1_pd(low)), \
		      _mm512_set1_pd(high))

static inline int any_zero(__m512i x, __m512i y)
{
	return _mm512_testn_epi64_mask(x, x) | _mm512_testn_epi64_mask(y, y);
}

#define ANY_ZERO(x, y) any_zero((__m512i)(x), (__m512i)(y))

/* Is a lane not between both? */
static inline int outside_d(__m512d x, double low, double high)
{
	return _mm512_cmp_pd_mask(x, _mm512_set1_pd(low), _CMP_NGE_UQ) |
	       _mm512_cmp_pd_mask(x, _mm512_set1_pd(high), _CMP_NLE_UQ);
}

static inline int outside_f(__m512 x, float low, float high)
{
	return _mm512_cmp_ps_mask(x, _mm512_set1_ps(low), _CMP_NGE_UQ) |
	       _mm512_cmp_ps_mask(x, _mm512_set1_ps(high), _CMP_NLE_UQ);
}

static inline int unusual_d(__m512d x)
{
	const __m512d size = _mm512_abs_pd(x);

	return _mm512_cmp_pd_mask(size, _mm512_set1_pd(DBL_MIN), _CMP_LT_OQ) |
	       _mm512_cmp_pd_mask(size, _mm512_set1_pd(DBL_MAX), _CMP_NLE_UQ);
}

static inline int unusual_f(__m512 x)
{
	const __m512 size = _mm512_abs_ps(x);

	return _mm512_cmp_ps_mask(size, _mm512_set1_ps(FLT_MIN), _CMP_LT_OQ) |
	       _mm512_cmp_ps_mask(size, _mm512_set1_ps(FLT_MAX), _CMP_NLE_UQ);
}
#elif defined(__FMA__)
#define VECTOR_D __m256d
#define VECTOR_F __m256
#define LANES_D 4
#define LANES_F 8
#define LOAD_D _mm256_loadu_pd
#define LOAD_F _mm256_loadu_ps
#define STORE_D _mm256_storeu_pd
#define STORE_F _mm256_storeu_ps
#define SQRT_D _mm256_sqrt_pd
#define PLUS_D _mm256_fmadd_pd
#define LOWER(x) _mm256_cvtps_pd(_mm256_castps256_ps128(x))
#define UPPER(x) _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1))
#define HALVES(lower, upper)                                                 \
	_mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(lower)), \
			     _mm256_cvtpd_ps(upper), 1)
#define BETWEEN(x, low, high)                                \
	_mm256_min_pd(_mm256_max_pd(x, _mm256_set1_pd(low)), \
		      _mm256_set1_pd(high))

static inline int any_zero(__m256i x, __m256i y)
{
	const __m256i zero = _mm256_setzero_si256();

	return _mm256_movemask_epi8(_mm256_or_si256(
		_mm256_cmpeq_epi64(x, zero), _mm256_cmpeq_epi64(y, zero)));
}

#define ANY_ZERO(x, y) any_zero((__m256i)(x), (__m256i)(y))

/* Is a lane not between both? */
static inline int outside_d(__m256d x, double low, double high)
{
	return _mm256_movemask_pd(_mm256_or_pd(
		_mm256_cmp_pd(x, _mm256_set1_pd(low), _CMP_NGE_UQ),
		_mm256_cmp_pd(x, _mm256_set1_pd(high), _CMP_NLE_UQ)));
}

static inline int outside_f(__m256 x, float low, float high)
{
	return _mm256_movemask_ps(_mm256_or_ps(
		_mm256_cmp_ps(x, _mm256_set1_ps(low), _CMP_NGE_UQ),
		_mm256_cmp_ps(x, _mm256_set1_ps(high), _CMP_NLE_UQ)));
}

static inline int unusual_d(__m256d x)
{
	const __m256d size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);

	return _mm256_movemask_pd(_mm256_or_pd(
		_mm256_cmp_pd(size, _mm256_set1_pd(DBL_MIN), _CMP_LT_OQ),
		_mm256_cmp_pd(size, _mm256_set1_pd(DBL_MAX), _CMP_NLE_UQ)));
}

static inline int unusual_f(__m256 x)
{
	const __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);

	return _mm256_movemask_ps(_mm256_or_ps(
		_mm256_cmp_ps(size, _mm256_set1_ps(FLT_MIN), _CMP_LT_OQ),
		_mm256_cmp_ps(size, _mm256_set1_ps(FLT_MAX), _CMP_NLE_UQ)));
}
#else
#define VECTOR_D __m128d
#define VECTOR_F __m128
#define LANES_D 2
#define LANES_F 4
#define LOAD_D _mm_loadu_pd
#define LOAD_F _mm_loadu_ps
#define STORE_D _mm_storeu_pd
#define STORE_F _mm_storeu_ps
#define SQRT_D _mm_sqrt_pd
#define PLUS_D(x, y, z) ((x) * (y) + (z))
#define ANY_ZERO(x, y) ((void)(x), (void)(y), 0)
#define LOWER(x) _mm_cvtps_pd(x)
#define UPPER(x) _mm_cvtps_pd(_mm_movehl_ps(x, x))
#define HALVES(lower, upper) \
	_mm_movelh_ps(_mm_cvtpd_ps(lower), _mm_cvtpd_ps(upper))
#define BETWEEN(x, low, high) \
	_mm_min_pd(_mm_max_pd(x, _mm_set1_pd(low)), _mm_set1_pd(high))

/* Is a lane not between both? */
static inline int outside_d(__m128d x, double low, double high)
{
	return _mm_movemask_pd(_mm_or_pd(_mm_cmpnge_pd(x, _mm_set1_pd(low)),
					 _mm_cmpnle_pd(x, _mm_set1_pd(high))));
}

static inline int outside_f(__m128 x, float low, float high)
{
	return _mm_movemask_ps(_mm_or_ps(_mm_cmpnge_ps(x, _mm_set1_ps(low)),
					 _mm_cmpnle_ps(x, _mm_set1_ps(high))));
}

static inline int unusual_d(__m128d x)
{
	const __m128d size = _mm_andnot_pd(_mm_set1_pd(-0.0), x);

	return _mm_movemask_pd(
		_mm_or_pd(_mm_cmplt_pd(size, _mm_set1_pd(DBL_MIN)),
			  _mm_cmpnle_pd(size, _mm_set1_pd(DBL_MAX))));
}

static inline int unusual_f(__m128 x)
{
	const __m128 size = _mm_andnot_ps(_mm_set1_ps(-0.0f), x);

	return _mm_movemask_ps(
		_mm_or_ps(_mm_cmplt_ps(size, _mm_set1_ps(FLT_MIN)),
			  _mm_cmpnle_ps(size, _mm_set1_ps(FLT_MAX))));
}
#endif

typedef uint64_t vector_bits __attribute__((vector_size(8 * LANES_D)));
typedef uint32_t vector_bits_f __attribute__((vector_size(4 * LANES_F)));

#define VECTOR_I vector_bits
#define VECTOR_I_F vector_bits_f
#define BITS_OF(x) ((vector_bits)(x))
#define OF_BITS(bits) ((VECTOR_D)(bits))
#define BITS_OF_F(x) ((vector_bits_f)(x))
#define OF_BITS_F(bits) ((VECTOR_F)(bits))
#define OUTSIDE outside_d
#define OUTSIDE_F outside_f
#define UNUSUAL_D unusual_d
#define UNUSUAL_F unusual_f

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Vectors of arm64 for elementary_vector.h. */
#include <arm_neon.h>
#include <float.h>
#include <math.h>
#include <stdint.h>

#include <sleef.h>

#define VECTOR_D float64x2_t
#define VECTOR_F float32x4_t
#define LANES_D 2
#define LANES_F 4
#define LOAD_D vld1q_f64
#define LOAD_F vld1q_f32
#define STORE_D vst1q_f64
#define STORE_F vst1q_f32
#define SQRT_D vsqrtq_f64
#define PLUS_D(x, y, z) vfmaq_f64(z, x, y)

static inline int unusual_d(float64x2_t x)
{
	const float64x2_t size = vabsq_f64(x);
	const uint64x2_t usual =
		vandq_u64(vcgeq_f64(size, vdupq_n_f64(DBL_MIN)),
			  vcleq_f64(size, vdupq_n_f64(DBL_MAX)));

	return vminvq_u32(vreinterpretq_u32_u64(usual)) == 0;
}

static inline int unusual_f(float32x4_t x)
{
	const float32x4_t size = vabsq_f32(x);
	const uint32x4_t usual =
		vandq_u32(vcgeq_f32(size, vdupq_n_f32(FLT_MIN)),
			  vcleq_f32(size, vdupq_n_f32(FLT_MAX)));

	return vminvq_u32(usual) == 0;
}

/* Both sizes between the least normal number and the largest, and no zero. */
static inline int unusual_power(uint64x2_t lower, uint64x2_t upper,
				float32x4_t x, float32x4_t result)
{
	const float32x4_t least = vdupq_n_f32(FLT_MIN);
	const float32x4_t most = vdupq_n_f32(FLT_MAX);
	const float32x4_t size = vabsq_f32(result);
	const uint64x2_t zero = vorrq_u64(vceqzq_u64(lower), vceqzq_u64(upper));
	const uint32x4_t inside = vandq_u32(
		vandq_u32(vcgeq_f32(x, least), vcleq_f32(x, most)),
		vandq_u32(vcgeq_f32(size, least), vcleq_f32(size, most)));

	return vmaxvq_u32(vornq_u32(vreinterpretq_u32_u64(zero), inside)) != 0;
}

#define UNUSUAL_POWER(lower, upper, x, result) \
	unusual_power((uint64x2_t)(lower), (uint64x2_t)(upper), x, result)

/* Is a lane not between both? */
static inline int outside_d(float64x2_t x, double low, double high)
{
	const uint64x2_t inside = vandq_u64(vcgeq_f64(x, vdupq_n_f64(low)),
					    vcleq_f64(x, vdupq_n_f64(high)));

	return vminvq_u32(vreinterpretq_u32_u64(inside)) == 0;
}

static inline int outside_f(float32x4_t x, float low, float high)
{
	const uint32x4_t inside = vandq_u32(vcgeq_f32(x, vdupq_n_f32(low)),
					    vcleq_f32(x, vdupq_n_f32(high)));

	return vminvq_u32(inside) == 0;
}

typedef uint64_t vector_bits __attribute__((vector_size(16)));
typedef uint32_t vector_bits_f __attribute__((vector_size(16)));

#define LOWER(x) vcvt_f64_f32(vget_low_f32(x))
#define UPPER(x) vcvt_high_f64_f32(x)
#define HALVES(lower, upper) vcvt_high_f32_f64(vcvt_f32_f64(lower), upper)
#define BETWEEN(x, low, high) \
	vminq_f64(vmaxq_f64(x, vdupq_n_f64(low)), vdupq_n_f64(high))
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

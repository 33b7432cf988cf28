// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Division of integers.  Vectors have none, but one of floats, which is exact
 * enough: the quotient of two numbers of 16 bits differs from a whole number by
 * more than a float's rounding, or not at all; so does that of 32 bits as doubles.
 * A single divisor of 64 bits is turned into a product.
 */
#include <math.h>

#include "loops/divide.h"

/* Whether an accumulator has seen a divisor of 0, or a quotient too large. */
DRAY_INLINE void raise_errors(bool zero, bool over)
{
	if (zero)
		dray_raise_divide();
	if (over)
		dray_raise_over();
}

#define IS_SIGNED(T) ((T)-1 < (T)1)
#define LEAST(T) (IS_SIGNED(T) ? (T)((T)1 << (sizeof(T) * 8 - 1)) : (T)0)
#define IS_OVER(T, a, b) (IS_SIGNED(T) & ((a) == LEAST(T)) & ((b) == (T)-1))

/* Results of a and a divisor that is neither 0 nor makes an overflow. */
#define KERNELS(suffix, T, QUOTIENT, REST, CHOP)                              \
	DRAY_INLINE T floor_of_##suffix(T a, T b, T *zero, T *over)           \
	{                                                                     \
		const T z = b == 0, o = IS_OVER(T, a, b);                     \
		const T d = z | o ? (T)1 : b;                                 \
                                                                              \
		*zero |= z;                                                   \
		*over |= o;                                                   \
		return z ? (T)0 : QUOTIENT(T, a, d);                          \
	}                                                                     \
	DRAY_INLINE T remainder_of_##suffix(T a, T b, T *zero, T *over)       \
	{                                                                     \
		const T z = b == 0, o = IS_OVER(T, a, b);                     \
		const T d = z | o ? (T)1 : b;                                 \
                                                                              \
		(void)over;                                                   \
		*zero |= z;                                                   \
		return REST(T, a, d);                                         \
	}                                                                     \
	DRAY_INLINE T fmod_of_##suffix(T a, T b, T *zero, T *over)            \
	{                                                                     \
		const T z = b == 0, o = IS_OVER(T, a, b);                     \
		const T d = z | o ? (T)1 : b;                                 \
                                                                              \
		(void)over;                                                   \
		*zero |= z;                                                   \
		return CHOP(T, a, d);                                         \
	}

#define CHOPPED_REST(T, a, d) ((T)((a) % (d)))
#define SIGNS_DIFFER(rest, d) \
	(((rest) != 0) & (DRAY_BELOW_0(rest) != DRAY_BELOW_0(d)))
#define FLOOR(T, a, d) \
	((T)((a) / (d) - SIGNS_DIFFER(CHOPPED_REST(T, a, d), d)))
#define FLOORED_REST(T, a, d)           \
	((T)(CHOPPED_REST(T, a, d) +    \
	     (SIGNS_DIFFER(CHOPPED_REST(T, a, d), d) ? (d) : (T)0)))

#define BY_FLOAT(T, a, d) floorf((float)(a) / (float)(d))
#define BY_DOUBLE(T, a, d) floor((double)(a) / (double)(d))
#define FLOAT_FLOOR(T, a, d) ((T)(int32_t)BY_FLOAT(T, a, d))
#define FLOAT_REST(T, a, d) \
	((T)(int32_t)((float)(a) - BY_FLOAT(T, a, d) * (float)(d)))
#define FLOAT_CHOP(T, a, d)                                               \
	((T)(int32_t)((float)(a) -                                        \
		      truncf((float)(a) / (float)(d)) * (float)(d)))
#define DOUBLE_FLOOR(T, a, d) ((T)BY_DOUBLE(T, a, d))
#define DOUBLE_REST(T, a, d) \
	((T)((double)(a) - BY_DOUBLE(T, a, d) * (double)(d)))
#define DOUBLE_CHOP(T, a, d)                                     \
	((T)((double)(a) -                                       \
	     trunc((double)(a) / (double)(d)) * (double)(d)))

#ifdef __AVX2__
#define SMALL_KERNELS(suffix, T) \
	KERNELS(suffix, T, FLOAT_FLOOR, FLOAT_REST, FLOAT_CHOP)
#define MIDDLE_KERNELS(suffix, T) \
	KERNELS(suffix, T, DOUBLE_FLOOR, DOUBLE_REST, DOUBLE_CHOP)
#else
#define SMALL_KERNELS(suffix, T) \
	KERNELS(suffix, T, FLOOR, FLOORED_REST, CHOPPED_REST)
#define MIDDLE_KERNELS(suffix, T) SMALL_KERNELS(suffix, T)
#endif

SMALL_KERNELS(i8, int8_t)
SMALL_KERNELS(8, uint8_t)
SMALL_KERNELS(i16, int16_t)
SMALL_KERNELS(16, uint16_t)
MIDDLE_KERNELS(i32, int32_t)
MIDDLE_KERNELS(32, uint32_t)
KERNELS(i64, int64_t, FLOOR, FLOORED_REST, CHOPPED_REST)
KERNELS(64, uint64_t, FLOOR, FLOORED_REST, CHOPPED_REST)

/* SINGLE computes count elements at a beside the one divisor, if it can. */
#define DIVISION(name, T, op, SINGLE)                                         \
	int DRAY_LEVELLED(dray_##name)(char *const *data,                     \
				       const int64_t *strides, int64_t count, \
				       void *context)                         \
	{                                                                     \
		char *const a = data[0], *const b = data[1];                  \
		char *const out = data[2];                                    \
		const int64_t step_a = strides[0], step_b = strides[1];       \
		const int64_t out_step = strides[2];                          \
		const T *const dense_a = (const void *)a;                     \
		const T *const dense_b = (const void *)b;                     \
		T *const to = (void *)out;                                    \
		const bool dense = out_step == sizeof(T) &&                   \
				   step_a == sizeof(T) &&                     \
				   dray_is_apart(out, a) &&                   \
				   dray_is_apart(out, b);                     \
		T zero = 0, over = 0;                                         \
		int64_t i;                                                    \
                                                                              \
		(void)context;                                                \
		if (dense && step_b == sizeof(T)) {                           \
			DRAY_EACH for (i = 0; i < count; i++) to[i] =         \
				op(dense_a[i], dense_b[i], &zero, &over);     \
		} else if (dense && !step_b) {                                \
			const T by = *dense_b;                                \
                                                                              \
			SINGLE(T, op)                                         \
			DRAY_EACH for (i = 0; i < count; i++) to[i] =         \
				op(dense_a[i], by, &zero, &over);             \
		} else {                                                      \
			for (i = 0; i < count; i++) {                         \
				DRAY_SINGLY;                                  \
				DRAY_AT(T, out, i, out_step) =                \
					op(DRAY_AT(const T, a, i, step_a),    \
					   DRAY_AT(const T, b, i, step_b),    \
					   &zero, &over);                     \
			}                                                     \
		}                                                             \
		raise_errors(zero, over);                                     \
		return 0;                                                     \
	}

/*
 * A quotient of 64 bits by an invariant number, as the upper half of a product:
 * T. Granlund, P. L. Montgomery, "Division by Invariant Integers using
 * Multiplication", 1994, figure 4.1.
 */
#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;

struct invariant {
	uint64_t factor;
	unsigned int first, second; /* shifts */
};

/* @by: 1 and up */
DRAY_INLINE struct invariant invariant_of(uint64_t by)
{
	const unsigned int bits =
		by == 1 ? 0 : 64 - (unsigned int)__builtin_clzll(by - 1);
	const wide power = (wide)1 << bits;

	return (struct invariant){
		(uint64_t)((((power - by) << 64) / by) + 1),
		bits ? 1 : 0,
		bits ? bits - 1 : 0,
	};
}

DRAY_INLINE uint64_t divide_by(uint64_t a, const struct invariant *by)
{
	const uint64_t part = (uint64_t)((wide)a * by->factor >> 64);

	return (((a - part) >> by->first) + part) >> by->second;
}

/* Rounds down: below 0 it is the complement of the complement's quotient. */
DRAY_INLINE int64_t floor_by(int64_t a, bool below,
			     const struct invariant *by)
{
	const uint64_t turned = below ? 0 - (uint64_t)a : (uint64_t)a;
	const uint64_t sign = below ? -(uint64_t)(a > 0) : -(uint64_t)(a < 0);

	return (int64_t)(divide_by(turned ^ sign, by) ^ sign);
}

#define SINGLE_64(result)                                                 \
	if (by && !IS_OVER_ONE(by)) {                                     \
		const bool below = IS_BELOW(by);                          \
		const uint64_t size = below ? 0 - (uint64_t)by :          \
					      (uint64_t)by;               \
		const struct invariant invariant = invariant_of(size);    \
                                                                          \
		for (i = 0; i < count; i++) {                             \
			const uint64_t n = (uint64_t)dense_a[i];          \
			result;                                           \
		}                                                         \
		return 0;                                                 \
	}
#define IS_OVER_ONE(by) ((by) == (__typeof__(by))-1 && IS_BELOW(by))
#define IS_BELOW(by) (IS_SIGNED(__typeof__(by)) && (int64_t)(by) < 0)

#define Q_FLOOR(T, op) SINGLE_64(to[i] = divide_by(n, &invariant))
#define Q_REST(T, op) \
	SINGLE_64(to[i] = n - divide_by(n, &invariant) * size)
#define q_FLOOR(T, op)                                              \
	SINGLE_64(to[i] = floor_by((int64_t)n, below, &invariant))
#define q_REST(T, op)                                                        \
	SINGLE_64(to[i] = (int64_t)(                                         \
			  n - (uint64_t)floor_by((int64_t)n, below,          \
						 &invariant) *               \
				      (uint64_t)by))
/* The remainder of the sizes, with the sign of the dividend. */
#define q_CHOP(T, op)                                                        \
	SINGLE_64(const uint64_t sign = -(n >> 63);                          \
		  const uint64_t whole = (n ^ sign) - sign;                  \
		  const uint64_t rest =                                      \
			  whole - divide_by(whole, &invariant) * size;       \
		  to[i] = (int64_t)((rest ^ sign) - sign))
#else
#define Q_FLOOR(T, op)
#define Q_REST(T, op)
#define q_FLOOR(T, op)
#define q_REST(T, op)
#define q_CHOP(T, op)
#endif

#define NO_SINGLE(T, op)
#define DIVISIONS(suffix, T, FLOOR_SINGLE, REST_SINGLE, CHOP_SINGLE)          \
	DIVISION(floor_##suffix, T, floor_of_##suffix, FLOOR_SINGLE)          \
	DIVISION(remainder_##suffix, T, remainder_of_##suffix, REST_SINGLE)   \
	DIVISION(fmod_##suffix, T, fmod_of_##suffix, CHOP_SINGLE)

DIVISIONS(i8, int8_t, NO_SINGLE, NO_SINGLE, NO_SINGLE)
DIVISIONS(8, uint8_t, NO_SINGLE, NO_SINGLE, NO_SINGLE)
DIVISIONS(i16, int16_t, NO_SINGLE, NO_SINGLE, NO_SINGLE)
DIVISIONS(16, uint16_t, NO_SINGLE, NO_SINGLE, NO_SINGLE)
DIVISIONS(i32, int32_t, NO_SINGLE, NO_SINGLE, NO_SINGLE)
DIVISIONS(32, uint32_t, NO_SINGLE, NO_SINGLE, NO_SINGLE)
DIVISIONS(i64, int64_t, q_FLOOR, q_REST, q_CHOP)
DIVISIONS(64, uint64_t, Q_FLOOR, Q_REST, Q_REST)

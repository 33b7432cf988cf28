// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Division of integers.  Vectors lack it, but their division of floats is near
 * enough: the nearest whole number to the quotient is right or 1 too large, and
 * the remainder, which is exact, decides.  So 8 and 16 bits are divided as floats,
 * 32 bits as doubles; 64 bits by a single divisor are a product.
 */
#include "loops/divide.h"
#include "loops/invariant.h"

DRAY_INLINE void raise_errors(bool zero, bool over)
{
	if (zero)
		dray_raise_divide();
	if (over)
		dray_raise_over();
}

#define IS_SIGNED(T) ((T)-1 < (T)1)
#define LEAST(T) (IS_SIGNED(T) ? (T)((uint64_t)1 << (sizeof(T) * 8 - 1)) : (T)0)
#define IS_OVER(T, a, b) (IS_SIGNED(T) & ((a) == LEAST(T)) & ((b) == (T)-1))

/* Results of division by the processor's own, for a divisor that it can use. */
#define SIGNS_DIFFER(rest, d) \
	(((rest) != 0) & (DRAY_BELOW_0(rest) != DRAY_BELOW_0(d)))
#define PLAIN_OPS(suffix, T)                                                 \
	DRAY_INLINE T floor_plain_##suffix(T a, T d)                         \
	{                                                                    \
		const T quotient = (T)(a / d), rest = (T)(a - quotient * d); \
                                                                             \
		return (T)(quotient - SIGNS_DIFFER(rest, d));                \
	}                                                                    \
	DRAY_INLINE T remainder_plain_##suffix(T a, T d)                     \
	{                                                                    \
		const T rest = (T)(a % d);                                   \
                                                                             \
		return (T)(rest + (SIGNS_DIFFER(rest, d) ? d : (T)0));       \
	}                                                                    \
	DRAY_INLINE T fmod_plain_##suffix(T a, T d)                          \
	{                                                                    \
		return (T)(a % d);                                           \
	}
PLAIN_OPS(i8, int8_t)
PLAIN_OPS(8, uint8_t)
PLAIN_OPS(i16, int16_t)
PLAIN_OPS(16, uint16_t)
PLAIN_OPS(i32, int32_t)
PLAIN_OPS(32, uint32_t)
PLAIN_OPS(i64, int64_t)
PLAIN_OPS(64, uint64_t)

#if defined(__x86_64__) || defined(__aarch64__)
/* A sum with this rounds to a whole number, which its last bits are. */
#define WHOLE_FLOAT 0x1.8p23f
#define WHOLE_DOUBLE 0x1.8p52

/*
 * The quotient, rounded down, and the remainder, of a number and a divisor above
 * 0, given the approximate quotient.
 */
#define NEAR(F, U, whole, name)                                                \
	DRAY_INLINE F if_##name(bool is, F a)                                  \
	{                                                                      \
		return dray_##name##_of_bits(dray_bits_of_##name(a) & -(U)is); \
	}                                                                      \
	DRAY_INLINE F quotient_of_##name(F a, F by, F near, F *rest)           \
	{                                                                      \
		const F nearest = (near + whole) - whole;                      \
		const F left = a - nearest * by;                               \
                                                                               \
		*rest = left + if_##name(left < 0, by);                        \
		return nearest - if_##name(left < 0, 1);                       \
	}
NEAR(float, uint32_t, WHOLE_FLOAT, float)
NEAR(double, uint64_t, WHOLE_DOUBLE, double)

DRAY_INLINE uint32_t integer_of_float(float a)
{
	return dray_bits_of_float(a + WHOLE_FLOAT);
}

DRAY_INLINE uint64_t integer_of_double(double a)
{
	return dray_bits_of_double(a + WHOLE_DOUBLE);
}

/* Vectors of AVX2 convert no unsigned number. */
DRAY_INLINE double double_of_32(uint32_t a)
{
	return dray_double_of_bits(0x4330000000000000 | a) - 0x1p52;
}

#define TO_FLOAT(a) ((float)(a))
#define TO_DOUBLE(a) ((double)(a))

#define NEAR_OPS(suffix, T, F, name, to)                                     \
	DRAY_INLINE T floor_near_##suffix(T a, T d, F near)                  \
	{                                                                    \
		const F sign = (F)(1 - 2 * DRAY_BELOW_0(d));                 \
		F rest;                                                      \
                                                                             \
		return (T)integer_of_##name(quotient_of_##name(              \
			to(a) * sign, to(d) * sign, near, &rest));           \
	}                                                                    \
	DRAY_INLINE T remainder_near_##suffix(T a, T d, F near)              \
	{                                                                    \
		const F sign = (F)(1 - 2 * DRAY_BELOW_0(d));                 \
		F rest;                                                      \
                                                                             \
		quotient_of_##name(to(a) * sign, to(d) * sign, near, &rest); \
		return (T)integer_of_##name(rest * sign);                    \
	}                                                                    \
	DRAY_INLINE T fmod_near_##suffix(T a, T d, F near)                   \
	{                                                                    \
		const F sign = (F)(1 - 2 * DRAY_BELOW_0(a));                 \
		const F size = to(d) * (F)(1 - 2 * DRAY_BELOW_0(d));         \
		F rest;                                                      \
                                                                             \
		quotient_of_##name(to(a) * sign, size,                       \
				   (F)__builtin_fabs(near), &rest);          \
		return (T)integer_of_##name(rest * sign);                    \
	}                                                                    \
	DRAY_INLINE T floor_of_##suffix(T a, T d)                            \
	{                                                                    \
		return floor_near_##suffix(a, d, to(a) / to(d));             \
	}                                                                    \
	DRAY_INLINE T remainder_of_##suffix(T a, T d)                        \
	{                                                                    \
		return remainder_near_##suffix(a, d, to(a) / to(d));         \
	}                                                                    \
	DRAY_INLINE T fmod_of_##suffix(T a, T d)                             \
	{                                                                    \
		return fmod_near_##suffix(a, d, to(a) / to(d));              \
	}
#else
#define NEAR_OPS(suffix, T, F, name, to) PLAIN_ONLY(suffix, T)
#endif

#define PLAIN_ONLY(suffix, T)                          \
	DRAY_INLINE T floor_of_##suffix(T a, T d)      \
	{                                              \
		return floor_plain_##suffix(a, d);     \
	}                                              \
	DRAY_INLINE T remainder_of_##suffix(T a, T d)  \
	{                                              \
		return remainder_plain_##suffix(a, d); \
	}                                              \
	DRAY_INLINE T fmod_of_##suffix(T a, T d)       \
	{                                              \
		return fmod_plain_##suffix(a, d);      \
	}

NEAR_OPS(i8, int8_t, float, float, TO_FLOAT)
NEAR_OPS(8, uint8_t, float, float, TO_FLOAT)
NEAR_OPS(i16, int16_t, float, float, TO_FLOAT)
NEAR_OPS(16, uint16_t, float, float, TO_FLOAT)
NEAR_OPS(i32, int32_t, double, double, TO_DOUBLE)
NEAR_OPS(32, uint32_t, double, double, double_of_32)

/*
 * Replaces a divisor of 0, and a divisor that overflows, by 1: that is right for
 * the latter, and the result of the former is 0.  A branch would prevent vectors.
 */
#define TURN(T, op, a, b)                                            \
	const T x = (a), y = (b);                                    \
	const T z = y == 0, o = IS_OVER(T, x, y);                    \
	const T result = (T)(op(x, (T)((y | z) + 2 * o)) & (z - 1)); \
                                                                     \
	zero |= z;                                                   \
	over |= o;

/* The same with branches, which cost the processor's own division nothing. */
#define PLAIN_TURN(T, op, a, b)                      \
	const T x = (a), y = (b);                    \
	const bool z = y == 0, o = IS_OVER(T, x, y); \
	T result = 0;                                \
                                                     \
	if (__builtin_expect(z, 0))                  \
		zero = 1;                            \
	else if (__builtin_expect(o, 0))             \
		over = 1, result = op(x, 1);         \
	else                                         \
		result = op(x, y);

/* A single divisor other than 0 and -1. */
#define PLAIN_SINGLE(suffix, T, kind)                 \
	DRAY_EACH for (i = 0; i < count; i++) to[i] = \
		kind##_of_##suffix(dense_a[i], by);
#if defined(__x86_64__) || defined(__aarch64__)
#define SINGLE_i8(kind) NEAR_SINGLE_OF(i8, float, kind, TO_FLOAT)
#define SINGLE_8(kind) NEAR_SINGLE_OF(8, float, kind, TO_FLOAT)
#define SINGLE_i16(kind) NEAR_SINGLE_OF(i16, float, kind, TO_FLOAT)
#define SINGLE_16(kind) NEAR_SINGLE_OF(16, float, kind, TO_FLOAT)
#define SINGLE_i32(kind) NEAR_SINGLE_OF(i32, double, kind, TO_DOUBLE)
#define SINGLE_32(kind) NEAR_SINGLE_OF(32, double, kind, double_of_32)
#define NEAR_SINGLE_OF(suffix, F, kind, convert)                            \
	const F inverse = 1 / convert(by);                                  \
                                                                            \
	DRAY_EACH for (i = 0; i < count; i++) to[i] = kind##_near_##suffix( \
		dense_a[i], by, convert(dense_a[i]) * inverse);
#else
#define SINGLE_i8(kind) PLAIN_SINGLE(i8, int8_t, kind)
#define SINGLE_8(kind) PLAIN_SINGLE(8, uint8_t, kind)
#define SINGLE_i16(kind) PLAIN_SINGLE(i16, int16_t, kind)
#define SINGLE_16(kind) PLAIN_SINGLE(16, uint16_t, kind)
#define SINGLE_i32(kind) PLAIN_SINGLE(i32, int32_t, kind)
#define SINGLE_32(kind) PLAIN_SINGLE(32, uint32_t, kind)
#endif
#define SINGLE_i64(kind) SINGLE_i64_##kind
#define SINGLE_64(kind) SINGLE_64_##kind

#define INVARIANT(result)                                                \
	const bool below = DRAY_BELOW_0(by);                             \
	const uint64_t size = below ? 0 - (uint64_t)by : (uint64_t)by;   \
	const struct dray_invariant invariant = dray_invariant_of(size); \
                                                                         \
	DRAY_EACH for (i = 0; i < count; i++)                            \
	{                                                                \
		const uint64_t n = (uint64_t)dense_a[i];                 \
		result;                                                  \
	}
#define SINGLE_64_floor INVARIANT(to[i] = dray_divide_by(n, &invariant))
#define SINGLE_64_remainder \
	INVARIANT(to[i] = n - dray_divide_by(n, &invariant) * size)
#define SINGLE_64_fmod SINGLE_64_remainder
#define SINGLE_i64_floor \
	INVARIANT(to[i] = dray_floor_by((int64_t)n, below, &invariant))
#define SINGLE_i64_remainder                                      \
	INVARIANT(const uint64_t whole = (uint64_t)dray_floor_by( \
			  (int64_t)n, below, &invariant);         \
		  to[i] = (int64_t)(n - whole * (uint64_t)by))
/* The remainder of the sizes, with the sign of the dividend. */
#define SINGLE_i64_fmod                                                     \
	INVARIANT(const uint64_t sign = -(n >> 63);                         \
		  const uint64_t whole = (n ^ sign) - sign;                 \
		  const uint64_t rest =                                     \
			  whole - dray_divide_by(whole, &invariant) * size; \
		  to[i] = (int64_t)((rest ^ sign) - sign))

#define BLOCK 64

/* Puts operands side by side, for which there are vectors. */
#define BESIDE(loop, T)                                                        \
	T of_a[BLOCK], of_b[BLOCK], results[BLOCK];                            \
	char *const parts[] = { (char *)of_a, (char *)of_b, (char *)results }; \
	const int64_t steps[] = { sizeof(T), sizeof(T), sizeof(T) };           \
	int64_t done, part;                                                    \
                                                                               \
	for (done = 0; done < count; done += part) {                           \
		part = count - done < BLOCK ? count - done : BLOCK;            \
		for (i = 0; i < part; i++) {                                   \
			DRAY_SINGLY;                                           \
			of_a[i] = ITEM_AT(const T, a, done + i, step_a);       \
			of_b[i] = ITEM_AT(const T, b, done + i, step_b);       \
		}                                                              \
		loop(parts, steps, part, NULL);                                \
		for (i = 0; i < part; i++) {                                   \
			DRAY_SINGLY;                                           \
			ITEM_AT(T, out, done + i, out_step) = results[i];      \
		}                                                              \
	}

/* Elements that a divisor is prepared for. */
#define FEW 8

/* @overflows: whether it counts: a remainder is 0 then */
#define DIVISION(kind, suffix, T, overflows)                                 \
	int DRAY_LEVELLED(dray_##kind##_##suffix)(char *const *data,         \
						  const int64_t *strides,    \
						  int64_t count,             \
						  void *context)             \
	{                                                                    \
		char *const a = data[0], *const b = data[1];                 \
		char *const out = data[2];                                   \
		const int64_t step_a = strides[0], step_b = strides[1];      \
		const int64_t out_step = strides[2];                         \
		const T *const dense_a = (const void *)a;                    \
		const T *const dense_b = (const void *)b;                    \
		const T by = *dense_b;                                       \
		T *const to = (void *)out;                                   \
		const bool dense = out_step == sizeof(T) &&                  \
				   step_a == sizeof(T) &&                    \
				   dray_is_apart(out, a, count * step_a) &&  \
				   dray_is_apart(out, b, count * step_b);    \
		T zero = 0, over = 0;                                        \
		int64_t i;                                                   \
                                                                             \
		(void)context;                                               \
		if (dense && !step_b && by && by != (T)-1 && count >= FEW) { \
			SINGLE_##suffix(kind)                                \
		} else if (dense && step_b == sizeof(T)) {                   \
			DRAY_EACH for (i = 0; i < count; i++)                \
			{                                                    \
				TURN_##suffix(T, kind, suffix, dense_a[i],   \
					      dense_b[i]) to[i] = result;    \
			}                                                    \
		} else if (sizeof(T) < 8 && count >= 2 * (int64_t)FEW &&     \
			   !dray_follows(out, out_step, a, BLOCK) &&         \
			   !dray_follows(out, out_step, b, BLOCK)) {         \
			BESIDE(DRAY_LEVELLED(dray_##kind##_##suffix), T)     \
		} else {                                                     \
			for (i = 0; i < count; i++) {                        \
				PLAIN_TURN(T, kind##_plain_##suffix,         \
					   ITEM_AT(const T, a, i, step_a),   \
					   ITEM_AT(const T, b, i, step_b))   \
				DRAY_SINGLY;                                 \
				ITEM_AT(T, out, i, out_step) = result;       \
			}                                                    \
		}                                                            \
		raise_errors(zero, over &&overflows);                        \
		return 0;                                                    \
	}

#if defined(__x86_64__) || defined(__aarch64__)
#define NEAR_TURN(T, kind, suffix, a, b) TURN(T, kind##_of_##suffix, a, b)
#else
#define NEAR_TURN(T, kind, suffix, a, b) \
	PLAIN_TURN(T, kind##_plain_##suffix, a, b)
#endif
#define TURN_i8 NEAR_TURN
#define TURN_8 NEAR_TURN
#define TURN_i16 NEAR_TURN
#define TURN_16 NEAR_TURN
#define TURN_i32 NEAR_TURN
#define TURN_32 NEAR_TURN
#define TURN_i64(T, kind, suffix, a, b) \
	PLAIN_TURN(T, kind##_plain_##suffix, a, b)
#define TURN_64 TURN_i64

#define DIVISIONS(suffix, T)                  \
	DIVISION(floor, suffix, T, true)      \
	DIVISION(remainder, suffix, T, false) \
	DIVISION(fmod, suffix, T, false)

DIVISIONS(i8, int8_t)
DIVISIONS(8, uint8_t)
DIVISIONS(i16, int16_t)
DIVISIONS(16, uint16_t)
DIVISIONS(i32, int32_t)
DIVISIONS(32, uint32_t)
DIVISIONS(i64, int64_t)
DIVISIONS(64, uint64_t)

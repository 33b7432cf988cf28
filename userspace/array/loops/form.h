/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Makes loops of a function of a single element.  Elements that lie side by side,
 * also beside a single element, are left to the compiler's vectors; elements of all
 * other strides are computed singly, so an output that is an input with stride 0
 * gathers a reduction.  Files of this room are compiled once for each level of the
 * processor's instructions, with DRAY_LOOPS_LEVEL as the ending of their names.
 */
#ifndef DRAY_LOOPS_FORM_H
#define DRAY_LOOPS_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "private.h"
#include "loops/loops.h"

#ifndef DRAY_LOOPS_LEVEL
#define DRAY_LOOPS_LEVEL
#endif
#define DRAY_PASTE_2(a, b) a##b
#define DRAY_PASTE(a, b) DRAY_PASTE_2(a, b)

#define DRAY_LEVELLED(name) DRAY_PASTE(name, DRAY_LOOPS_LEVEL)

/* The list of definitions at the end of a file, named by its level. */
#define DRAY_LOOPS_LIST(name, definitions)                                   \
	const struct dray_ufunc_list DRAY_LEVELLED(dray_##name##_ufuncs) = { \
		definitions, sizeof(definitions) / sizeof((definitions)[0])  \
	}

/* No element that a turn writes is read by a later turn. */
#ifdef __clang__
/* Bits are joined, since a branch prevents vectors. */
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Wbitwise-instead-of-logical"
#pragma clang diagnostic ignored "-Wbitwise-conditional-parentheses"
/* A loop without vectors all the same is none the worse. */
#pragma clang diagnostic ignored "-Wpass-failed"
#define DRAY_EACH _Pragma("clang loop vectorize(assume_safety)")
#else
#define DRAY_EACH _Pragma("GCC ivdep")
#endif
/* Keeps a loop from vectors that gather elements singly. */
#define DRAY_SINGLY __asm__ volatile("")
/* Elements that a turn of such a loop computes. */
#define DRAY_TURNS _Pragma("GCC unroll 4")

#define DRAY_INLINE static inline __attribute__((always_inline, unused))

/*
 * False for a running result, which begins behind an input of @span bytes but
 * before its end; 0 is a single element.
 */
DRAY_INLINE bool dray_is_apart(const void *out, const void *in, int64_t span)
{
	return (uintptr_t)out - (uintptr_t)in - 1 >= (uintptr_t)span - 1 ||
	       span <= 0;
}

/* Whether an element of @block may need the result of an earlier element. */
DRAY_INLINE bool dray_follows(const char *out, int64_t out_step, const char *in,
			      int64_t block)
{
	const int64_t distance = out - in;
	const int64_t reach = block * (out_step < 0 ? -out_step : out_step);

	return !out_step || (distance && distance < reach && -distance < reach);
}

/* Elements of a type, @stride bytes apart. */
#define ITEM_AT(type, base, index, stride) \
	(*(type *)(void *)((base) + (index) * (stride)))

#define DRAY_LOOP(name)                                            \
	static int name(char *const *data, const int64_t *strides, \
			int64_t count, __attribute__((unused)) void *context)

/* R = op(A) */
#define DRAY_UNARY(name, A, R, op)                                      \
	DRAY_LOOP(name)                                                 \
	{                                                               \
		char *const in = data[0], *const out = data[1];         \
		const int64_t step = strides[0], out_step = strides[1]; \
		const A *const dense = (const void *)in;                \
		R *const to = (void *)out;                              \
		int64_t i;                                              \
                                                                        \
		if (step == sizeof(A) && out_step == sizeof(R) &&       \
		    dray_is_apart(out, in, count * step)) {             \
			DRAY_EACH for (i = 0; i < count; i++) to[i] =   \
				(R)op(dense[i]);                        \
			return 0;                                       \
		}                                                       \
		DRAY_TURNS for (i = 0; i < count; i++)                  \
		{                                                       \
			DRAY_SINGLY;                                    \
			ITEM_AT(R, out, i, out_step) =                  \
				(R)op(ITEM_AT(const A, in, i, step));   \
		}                                                       \
		return 0;                                               \
	}

/*
 * R = op(A), of functions so slow that elements of any strides are put side by
 * side first.
 */
#define DRAY_UNARY_BLOCK 64
#define DRAY_UNARY_BLOCKS(name, A, R, op)                                      \
	DRAY_UNARY(name##_dense, A, R, op)                                     \
	DRAY_LOOP(name)                                                        \
	{                                                                      \
		const int64_t step = strides[0], out_step = strides[1];        \
		const int64_t steps[] = { sizeof(A), sizeof(R) };              \
		A from[DRAY_UNARY_BLOCK];                                      \
		R to[DRAY_UNARY_BLOCK];                                        \
		char *const parts[] = { (char *)from, (char *)to };            \
		int64_t done, part, i;                                         \
                                                                               \
		if (count < 8 || (step == sizeof(A) && out_step == sizeof(R))) \
			return name##_dense(data, strides, count, context);    \
		for (done = 0; done < count; done += part) {                   \
			char *const in = data[0] + done * step;                \
			char *const out = data[1] + done * out_step;           \
                                                                               \
			part = count - done < DRAY_UNARY_BLOCK                 \
				       ? count - done                          \
				       : DRAY_UNARY_BLOCK;                     \
			for (i = 0; i < part; i++) {                           \
				DRAY_SINGLY;                                   \
				from[i] = ITEM_AT(const A, in, i, step);       \
			}                                                      \
			name##_dense(parts, steps, part, context);             \
			for (i = 0; i < part; i++) {                           \
				DRAY_SINGLY;                                   \
				ITEM_AT(R, out, i, out_step) = to[i];          \
			}                                                      \
		}                                                              \
		return 0;                                                      \
	}

/* R = op(A, B) */
#define DRAY_BINARY(name, A, B, R, op)                                         \
	DRAY_LOOP(name)                                                        \
	{                                                                      \
		char *const a = data[0], *const b = data[1];                   \
		char *const out = data[2];                                     \
		const int64_t step_a = strides[0], step_b = strides[1];        \
		const int64_t out_step = strides[2];                           \
		const A *const dense_a = (const void *)a;                      \
		const B *const dense_b = (const void *)b;                      \
		R *const to = (void *)out;                                     \
		const bool dense = out_step == sizeof(R) &&                    \
				   dray_is_apart(out, a, count * step_a) &&    \
				   dray_is_apart(out, b, count * step_b);      \
		int64_t i;                                                     \
                                                                               \
		if (dense && step_a == sizeof(A) && step_b == sizeof(B)) {     \
			DRAY_EACH for (i = 0; i < count; i++) to[i] =          \
				(R)op(dense_a[i], dense_b[i]);                 \
		} else if (dense && step_a == sizeof(A) && !step_b) {          \
			const B single = *dense_b;                             \
                                                                               \
			DRAY_EACH for (i = 0; i < count; i++) to[i] =          \
				(R)op(dense_a[i], single);                     \
		} else if (dense && !step_a && step_b == sizeof(B)) {          \
			const A single = *dense_a;                             \
                                                                               \
			DRAY_EACH for (i = 0; i < count; i++) to[i] =          \
				(R)op(single, dense_b[i]);                     \
		} else {                                                       \
			DRAY_TURNS for (i = 0; i < count; i++)                 \
			{                                                      \
				DRAY_SINGLY;                                   \
				ITEM_AT(R, out, i, out_step) =                 \
					(R)op(ITEM_AT(const A, a, i, step_a),  \
					      ITEM_AT(const B, b, i, step_b)); \
			}                                                      \
		}                                                              \
		return 0;                                                      \
	}

/* As above, of functions that no vector computes: a single loop for all strides. */
#define DRAY_BINARY_SINGLY(name, A, B, R, op)                           \
	DRAY_LOOP(name)                                                 \
	{                                                               \
		char *const a = data[0], *const b = data[1];            \
		char *const out = data[2];                              \
		const int64_t step_a = strides[0], step_b = strides[1]; \
		const int64_t out_step = strides[2];                    \
		int64_t i;                                              \
                                                                        \
		for (i = 0; i < count; i++) {                           \
			DRAY_SINGLY;                                    \
			ITEM_AT(R, out, i, out_step) =                  \
				(R)op(ITEM_AT(const A, a, i, step_a),   \
				      ITEM_AT(const B, b, i, step_b));  \
		}                                                       \
		return 0;                                               \
	}

#define DRAY_UNARY_SINGLY(name, A, R, op)                               \
	DRAY_LOOP(name)                                                 \
	{                                                               \
		char *const in = data[0], *const out = data[1];         \
		const int64_t step = strides[0], out_step = strides[1]; \
		int64_t i;                                              \
                                                                        \
		for (i = 0; i < count; i++) {                           \
			DRAY_SINGLY;                                    \
			ITEM_AT(R, out, i, out_step) =                  \
				(R)op(ITEM_AT(const A, in, i, step));   \
		}                                                       \
		return 0;                                               \
	}

/* Complex numbers, as two floats that lie side by side. */
struct dray_complex64 {
	float re, im;
};
struct dray_complex128 {
	double re, im;
};

/*
 * Changes the sign by its bit.  GCC's vectors turn a difference of products beside
 * their sum into a single instruction, which rounds once, even if contraction is
 * off: a sum with a product of the other sign stays apart.
 */
DRAY_INLINE float dray_negative_float(float a)
{
	return dray_float_of_bits(dray_bits_of_float(a) ^ 1u << 31);
}

DRAY_INLINE double dray_negative_double(double a)
{
	return dray_double_of_bits(dray_bits_of_double(a) ^ 1ull << 63);
}

/* Whether an integer is below 0, of any type without a warning. */
#define DRAY_BELOW_0(a) (((a) < 1) & ((a) != 0))

/* Raise exceptions that no arithmetic here would. */
DRAY_INLINE void dray_raise(double a, double b)
{
	volatile double dividend = a, divisor = b, quotient;

	quotient = dividend / divisor;
	(void)quotient;
}

DRAY_INLINE void dray_raise_divide(void)
{
	dray_raise(1, 0);
}

DRAY_INLINE void dray_raise_invalid(void)
{
	dray_raise(0, 0);
}

DRAY_INLINE void dray_raise_over(void)
{
	dray_raise(0x1p1023, 0x1p-1022);
}

DRAY_INLINE void dray_raise_under(void)
{
	dray_raise(0x1p-1022, 3);
}

/* Entries of a table. */
#define DRAY_ENTRY(types, loop)      \
	{                            \
		types, loop, NULL, 0 \
	}
/* Of a loop that raises no floating-point exception, or none that counts. */
#define DRAY_QUIET(types, loop)                           \
	{                                                 \
		types, loop, NULL, DRAY_LOOP_NO_FP_ERRORS \
	}

#define DRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif /* DRAY_LOOPS_FORM_H */

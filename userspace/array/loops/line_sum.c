// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Sums and products of lines.  Floating-point numbers are added in pairs of halves
 * of the line, down to 128 elements, and these by eight running sums, so that
 * an error grows with the logarithm of their number.  The order is NumPy's, and
 * with it each bit of a sum.  Integers wrap, and small integers gather in few bits
 * at first.
 */
#include <string.h>

#include "loops/half_loops.h"
#include "loops/line_form.h"

#define LEAF 128
#define PART 32768 /* small integers: their sum fits 32 bits */
#define ADD(a, b) ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))
#define MULTIPLY_16(a, b) ((uint32_t)(a) * (b))
#define SUBTRACT(a, b) ((a) - (b))
#define DIVIDE(a, b) ((a) / (b))

/* Half of a line, a multiple of eight elements. */
DRAY_INLINE int64_t half_of(int64_t count)
{
	const int64_t half = count / 2;

	return half - half % 8;
}

/* Element @k of a line with gaps. */
#define X(T, k) ITEM_AT(const T, data, k, stride)

/* Bytes of a vector: the compiler keeps longer vectors in memory. */
#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX2__)
#define WIDTH 32
#else
#define WIDTH 16
#endif
#define WIDTH_OF(T) (8 * sizeof(T) < WIDTH ? 8 * sizeof(T) : WIDTH)

#define PAIRWISE(T)                                                         \
	typedef T lanes_##T __attribute__((vector_size(WIDTH_OF(T)),        \
					   aligned(sizeof(T)), may_alias)); \
	enum {                                                              \
		VECTORS_##T = 8 * sizeof(T) / WIDTH_OF(T)                   \
	};                                                                  \
                                                                            \
	DRAY_INLINE T few_##T(const T *x, int64_t count)                    \
	{                                                                   \
		T sum = (T)-0.0;                                            \
		int64_t i;                                                  \
                                                                            \
		for (i = 0; i < count; i++)                                 \
			sum += x[i];                                        \
		return sum;                                                 \
	}                                                                   \
	/* Eight running sums of 8 elements or more; returns how many. */   \
	DRAY_INLINE int64_t eight_##T(const T *x, int64_t count, T *out)    \
	{                                                                   \
		lanes_##T sums[VECTORS_##T];                                \
		int64_t i;                                                  \
		int k;                                                      \
                                                                            \
		for (k = 0; k < VECTORS_##T; k++)                           \
			sums[k] = ((const lanes_##T *)x)[k];                \
		for (i = 8; i + 8 <= count; i += 8)                         \
			for (k = 0; k < VECTORS_##T; k++)                   \
				sums[k] += ((const lanes_##T *)(x + i))[k]; \
		memcpy(out, sums, sizeof(sums));                            \
		return i;                                                   \
	}                                                                   \
	/* At most LEAF elements side by side. */                           \
	DRAY_INLINE T leaf_##T(const T *x, int64_t count)                   \
	{                                                                   \
		T sum, s[8];                                                \
		int64_t i;                                                  \
                                                                            \
		if (count < 8)                                              \
			return few_##T(x, count);                           \
		i = eight_##T(x, count, s);                                 \
		sum = ((s[0] + s[1]) + (s[2] + s[3])) +                     \
		      ((s[4] + s[5]) + (s[6] + s[7]));                      \
		for (; i < count; i++)                                      \
			sum += x[i];                                        \
		return sum;                                                 \
	}                                                                   \
	/* The same with gaps. */                                           \
	static T apart_##T(const char *data, int64_t stride, int64_t count) \
	{                                                                   \
		T s0, s1, s2, s3, s4, s5, s6, s7, sum = (T)-0.0;            \
		int64_t i = 0;                                              \
                                                                            \
		if (count >= 8) {                                           \
			s0 = X(T, 0), s1 = X(T, 1), s2 = X(T, 2);           \
			s3 = X(T, 3), s4 = X(T, 4), s5 = X(T, 5);           \
			s6 = X(T, 6), s7 = X(T, 7);                         \
			for (i = 8; i + 8 <= count; i += 8) {               \
				data += 8 * stride;                         \
				s0 += X(T, 0), s1 += X(T, 1);               \
				s2 += X(T, 2), s3 += X(T, 3);               \
				s4 += X(T, 4), s5 += X(T, 5);               \
				s6 += X(T, 6), s7 += X(T, 7);               \
			}                                                   \
			data -= (i - 8) * stride;                           \
			sum = ((s0 + s1) + (s2 + s3)) +                     \
			      ((s4 + s5) + (s6 + s7));                      \
		}                                                           \
		for (; i < count; i++)                                      \
			sum += ITEM_AT(const T, data, i, stride);           \
		return sum;                                                 \
	}                                                                   \
	static T pairs_##T(const char *data, int64_t stride, int64_t count) \
	{                                                                   \
		const int64_t half = half_of(count);                        \
                                                                            \
		if (count > LEAF)                                           \
			return pairs_##T(data, stride, half) +              \
			       pairs_##T(data + half * stride, stride,      \
					 count - half);                     \
		return stride == sizeof(T)                                  \
			       ? leaf_##T((const void *)data, count)        \
			       : apart_##T(data, stride, count);            \
	}                                                                   \
	DRAY_LINE_LOOP(add_##T##_line)                                      \
	{                                                                   \
		*(T *)result += pairs_##T(data, stride, count);             \
	}                                                                   \
	DRAY_LINES_BESIDES(add_##T, T, ADD)                                 \
	DRAY_LINES_SINGLY(subtract_##T, T, SUBTRACT)                        \
	DRAY_LINES_SINGLY(multiply_##T, T, MULTIPLY)

PAIRWISE(float)
PAIRWISE(double)

/* Complex numbers: @count is of parts, as LEAF is. */
#define PAIRWISE_COMPLEX(T, number)                                           \
	static struct number pairs_##number(const char *data, int64_t stride, \
					    int64_t count)                    \
	{                                                                     \
		const int64_t half = half_of(count);                          \
		struct number sum = { (T)-0.0, (T)-0.0 }, other;              \
		const T *parts = (const void *)data;                          \
		T apart[LEAF];                                                \
		T s[8];                                                       \
		int64_t i;                                                    \
                                                                              \
		if (count > LEAF) {                                           \
			sum = pairs_##number(data, stride, half);             \
			other = pairs_##number(data + half / 2 * stride,      \
					       stride, count - half);         \
			return (struct number){ sum.re + other.re,            \
						sum.im + other.im };          \
		}                                                             \
		if (stride != sizeof(struct number)) {                        \
			for (i = 0; i < count; i += 2) {                      \
				const struct number *at =                     \
					&ITEM_AT(const struct number, data,   \
						 i / 2, stride);              \
                                                                              \
				apart[i] = at->re;                            \
				apart[i + 1] = at->im;                        \
			}                                                     \
			parts = apart;                                        \
		}                                                             \
		i = 0;                                                        \
		if (count >= 8) {                                             \
			i = eight_##T(parts, count, s);                       \
			sum.re = (s[0] + s[2]) + (s[4] + s[6]);               \
			sum.im = (s[1] + s[3]) + (s[5] + s[7]);               \
		}                                                             \
		for (; i < count; i += 2) {                                   \
			sum.re += parts[i];                                   \
			sum.im += parts[i + 1];                               \
		}                                                             \
		return sum;                                                   \
	}                                                                     \
	DRAY_INLINE struct number sum_##number(struct number a,               \
					       struct number b)               \
	{                                                                     \
		return (struct number){ a.re + b.re, a.im + b.im };           \
	}                                                                     \
	DRAY_LINE_LOOP(add_##number##_line)                                   \
	{                                                                     \
		struct number *to = result;                                   \
                                                                              \
		*to = sum_##number(*to,                                       \
				   pairs_##number(data, stride, 2 * count));  \
	}

/* As the loop computes them: see dray_negative_double(). */
#define PRODUCT_OF(number, negative)                                        \
	DRAY_LINE_LOOP(multiply_##number##_line)                            \
	{                                                                   \
		struct number *to = result, a = *to, b;                     \
                                                                            \
		for (; count; count--, data += stride) {                    \
			b = *(const struct number *)(const void *)data;     \
			a = (struct number){ a.re * b.re +                  \
						     a.im * negative(b.im), \
					     a.re * b.im + a.im * b.re };   \
		}                                                           \
		*to = a;                                                    \
	}

PRODUCT_OF(dray_complex64, dray_negative_float)
PRODUCT_OF(dray_complex128, dray_negative_double)

#define SUM_OF(number, part_rows)                                              \
	static void add_##number##_running(char *to, int64_t to_stride,        \
					   const char *data, int64_t stride,   \
					   int64_t count)                      \
	{                                                                      \
		struct number so_far = *(struct number *)(void *)to;           \
		int64_t i;                                                     \
                                                                               \
		for (i = 0; i < count; i++) {                                  \
			so_far = sum_##number(so_far,                          \
					      ITEM_AT(const struct number,     \
						      data, i, stride));       \
			ITEM_AT(struct number, to, i + 1, to_stride) = so_far; \
		}                                                              \
	}                                                                      \
	static void add_##number##_rows(void *result, const char *rows,        \
					int64_t stride, int64_t count)         \
	{                                                                      \
		part_rows(result, rows, stride, 2 * count);                    \
	}                                                                      \
	static void add_##number##_placing(char *target, int64_t stride,       \
					   const int64_t *indices,             \
					   int64_t count, const char *values,  \
					   int64_t values_stride)              \
	{                                                                      \
		int64_t i;                                                     \
                                                                               \
		for (i = 0; i < count; i++) {                                  \
			struct number *at =                                    \
				(void *)(target + indices[i] * stride);        \
                                                                               \
			*at = sum_##number(*at,                                \
					   ITEM_AT(const struct number,        \
						   values, i, values_stride)); \
		}                                                              \
	}

PAIRWISE_COMPLEX(float, dray_complex64)
PAIRWISE_COMPLEX(double, dray_complex128)
SUM_OF(dray_complex64, add_float_rows)
SUM_OF(dray_complex128, add_double_rows)

/* Halves are added as floats, and the sum rounds once. */
static float pairs_half(const char *data, int64_t stride, int64_t count)
{
	const int64_t half = half_of(count);
	float floats[LEAF];

	if (count > LEAF)
		return pairs_half(data, stride, half) +
		       pairs_half(data + half * stride, stride, count - half);
	dray_halves_to_floats(floats, data, stride, count);
	return leaf_float(floats, count);
}

DRAY_LINE_LOOP(add_half_line)
{
	const float sum = dray_half_to_float(*(uint16_t *)result) +
			  pairs_half(data, stride, count);

	dray_floats_to_halves(result, 0, &sum, 1);
}

/* Others are computed as floats in their order, and round once, too. */
#define HALVES(name, op)                                                    \
	DRAY_LINE_LOOP(name##_half_line)                                    \
	{                                                                   \
		float so_far = dray_half_to_float(*(uint16_t *)result);     \
		float floats[LEAF];                                         \
		int64_t piece, i;                                           \
                                                                            \
		for (; count; count -= piece, data += piece * stride) {     \
			piece = count < LEAF ? count : LEAF;                \
			dray_halves_to_floats(floats, data, stride, piece); \
			for (i = 0; i < piece; i++)                         \
				so_far = op(so_far, floats[i]);             \
		}                                                           \
		dray_floats_to_halves(result, 0, &so_far, 1);               \
	}

HALVES(multiply, MULTIPLY)
HALVES(subtract, SUBTRACT)
HALVES(divide, DIVIDE)

#define INTEGERS(T)                             \
	DRAY_LINES_OF_INTEGERS(add_##T, T, ADD) \
	DRAY_LINES_OF_INTEGERS(subtract_##T, T, SUBTRACT)

INTEGERS(uint8_t)
INTEGERS(uint16_t)
INTEGERS(uint32_t)
INTEGERS(uint64_t)
DRAY_LINES_OF_INTEGERS(multiply_uint8_t, uint8_t, MULTIPLY)
DRAY_LINES_OF_INTEGERS(multiply_uint16_t, uint16_t, MULTIPLY_16)
DRAY_LINES_OF_INTEGERS(multiply_uint32_t, uint32_t, MULTIPLY)
DRAY_LINES_OF_INTEGERS(multiply_uint64_t, uint64_t, MULTIPLY)

#define AS_IT_IS(x) (x)
#define TRUTH_OF(x) ((x) != 0)

/* Sums of smaller integers as 64 bits; parts of them as P. */
#define WIDENED(name, T, P, of)                                     \
	DRAY_LINE_LOOP(sum_##name)                                  \
	{                                                           \
		const T *const dense = (const void *)data;          \
		uint64_t sum = *(uint64_t *)result;                 \
		int64_t i = 0, end;                                 \
                                                                    \
		while (stride == sizeof(T) && i < count) {          \
			P part = 0;                                 \
                                                                    \
			end = count - i < PART ? count : i + PART;  \
			for (; i < end; i++)                        \
				part += (P)of(dense[i]);            \
			sum += (uint64_t)part;                      \
		}                                                   \
		for (; i < count; i++)                              \
			sum += (uint64_t)of(                        \
				ITEM_AT(const T, data, i, stride)); \
		*(uint64_t *)result = sum;                          \
	}

WIDENED(bool, uint8_t, uint32_t, TRUTH_OF)
WIDENED(int8_t, int8_t, int32_t, AS_IT_IS)
WIDENED(int16_t, int16_t, int32_t, AS_IT_IS)
WIDENED(int32_t, int32_t, int64_t, AS_IT_IS)
WIDENED(uint8_t, uint8_t, uint32_t, AS_IT_IS)
WIDENED(uint16_t, uint16_t, uint32_t, AS_IT_IS)
WIDENED(uint32_t, uint32_t, uint64_t, AS_IT_IS)

#define ENTRIES(name)                                                 \
	DRAY_LINE_ENTRY(#name, DRAY_INT8, name##_uint8_t),            \
		DRAY_LINE_ENTRY(#name, DRAY_UINT8, name##_uint8_t),   \
		DRAY_LINE_ENTRY(#name, DRAY_INT16, name##_uint16_t),  \
		DRAY_LINE_ENTRY(#name, DRAY_UINT16, name##_uint16_t), \
		DRAY_LINE_ENTRY(#name, DRAY_INT32, name##_uint32_t),  \
		DRAY_LINE_ENTRY(#name, DRAY_UINT32, name##_uint32_t), \
		DRAY_LINE_ENTRY(#name, DRAY_INT64, name##_uint64_t),  \
		DRAY_LINE_ENTRY(#name, DRAY_UINT64, name##_uint64_t), \
		DRAY_LINE_ENTRY(#name, DRAY_FLOAT32, name##_float),   \
		DRAY_LINE_ENTRY(#name, DRAY_FLOAT64, name##_double)

static const struct dray_line lines[] = {
	ENTRIES(add),
	ENTRIES(multiply),
	ENTRIES(subtract),
	DRAY_LINE_ENTRY("add", DRAY_COMPLEX64, add_dray_complex64),
	DRAY_LINE_ENTRY("add", DRAY_COMPLEX128, add_dray_complex128),
	DRAY_LINE_FROM("add", DRAY_FLOAT16, DRAY_FLOAT16, add_half_line),
	DRAY_LINE_FROM("multiply", DRAY_COMPLEX64, DRAY_COMPLEX64,
		       multiply_dray_complex64_line),
	DRAY_LINE_FROM("multiply", DRAY_COMPLEX128, DRAY_COMPLEX128,
		       multiply_dray_complex128_line),
	DRAY_LINE_FROM("multiply", DRAY_FLOAT16, DRAY_FLOAT16,
		       multiply_half_line),
	DRAY_LINE_FROM("subtract", DRAY_FLOAT16, DRAY_FLOAT16,
		       subtract_half_line),
	DRAY_LINE_FROM("divide", DRAY_FLOAT16, DRAY_FLOAT16, divide_half_line),
	DRAY_LINE_FROM("add", DRAY_INT64, DRAY_BOOL, sum_bool),
	DRAY_LINE_FROM("add", DRAY_INT64, DRAY_INT8, sum_int8_t),
	DRAY_LINE_FROM("add", DRAY_INT64, DRAY_INT16, sum_int16_t),
	DRAY_LINE_FROM("add", DRAY_INT64, DRAY_INT32, sum_int32_t),
	DRAY_LINE_FROM("add", DRAY_UINT64, DRAY_UINT8, sum_uint8_t),
	DRAY_LINE_FROM("add", DRAY_UINT64, DRAY_UINT16, sum_uint16_t),
	DRAY_LINE_FROM("add", DRAY_UINT64, DRAY_UINT32, sum_uint32_t),
};

DRAY_LINES_LIST(sum, lines);

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Squares and reciprocals. */
#include "loops/half_loops.h"

#define SQUARE(a) ((a) * (a))
#define SQUARE_16(a) ((uint32_t)(a) * (a))
DRAY_UNARY(square_8, uint8_t, uint8_t, SQUARE)
DRAY_UNARY(square_16, uint16_t, uint16_t, SQUARE_16)
DRAY_UNARY(square_32, uint32_t, uint32_t, SQUARE)
DRAY_UNARY(square_64, uint64_t, uint64_t, SQUARE)
DRAY_UNARY(square_float, float, float, SQUARE)
DRAY_UNARY(square_double, double, double, SQUARE)
DRAY_HALF_OF(square_half, square_float);

#define RECIPROCAL(a) (1 / (a))
DRAY_UNARY(reciprocal_float, float, float, RECIPROCAL)
DRAY_UNARY(reciprocal_double, double, double, RECIPROCAL)
DRAY_HALF_OF(reciprocal_half, reciprocal_float);

#define COMPLEX(number, bits, T, negative)                                   \
	DRAY_INLINE struct number square_of_##bits(struct number a)          \
	{                                                                    \
		return (struct number){ a.re * a.re + a.im * negative(a.im), \
					a.re * a.im + a.im * a.re };         \
	}                                                                    \
	DRAY_INLINE struct number reciprocal_of_##bits(struct number a)      \
	{                                                                    \
		if (fabs_##bits(a.im) <= fabs_##bits(a.re)) {                \
			const T ratio = a.im / a.re;                         \
			const T size = a.re + a.im * ratio;                  \
                                                                             \
			return (struct number){ 1 / size, -ratio / size };   \
		} else {                                                     \
			const T ratio = a.re / a.im;                         \
			const T size = a.re * ratio + a.im;                  \
                                                                             \
			return (struct number){ ratio / size, -1 / size };   \
		}                                                            \
	}                                                                    \
	DRAY_UNARY(square_complex##bits, struct number, struct number,       \
		   square_of_##bits)                                         \
	DRAY_UNARY_SINGLY(reciprocal_complex##bits, struct number,           \
			  struct number, reciprocal_of_##bits)

#define fabs_64 __builtin_fabsf
#define fabs_128 __builtin_fabs
COMPLEX(dray_complex64, 64, float, dray_negative_float)
COMPLEX(dray_complex128, 128, double, dray_negative_double)

/*
 * Of integers it is 0 but for 1 and -1; that of 0 is infinite, which becomes the
 * least number of 32 and 64 bits with a sign, and 0 otherwise, as in NumPy.
 */
#define INTEGER(suffix, T, infinite)                                           \
	DRAY_INLINE T inverse_of_##suffix(T a, T *zero)                        \
	{                                                                      \
		const bool one = (a == 1) | (DRAY_BELOW_0(a) & (a == (T)-1));  \
                                                                               \
		*zero |= a == 0;                                               \
		return (T)(one ? a : a ? 0 : (infinite));                      \
	}                                                                      \
	DRAY_LOOP(reciprocal_##suffix)                                         \
	{                                                                      \
		char *const in = data[0], *const out = data[1];                \
		const int64_t step = strides[0], out_step = strides[1];        \
		const T *const dense = (const void *)in;                       \
		T *const to = (void *)out;                                     \
		T zero = 0;                                                    \
		int64_t i;                                                     \
                                                                               \
		if (step == sizeof(T) && out_step == sizeof(T) &&              \
		    dray_is_apart(out, in, count * step)) {                    \
			DRAY_EACH for (i = 0; i < count; i++) to[i] =          \
				inverse_of_##suffix(dense[i], &zero);          \
		} else {                                                       \
			for (i = 0; i < count; i++) {                          \
				DRAY_SINGLY;                                   \
				ITEM_AT(T, out, i, out_step) =                 \
					inverse_of_##suffix(                   \
						ITEM_AT(const T, in, i, step), \
						&zero);                        \
			}                                                      \
		}                                                              \
		if (zero) {                                                    \
			dray_raise_divide();                                   \
			dray_raise_invalid();                                  \
		}                                                              \
		return 0;                                                      \
	}

INTEGER(i8, int8_t, 0)
INTEGER(8, uint8_t, 0)
INTEGER(i16, int16_t, 0)
INTEGER(16, uint16_t, 0)
INTEGER(i32, int32_t, INT32_MIN)
INTEGER(32, uint32_t, 0)
INTEGER(i64, int64_t, INT64_MIN)
INTEGER(64, uint64_t, 0)

#define FLOAT_ENTRIES(name)                                  \
	DRAY_HALF_ENTRY("ee", dray_half_unary, name##_half), \
		DRAY_ENTRY("ff", name##_float),              \
		DRAY_ENTRY("dd", name##_double),             \
		DRAY_ENTRY("FF", name##_complex64),          \
		DRAY_ENTRY("DD", name##_complex128)

static const struct dray_loop_entry square[] = {
	DRAY_QUIET("bb", square_8),  DRAY_QUIET("BB", square_8),
	DRAY_QUIET("hh", square_16), DRAY_QUIET("HH", square_16),
	DRAY_QUIET("ii", square_32), DRAY_QUIET("II", square_32),
	DRAY_QUIET("qq", square_64), DRAY_QUIET("QQ", square_64),
	FLOAT_ENTRIES(square),
};

static const struct dray_loop_entry reciprocal[] = {
	DRAY_ENTRY("bb", reciprocal_i8),  DRAY_ENTRY("BB", reciprocal_8),
	DRAY_ENTRY("hh", reciprocal_i16), DRAY_ENTRY("HH", reciprocal_16),
	DRAY_ENTRY("ii", reciprocal_i32), DRAY_ENTRY("II", reciprocal_32),
	DRAY_ENTRY("qq", reciprocal_i64), DRAY_ENTRY("QQ", reciprocal_64),
	FLOAT_ENTRIES(reciprocal),
};

static const struct dray_ufunc_definition definitions[] = {
	{ "square", 1, 1, DRAY_IDENTITY_NONE, square, DRAY_COUNT(square),
	  NULL },
	{ "reciprocal", 1, 1, DRAY_IDENTITY_NONE, reciprocal,
	  DRAY_COUNT(reciprocal), NULL },
};

DRAY_LOOPS_LIST(powers, definitions);

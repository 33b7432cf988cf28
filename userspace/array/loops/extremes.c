// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The larger and the lesser of two.  maximum and minimum give a NaN if there is
 * one, fmax and fmin the other number.  Of equal floats and doubles it is the
 * second one, of others the first, as NumPy's vectors have it.
 */
#include "loops/half_order.h"
#include "loops/times.h"

#define MORE(a, b) ((a) > (b) ? (a) : (b))
#define LESSER(a, b) ((a) < (b) ? (a) : (b))
#define IS_NAN(a) ((a) != (a))

/* The instruction of a processor, which takes the second beside a NaN, and a look at it. */
#define FLOATS(T)                              \
	DRAY_INLINE T maximum_of_##T(T a, T b) \
	{                                      \
		const T best = MORE(a, b);     \
                                               \
		return IS_NAN(a) ? a : best;   \
	}                                      \
	DRAY_INLINE T minimum_of_##T(T a, T b) \
	{                                      \
		const T best = LESSER(a, b);   \
                                               \
		return IS_NAN(a) ? a : best;   \
	}                                      \
	DRAY_INLINE T fmax_of_##T(T a, T b)    \
	{                                      \
		const T best = MORE(a, b);     \
                                               \
		return IS_NAN(b) ? a : best;   \
	}                                      \
	DRAY_INLINE T fmin_of_##T(T a, T b)    \
	{                                      \
		const T best = LESSER(a, b);   \
                                               \
		return IS_NAN(b) ? a : best;   \
	}

FLOATS(float)
FLOATS(double)

#define INTEGER(name, T)                           \
	DRAY_BINARY(maximum_##name, T, T, T, MORE) \
	DRAY_BINARY(minimum_##name, T, T, T, LESSER)

INTEGER(i8, int8_t)
INTEGER(8, uint8_t)
INTEGER(i16, int16_t)
INTEGER(16, uint16_t)
INTEGER(i32, int32_t)
INTEGER(32, uint32_t)
INTEGER(i64, int64_t)
INTEGER(64, uint64_t)

#define REAL(name, T, maximum, minimum, fmax, fmin)   \
	DRAY_BINARY(maximum_##name, T, T, T, maximum) \
	DRAY_BINARY(minimum_##name, T, T, T, minimum) \
	DRAY_BINARY(fmax_##name, T, T, T, fmax)       \
	DRAY_BINARY(fmin_##name, T, T, T, fmin)

REAL(float, float, maximum_of_float, minimum_of_float, fmax_of_float,
     fmin_of_float)
REAL(double, double, maximum_of_double, minimum_of_double, fmax_of_double,
     fmin_of_double)

#define HALF_MAXIMUM(a, b) \
	(dray_half_less_equal(b, a) | dray_half_is_nan(a) ? (a) : (b))
#define HALF_MINIMUM(a, b) \
	(dray_half_less_equal(a, b) | dray_half_is_nan(a) ? (a) : (b))
#define HALF_FMAX(a, b) \
	(dray_half_less_equal(b, a) | dray_half_is_nan(b) ? (a) : (b))
#define HALF_FMIN(a, b) \
	(dray_half_less_equal(a, b) | dray_half_is_nan(b) ? (a) : (b))
REAL(half, uint16_t, HALF_MAXIMUM, HALF_MINIMUM, HALF_FMAX, HALF_FMIN)

/* Complex numbers by their first parts, then by their second ones. */
#define HAS_NAN(a) (IS_NAN((a).re) | IS_NAN((a).im))
#define AT_LEAST(a, b)                                             \
	((((a).re > (b).re) & !IS_NAN((a).im) & !IS_NAN((b).im)) | \
	 (((a).re == (b).re) & ((a).im >= (b).im)))
#define COMPLEX(number, bits)                                              \
	DRAY_INLINE struct number pick_##bits(bool first, struct number a, \
					      struct number b)             \
	{                                                                  \
		return (struct number){ first ? a.re : b.re,               \
					first ? a.im : b.im };             \
	}                                                                  \
	DRAY_INLINE struct number maximum_of_##bits(struct number a,       \
						    struct number b)       \
	{                                                                  \
		return pick_##bits(HAS_NAN(a) | AT_LEAST(a, b), a, b);     \
	}                                                                  \
	DRAY_INLINE struct number minimum_of_##bits(struct number a,       \
						    struct number b)       \
	{                                                                  \
		return pick_##bits(HAS_NAN(a) | AT_LEAST(b, a), a, b);     \
	}                                                                  \
	DRAY_INLINE struct number fmax_of_##bits(struct number a,          \
						 struct number b)          \
	{                                                                  \
		return pick_##bits(HAS_NAN(b) | AT_LEAST(a, b), a, b);     \
	}                                                                  \
	DRAY_INLINE struct number fmin_of_##bits(struct number a,          \
						 struct number b)          \
	{                                                                  \
		return pick_##bits(HAS_NAN(b) | AT_LEAST(b, a), a, b);     \
	}                                                                  \
	REAL(complex##bits, struct number, maximum_of_##bits,              \
	     minimum_of_##bits, fmax_of_##bits, fmin_of_##bits)

COMPLEX(dray_complex64, 64)
COMPLEX(dray_complex128, 128)

#define TRUE_OR(a, b) (!!(a) | !!(b))
#define TRUE_AND(a, b) (!!(a) & !!(b))
DRAY_BINARY(maximum_bool, uint8_t, uint8_t, uint8_t, TRUE_OR)
DRAY_BINARY(minimum_bool, uint8_t, uint8_t, uint8_t, TRUE_AND)

#define ENTRIES(name, integers)                                  \
	static const struct dray_loop_entry name##_entries[] = { \
		DRAY_QUIET("???", integers##_bool),              \
		DRAY_QUIET("bbb", integers##_i8),                \
		DRAY_QUIET("BBB", integers##_8),                 \
		DRAY_QUIET("hhh", integers##_i16),               \
		DRAY_QUIET("HHH", integers##_16),                \
		DRAY_QUIET("iii", integers##_i32),               \
		DRAY_QUIET("III", integers##_32),                \
		DRAY_QUIET("qqq", integers##_i64),               \
		DRAY_QUIET("QQQ", integers##_64),                \
		DRAY_QUIET("eee", name##_half),                  \
		DRAY_QUIET("fff", name##_float),                 \
		DRAY_QUIET("ddd", name##_double),                \
		DRAY_QUIET("FFF", name##_complex64),             \
		DRAY_QUIET("DDD", name##_complex128),            \
		DRAY_QUIET("mmm", dray_time_##name),             \
		DRAY_QUIET("MMM", dray_time_##name),             \
	}

ENTRIES(maximum, maximum);
ENTRIES(minimum, minimum);
ENTRIES(fmax, maximum);
ENTRIES(fmin, minimum);

#define DEFINITION(name)                                                \
	{                                                               \
#name, 2, 1, DRAY_IDENTITY_REORDERABLE, name##_entries, \
			DRAY_COUNT(name##_entries), dray_resolve_common \
	}

static const struct dray_ufunc_definition definitions[] = {
	DEFINITION(maximum),
	DEFINITION(minimum),
	DEFINITION(fmax),
	DEFINITION(fmin),
};

DRAY_LOOPS_LIST(extremes, definitions);

/*
 * The lesser of a bound and the larger of another bound and an element, in a pass:
 * bit by bit what minimum(maximum(x, low), high) gives.
 */
#define CLIP_OF(T)                                                       \
	DRAY_INLINE T clip_of_##T(T x, T low, T high)                    \
	{                                                                \
		const T above = MORE(x, low);                            \
		const T best = LESSER(above, high);                      \
                                                                         \
		return IS_NAN(x) ? x : best; /* as bounds are numbers */ \
	}
CLIP_OF(float)
CLIP_OF(double)
#define ARE_NUMBERS(low, high) (!IS_NAN(low) && !IS_NAN(high))
#define ARE_ALL(low, high) true
#define CLIP_INTEGER(x, low, high) LESSER(MORE(x, low), high)
#define CLIP_HALF(x, low, high) clip_of_half(x, low, high)
DRAY_INLINE uint16_t clip_of_half(uint16_t x, uint16_t low, uint16_t high)
{
	const uint16_t above = HALF_MAXIMUM(x, low);

	return HALF_MINIMUM(above, high);
}

/* @are_simple: whether @clip does for these bounds */
#define CLIP(name, T, maximum, minimum, are_simple, clip)                     \
	DRAY_LOOP(clip_##name)                                                \
	{                                                                     \
		char *const in = data[0], *const out = data[3];               \
		const int64_t step = strides[0], out_step = strides[3];       \
		const T *const dense = (const void *)in;                      \
		T *const to = (void *)out;                                    \
		int64_t i;                                                    \
                                                                              \
		if (step == sizeof(T) && out_step == sizeof(T) &&             \
		    !strides[1] && !strides[2] &&                             \
		    dray_is_apart(out, in, count * step)) {                   \
			const T low = ITEM_AT(const T, data[1], 0, 0);        \
			const T high = ITEM_AT(const T, data[2], 0, 0);       \
                                                                              \
			if (are_simple(low, high)) {                          \
				DRAY_EACH for (i = 0; i < count; i++) to[i] = \
					(T)clip(dense[i], low, high);         \
				return 0;                                     \
			}                                                     \
		}                                                             \
		DRAY_TURNS for (i = 0; i < count; i++)                        \
		{                                                             \
			const T x = ITEM_AT(const T, in, i, step);            \
			const T low =                                         \
				ITEM_AT(const T, data[1], i, strides[1]);     \
			const T high =                                        \
				ITEM_AT(const T, data[2], i, strides[2]);     \
			T above;                                              \
                                                                              \
			DRAY_SINGLY;                                          \
			above = maximum(x, low);                              \
			ITEM_AT(T, out, i, out_step) = minimum(above, high);  \
		}                                                             \
		return 0;                                                     \
	}

CLIP(i8, int8_t, MORE, LESSER, ARE_ALL, CLIP_INTEGER)
CLIP(8, uint8_t, MORE, LESSER, ARE_ALL, CLIP_INTEGER)
CLIP(i16, int16_t, MORE, LESSER, ARE_ALL, CLIP_INTEGER)
CLIP(16, uint16_t, MORE, LESSER, ARE_ALL, CLIP_INTEGER)
CLIP(i32, int32_t, MORE, LESSER, ARE_ALL, CLIP_INTEGER)
CLIP(32, uint32_t, MORE, LESSER, ARE_ALL, CLIP_INTEGER)
CLIP(i64, int64_t, MORE, LESSER, ARE_ALL, CLIP_INTEGER)
CLIP(64, uint64_t, MORE, LESSER, ARE_ALL, CLIP_INTEGER)
CLIP(half, uint16_t, HALF_MAXIMUM, HALF_MINIMUM, ARE_ALL, CLIP_HALF)
CLIP(float, float, maximum_of_float, minimum_of_float, ARE_NUMBERS,
     clip_of_float)
CLIP(double, double, maximum_of_double, minimum_of_double, ARE_NUMBERS,
     clip_of_double)

static const struct dray_loop_entry clip_entries[] = {
	DRAY_QUIET("bbbb", clip_i8),	 DRAY_QUIET("BBBB", clip_8),
	DRAY_QUIET("hhhh", clip_i16),	 DRAY_QUIET("HHHH", clip_16),
	DRAY_QUIET("iiii", clip_i32),	 DRAY_QUIET("IIII", clip_32),
	DRAY_QUIET("qqqq", clip_i64),	 DRAY_QUIET("QQQQ", clip_64),
	DRAY_QUIET("eeee", clip_half),	 DRAY_QUIET("ffff", clip_float),
	DRAY_QUIET("dddd", clip_double),
};

static const struct dray_ufunc_definition clip_definitions[] = {
	{ "clip", 3, 1, DRAY_IDENTITY_NONE, clip_entries,
	  DRAY_COUNT(clip_entries), NULL },
};

DRAY_LOOPS_LIST(clip, clip_definitions);

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* And, or, exclusive or, and not, of the truth of numbers: 0 is false, NaN true. */
#include "loops/form.h"

#define TRUTH(a) ((a) != 0)
#define HALF_TRUTH(a) (((a)&0x7fff) != 0)
#define COMPLEX_TRUTH(a) (((a).re != 0) | ((a).im != 0))

/* The truth of a type in functions of two numbers and of one. */
#define TYPE(suffix, T, truth)                                  \
	DRAY_INLINE bool both_##suffix(T a, T b)                \
	{                                                       \
		return truth(a) & truth(b);                     \
	}                                                       \
	DRAY_INLINE bool any_##suffix(T a, T b)                 \
	{                                                       \
		return truth(a) | truth(b);                     \
	}                                                       \
	DRAY_INLINE bool one_##suffix(T a, T b)                 \
	{                                                       \
		return truth(a) ^ truth(b);                     \
	}                                                       \
	DRAY_INLINE bool none_##suffix(T a)                     \
	{                                                       \
		return !truth(a);                               \
	}                                                       \
	DRAY_BINARY(and_##suffix, T, T, uint8_t, both_##suffix) \
	DRAY_BINARY(or_##suffix, T, T, uint8_t, any_##suffix)   \
	DRAY_BINARY(xor_##suffix, T, T, uint8_t, one_##suffix)  \
	DRAY_UNARY(not_##suffix, T, uint8_t, none_##suffix)

TYPE(8, uint8_t, TRUTH)
TYPE(16, uint16_t, TRUTH)
TYPE(32, uint32_t, TRUTH)
TYPE(64, uint64_t, TRUTH)
TYPE(half, uint16_t, HALF_TRUTH)
TYPE(float, float, TRUTH)
TYPE(double, double, TRUTH)
TYPE(complex64, struct dray_complex64, COMPLEX_TRUTH)
TYPE(complex128, struct dray_complex128, COMPLEX_TRUTH)

#define ENTRIES(name)                                            \
	static const struct dray_loop_entry logical_##name[] = { \
		DRAY_QUIET("???", name##_8),                     \
		DRAY_QUIET("bb?", name##_8),                     \
		DRAY_QUIET("BB?", name##_8),                     \
		DRAY_QUIET("hh?", name##_16),                    \
		DRAY_QUIET("HH?", name##_16),                    \
		DRAY_QUIET("ii?", name##_32),                    \
		DRAY_QUIET("II?", name##_32),                    \
		DRAY_QUIET("qq?", name##_64),                    \
		DRAY_QUIET("QQ?", name##_64),                    \
		DRAY_QUIET("ee?", name##_half),                  \
		DRAY_QUIET("ff?", name##_float),                 \
		DRAY_QUIET("dd?", name##_double),                \
		DRAY_QUIET("FF?", name##_complex64),             \
		DRAY_QUIET("DD?", name##_complex128),            \
	}

ENTRIES(and);
ENTRIES(or);
ENTRIES(xor);

static const struct dray_loop_entry logical_not[] = {
	DRAY_QUIET("??", not_8),	 DRAY_QUIET("b?", not_8),
	DRAY_QUIET("B?", not_8),	 DRAY_QUIET("h?", not_16),
	DRAY_QUIET("H?", not_16),	 DRAY_QUIET("i?", not_32),
	DRAY_QUIET("I?", not_32),	 DRAY_QUIET("q?", not_64),
	DRAY_QUIET("Q?", not_64),	 DRAY_QUIET("e?", not_half),
	DRAY_QUIET("f?", not_float),	 DRAY_QUIET("d?", not_double),
	DRAY_QUIET("F?", not_complex64), DRAY_QUIET("D?", not_complex128),
};

static const struct dray_ufunc_definition definitions[] = {
	{ "logical_and", 2, 1, DRAY_IDENTITY_ONE, logical_and,
	  DRAY_COUNT(logical_and), NULL },
	{ "logical_or", 2, 1, DRAY_IDENTITY_ZERO, logical_or,
	  DRAY_COUNT(logical_or), NULL },
	{ "logical_xor", 2, 1, DRAY_IDENTITY_ZERO, logical_xor,
	  DRAY_COUNT(logical_xor), NULL },
	{ "logical_not", 1, 1, DRAY_IDENTITY_NONE, logical_not,
	  DRAY_COUNT(logical_not), NULL },
};

DRAY_LOOPS_LIST(logical, definitions);

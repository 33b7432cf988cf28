// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Comparisons.  A vector's own raise an exception for a NaN, so those of floats
 * are marked as raising none that counts.  "Greater" is "less" turned round.
 */
#include "loops/half_order.h"
#include "loops/times.h"

#define EQUAL(a, b) ((a) == (b))
#define NOT_EQUAL(a, b) ((a) != (b))
#define LESS(a, b) ((a) < (b))
#define LESS_EQUAL(a, b) ((a) <= (b))

/* A sign is nothing to equality. */
#define SAME(name, op)                                          \
	DRAY_BINARY(name##_8, uint8_t, uint8_t, uint8_t, op)    \
	DRAY_BINARY(name##_16, uint16_t, uint16_t, uint8_t, op) \
	DRAY_BINARY(name##_32, uint32_t, uint32_t, uint8_t, op) \
	DRAY_BINARY(name##_64, uint64_t, uint64_t, uint8_t, op) \
	DRAY_BINARY(name##_float, float, float, uint8_t, op)    \
	DRAY_BINARY(name##_double, double, double, uint8_t, op)

#define ORDER(name, op)                                        \
	SAME(name, op)                                         \
	DRAY_BINARY(name##_i8, int8_t, int8_t, uint8_t, op)    \
	DRAY_BINARY(name##_i16, int16_t, int16_t, uint8_t, op) \
	DRAY_BINARY(name##_i32, int32_t, int32_t, uint8_t, op) \
	DRAY_BINARY(name##_i64, int64_t, int64_t, uint8_t, op)

SAME(equal, EQUAL)
SAME(not_equal, NOT_EQUAL)
ORDER(less, LESS)
ORDER(less_equal, LESS_EQUAL)

/* Any byte other than 0 is true. */
#define TRUE_EQUAL(a, b) (!(a) == !(b))
#define TRUE_NOT_EQUAL(a, b) (!(a) != !(b))
#define TRUE_LESS(a, b) (!(a) & !!(b))
#define TRUE_LESS_EQUAL(a, b) (!(a) | !!(b))
DRAY_BINARY(equal_bool, uint8_t, uint8_t, uint8_t, TRUE_EQUAL)
DRAY_BINARY(not_equal_bool, uint8_t, uint8_t, uint8_t, TRUE_NOT_EQUAL)
DRAY_BINARY(less_bool, uint8_t, uint8_t, uint8_t, TRUE_LESS)
DRAY_BINARY(less_equal_bool, uint8_t, uint8_t, uint8_t, TRUE_LESS_EQUAL)

#define HALF_NOT_EQUAL(a, b) (!dray_half_equal(a, b))
DRAY_BINARY(equal_half, uint16_t, uint16_t, uint8_t, dray_half_equal)
DRAY_BINARY(not_equal_half, uint16_t, uint16_t, uint8_t, HALF_NOT_EQUAL)
DRAY_BINARY(less_half, uint16_t, uint16_t, uint8_t, dray_half_less)
DRAY_BINARY(less_equal_half, uint16_t, uint16_t, uint8_t, dray_half_less_equal)

/* int64 with uint64, exactly: a number below 0 is less than any other. */
#define qQ_EQUAL(a, b) (((a) >= 0) & ((uint64_t)(a) == (b)))
#define qQ_NOT_EQUAL(a, b) (((a) < 0) | ((uint64_t)(a) != (b)))
#define qQ_LESS(a, b) (((a) < 0) | ((uint64_t)(a) < (b)))
#define qQ_LESS_EQUAL(a, b) (((a) < 0) | ((uint64_t)(a) <= (b)))
#define Qq_LESS(a, b) (((b) >= 0) & ((a) < (uint64_t)(b)))
#define Qq_LESS_EQUAL(a, b) (((b) >= 0) & ((a) <= (uint64_t)(b)))
DRAY_BINARY(equal_qQ, int64_t, uint64_t, uint8_t, qQ_EQUAL)
DRAY_BINARY(not_equal_qQ, int64_t, uint64_t, uint8_t, qQ_NOT_EQUAL)
DRAY_BINARY(less_qQ, int64_t, uint64_t, uint8_t, qQ_LESS)
DRAY_BINARY(less_equal_qQ, int64_t, uint64_t, uint8_t, qQ_LESS_EQUAL)
DRAY_BINARY(less_Qq, uint64_t, int64_t, uint8_t, Qq_LESS)
DRAY_BINARY(less_equal_Qq, uint64_t, int64_t, uint8_t, Qq_LESS_EQUAL)

/* Complex numbers are ordered by their first part, then by the second. */
#define C_EQUAL(a, b) (((a).re == (b).re) & ((a).im == (b).im))
#define C_NOT_EQUAL(a, b) (((a).re != (b).re) | ((a).im != (b).im))
#define IS_NAN(x) ((x) != (x))
#define C_ORDER(a, op, b) \
	((((a).re op(b).re) & !IS_NAN((a).im) & !IS_NAN((b).im)))
#define C_LESS(a, b) \
	(C_ORDER(a, <, b) | (((a).re == (b).re) & ((a).im < (b).im)))
#define C_LESS_EQUAL(a, b) \
	(C_ORDER(a, <, b) | (((a).re == (b).re) & ((a).im <= (b).im)))
#define COMPLEX_NUMBERS(name, op)                              \
	DRAY_BINARY(name##_complex64, struct dray_complex64,   \
		    struct dray_complex64, uint8_t, op)        \
	DRAY_BINARY(name##_complex128, struct dray_complex128, \
		    struct dray_complex128, uint8_t, op)

COMPLEX_NUMBERS(equal, C_EQUAL)
COMPLEX_NUMBERS(not_equal, C_NOT_EQUAL)
COMPLEX_NUMBERS(less, C_LESS)
COMPLEX_NUMBERS(less_equal, C_LESS_EQUAL)

/* The loop with its operands turned round: a context. */
struct turned {
	dray_loop *loop;
};

DRAY_LOOP(turn)
{
	const struct turned *const of = context;
	char *const turned[] = { data[1], data[0], data[2] };
	const int64_t steps[] = { strides[1], strides[0], strides[2] };

	return of->loop(turned, steps, count, NULL);
}

#define DIRECT(types, loop) DRAY_QUIET(types, loop)
#define TURNED(types, loop)                                                   \
	{                                                                     \
		types, turn, &(struct turned){ loop }, DRAY_LOOP_NO_FP_ERRORS \
	}

#define SAME_ENTRIES(name)                             \
	static const struct dray_loop_entry name[] = { \
		DIRECT("???", name##_bool),            \
		DIRECT("bb?", name##_8),               \
		DIRECT("BB?", name##_8),               \
		DIRECT("hh?", name##_16),              \
		DIRECT("HH?", name##_16),              \
		DIRECT("ii?", name##_32),              \
		DIRECT("II?", name##_32),              \
		DIRECT("qq?", name##_64),              \
		DIRECT("QQ?", name##_64),              \
		DIRECT("qQ?", name##_qQ),              \
		TURNED("Qq?", name##_qQ),              \
		DIRECT("ee?", name##_half),            \
		DIRECT("ff?", name##_float),           \
		DIRECT("dd?", name##_double),          \
		DIRECT("FF?", name##_complex64),       \
		DIRECT("DD?", name##_complex128),      \
		DIRECT("MM?", dray_time_##name),       \
		DIRECT("mm?", dray_time_##name),       \
	}

#define ORDER_ENTRIES(name, ENTRY, of, mixed, turned, times)                 \
	static const struct dray_loop_entry name[] = {                       \
		ENTRY("???", of##_bool),      ENTRY("bb?", of##_i8),         \
		ENTRY("BB?", of##_8),	      ENTRY("hh?", of##_i16),        \
		ENTRY("HH?", of##_16),	      ENTRY("ii?", of##_i32),        \
		ENTRY("II?", of##_32),	      ENTRY("qq?", of##_i64),        \
		ENTRY("QQ?", of##_64),	      ENTRY("qQ?", mixed),           \
		ENTRY("Qq?", turned),	      ENTRY("ee?", of##_half),       \
		ENTRY("ff?", of##_float),     ENTRY("dd?", of##_double),     \
		ENTRY("FF?", of##_complex64), ENTRY("DD?", of##_complex128), \
		DIRECT("MM?", times),	      DIRECT("mm?", times),          \
	}

SAME_ENTRIES(equal);
SAME_ENTRIES(not_equal);
ORDER_ENTRIES(less, DIRECT, less, less_qQ, less_Qq, dray_time_less);
ORDER_ENTRIES(less_equal, DIRECT, less_equal, less_equal_qQ, less_equal_Qq,
	      dray_time_less_equal);
ORDER_ENTRIES(greater, TURNED, less, less_Qq, less_qQ, dray_time_greater);
ORDER_ENTRIES(greater_equal, TURNED, less_equal, less_equal_Qq, less_equal_qQ,
	      dray_time_greater_equal);

#define DEFINITION(name)                                                 \
	{                                                                \
#name, 2, 1, DRAY_IDENTITY_NONE, name, DRAY_COUNT(name), \
			dray_resolve_common                              \
	}

static const struct dray_ufunc_definition definitions[] = {
	DEFINITION(equal),   DEFINITION(not_equal),  DEFINITION(less),
	DEFINITION(greater), DEFINITION(less_equal), DEFINITION(greater_equal),
};

DRAY_LOOPS_LIST(compare, definitions);

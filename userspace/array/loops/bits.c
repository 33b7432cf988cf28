// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Bits of integers: and, or, exclusive or, not, shifts, and how many are set. */
#include "loops/form.h"

#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))
#define NOT(a) (~(a))

#define INTEGERS(name, op)                                       \
	DRAY_BINARY(name##_8, uint8_t, uint8_t, uint8_t, op)     \
	DRAY_BINARY(name##_16, uint16_t, uint16_t, uint16_t, op) \
	DRAY_BINARY(name##_32, uint32_t, uint32_t, uint32_t, op) \
	DRAY_BINARY(name##_64, uint64_t, uint64_t, uint64_t, op)

INTEGERS(and, AND)
INTEGERS(or, OR)
INTEGERS(xor, XOR)
DRAY_UNARY(not_8, uint8_t, uint8_t, NOT)
DRAY_UNARY(not_16, uint16_t, uint16_t, NOT)
DRAY_UNARY(not_32, uint32_t, uint32_t, NOT)
DRAY_UNARY(not_64, uint64_t, uint64_t, NOT)

/* Any byte other than 0 is true. */
#define TRUE_AND(a, b) (!!(a) & !!(b))
#define TRUE_OR(a, b) (!!(a) | !!(b))
#define TRUE_XOR(a, b) (!(a) ^ !(b))
#define TRUE_NOT(a) (!(a))
DRAY_BINARY(and_bool, uint8_t, uint8_t, uint8_t, TRUE_AND)
DRAY_BINARY(or_bool, uint8_t, uint8_t, uint8_t, TRUE_OR)
DRAY_BINARY(xor_bool, uint8_t, uint8_t, uint8_t, TRUE_XOR)
DRAY_UNARY(not_bool, uint8_t, uint8_t, TRUE_NOT)

/*
 * A shift by the width or more, or by a number below 0, leaves no bit; but a
 * number below 0 that is shifted right leaves all of them.
 */
#define SHIFT_OPS(bits, wide)                                             \
	DRAY_INLINE uint##bits##_t left_of_##bits(uint##bits##_t a,       \
						  uint##bits##_t by)      \
	{                                                                 \
		const wide shifted = (wide)a << (by & (bits - 1));        \
                                                                          \
		return (uint##bits##_t)(by < bits ? shifted : 0);         \
	}                                                                 \
	DRAY_INLINE uint##bits##_t right_of_##bits(uint##bits##_t a,      \
						   uint##bits##_t by)     \
	{                                                                 \
		const wide shifted = (wide)a >> (by & (bits - 1));        \
                                                                          \
		return (uint##bits##_t)(by < bits ? shifted : 0);         \
	}                                                                 \
	DRAY_INLINE int##bits##_t right_of_i##bits(int##bits##_t a,       \
						   uint##bits##_t by)     \
	{                                                                 \
		return (int##bits##_t)(a >> (by < bits ? by : bits - 1)); \
	}                                                                 \
	DRAY_BINARY(left_##bits, uint##bits##_t, uint##bits##_t,          \
		    uint##bits##_t, left_of_##bits)                       \
	DRAY_BINARY(right_##bits, uint##bits##_t, uint##bits##_t,         \
		    uint##bits##_t, right_of_##bits)                      \
	DRAY_BINARY(right_i##bits, int##bits##_t, uint##bits##_t,         \
		    int##bits##_t, right_of_i##bits)

SHIFT_OPS(8, uint32_t)
SHIFT_OPS(16, uint32_t)
SHIFT_OPS(32, uint32_t)
SHIFT_OPS(64, uint64_t)

/* Of the absolute value; sums of neighbours, which vectors have too. */
#define COUNT_1 0x5555555555555555u
#define COUNT_2 0x3333333333333333u
#define COUNT_4 0x0f0f0f0f0f0f0f0fu

DRAY_INLINE uint8_t count_of_8(uint8_t a)
{
	a = (uint8_t)(a - (a >> 1 & 0x55));
	a = (uint8_t)((a & 0x33) + (a >> 2 & 0x33));
	return (uint8_t)((a + (a >> 4)) & 0x0f);
}

DRAY_INLINE uint8_t count_of_16(uint16_t a)
{
	a = (uint16_t)(a - (a >> 1 & 0x5555));
	a = (uint16_t)((a & 0x3333) + (a >> 2 & 0x3333));
	a = (uint16_t)((a + (a >> 4)) & 0x0f0f);
	return (uint8_t)((a + (a >> 8)) & 0x1f);
}

DRAY_INLINE uint8_t count_of_32(uint32_t a)
{
	a -= a >> 1 & (uint32_t)COUNT_1;
	a = (a & (uint32_t)COUNT_2) + (a >> 2 & (uint32_t)COUNT_2);
	a = (a + (a >> 4)) & (uint32_t)COUNT_4;
	a += a >> 8;
	return (uint8_t)((a + (a >> 16)) & 0x3f);
}

DRAY_INLINE uint8_t count_of_64(uint64_t a)
{
	a -= a >> 1 & COUNT_1;
	a = (a & COUNT_2) + (a >> 2 & COUNT_2);
	a = (a + (a >> 4)) & COUNT_4;
	a += a >> 8;
	a += a >> 16;
	return (uint8_t)((a + (a >> 32)) & 0x7f);
}

#define SIZE_COUNT(bits)                                                  \
	DRAY_INLINE uint8_t count_of_i##bits(int##bits##_t a)             \
	{                                                                 \
		const uint##bits##_t size = (uint##bits##_t)a;            \
                                                                          \
		return count_of_##bits(a < 0 ? (uint##bits##_t)(0 - size) \
					     : size);                     \
	}                                                                 \
	DRAY_UNARY_BLOCKS(count_##bits, uint##bits##_t, uint8_t,          \
			  count_of_##bits)                                \
	DRAY_UNARY_BLOCKS(count_i##bits, int##bits##_t, uint8_t,          \
			  count_of_i##bits)

SIZE_COUNT(8)
SIZE_COUNT(16)
SIZE_COUNT(32)
SIZE_COUNT(64)

#define ENTRIES(name)                                                       \
	DRAY_QUIET("bbb", name##_8), DRAY_QUIET("BBB", name##_8),           \
		DRAY_QUIET("hhh", name##_16), DRAY_QUIET("HHH", name##_16), \
		DRAY_QUIET("iii", name##_32), DRAY_QUIET("III", name##_32), \
		DRAY_QUIET("qqq", name##_64), DRAY_QUIET("QQQ", name##_64)

static const struct dray_loop_entry bitwise_and[] = {
	DRAY_QUIET("???", and_bool),
	ENTRIES(and),
};

static const struct dray_loop_entry bitwise_or[] = {
	DRAY_QUIET("???", or_bool),
	ENTRIES(or),
};

static const struct dray_loop_entry bitwise_xor[] = {
	DRAY_QUIET("???", xor_bool),
	ENTRIES(xor),
};

static const struct dray_loop_entry left_shift[] = { ENTRIES(left) };

static const struct dray_loop_entry right_shift[] = {
	DRAY_QUIET("bbb", right_i8),  DRAY_QUIET("BBB", right_8),
	DRAY_QUIET("hhh", right_i16), DRAY_QUIET("HHH", right_16),
	DRAY_QUIET("iii", right_i32), DRAY_QUIET("III", right_32),
	DRAY_QUIET("qqq", right_i64), DRAY_QUIET("QQQ", right_64),
};

static const struct dray_loop_entry invert[] = {
	DRAY_QUIET("??", not_bool), DRAY_QUIET("bb", not_8),
	DRAY_QUIET("BB", not_8),    DRAY_QUIET("hh", not_16),
	DRAY_QUIET("HH", not_16),   DRAY_QUIET("ii", not_32),
	DRAY_QUIET("II", not_32),   DRAY_QUIET("qq", not_64),
	DRAY_QUIET("QQ", not_64),
};

static const struct dray_loop_entry bitwise_count[] = {
	DRAY_QUIET("bB", count_i8),  DRAY_QUIET("BB", count_8),
	DRAY_QUIET("hB", count_i16), DRAY_QUIET("HB", count_16),
	DRAY_QUIET("iB", count_i32), DRAY_QUIET("IB", count_32),
	DRAY_QUIET("qB", count_i64), DRAY_QUIET("QB", count_64),
};

#define BINARY(name, identity, entries)                                  \
	{                                                                \
		name, 2, 1, identity, entries, DRAY_COUNT(entries), NULL \
	}
#define UNARY(name, entries)                                                  \
	{                                                                     \
		name, 1, 1, DRAY_IDENTITY_NONE, entries, DRAY_COUNT(entries), \
			NULL                                                  \
	}

static const struct dray_ufunc_definition definitions[] = {
	BINARY("bitwise_and", DRAY_IDENTITY_MINUS_ONE, bitwise_and),
	BINARY("bitwise_or", DRAY_IDENTITY_ZERO, bitwise_or),
	BINARY("bitwise_xor", DRAY_IDENTITY_ZERO, bitwise_xor),
	BINARY("left_shift", DRAY_IDENTITY_NONE, left_shift),
	BINARY("right_shift", DRAY_IDENTITY_NONE, right_shift),
	BINARY("bitwise_left_shift", DRAY_IDENTITY_NONE, left_shift),
	BINARY("bitwise_right_shift", DRAY_IDENTITY_NONE, right_shift),
	UNARY("invert", invert),
	UNARY("bitwise_invert", invert),
	UNARY("bitwise_not", invert),
	UNARY("bitwise_count", bitwise_count),
};

DRAY_LOOPS_LIST(bits, definitions);

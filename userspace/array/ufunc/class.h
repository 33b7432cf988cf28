/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Classes: small numbers for the builtin numbers and bools in the machine's byte
 * order, so that the loops of most calls are found without comparing types.
 */
#ifndef DRAY_UFUNC_CLASS_H
#define DRAY_UFUNC_CLASS_H

#include <dray/dtype.h>

enum dray_loop_classes {
	DRAY_LOOP_BOOL,
	DRAY_LOOP_INT8,
	DRAY_LOOP_INT64 = DRAY_LOOP_INT8 + 3,
	DRAY_LOOP_UINT8,
	DRAY_LOOP_UINT64 = DRAY_LOOP_UINT8 + 3,
	DRAY_LOOP_FLOAT16,
	DRAY_LOOP_FLOAT64 = DRAY_LOOP_FLOAT16 + 2,
	DRAY_LOOP_COMPLEX64,
	DRAY_LOOP_COMPLEX128,
	DRAY_LOOP_CLASSES,
	DRAY_LOOP_NO_CLASS = 255,
};

/* The type of each class. */
extern const dray_dtype dray_loop_types[DRAY_LOOP_CLASSES];

/* Bit t of an entry: its class is converted to class t safely. */
extern uint16_t dray_loop_safe[DRAY_LOOP_CLASSES];

/* The class of a type, or DRAY_LOOP_NO_CLASS. */
static inline uint8_t dray_loop_class(dray_dtype dtype)
{
	/* Of each kind, the class of a size of one byte. */
	static const uint8_t first[32] = {
		['?' & 31] = DRAY_LOOP_BOOL,
		['i' & 31] = DRAY_LOOP_INT8,
		['u' & 31] = DRAY_LOOP_UINT8,
		['f' & 31] = DRAY_LOOP_FLOAT16 - 1,
		['c' & 31] = DRAY_LOOP_COMPLEX64 - 3,
	};
	const uint32_t size = (uint32_t)(dtype >> 32) | 1u << 31;
	const unsigned int class =
		first[dtype & 31] + (unsigned int)__builtin_ctz(size);

	return class < DRAY_LOOP_CLASSES && dray_loop_types[class] == dtype
		       ? (uint8_t) class
		       : DRAY_LOOP_NO_CLASS;
}

/* Its rank: 0 bool, 1 integer, 2 float, 3 complex. */
static inline int dray_loop_rank(uint8_t class)
{
	return (class >= DRAY_LOOP_INT8) + (class >= DRAY_LOOP_FLOAT16) +
	       (class >= DRAY_LOOP_COMPLEX64);
}

static inline bool dray_loop_is_integer(uint8_t class)
{
	return class >= DRAY_LOOP_INT8 && class <= DRAY_LOOP_UINT64;
}

#endif /* DRAY_UFUNC_CLASS_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * dtype: the type of an element.
 *
 * A dtype is one word of 64 bits.  If one of its low three bits is set, it is a
 * builtin type, described by the word itself: nothing is counted or allocated.
 * Else it is the address of a type object: a block of type DRAY_BLOCK_DTYPE,
 * counted and immutable, with fields, a sub-array or a user's functions.
 * (Source: DyND's two representations of a type; the kinds are NumPy's.)
 *
 * Arguments borrow a dtype.  An array keeps a reference to its own; a view
 * borrows it, as it borrows its memory.
 */
#ifndef DRAY_DTYPE_H
#define DRAY_DTYPE_H

#include <dray/block.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A type: a builtin one, or a type object.  0 stands for none. */
typedef uint64_t dray_dtype;

/**
 * The word of a builtin type; a constant expression.
 *
 * @kind: bits 0 to 7, one of "?biufcmMSUV" ('?' is a bool, which 'b' also
 *	names), as in a typestr
 * @order: bits 8 to 15: '<', '>' or '|' (bytes have no order)
 * @itemsize: bits 32 to 63, in bytes; may be 0 for S, U and V
 *
 * Bits 16 to 31 are the unit of a date or a duration, else 0.
 */
#define DRAY_DTYPE(kind, order, itemsize)                                   \
	((dray_dtype)(itemsize) << 32 | (dray_dtype)(uint8_t)(order) << 8 | \
	 (dray_dtype)(uint8_t)(kind))

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define DRAY_NATIVE_ORDER '<'
#else
#define DRAY_NATIVE_ORDER '>'
#endif

/* Builtin types in the machine's byte order. */
#define DRAY_BOOL DRAY_DTYPE('?', '|', 1)
#define DRAY_INT8 DRAY_DTYPE('i', '|', 1)
#define DRAY_INT16 DRAY_DTYPE('i', DRAY_NATIVE_ORDER, 2)
#define DRAY_INT32 DRAY_DTYPE('i', DRAY_NATIVE_ORDER, 4)
#define DRAY_INT64 DRAY_DTYPE('i', DRAY_NATIVE_ORDER, 8)
#define DRAY_UINT8 DRAY_DTYPE('u', '|', 1)
#define DRAY_UINT16 DRAY_DTYPE('u', DRAY_NATIVE_ORDER, 2)
#define DRAY_UINT32 DRAY_DTYPE('u', DRAY_NATIVE_ORDER, 4)
#define DRAY_UINT64 DRAY_DTYPE('u', DRAY_NATIVE_ORDER, 8)
#define DRAY_FLOAT16 DRAY_DTYPE('f', DRAY_NATIVE_ORDER, 2)
#define DRAY_FLOAT32 DRAY_DTYPE('f', DRAY_NATIVE_ORDER, 4)
#define DRAY_FLOAT64 DRAY_DTYPE('f', DRAY_NATIVE_ORDER, 8)
#define DRAY_COMPLEX64 DRAY_DTYPE('c', DRAY_NATIVE_ORDER, 8)
#define DRAY_COMPLEX128 DRAY_DTYPE('c', DRAY_NATIVE_ORDER, 16)
/* @size bytes: text that ends with its last byte other than 0, or raw data. */
#define DRAY_BYTES(size) DRAY_DTYPE('S', '|', size)
#define DRAY_VOID(size) DRAY_DTYPE('V', '|', size)
/* @count characters of UCS-4 */
#define DRAY_UNICODE(count) \
	DRAY_DTYPE('U', DRAY_NATIVE_ORDER, (dray_dtype)4 * (count))

/*
 * Units of dates and durations: the low four bits of a unit, of which the other
 * twelve are its multiple, 1 to 4095.  0 is the generic unit, of multiple 1.
 */
enum dray_unit {
	DRAY_UNIT_GENERIC = 0,
	DRAY_UNIT_YEAR,
	DRAY_UNIT_MONTH,
	DRAY_UNIT_WEEK,
	DRAY_UNIT_DAY,
	DRAY_UNIT_HOUR,
	DRAY_UNIT_MINUTE,
	DRAY_UNIT_SECOND,
	DRAY_UNIT_MILLISECOND,
	DRAY_UNIT_MICROSECOND,
	DRAY_UNIT_NANOSECOND,
	DRAY_UNIT_PICOSECOND,
	DRAY_UNIT_FEMTOSECOND,
	DRAY_UNIT_ATTOSECOND,
};

/* Dates and durations of @multiple times @unit, an int64_t each. */
#define DRAY_TIME(kind, unit, multiple)                             \
	(DRAY_DTYPE(kind, DRAY_NATIVE_ORDER, 8) |                   \
	 (dray_dtype)((unit) ? (multiple) << 4 | (unit) : 0) << 16)
#define DRAY_DATETIME64(unit, multiple)	 DRAY_TIME('M', unit, multiple)
#define DRAY_TIMEDELTA64(unit, multiple) DRAY_TIME('m', unit, multiple)

/**
 * A loop over elements, as casts and functions of elements have it: operand i's
 * are at data[i], data[i] + strides[i], ...
 *
 * @strides: bytes, one for each operand; may be 0 or negative
 * @count: elements, 1 or more
 * @context: of the one who chose the loop
 *
 * Returns 0 or a negative errno, then with a sentence left.
 */
typedef int dray_loop(char *const *data, const int64_t *strides, int64_t count,
		      void *context);

/**
 * The start of every type object.  ABI; all of it is constant.  Only functions
 * of the library make type objects: more lies behind.
 */
struct dray_dtype_object {
	struct dray_block block;	/* its type is DRAY_BLOCK_DTYPE */
	uint32_t itemsize;	/* bytes of an element */
	uint32_t alignment;	/* bytes, a power of two */
	uint8_t kind;		/* 'V', or a user type's own letter */
	uint8_t order;		/* '|', or that of all its parts */
	uint16_t flags;		/* DRAY_DTYPE_* */
	uint32_t reserved;	/* 0 */
};

/** Whether the word describes the type itself. */
static inline bool dray_dtype_is_builtin(dray_dtype dtype)
{
	return dtype & 7;
}

/** The type object, borrowed; NULL of a builtin type. */
static inline struct dray_dtype_object *dray_dtype_as_object(dray_dtype dtype)
{
	return dray_dtype_is_builtin(dtype)
		       ? NULL
		       : (struct dray_dtype_object *)(uintptr_t)dtype;
}

/** Bytes of an element; 0 without a type. */
static inline uint32_t dray_dtype_itemsize(dray_dtype dtype)
{
	if (dray_dtype_is_builtin(dtype))
		return (uint32_t)(dtype >> 32);
	return dtype ? dray_dtype_as_object(dtype)->itemsize : 0;
}

/** The letter of its kind; 0 without a type. */
static inline char dray_dtype_kind(dray_dtype dtype)
{
	if (dray_dtype_is_builtin(dtype))
		return (char)dtype;
	return (char)(dtype ? dray_dtype_as_object(dtype)->kind : 0);
}

/** '<', '>' or '|'; 0 without a type. */
static inline char dray_dtype_order(dray_dtype dtype)
{
	if (dray_dtype_is_builtin(dtype))
		return (char)(dtype >> 8);
	return (char)(dtype ? dray_dtype_as_object(dtype)->order : 0);
}

/** One more reference, given back by dray_dtype_unref(); returns @dtype. */
static inline dray_dtype dray_dtype_ref(dray_dtype dtype)
{
	if (dtype && !dray_dtype_is_builtin(dtype))
		dray_block_ref(&dray_dtype_as_object(dtype)->block);
	return dtype;
}

/** One reference less; builtin types and 0 have none. */
static inline void dray_dtype_unref(dray_dtype dtype)
{
	if (dtype && !dray_dtype_is_builtin(dtype))
		dray_block_unref(&dray_dtype_as_object(dtype)->block);
}

/**
 * The address that an element's is a multiple of in an aligned array: bytes, a
 * power of two; 1 without a type.
 */
DRAY_API uint32_t dray_dtype_alignment(dray_dtype dtype);

/** Whether two words mean the same type. */
DRAY_API bool dray_dtype_equal(dray_dtype a, dray_dtype b);

/**
 * Parses a typestr ("<f4", "|u1", "|V12"); "b1" is a bool.  -EINVAL for any
 * other text, such as an object's ('O').
 *
 * @out: the type in its one form: '|' if byte order means nothing
 */
DRAY_API int dray_dtype_parse(const char *typestr, dray_dtype *out);

/**
 * Writes the typestr of a builtin type, at most 16 bytes with the terminating
 * zero.  -EINVAL if no typestr describes it.
 */
DRAY_API int dray_dtype_format(dray_dtype dtype, char out[16]);

#ifdef __cplusplus
#define DRAY_ABI(fact) static_assert(fact, #fact)
#else
#define DRAY_ABI(fact) _Static_assert(fact, #fact)
#endif
DRAY_ABI(sizeof(struct dray_dtype_object) == 24);
#undef DRAY_ABI

#ifdef __cplusplus
}
#endif

#endif /* DRAY_DTYPE_H */

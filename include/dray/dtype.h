/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * dtype: the type of an element.
 *
 * A dtype is a word of 64 bits.  If any of its low three bits is set, it is a
 * builtin type, described by the word itself: nothing is counted or allocated.
 * Else it is the address of a type object: a block of type DRAY_BLOCK_DTYPE,
 * counted and immutable, with fields, a sub-array or a user's functions.
 * (Source: DyND's two representations of a type; the kinds are NumPy's.)
 *
 *	const struct dray_dtype_field fields[] = {
 *		{ .name = "x", .dtype = DRAY_FLOAT32 },
 *		{ .name = "id", .dtype = DRAY_INT64 },
 *	};
 *	dray_dtype point;
 *
 *	ret = dray_dtype_create_struct(fields, 2, DRAY_DTYPE_ALIGNED, 0,
 *				       &point);
 *	if (ret)
 *		return ret;
 *	printf("%u bytes\n", dray_dtype_itemsize(point));
 *	dray_dtype_unref(point);
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

/** A type: a builtin type, or a type object.  0 stands for none. */
typedef uint64_t dray_dtype;

/**
 * The word of a builtin type; a constant expression.
 *
 * @kind: bits 0 to 7, from "?biufcmMSUV" ('?' is a bool, which 'b' also names),
 *	as in a typestr
 * @order: bits 8 to 15: '<', '>' or '|' (bytes are without order)
 * @itemsize: bits 32 to 63, in bytes; may be 0 for S, U and V
 *
 * Bits 16 to 31 are the unit of a date or a duration, else 0.
 */
#define DRAY_DTYPE(kind, order, itemsize)                                   \
	(DRAY_STATIC_CAST(dray_dtype, itemsize) << 32 |                     \
	 DRAY_STATIC_CAST(dray_dtype, (order) & 0xff) << 8 |                \
	 DRAY_STATIC_CAST(dray_dtype, (kind) & 0xff))

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define DRAY_NATIVE_ORDER '<'
#else
#define DRAY_NATIVE_ORDER '>'
#endif

/* Constants that other languages see, too. */
#ifdef __cplusplus
#define DRAY_BUILTIN(name, kind, order, itemsize) \
	constexpr dray_dtype name = DRAY_DTYPE(kind, order, itemsize)
#else
#define DRAY_BUILTIN(name, kind, order, itemsize) \
	__extension__ enum { name = DRAY_DTYPE(kind, order, itemsize) }
#endif

/* Builtin types in the machine's byte order. */
DRAY_BUILTIN(DRAY_BOOL, '?', '|', 1);
DRAY_BUILTIN(DRAY_INT8, 'i', '|', 1);
DRAY_BUILTIN(DRAY_INT16, 'i', DRAY_NATIVE_ORDER, 2);
DRAY_BUILTIN(DRAY_INT32, 'i', DRAY_NATIVE_ORDER, 4);
DRAY_BUILTIN(DRAY_INT64, 'i', DRAY_NATIVE_ORDER, 8);
DRAY_BUILTIN(DRAY_UINT8, 'u', '|', 1);
DRAY_BUILTIN(DRAY_UINT16, 'u', DRAY_NATIVE_ORDER, 2);
DRAY_BUILTIN(DRAY_UINT32, 'u', DRAY_NATIVE_ORDER, 4);
DRAY_BUILTIN(DRAY_UINT64, 'u', DRAY_NATIVE_ORDER, 8);
DRAY_BUILTIN(DRAY_FLOAT16, 'f', DRAY_NATIVE_ORDER, 2);
DRAY_BUILTIN(DRAY_FLOAT32, 'f', DRAY_NATIVE_ORDER, 4);
DRAY_BUILTIN(DRAY_FLOAT64, 'f', DRAY_NATIVE_ORDER, 8);
DRAY_BUILTIN(DRAY_COMPLEX64, 'c', DRAY_NATIVE_ORDER, 8);
DRAY_BUILTIN(DRAY_COMPLEX128, 'c', DRAY_NATIVE_ORDER, 16);
/* @size bytes: text that ends with its last byte other than 0, or raw data. */
#define DRAY_BYTES(size) DRAY_DTYPE('S', '|', size)
#define DRAY_VOID(size) DRAY_DTYPE('V', '|', size)
/* @count characters of UCS-4 */
#define DRAY_UNICODE(count) \
	DRAY_DTYPE('U', DRAY_NATIVE_ORDER, 4 * DRAY_STATIC_CAST(dray_dtype, count))

/*
 * Units of dates and durations: the low four bits of a unit, of which the other
 * twelve are its multiple, 1 to 4095.  0 is the generic unit, of multiple 1.
 * -EINVAL for an unknown value.
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
	 DRAY_STATIC_CAST(dray_dtype,                               \
			  (unit) != 0 ? (multiple) << 4 | (unit) : 0) << 16)
#define DRAY_DATETIME64(unit, multiple)	 DRAY_TIME('M', unit, multiple)
#define DRAY_TIMEDELTA64(unit, multiple) DRAY_TIME('m', unit, multiple)

/**
 * A loop over elements, for casts and functions of elements: operand i's are at
 * data[i], data[i] + strides[i], ...
 *
 * @strides: bytes, a stride for each operand; may be 0 or negative
 * @count: elements, 1 or more
 * @context: of the function that chose the loop
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
	uint8_t order;		/* '|' */
	uint16_t flags;		/* DRAY_DTYPE_* */
	uint32_t reserved;	/* 0 */
};

/** Returns whether the word describes the type itself. */
DRAY_INLINED(bool dray_dtype_is_builtin(dray_dtype dtype))
{
	return dtype & 7;
}

/** Returns the type object, borrowed; NULL for a builtin type. */
DRAY_INLINED(struct dray_dtype_object *dray_dtype_as_object(dray_dtype dtype))
{
	return dray_dtype_is_builtin(dtype)
		       ? NULL
		       : DRAY_REINTERPRET_CAST(
				 struct dray_dtype_object *,
				 DRAY_STATIC_CAST(uintptr_t, dtype));
}

/** Returns the bytes of an element; 0 without a type. */
DRAY_INLINED(uint32_t dray_dtype_itemsize(dray_dtype dtype))
{
	if (dray_dtype_is_builtin(dtype))
		return DRAY_STATIC_CAST(uint32_t, dtype >> 32);
	return dtype ? dray_dtype_as_object(dtype)->itemsize : 0;
}

/** Returns the letter of its kind; 0 without a type. */
DRAY_INLINED(char dray_dtype_kind(dray_dtype dtype))
{
	if (dray_dtype_is_builtin(dtype))
		return DRAY_STATIC_CAST(char, dtype);
	return DRAY_STATIC_CAST(
		char, dtype ? dray_dtype_as_object(dtype)->kind : 0);
}

/** Returns '<', '>' or '|'; 0 without a type. */
DRAY_INLINED(char dray_dtype_order(dray_dtype dtype))
{
	if (dray_dtype_is_builtin(dtype))
		return DRAY_STATIC_CAST(char, dtype >> 8);
	return DRAY_STATIC_CAST(
		char, dtype ? dray_dtype_as_object(dtype)->order : 0);
}

/** Adds a reference, dropped by dray_dtype_unref(); returns @dtype. */
DRAY_INLINED(dray_dtype dray_dtype_ref(dray_dtype dtype))
{
	if (dtype && !dray_dtype_is_builtin(dtype))
		dray_block_ref(&dray_dtype_as_object(dtype)->block);
	return dtype;
}

/** Drops a reference; builtin types and 0 are not counted. */
DRAY_INLINED(void dray_dtype_unref(dray_dtype dtype))
{
	if (dtype && !dray_dtype_is_builtin(dtype))
		dray_block_unref(&dray_dtype_as_object(dtype)->block);
}

/**
 * Returns the bytes that an element's address is a multiple of in an aligned
 * array, a power of two; 1 without a type.
 */
DRAY_API uint32_t dray_dtype_alignment(dray_dtype dtype);

/**
 * Returns whether two types are the same: for structures, also names, titles,
 * offsets and the item size.  A user type is only itself.
 */
DRAY_API bool dray_dtype_equal(dray_dtype a, dray_dtype b);

/* Flags of types. */
#define DRAY_DTYPE_STRUCT (1u << 0)	/* with fields, maybe none */
#define DRAY_DTYPE_SUBARRAY (1u << 1)	/* an array of a base type */
#define DRAY_DTYPE_USER (1u << 2)	/* from dray_dtype_create_user() */
#define DRAY_DTYPE_ALIGNED (1u << 3)	/* laid out as a C compiler does */
#define DRAY_DTYPE_SWAPPED (1u << 4)	/* a part is of the other byte order */
#define DRAY_DTYPE_LOCAL (1u << 5)	/* a part is a user type */
/* for dray_dtype_create_struct() only: fields state their offsets */
#define DRAY_DTYPE_PLACED (1u << 8)

/** Returns the flags DRAY_DTYPE_* of any type; 0 without a type. */
DRAY_INLINED(uint32_t dray_dtype_flags(dray_dtype dtype))
{
	char order = dray_dtype_order(dtype);

	if (dtype && !dray_dtype_is_builtin(dtype))
		return dray_dtype_as_object(dtype)->flags;
	return order && order != '|' && order != DRAY_NATIVE_ORDER
		       ? DRAY_DTYPE_SWAPPED
		       : 0;
}

/** A field of a structured type. */
struct dray_dtype_field {
	/* UTF-8; unique among names and titles; NULL or "": "f0", "f1", ... */
	const char *name;
	const char *title;	/* a second name, NULL: none */
	dray_dtype dtype;
	uint32_t offset;	/* bytes from the element's start */
};

#define DRAY_DTYPE_MAX_FIELDS 8192
#define DRAY_DTYPE_MAX_DEPTH 32	/* of types in types */

/**
 * Makes a structured type.  Fields may overlap and lie in any order.
 *
 * @fields: @count of them, 0 to DRAY_DTYPE_MAX_FIELDS; copied, each with a
 *	reference to its type
 * @flags: DRAY_DTYPE_ALIGNED, DRAY_DTYPE_PLACED.  Without PLACED the offsets
 *	are ignored: fields are adjacent, with ALIGNED at multiples of their
 *	alignment
 * @itemsize: bytes; 0: up to the end of the last field, with ALIGNED rounded up
 * @out: a reference
 *
 * Errors: -EINVAL (a name that appears twice or is not UTF-8, a field without
 * a type, an offset or an item size that ALIGNED forbids, an item size below
 * the end of a field, too many fields, too deep), -EOVERFLOW (more than 32 bits
 * of bytes), -ENOMEM.
 */
DRAY_API int dray_dtype_create_struct(const struct dray_dtype_field *fields,
				      size_t count, uint32_t flags,
				      uint32_t itemsize, dray_dtype *out);

/**
 * Makes the type of an element that is itself an array, in C order.
 *
 * @shape: @ndim extents, each >= 0; without axes the result is @base
 * @ndim: 0 to 64
 * @out: a reference
 *
 * Errors: -EINVAL, -EOVERFLOW (more than 32 bits of bytes), -ENOMEM.
 */
DRAY_API int dray_dtype_create_subarray(dray_dtype base, int ndim,
					const int64_t *shape, dray_dtype *out);

/** Returns the number of fields; 0 for a type without fields. */
DRAY_API size_t dray_dtype_field_count(dray_dtype dtype);

/**
 * Writes field @index to @out, borrowed from @dtype.
 * Errors: -ERANGE (no such field).
 */
DRAY_API int dray_dtype_get_field(dray_dtype dtype, size_t index,
				  struct dray_dtype_field *out);

/**
 * Writes the number of the field of this name or title.
 * Errors: -ENOENT (no such field).
 */
DRAY_API int dray_dtype_find_field(dray_dtype dtype, const char *name,
				   size_t *index);

/**
 * Returns the base type of a sub-array, borrowed; for any other type, itself.
 */
DRAY_API dray_dtype dray_dtype_base(dray_dtype dtype);

/**
 * Returns the number of axes of a sub-array; 0 for any other type.
 *
 * @shape: set to its extents, borrowed; may be NULL
 */
DRAY_API int dray_dtype_shape(dray_dtype dtype, const int64_t **shape);

/**
 * Returns whether each byte of an element belongs to a single field, in the
 * order of the fields; true for a type without fields.
 */
DRAY_API bool dray_dtype_is_packed(dray_dtype dtype);

/**
 * Makes a type whose parts are all of the same byte order; user types stay as
 * they are.
 *
 * @order: '<', '>', '=' (the machine's) or 's' (each part swapped)
 * @out: a reference
 *
 * Errors: -EINVAL (not a type, another @order), -ENOMEM.
 */
DRAY_API int dray_dtype_with_order(dray_dtype dtype, char order,
				   dray_dtype *out);

/**
 * Parses the text of a type, as NumPy's dtype() does:
 *
 * - "<f4", "=i2", ">M8[25s]", "U7", "V12": order, kind, size and unit.  Without
 *   an order, it is the machine's.  "m8[D/24]" is a part of a unit, "<m8[h]"
 * - "d", "?", "l": a letter of a C type; "float32", "int", "bytes": a name
 * - "(2,3)f4": a sub-array
 * - "i4,(2,3)f8,S3": a structure with the fields f0, f1, f2
 * - "[('x', '<f4'), (('title', 'y'), '>i2', (2, 3))]": a structure; a void
 *   without a name is a gap between fields
 * - "{'names': ['x'], 'formats': ['<f4'], 'offsets': [4], 'titles': [None],
 *   'itemsize': 12, 'aligned': False}": a structure, of which names and formats
 *   suffice
 * - "('<f4', (2, 3))": a sub-array
 *
 * @out: a reference
 *
 * Errors: -EINVAL for any other text, such as an object's ('O'), and for text of
 * more than DRAY_DTYPE_MAX_TEXT bytes; else as the functions that make types.
 */
DRAY_API int dray_dtype_parse(const char *text, dray_dtype *out);
#define DRAY_DTYPE_MAX_TEXT 65535

/**
 * Writes the text that dray_dtype_parse() makes @dtype of: a typestr, a list of
 * fields, or a dictionary if no list describes it (aligned structures, and
 * fields that overlap or are out of order).
 *
 * @text: @room bytes, of which the last written byte is 0; may be NULL if @room
 *	is 0.  A typestr needs at most DRAY_DTYPE_TYPESTR_SIZE
 *
 * Returns the length of the whole text without the zero, as snprintf() does, or
 * -EINVAL if no text describes the type.  A user type yields its name, which
 * dray_dtype_parse() does not know.
 */
DRAY_API int dray_dtype_format(dray_dtype dtype, char *text, size_t room);
#define DRAY_DTYPE_TYPESTR_SIZE 32

/**
 * Parses the format of a buffer, of Python's PEP 3118: "<f",
 * "T{b:x:3x(2,3)>i:y:}", "Zd", "7w". '@', which is also the order at the start,
 * aligns as C does.  Bytes of 'x' alone are a void; inside of a structure they
 * are a gap, or a void if they are named.
 *
 * @out: a reference
 * Errors: as dray_dtype_parse().
 */
DRAY_API int dray_dtype_from_pep3118(const char *format, dray_dtype *out);

/**
 * Writes such a format, as dray_dtype_format() writes a text.  A sub-array of
 * sub-arrays becomes a sub-array with all axes; titles are left out.  Returns
 * the length as dray_dtype_format() does.
 *
 * Errors: -EINVAL (dates, user types, fields that overlap or are out of order,
 * a colon in a name, long doubles of another machine).
 */
DRAY_API int dray_dtype_to_pep3118(dray_dtype dtype, char *format, size_t room);

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

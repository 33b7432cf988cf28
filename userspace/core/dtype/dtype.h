/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files about types: checks, and the makers of type objects. */
#ifndef DRAY_DTYPE_DTYPE_H
#define DRAY_DTYPE_DTYPE_H

#include <dray/element.h>

#include "block/block.h"
#include "base/shared.h"

/*
 * Fills @out with the unique form of a type, as if its text were parsed; a type
 * object is its own.  -EINVAL for any other word.
 */
DRAY_PRIVATE int dray_dtype_normalize(dray_dtype dtype, dray_dtype *out);

/* Bytes of 1 in the typestr of this kind: 4 of U, else 1; 0: no such kind. */
uint32_t dray_dtype_unit_size(char kind);

/* A unit with its multiple: bits 16 to 31 of a builtin type. */
static inline unsigned int dray_dtype_unit(dray_dtype dtype)
{
	return (unsigned int)(dtype >> 16) & 0xffff;
}

/* The start of all type objects, which are blocks of class dray_dtype_class. */
struct dray_dtype_start {
	uint32_t depth; /* of types in types: 1 without type objects below */
	struct dray_block_front front;
	struct dray_dtype_object object;
};

/* Text follows the fields. */
struct dray_dtype_structure {
	struct dray_dtype_start start;
	size_t count;
	struct dray_dtype_field fields[]; /* each with a reference */
};

struct dray_dtype_subarray {
	struct dray_dtype_start start;
	dray_dtype base; /* a reference */
	int ndim;
	int64_t shape[];
};

struct dray_dtype_user {
	struct dray_dtype_start start;
	struct dray_dtype_functions functions;
	void *context;
	char name[];
};

/*
 * Returns the object with a reference as a type, after filling its block and its
 * size.  The caller fills all but @start's own fields.
 */
dray_dtype dray_dtype_finish(struct dray_dtype_start *start, uint32_t itemsize,
			     uint32_t alignment, uint32_t flags);

static inline struct dray_dtype_start *dray_dtype_start(dray_dtype dtype)
{
	return dray_block_around(dray_dtype_as_object(dtype),
				 struct dray_dtype_start, object);
}

/* The fields, sub-array or user type; NULL if @dtype is another. */
static inline struct dray_dtype_structure *
dray_dtype_as_structure(dray_dtype dtype)
{
	return dray_dtype_flags(dtype) & DRAY_DTYPE_STRUCT
		       ? (struct dray_dtype_structure *)(void *)
				 dray_dtype_start(dtype)
		       : NULL;
}

static inline struct dray_dtype_subarray *
dray_dtype_as_subarray(dray_dtype dtype)
{
	return dray_dtype_flags(dtype) & DRAY_DTYPE_SUBARRAY
		       ? (struct dray_dtype_subarray *)(void *)dray_dtype_start(
				 dtype)
		       : NULL;
}

static inline struct dray_dtype_user *dray_dtype_as_user(dray_dtype dtype)
{
	return dray_dtype_flags(dtype) & DRAY_DTYPE_USER
		       ? (struct dray_dtype_user *)(void *)dray_dtype_start(
				 dtype)
		       : NULL;
}

/* Whether elements consist of fields or items. */
static inline bool dray_dtype_has_parts(dray_dtype dtype)
{
	return dray_dtype_flags(dtype) &
	       (DRAY_DTYPE_STRUCT | DRAY_DTYPE_SUBARRAY);
}

/*
 * Whether bytes lie between the fields of a structure.  They may belong to other
 * fields, of which it is a selection.
 */
static inline bool dray_dtype_has_gaps(dray_dtype dtype)
{
	return dray_dtype_field_count(dtype) && !dray_dtype_is_packed(dtype);
}

/* Returns the text of a type for a sentence; a structure's is cut short. */
DRAY_PRIVATE const char *dray_dtype_text(dray_dtype dtype,
					 char text[DRAY_DTYPE_TYPESTR_SIZE]);

/* How deep types lie in @dtype: 0 of a builtin type. */
static inline uint32_t dray_dtype_depth(dray_dtype dtype)
{
	return dray_dtype_is_builtin(dtype) ? 0
					    : dray_dtype_start(dtype)->depth;
}

/* Flags that a type inherits from its parts. */
#define DRAY_DTYPE_INHERITED (DRAY_DTYPE_SWAPPED | DRAY_DTYPE_LOCAL)

/* Checks the depth of a type with a part of depth @below.  -EINVAL. */
int dray_dtype_check_depth(uint32_t below);

/*
 * Whether a word is a number in its unique form: the types of most calls, found
 * without a table.  False for a bool, and for other numbers too.
 */
static inline bool dray_dtype_is_number(dray_dtype dtype)
{
	const uint32_t kinds = 1u << ('i' & 31) | 1u << ('u' & 31) |
			       1u << ('f' & 31) | 1u << ('c' & 31);
	const uint32_t order = ('<' ^ '>') << 8;
	uint32_t size = (uint32_t)(dtype >> 32), kind = dtype & 31;
	/* All but the order, if there is one, and the last bits of the kind. */
	uint32_t form = (uint32_t)dtype & ~(order | 31);
	uint64_t sizes = 1 << 2 | 1 << 4 | 1 << 8; /* bit n: n bytes */

	if (!(kinds >> kind & 1) || size >= 32)
		return false;
	if (form != ('<' << 8 | ('i' & ~31)))
		return size == 1 && (dtype == DRAY_INT8 || dtype == DRAY_UINT8);
	if (kind == ('c' & 31))
		sizes = 1 << 8 | 1 << 16;
	return sizes >> size & 1;
}

/* Whether a word, which need not be a type, means a date or duration. */
static inline bool dray_dtype_is_time(dray_dtype dtype)
{
	return dray_dtype_is_builtin(dtype) &&
	       (dray_dtype_kind(dtype) == 'M' || dray_dtype_kind(dtype) == 'm');
}

/* A builtin type in the machine's byte order; any other as it is. */
static inline dray_dtype dray_dtype_native(dray_dtype dtype)
{
	const char order = dray_dtype_order(dtype);

	if (!dray_dtype_is_builtin(dtype) || order == '|')
		return dtype;
	return (dtype & ~(dray_dtype)0xff00) |
	       (dray_dtype)(uint8_t)DRAY_NATIVE_ORDER << 8;
}

/* Whether lists of types are the same. */
static inline bool dray_dtypes_equal(const dray_dtype *a, const dray_dtype *b,
				     int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (!dray_dtype_equal(a[i], b[i]))
			return false;
	return true;
}

/* dray_dtype_normalize(), at once for a number in its unique form. */
static inline int dray_dtype_check(dray_dtype dtype, dray_dtype *out)
{
	if (!dray_dtype_is_number(dtype))
		return dray_dtype_normalize(dtype, out);
	*out = dtype;
	return 0;
}

#endif /* DRAY_DTYPE_DTYPE_H */

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Builtin types, and questions about all types.  The form of each builtin type is
 * unique: '?' for a bool, '|' if byte order means nothing, and a unit only of a
 * date or a duration.
 */
#include <errno.h>
#include <string.h>

#include "dtype/dtype.h"
#include "base/error.h"

/*
 * All kinds of elements.  A new kind is a line here, with a letter other than
 * b (an alias of ?), O and T (strings of libdray-array).
 */
static const struct kind {
	char name;
	bool ordered; /* byte order matters, if the size is above a byte */
	uint8_t unit; /* bytes of 1 in a typestr */
	uint8_t sizes[5]; /* bytes; empty: any multiple of the unit */
} kinds[] = {
	{ '?', false, 1, { 1 } },
	{ 'i', true, 1, { 1, 2, 4, 8 } },
	{ 'u', true, 1, { 1, 2, 4, 8 } },
	/* 12 and 16 are the long doubles of 32 and 64 bits. */
	{ 'f', true, 1, { 2, 4, 8, 12, 16 } },
	{ 'c', true, 1, { 8, 16, 24, 32 } },
	{ 'm', true, 1, { 8 } },
	{ 'M', true, 1, { 8 } },
	{ 'S', false, 1, { 0 } },
	{ 'V', false, 1, { 0 } },
	{ 'U', true, 4, { 0 } }, /* UCS-4 */
};

static char kind_without_alias(char kind)
{
	return (char)(kind == 'b' ? '?' : kind);
}

/* Returns NULL for an unknown kind. */
static const struct kind *find_kind(char name)
{
	size_t i;

	name = kind_without_alias(name);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].name == name)
			return &kinds[i];
	}
	return NULL;
}

/* The compiler's alignment of a number of @size bytes. */
static uint32_t dtype_alignment_of(uint32_t size)
{
	switch (size) {
	case 1:
		return 1;
	case 2:
		return _Alignof(uint16_t);
	case 4:
		return _Alignof(uint32_t);
	case 8:
		return _Alignof(uint64_t);
	default:
		return _Alignof(long double);
	}
}

static bool has_size(const struct kind *kind, uint32_t size)
{
	if (!kind->sizes[0])
		return size % kind->unit == 0;
	return size && size <= UINT8_MAX &&
	       memchr(kind->sizes, (int)size, sizeof(kind->sizes));
}

static bool order_matters(const struct kind *kind, uint32_t size)
{
	return kind->ordered && (size > 1 || kind->unit > 1);
}

uint32_t dray_dtype_unit_size(char kind)
{
	const struct kind *found = find_kind(kind);

	return found ? found->unit : 0;
}

/* Checks bits 16 to 31: a unit with a multiple of 1 to 4095, or 0. */
static int dtype_check_unit(const struct kind *kind, unsigned int unit)
{
	if (!unit)
		return 0;
	if (kind->name != 'M' && kind->name != 'm')
		return dray_fail(-EINVAL, "type '%c' has no unit, but 0x%x",
				 kind->name, unit);
	if ((unit & 15) > DRAY_UNIT_ATTOSECOND)
		return dray_fail(-EINVAL, "no unit of time has the number %u",
				 unit & 15);
	if ((unit & 15) == DRAY_UNIT_GENERIC || unit < 16)
		return dray_fail(
			-EINVAL,
			"unit %u with the multiple %u: the generic unit has none, others 1 to 4095",
			unit & 15, unit >> 4);
	return 0;
}

static int normalize_builtin(dray_dtype dtype, dray_dtype *out)
{
	const struct kind *kind = find_kind(dray_dtype_kind(dtype));
	uint32_t itemsize = dray_dtype_itemsize(dtype);
	char order = dray_dtype_order(dtype);
	int ret;

	if (!kind)
		return dray_fail(-EINVAL, "no type is of kind 0x%02x",
				 (unsigned char)dray_dtype_kind(dtype));
	if (!has_size(kind, itemsize))
		return dray_fail(-EINVAL,
				 "type '%c' of %u bytes does not exist",
				 kind->name, itemsize);
	if (!order_matters(kind, itemsize)) {
		if (order != '|' && order != '<' && order != '>')
			return dray_fail(-EINVAL,
					 "byte order 0x%02x is not <, > or |",
					 (unsigned char)order);
		order = '|';
	} else if (order != '<' && order != '>') {
		return dray_fail(
			-EINVAL,
			"type '%c' of %u bytes needs a byte order, < or >, not 0x%02x",
			kind->name, itemsize, (unsigned char)order);
	}
	ret = dtype_check_unit(kind, dray_dtype_unit(dtype));
	if (ret)
		return ret;
	*out = DRAY_DTYPE(kind->name, order, itemsize) |
	       (dray_dtype)dray_dtype_unit(dtype) << 16;
	return 0;
}

int dray_dtype_normalize(dray_dtype dtype, dray_dtype *out)
{
	if (!dtype)
		return dray_fail(-EINVAL, "the type is 0, which is none");
	if (dray_dtype_is_builtin(dtype))
		return normalize_builtin(dtype, out);
	*out = dtype;
	return 0;
}

static bool fields_equal(const struct dray_dtype_field *a,
			 const struct dray_dtype_field *b)
{
	if (a->offset != b->offset || strcmp(a->name, b->name) ||
	    !a->title != !b->title || (a->title && strcmp(a->title, b->title)))
		return false;
	return dray_dtype_equal(a->dtype, b->dtype);
}

static bool structures_equal(const struct dray_dtype_structure *a,
			     const struct dray_dtype_structure *b)
{
	size_t i;

	if (a->count != b->count ||
	    a->start.object.itemsize != b->start.object.itemsize)
		return false;
	for (i = 0; i < a->count; i++) {
		if (!fields_equal(&a->fields[i], &b->fields[i]))
			return false;
	}
	return true;
}

static bool subarrays_equal(const struct dray_dtype_subarray *a,
			    const struct dray_dtype_subarray *b)
{
	return a->ndim == b->ndim &&
	       !memcmp(a->shape, b->shape,
		       (size_t)a->ndim * sizeof(a->shape[0])) &&
	       dray_dtype_equal(a->base, b->base);
}

bool dray_dtype_equal(dray_dtype a, dray_dtype b)
{
	dray_dtype one = 0, other = 0;

	if (a == b)
		return a;
	if (!a || !b)
		return false;
	if (dray_dtype_is_builtin(a) || dray_dtype_is_builtin(b))
		return !dray_dtype_normalize(a, &one) &&
		       !dray_dtype_normalize(b, &other) && one == other;
	if (dray_dtype_as_structure(a) && dray_dtype_as_structure(b))
		return structures_equal(dray_dtype_as_structure(a),
					dray_dtype_as_structure(b));
	if (dray_dtype_as_subarray(a) && dray_dtype_as_subarray(b))
		return subarrays_equal(dray_dtype_as_subarray(a),
				       dray_dtype_as_subarray(b));
	return false;
}

uint32_t dray_dtype_alignment(dray_dtype dtype)
{
	if (!dtype)
		return 1;
	if (!dray_dtype_is_builtin(dtype))
		return dray_dtype_as_object(dtype)->alignment;
	switch (dray_dtype_kind(dtype)) {
	case 'c': /* Two numbers. */
		return dtype_alignment_of(dray_dtype_itemsize(dtype) / 2);
	case 'U':
		return _Alignof(uint32_t);
	case 'S':
	case 'V':
		return 1;
	case 'T': /* Two addresses: struct dray_string of libdray-array. */
		return _Alignof(void *);
	default:
		return dtype_alignment_of(dray_dtype_itemsize(dtype));
	}
}

size_t dray_dtype_field_count(dray_dtype dtype)
{
	const struct dray_dtype_structure *structure =
		dray_dtype_as_structure(dtype);

	return structure ? structure->count : 0;
}

bool dray_dtype_is_packed(dray_dtype dtype)
{
	const struct dray_dtype_structure *structure =
		dray_dtype_as_structure(dtype);
	uint64_t end = 0;
	size_t i;

	if (!structure)
		return true;
	for (i = 0; i < structure->count; i++) {
		if (structure->fields[i].offset != end)
			return false;
		end += dray_dtype_itemsize(structure->fields[i].dtype);
	}
	return end == dray_dtype_itemsize(dtype);
}

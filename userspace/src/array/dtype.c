// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Element types and their typestrs, as __array_interface__ and NumPy write
 * them: byte order, kind, and a number of bytes, or for U of characters.  Each
 * type has one form: '?' for a bool, '|' if byte order means nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <dray/strings.h>

#include "array/dtype.h"
#include "base/error.h"
#include "base/number.h"

/*
 * All kinds of elements.  A new kind is one line here, with a letter other than
 * b (an alias of ?), O and T (DRAY_KIND_STRING).
 */
static const struct kind {
	char name;
	bool ordered; /* byte order matters, if the size is above one byte */
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

/* The alignment of a number of @size bytes, as the compiler has it. */
static uint32_t alignment_of(uint32_t size)
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

/* Bits 16 to 31 of a builtin type. */
static unsigned int unit_of(dray_dtype dtype)
{
	return (unsigned int)(dtype >> 16) & 0xffff;
}

static int normalize_builtin(dray_dtype dtype, dray_dtype *out)
{
	const struct kind *kind = find_kind(dray_dtype_kind(dtype));
	uint32_t itemsize = dray_dtype_itemsize(dtype);
	char order = dray_dtype_order(dtype);

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
	if (unit_of(dtype) && kind->name != 'm' && kind->name != 'M')
		return dray_fail(-EINVAL, "type '%c' has no unit, but 0x%x",
				 kind->name, unit_of(dtype));
	*out = DRAY_DTYPE(kind->name, order, itemsize) |
	       (dray_dtype)unit_of(dtype) << 16;
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

bool dray_dtype_equal(dray_dtype a, dray_dtype b)
{
	dray_dtype one = 0, other = 0;

	if (a == b)
		return a;
	return !dray_dtype_normalize(a, &one) &&
	       !dray_dtype_normalize(b, &other) && one == other;
}

uint32_t dray_dtype_alignment(dray_dtype dtype)
{
	if (!dtype)
		return 1;
	if (!dray_dtype_is_builtin(dtype))
		return dray_dtype_as_object(dtype)->alignment;
	switch (dray_dtype_kind(dtype)) {
	case 'c': /* Two numbers. */
		return alignment_of(dray_dtype_itemsize(dtype) / 2);
	case 'U':
		return _Alignof(uint32_t);
	case 'S':
	case 'V':
		return 1;
	case DRAY_KIND_STRING:
		return _Alignof(struct dray_string);
	default:
		return alignment_of(dray_dtype_itemsize(dtype));
	}
}

int dray_dtype_parse(const char *typestr, dray_dtype *out)
{
	char name, order = '|';
	const struct kind *kind;
	const char *at = typestr;
	uint32_t number = 0;

	if (!typestr)
		return dray_fail(-EINVAL, "typestr is NULL");
	if (!dray_given(out, __func__))
		return -EINVAL;
	if (*at == '<' || *at == '>' || *at == '|')
		order = *at++;
	if (*at == 'O')
		return dray_fail(
			-EINVAL,
			"typestr '%.16s' names Python objects, which are pointers of one process",
			typestr);
	name = kind_without_alias(*at);
	if (*at && *at != '?') /* A typestr writes a bool as b. */
		at++;
	if (*at < '0' || *at > '9')
		return dray_fail(
			-EINVAL,
			"typestr '%.16s' is not an order, a kind and a size",
			typestr);
	for (; *at >= '0' && *at <= '9'; at++) {
		if (dray_mul_overflow(number, 10u, &number) ||
		    dray_add_overflow(number, (uint32_t)(*at - '0'), &number))
			return dray_fail(
				-EINVAL,
				"typestr '%.16s' has a size above 32 bits",
				typestr);
	}
	if (*at)
		return dray_fail(
			-EINVAL,
			"typestr '%.24s' goes on after its size: a type has no unit and no fields",
			typestr);
	kind = find_kind(name);
	if (!kind)
		return dray_fail(-EINVAL, "typestr '%.16s' is of no kind",
				 typestr);
	if (dray_mul_overflow(number, (uint32_t)kind->unit, &number))
		return dray_fail(-EINVAL,
				 "typestr '%.16s' has a size above 32 bits",
				 typestr);
	return normalize_builtin(DRAY_DTYPE(name, order, number), out);
}

int dray_dtype_format(dray_dtype dtype, char out[16])
{
	dray_dtype normal = 0;
	char kind;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = dray_dtype_normalize(dtype, &normal);
	if (ret)
		return ret;
	kind = dray_dtype_kind(normal);
	snprintf(out, 16, "%c%c%u", dray_dtype_order(normal),
		 kind == '?' ? 'b' : kind,
		 dray_dtype_itemsize(normal) / find_kind(kind)->unit);
	return 0;
}

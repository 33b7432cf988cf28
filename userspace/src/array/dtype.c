// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Element types and their typestrs, as __array_interface__ and NumPy write
 * them: byte order, kind, and a number of bytes, or for U of characters.  Each
 * type has one form: '?' for a bool, '|' if byte order means nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

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

int dray_dtype_normalize(const struct dray_dtype *dtype, struct dray_dtype *out)
{
	const struct kind *kind = find_kind(dtype->kind);
	char order = dtype->order;

	if (!kind)
		return dray_fail(-EINVAL, "no type is of kind 0x%02x",
				 (unsigned char)dtype->kind);
	if (!has_size(kind, dtype->itemsize))
		return dray_fail(-EINVAL,
				 "type '%c' of %u bytes does not exist",
				 kind->name, dtype->itemsize);
	if (!order_matters(kind, dtype->itemsize)) {
		if (order != '|' && order != '<' && order != '>')
			return dray_fail(-EINVAL,
					 "byte order 0x%02x is not <, > or |",
					 (unsigned char)order);
		order = '|';
	} else if (order != '<' && order != '>') {
		return dray_fail(
			-EINVAL,
			"type '%c' of %u bytes needs a byte order, < or >, not 0x%02x",
			kind->name, dtype->itemsize, (unsigned char)order);
	}
	if (dtype->reserved)
		return dray_fail(-EINVAL,
				 "reserved field of a type is %u, not 0",
				 dtype->reserved);
	*out = (struct dray_dtype){ .kind = kind->name,
				    .order = order,
				    .itemsize = dtype->itemsize };
	return 0;
}

int dray_dtype_check(const struct dray_dtype *dtype)
{
	struct dray_dtype normal;

	return dray_dtype_normalize(dtype, &normal);
}

bool dray_dtype_equal(const struct dray_dtype *a, const struct dray_dtype *b)
{
	struct dray_dtype one = { 0 }, other = { 0 };

	return !dray_dtype_normalize(a, &one) &&
	       !dray_dtype_normalize(b, &other) && one.kind == other.kind &&
	       one.order == other.order && one.itemsize == other.itemsize;
}

int dray_dtype_parse(const char *typestr, struct dray_dtype *out)
{
	struct dray_dtype dtype = { .order = '|' };
	const struct kind *kind;
	const char *at = typestr;
	uint32_t number = 0;

	if (!typestr)
		return dray_fail(-EINVAL, "typestr is NULL");
	if (!dray_given(out, __func__))
		return -EINVAL;
	if (*at == '<' || *at == '>' || *at == '|')
		dtype.order = *at++;
	if (*at == 'O')
		return dray_fail(
			-EINVAL,
			"typestr '%.16s' names Python objects, which are pointers of one process",
			typestr);
	dtype.kind = kind_without_alias(*at);
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
	kind = find_kind(dtype.kind);
	if (kind && dray_mul_overflow(number, (uint32_t)kind->unit, &number))
		return dray_fail(-EINVAL,
				 "typestr '%.16s' has a size above 32 bits",
				 typestr);
	dtype.itemsize = number;
	return dray_dtype_normalize(&dtype, out);
}

int dray_dtype_format(const struct dray_dtype *dtype, char out[16])
{
	struct dray_dtype normal = { 0 };
	uint32_t number;
	int ret;

	if (!dray_given(dtype, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_dtype_normalize(dtype, &normal);
	if (ret)
		return ret;
	number = normal.itemsize / find_kind(normal.kind)->unit;
	snprintf(out, 16, "%c%c%u", normal.order,
		 normal.kind == '?' ? 'b' : normal.kind, number);
	return 0;
}

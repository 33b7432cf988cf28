// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Element types and their typestrs, as __array_interface__ and NumPy write
 * them: byte order, kind, and a number that is bytes, or characters of four
 * bytes for U.  Each type has one form: '?' for a bool, '|' where byte order
 * means nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "array/dtype.h"
#include "base/error.h"
#include "base/number.h"

/* What a typestr counts for U, in bytes (UCS-4). */
#define CHARACTER 4u

static bool order_matters(char kind, uint32_t itemsize)
{
	if (kind == 'S' || kind == 'V' || kind == '?')
		return false;
	return itemsize > 1 || kind == 'U';
}

static bool size_is_known(char kind, uint32_t size)
{
	switch (kind) {
	case '?':
		return size == 1;
	case 'i':
	case 'u':
		return size == 1 || size == 2 || size == 4 || size == 8;
	case 'f': /* 12 and 16 are the long doubles of 32 and 64 bits */
		return size == 2 || size == 4 || size == 8 || size == 12 ||
		       size == 16;
	case 'c':
		return size == 8 || size == 16 || size == 24 || size == 32;
	case 'm':
	case 'M':
		return size == 8;
	case 'U':
		return size % CHARACTER == 0;
	default: /* S and V */
		return true;
	}
}

static char kind_without_alias(char kind)
{
	return (char)(kind == 'b' ? '?' : kind);
}

int dray_dtype_normalize(const struct dray_dtype *dtype, struct dray_dtype *out)
{
	char kind = kind_without_alias(dtype->kind);
	char order = dtype->order;

	if (!kind || !strchr("?iufcmMSUV", kind))
		return dray_fail(-EINVAL,
				 "type of kind 0x%02x is none of ?iufcmMSUV",
				 (unsigned char)kind);
	if (!size_is_known(kind, dtype->itemsize))
		return dray_fail(-EINVAL,
				 "type '%c' of %u bytes does not exist", kind,
				 dtype->itemsize);
	if (!order_matters(kind, dtype->itemsize)) {
		if (order != '|' && order != '<' && order != '>')
			return dray_fail(-EINVAL,
					 "byte order 0x%02x is none of <>|",
					 (unsigned char)order);
		order = '|';
	} else if (order != '<' && order != '>') {
		return dray_fail(
			-EINVAL,
			"type '%c' of %u bytes needs a byte order, < or >, not 0x%02x",
			kind, dtype->itemsize, (unsigned char)order);
	}
	if (dtype->reserved)
		return dray_fail(-EINVAL,
				 "reserved field of a type is %u, not 0",
				 dtype->reserved);
	*out = (struct dray_dtype){ .kind = kind,
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
			"typestr '%.16s' is of Python objects, which are pointers of one process",
			typestr);
	dtype.kind = kind_without_alias(*at);
	if (*at && *at != '?') /* a typestr writes a bool as b */
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
			"typestr '%.24s' goes on after its size; units and fields are not carried",
			typestr);
	if (dtype.kind == 'U' && dray_mul_overflow(number, CHARACTER, &number))
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
	int error;

	if (!dray_given(dtype, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	error = dray_dtype_normalize(dtype, &normal);
	if (error)
		return error;
	number = normal.itemsize;
	if (normal.kind == 'U')
		number /= CHARACTER;
	snprintf(out, 16, "%c%c%u", normal.order,
		 normal.kind == '?' ? 'b' : normal.kind, number);
	return 0;
}

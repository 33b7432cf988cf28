// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Elements that are bytes (S, V, and user types by default), or characters
 * of UCS-4 (U).  Text ends before the zeros at its end.
 */
#include <errno.h>
#include <string.h>

#include "dtype/element.h"

static bool dtype_is_text(dray_dtype dtype)
{
	return dray_dtype_kind(dtype) == 'S' || dray_dtype_kind(dtype) == 'U';
}

/* Bytes of a text without the zeros at its end. */
static size_t bytes_length_of(dray_dtype dtype, const char *text)
{
	size_t unit = dray_dtype_unit_size(dray_dtype_kind(dtype));
	size_t length = dray_dtype_itemsize(dtype);

	while (length && !memcmp(text + length - unit, "\0\0\0", unit))
		length -= unit;
	return length;
}

static int bytes_get(dray_dtype dtype, const void *element,
		     struct dray_scalar *out)
{
	out->kind = DRAY_SCALAR_BYTES;
	out->bytes.data = element;
	out->bytes.size = dtype_is_text(dtype) ? bytes_length_of(dtype, element)
					       : dray_dtype_itemsize(dtype);
	return 0;
}

static int bytes_set(dray_dtype dtype, void *element,
		     const struct dray_scalar *value)
{
	size_t room = dray_dtype_itemsize(dtype), size = value->bytes.size;

	if (value->kind != DRAY_SCALAR_BYTES)
		return dray_element_refuse(-EINVAL, dtype,
					   "the value is not bytes");
	if (size > room)
		size = room;
	if (size)
		memmove(element, value->bytes.data, size);
	memset((char *)element + size, 0, room - size);
	return 0;
}

static bool bytes_nonzero(dray_dtype dtype, const void *element)
{
	const char *at = element;
	uint32_t i, size = dray_dtype_itemsize(dtype);

	for (i = 0; i < size; i++) {
		if (at[i])
			return true;
	}
	return false;
}

static int bytes_compare(dray_dtype dtype, const void *a, const void *b)
{
	const uint32_t size = dray_dtype_itemsize(dtype);

	return size ? memcmp(a, b, size) : 0;
}

static int64_t bytes_argmax(dray_dtype dtype, const void *elements,
			    int64_t stride, int64_t count)
{
	return dray_element_argmax_by(bytes_compare, dtype, elements, stride,
				      count);
}

const struct dray_dtype_functions dray_element_bytes = {
	.size = sizeof(struct dray_dtype_functions),
	.get = bytes_get,
	.set = bytes_set,
	.copyswap = dray_element_copyswap,
	.nonzero = bytes_nonzero,
	.compare = bytes_compare,
	.fill = dray_element_fill,
	.argmax = bytes_argmax,
};

static int characters_compare(dray_dtype dtype, const void *a, const void *b)
{
	uint32_t i, size = dray_dtype_itemsize(dtype), one, other;

	for (i = 0; i < size; i += sizeof(one)) {
		memcpy(&one, (const char *)a + i, sizeof(one));
		memcpy(&other, (const char *)b + i, sizeof(other));
		if (one == other)
			continue;
		dray_element_load(&one, (const char *)a + i, sizeof(one),
				  dtype);
		dray_element_load(&other, (const char *)b + i, sizeof(other),
				  dtype);
		return one < other ? -1 : 1;
	}
	return 0;
}

static int64_t characters_argmax(dray_dtype dtype, const void *elements,
				 int64_t stride, int64_t count)
{
	return dray_element_argmax_by(characters_compare, dtype, elements,
				      stride, count);
}

const struct dray_dtype_functions dray_element_characters = {
	.size = sizeof(struct dray_dtype_functions),
	.get = bytes_get,
	.set = bytes_set,
	.copyswap = dray_element_copyswap,
	.nonzero = bytes_nonzero,
	.compare = characters_compare,
	.fill = dray_element_fill,
	.argmax = characters_argmax,
};

static int foreign_get(dray_dtype dtype, const void *element,
		       struct dray_scalar *out)
{
	(void)element;
	(void)out;
	return dray_element_refuse(-EOPNOTSUPP, dtype,
				   "this machine has no such long double");
}

static int foreign_set(dray_dtype dtype, void *element,
		       const struct dray_scalar *value)
{
	(void)element;
	(void)value;
	return dray_element_refuse(-EOPNOTSUPP, dtype,
				   "this machine has no such long double");
}

const struct dray_dtype_functions dray_element_foreign = {
	.size = sizeof(struct dray_dtype_functions),
	.get = foreign_get,
	.set = foreign_set,
	.copyswap = dray_element_copyswap,
	.nonzero = bytes_nonzero,
	.compare = bytes_compare,
	.fill = dray_element_fill,
	.argmax = bytes_argmax,
};

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Elements that are bytes (S, V, and user types by default), or characters
 * of UCS-4 (U).  Text ends before the zeros at its end.
 */
#include <errno.h>

#include "dtype/element.h"
#include "base/error.h"

static bool is_text(dray_dtype dtype)
{
	return dray_dtype_kind(dtype) == 'S' || dray_dtype_kind(dtype) == 'U';
}

/* Bytes of a text without the zeros at its end. */
static size_t length_of(dray_dtype dtype, const char *text)
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
	out->bytes.size = is_text(dtype) ? length_of(dtype, element)
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

static int compare_characters(dray_dtype dtype, const char *a, const char *b)
{
	uint32_t i, size = dray_dtype_itemsize(dtype), one, other;

	for (i = 0; i < size; i += sizeof(one)) {
		dray_element_load(&one, a + i, sizeof(one), dtype);
		dray_element_load(&other, b + i, sizeof(other), dtype);
		if (one != other)
			return one < other ? -1 : 1;
	}
	return 0;
}

static int bytes_compare(dray_dtype dtype, const void *a, const void *b)
{
	if (dray_dtype_kind(dtype) == 'U' && dray_dtype_is_builtin(dtype))
		return compare_characters(dtype, a, b);
	return memcmp(a, b, dray_dtype_itemsize(dtype));
}

const struct dray_dtype_functions dray_element_bytes = {
	.size = sizeof(struct dray_dtype_functions),
	.get = bytes_get,
	.set = bytes_set,
	.copyswap = dray_element_copyswap,
	.nonzero = bytes_nonzero,
	.compare = bytes_compare,
	.fill = dray_element_fill,
	.argmax = dray_element_argmax,
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
	.argmax = dray_element_argmax,
};

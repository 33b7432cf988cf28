// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The functions that tables share: copies of elements, with their parts swapped,
 * and conversions of values.
 */
#include <errno.h>
#include <string.h>

#include "dtype/element.h"
#include "base/error.h"

/* Bytes of the parts that are swapped one by one; 1: bytes have no order. */
static uint32_t part_size(dray_dtype dtype)
{
	if (!dray_dtype_is_builtin(dtype) || dray_dtype_order(dtype) == '|')
		return 1;
	switch (dray_dtype_kind(dtype)) {
	case 'c':
		return dray_dtype_itemsize(dtype) / 2;
	case 'U':
		return 4;
	default:
		return dray_dtype_itemsize(dtype);
	}
}

/* Copies elements of a constant size, which become one load and one store. */
#define COPY_ELEMENTS(size)                                                \
	do {                                                               \
		for (i = 0; i < count; i++)                                \
			memcpy(to + i * to_stride, from + i * from_stride, \
			       size);                                      \
	} while (0)

static void element_copy(char *to, int64_t to_stride, const char *from,
			 int64_t from_stride, int64_t count, size_t size)
{
	int64_t i;

	if (to == from && to_stride == from_stride)
		return;
	if (to_stride == from_stride && to_stride == (int64_t)size) {
		memcpy(to, from, (size_t)count * size);
		return;
	}
	switch (size) {
	case 1:
		COPY_ELEMENTS(1);
		break;
	case 2:
		COPY_ELEMENTS(2);
		break;
	case 4:
		COPY_ELEMENTS(4);
		break;
	case 8:
		COPY_ELEMENTS(8);
		break;
	default:
		COPY_ELEMENTS(size);
	}
}

#define SWAP_ELEMENTS(type, swapped)                                         \
	do {                                                                 \
		for (i = 0; i < count; i++) {                                \
			type part;                                           \
                                                                             \
			memcpy(&part, from + i * from_stride, sizeof(part)); \
			part = swapped(part);                                \
			memcpy(to + i * to_stride, &part, sizeof(part));     \
		}                                                            \
	} while (0)

/* Reverses parts of any size, in place or not. */
static void element_reverse(char *to, int64_t to_stride, const char *from,
			    int64_t from_stride, int64_t count, size_t size)
{
	int64_t i;
	size_t j;

	for (i = 0; i < count; i++, to += to_stride, from += from_stride) {
		for (j = 0; j < (size + 1) / 2; j++) {
			char low = from[j], high = from[size - 1 - j];

			to[j] = high;
			to[size - 1 - j] = low;
		}
	}
}

static void swap_parts(char *to, int64_t to_stride, const char *from,
		       int64_t from_stride, int64_t count, size_t size)
{
	int64_t i;

	switch (size) {
	case 2:
		SWAP_ELEMENTS(uint16_t, __builtin_bswap16);
		break;
	case 4:
		SWAP_ELEMENTS(uint32_t, __builtin_bswap32);
		break;
	case 8:
		SWAP_ELEMENTS(uint64_t, __builtin_bswap64);
		break;
	default:
		element_reverse(to, to_stride, from, from_stride, count, size);
	}
}

void dray_element_copyswap(dray_dtype dtype, void *to, int64_t to_stride,
			   const void *from, int64_t from_stride, int64_t count,
			   bool swap)
{
	uint32_t size = dray_dtype_itemsize(dtype), part = part_size(dtype), at;

	if (!swap || part == 1) {
		element_copy(to, to_stride, from, from_stride, count, size);
		return;
	}
	for (at = 0; at < size; at += part)
		swap_parts((char *)to + at, to_stride, (const char *)from + at,
			   from_stride, count, part);
}

void dray_element_fill(dray_dtype dtype, void *to, int64_t stride,
		       int64_t count, const void *value)
{
	const struct dray_dtype_user *user = dray_dtype_as_user(dtype);

	if (user)
		user->functions.copyswap(dtype, to, stride, value, 0, count,
					 false);
	else
		dray_element_copyswap(dtype, to, stride, value, 0, count,
				      false);
}

int dray_element_refuse(int error, dray_dtype dtype, const char *why)
{
	char text[64];

	if (dray_dtype_format(dtype, text, sizeof(text)) < 0)
		text[0] = 0;
	return dray_fail(error, "an element of type %s: %s", text, why);
}

int dray_element_real(dray_dtype dtype, const struct dray_scalar *value,
		      double *out)
{
	switch (value->kind) {
	case DRAY_SCALAR_BOOLEAN:
		*out = value->boolean;
		return 0;
	case DRAY_SCALAR_SIGNED:
		*out = (double)value->integer;
		return 0;
	case DRAY_SCALAR_UNSIGNED:
		*out = (double)value->natural;
		return 0;
	case DRAY_SCALAR_REAL:
		*out = value->real;
		return 0;
	case DRAY_SCALAR_COMPLEX:
		return dray_element_refuse(-EINVAL, dtype,
					   "a complex value has two parts");
	default:
		return dray_element_refuse(-EINVAL, dtype,
					   "the value is not a number");
	}
}

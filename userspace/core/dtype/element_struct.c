// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The table of each type; and elements with parts, which use the tables of their
 * parts: structures, field by field, and sub-arrays, element by element.  As values
 * they are their bytes.
 */
#include <errno.h>

#include "dtype/element.h"

static int whole_get(dray_dtype dtype, const void *element,
		     struct dray_scalar *out)
{
	return dray_element_bytes.get(dtype, element, out);
}

static int whole_set(dray_dtype dtype, void *element,
		     const struct dray_scalar *value)
{
	return dray_element_bytes.set(dtype, element, value);
}

static int64_t parts_argmax(dray_dtype dtype, const void *elements,
			    int64_t stride, int64_t count)
{
	return dray_element_argmax_by(dray_dtype_functions(dtype)->compare,
				      dtype, elements, stride, count);
}

/* Copies gaps too, and then swaps the fields where they are. */
static void structure_copyswap(dray_dtype dtype, void *to, int64_t to_stride,
			       const void *from, int64_t from_stride,
			       int64_t count, bool swap)
{
	const struct dray_dtype_structure *structure =
		dray_dtype_as_structure(dtype);
	size_t i;

	dray_element_copyswap(dtype, to, to_stride, from, from_stride, count,
			      false);
	for (i = 0; swap && i < structure->count; i++) {
		dray_dtype type = structure->fields[i].dtype;
		char *field = (char *)to + structure->fields[i].offset;

		dray_dtype_functions(type)->copyswap(
			type, field, to_stride, field, to_stride, count, true);
	}
}

static bool structure_nonzero(dray_dtype dtype, const void *element)
{
	const struct dray_dtype_structure *structure =
		dray_dtype_as_structure(dtype);
	size_t i;

	for (i = 0; i < structure->count; i++) {
		const struct dray_dtype_field *field = &structure->fields[i];

		if (dray_dtype_functions(field->dtype)
			    ->nonzero(field->dtype,
				      (const char *)element + field->offset))
			return true;
	}
	return false;
}

static int structure_compare(dray_dtype dtype, const void *a, const void *b)
{
	const struct dray_dtype_structure *structure =
		dray_dtype_as_structure(dtype);
	int result = 0;
	size_t i;

	for (i = 0; i < structure->count && !result; i++) {
		const struct dray_dtype_field *field = &structure->fields[i];

		result = dray_dtype_functions(field->dtype)
				 ->compare(field->dtype,
					   (const char *)a + field->offset,
					   (const char *)b + field->offset);
	}
	return result;
}

const struct dray_dtype_functions dray_element_structure = {
	.size = sizeof(struct dray_dtype_functions),
	.get = whole_get,
	.set = whole_set,
	.copyswap = structure_copyswap,
	.nonzero = structure_nonzero,
	.compare = structure_compare,
	.fill = dray_element_fill,
	.argmax = parts_argmax,
};

/* A sub-array's parts: @count elements of @base, @size bytes apart. */
struct struct_parts {
	dray_dtype base;
	const struct dray_dtype_functions *functions;
	int64_t size;
	int64_t count;
};

static struct struct_parts parts_of(dray_dtype dtype)
{
	dray_dtype base = dray_dtype_base(dtype);
	const struct dray_dtype_functions *functions =
		dray_dtype_functions(base);
	uint32_t size = dray_dtype_itemsize(base);

	return (struct struct_parts){
		base,
		functions ? functions : &dray_element_foreign,
		size,
		size ? dray_dtype_itemsize(dtype) / size : 0,
	};
}

static void subarray_copyswap(dray_dtype dtype, void *to, int64_t to_stride,
			      const void *from, int64_t from_stride,
			      int64_t count, bool swap)
{
	struct struct_parts parts = parts_of(dtype);
	char *at = to;
	int64_t i;

	dray_element_copyswap(dtype, to, to_stride, from, from_stride, count,
			      false);
	for (i = 0; swap && i < count; i++, at += to_stride)
		parts.functions->copyswap(parts.base, at, parts.size, at,
					  parts.size, parts.count, true);
}

static bool subarray_nonzero(dray_dtype dtype, const void *element)
{
	struct struct_parts parts = parts_of(dtype);
	const char *at = element;
	int64_t i;

	for (i = 0; i < parts.count; i++, at += parts.size) {
		if (parts.functions->nonzero(parts.base, at))
			return true;
	}
	return false;
}

static int subarray_compare(dray_dtype dtype, const void *a, const void *b)
{
	struct struct_parts parts = parts_of(dtype);
	const char *one = a, *other = b;
	int64_t i;
	int result = 0;

	for (i = 0; i < parts.count && !result; i++) {
		result = parts.functions->compare(parts.base, one, other);
		one += parts.size;
		other += parts.size;
	}
	return result;
}

const struct dray_dtype_functions dray_element_subarray = {
	.size = sizeof(struct dray_dtype_functions),
	.get = whole_get,
	.set = whole_set,
	.copyswap = subarray_copyswap,
	.nonzero = subarray_nonzero,
	.compare = subarray_compare,
	.fill = dray_element_fill,
	.argmax = parts_argmax,
};

static const struct dray_dtype_functions *functions_of_builtin(dray_dtype dtype)
{
	const struct dray_dtype_functions *functions;
	char kind = dray_dtype_kind(dtype);

	switch (kind) {
	case 'S':
	case 'V':
		return &dray_element_bytes;
	case 'U':
		return &dray_element_characters;
	case 'c':
		if (dray_dtype_itemsize(dtype) <= 16 ||
		    dray_dtype_itemsize(dtype) == 2 * sizeof(long double))
			return &dray_element_complex;
		return &dray_element_foreign;
	default:
		functions =
			dray_element_number(kind, dray_dtype_itemsize(dtype));
		return functions ? functions : &dray_element_foreign;
	}
}

const struct dray_dtype_functions *dray_dtype_functions(dray_dtype dtype)
{
	if (dray_dtype_as_structure(dtype))
		return &dray_element_structure;
	if (dray_dtype_as_subarray(dtype))
		return &dray_element_subarray;
	if (dray_dtype_as_user(dtype))
		return &dray_dtype_as_user(dtype)->functions;
	if (dray_dtype_normalize(dtype, &dtype)) {
		errno = EINVAL;
		return NULL;
	}
	return functions_of_builtin(dtype);
}

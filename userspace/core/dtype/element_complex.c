// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Elements that are complex numbers: two floats of the same size, ordered by the
 * real one, then by the imaginary one, as NumPy sorts them.
 */
#include <string.h>

#include "dtype/element.h"

struct complex_parts {
	long double real, imaginary;
};

static long double load_part(dray_dtype dtype, const char *at, uint32_t size)
{
	long double longest;
	double longer;
	float value;

	switch (size) {
	case 4:
		dray_element_load(&value, at, sizeof(value), dtype);
		return (long double)value;
	case 8:
		dray_element_load(&longer, at, sizeof(longer), dtype);
		return (long double)longer;
	default:
		dray_element_load(&longest, at, sizeof(longest), dtype);
		return longest;
	}
}

static struct complex_parts element_complex_load(dray_dtype dtype,
						 const void *element)
{
	uint32_t size = dray_dtype_itemsize(dtype) / 2;

	return (struct complex_parts){
		load_part(dtype, element, size),
		load_part(dtype, (const char *)element + size, size),
	};
}

static void store_part(dray_dtype dtype, char *at, uint32_t size, double part)
{
	long double longest;
	float shorter;

	switch (size) {
	case 4:
		shorter = (float)part;
		dray_element_load(at, &shorter, sizeof(shorter), dtype);
		break;
	case 8:
		dray_element_load(at, &part, sizeof(part), dtype);
		break;
	default:
		memset(&longest, 0, sizeof(longest)); /* and its padding */
		longest = (long double)part;
		dray_element_load(at, &longest, sizeof(longest), dtype);
	}
}

static int complex_get(dray_dtype dtype, const void *element,
		       struct dray_scalar *out)
{
	struct complex_parts parts = element_complex_load(dtype, element);

	out->kind = DRAY_SCALAR_COMPLEX;
	out->parts.real = (double)parts.real;
	out->parts.imaginary = (double)parts.imaginary;
	return 0;
}

static int complex_set(dray_dtype dtype, void *element,
		       const struct dray_scalar *value)
{
	uint32_t size = dray_dtype_itemsize(dtype) / 2;
	double real = 0, imaginary = 0;
	int ret = 0;

	if (value->kind == DRAY_SCALAR_COMPLEX) {
		real = value->parts.real;
		imaginary = value->parts.imaginary;
	} else {
		ret = dray_element_real(dtype, value, &real);
	}
	if (ret)
		return ret;
	store_part(dtype, element, size, real);
	store_part(dtype, (char *)element + size, size, imaginary);
	return 0;
}

static bool complex_nonzero(dray_dtype dtype, const void *element)
{
	struct complex_parts parts = element_complex_load(dtype, element);

	return parts.real != 0 || parts.imaginary != 0;
}

static bool complex_is_nan(struct complex_parts parts)
{
	return parts.real != parts.real || parts.imaginary != parts.imaginary;
}

/* Those without NaN, then R + nan j, nan + R j, and nan + nan j. */
static int element_complex_rank(struct complex_parts parts)
{
	return 2 * (parts.real != parts.real) +
	       (parts.imaginary != parts.imaginary);
}

/* Compares two floats; NaN is equal to all. */
static int compare_parts(long double a, long double b)
{
	return (a > b) - (a < b);
}

static int compare_numbers(struct complex_parts one, struct complex_parts other)
{
	int result = element_complex_rank(one) - element_complex_rank(other);

	if (!result)
		result = compare_parts(one.real, other.real);
	return result ? result : compare_parts(one.imaginary, other.imaginary);
}

static int complex_compare(dray_dtype dtype, const void *a, const void *b)
{
	return compare_numbers(element_complex_load(dtype, a),
			       element_complex_load(dtype, b));
}

static int64_t complex_argmax(dray_dtype dtype, const void *elements,
			      int64_t stride, int64_t count)
{
	const char *at = elements;
	struct complex_parts best = element_complex_load(dtype, at);
	int64_t i, found = 0;

	for (i = 1; i < count && !complex_is_nan(best); i++) {
		struct complex_parts parts =
			element_complex_load(dtype, at += stride);

		if (complex_is_nan(parts) || compare_numbers(parts, best) > 0) {
			best = parts;
			found = i;
		}
	}
	return found;
}

const struct dray_dtype_functions dray_element_complex = {
	.size = sizeof(struct dray_dtype_functions),
	.get = complex_get,
	.set = complex_set,
	.copyswap = dray_element_copyswap,
	.nonzero = complex_nonzero,
	.compare = complex_compare,
	.fill = dray_element_fill,
	.argmax = complex_argmax,
};

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files about elements: tables, and functions of several. */
#ifndef DRAY_DTYPE_ELEMENT_H
#define DRAY_DTYPE_ELEMENT_H

#include <string.h>

#include "dtype/dtype.h"

/* For S, V, and user types without their own. */
extern const struct dray_dtype_functions dray_element_bytes;
extern const struct dray_dtype_functions dray_element_characters; /* U */
/* For long doubles of other machines. */
extern const struct dray_dtype_functions dray_element_foreign;
extern const struct dray_dtype_functions dray_element_structure;
extern const struct dray_dtype_functions dray_element_subarray;
extern const struct dray_dtype_functions dray_element_complex;

/* The table of a bool, an integer, a float or a time; NULL: there is none. */
const struct dray_dtype_functions *dray_element_number(char kind,
						       uint32_t size);

/* The functions that copy and fill builtin types. */
void dray_element_copyswap(dray_dtype dtype, void *to, int64_t to_stride,
			   const void *from, int64_t from_stride, int64_t count,
			   bool swap);

/* Fills by copies. */
void dray_element_fill(dray_dtype dtype, void *to, int64_t stride,
		       int64_t count, const void *value);

typedef int dray_element_compare(dray_dtype dtype, const void *a,
				 const void *b);

/* Finds the first largest element; inlines a function that is constant. */
static inline int64_t dray_element_argmax_by(dray_element_compare *compare,
					     dray_dtype dtype,
					     const void *elements,
					     int64_t stride, int64_t count)
{
	const char *at = elements, *best;
	int64_t i = 0, found = 0;

	while (i < count) {
		best = at;
		found = i;
		/* A loop of its own: comparisons do not wait for each other. */
		do {
			at += stride;
			i++;
		} while (i < count && compare(dtype, at, best) <= 0);
	}
	return found;
}

/*
 * Copies a part of @size bytes, and reverses them if the type's order is not
 * the machine's.
 */
static inline void dray_element_load(void *to, const void *from, size_t size,
				     dray_dtype dtype)
{
	size_t i;

	if (!(dray_dtype_flags(dtype) & DRAY_DTYPE_SWAPPED)) {
		memcpy(to, from, size);
		return;
	}
	for (i = 0; i < size; i++)
		((char *)to)[i] = ((const char *)from)[size - 1 - i];
}

/* Leaves the sentence for a value that does not become an element. */
int dray_element_refuse(int error, dray_dtype dtype, const char *why);

/* Writes the number of a scalar.  -EINVAL if it is not real. */
int dray_element_real(dray_dtype dtype, const struct dray_scalar *value,
		      double *out);

#endif /* DRAY_DTYPE_ELEMENT_H */

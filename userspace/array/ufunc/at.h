/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Results put in place by index. */
#ifndef DRAY_UFUNC_AT_H
#define DRAY_UFUNC_AT_H

#include "ufunc/method.h"

struct dray_placing {
	const struct dray_ufunc *ufunc;
	const struct dray_view *target;
	struct dray_resolved resolved;
	const struct dray_line *line; /* with a function for this, or NULL */
	/* of a target that converts: */
	struct dray_cast read, write;
	int64_t item; /* bytes of an element in the buffer */
	char *buffer; /* or NULL */
	struct dray_array *values; /* converted, or NULL */
	unsigned int errors; /* DRAY_FP_*, of conversions */
};

/* Chooses the loop; @values NULL: a ufunc of a single input. */
int dray_place_loop(struct dray_placing *placing,
		    const struct dray_view *values);

/* Makes values of the loop's type, which share nothing with the target. */
int dray_place_values(struct dray_placing *placing,
		      const struct dray_view *values, struct dray_view *out);

/*
 * Computes elements singly.
 * @stride: bytes from an element to the next in number
 * @indices: the number of an element for each of @values in C order
 */
int dray_place_elements(struct dray_placing *placing, char *target,
			int64_t stride, const int64_t *indices,
			const struct dray_view *values);

/*
 * Computes parts of the target, which an index of the first axis names each.
 * @values: with the axes of the indices, then of a part; not empty
 */
int dray_place_parts(struct dray_placing *placing, const int64_t *indices,
		     const struct dray_view *values);

#endif /* DRAY_UFUNC_AT_H */

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Products of one pair of matrices, by BLAS or by loops. */
#ifndef DRAY_LINEAR_LINEAR_H
#define DRAY_LINEAR_LINEAR_H

#include <stdbool.h>
#include <stdint.h>

#include <dray/linear.h>

/* A matrix: aligned elements in the machine's byte order. */
struct dray_matrix {
	char *data;
	int64_t row; /* bytes from one row to the next */
	int64_t column;
};

/* The extents of a product: m x k times k x n; each may be 0. */
struct dray_extents {
	int64_t m;
	int64_t k;
	int64_t n;
};

/* Makes the product of one type: @c shares no byte with the others. */
typedef void dray_product(const struct dray_extents *extents,
			  const struct dray_matrix *a,
			  const struct dray_matrix *b,
			  const struct dray_matrix *c);

/* Returns the loop of a type, or NULL. */
dray_product *dray_product_loop(dray_dtype dtype);

/*
 * Makes the product by BLAS; false if there is none, it has no such type, or the
 * strides are none of its own.
 */
bool dray_blas_product(dray_dtype dtype, const struct dray_extents *extents,
		       const struct dray_matrix *a, const struct dray_matrix *b,
		       const struct dray_matrix *c);

#endif /* DRAY_LINEAR_LINEAR_H */

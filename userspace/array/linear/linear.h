/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Products: of operands to a result, and of a single pair of matrices. */
#ifndef DRAY_LINEAR_LINEAR_H
#define DRAY_LINEAR_LINEAR_H

#include <stdbool.h>
#include <stdint.h>

#include <dray/array/linear.h>

/* A matrix: aligned elements in the machine's byte order. */
struct dray_matrix {
	char *data;
	int64_t row; /* bytes from a row to the next */
	int64_t column;
};

/* The extents of a product: m x k times k x n; each may be 0. */
struct dray_extents {
	int64_t m;
	int64_t k;
	int64_t n;
};

/* Makes the product of a type: @c shares no byte with the others. */
typedef void dray_product(const struct dray_extents *extents,
			  const struct dray_matrix *a,
			  const struct dray_matrix *b,
			  const struct dray_matrix *c);

/* Returns the loop of a type, or NULL. */
dray_product *dray_product_loop(dray_dtype dtype);

/* Whether BLAS has functions for a type. */
bool dray_blas_has(dray_dtype dtype);

/*
 * Makes the product by BLAS; false if there is none, or it does not support the
 * type or the strides.
 */
bool dray_blas_product(dray_dtype dtype, const struct dray_extents *extents,
		       const struct dray_matrix *a, const struct dray_matrix *b,
		       const struct dray_matrix *c);

/*
 * Makes the product by the thread's function, if BLAS is slow; false without a function,
 * for a few elements or other types, or if the function fails.
 */
bool dray_multiplier_product(dray_dtype dtype,
			     const struct dray_extents *extents,
			     const struct dray_matrix *a,
			     const struct dray_matrix *b,
			     const struct dray_matrix *c);

/* Makes a product by the best of these, or by the loop. */
void dray_linear_multiply(dray_dtype dtype, const struct dray_extents *extents,
			  const struct dray_matrix *a,
			  const struct dray_matrix *b,
			  const struct dray_matrix *c);

/*
 * Makes the product of two matrices or vectors in a new array; false, and nothing is
 * done, if they are not simple enough.  @ret: 0, -ENOMEM, -EDOM
 */
bool dray_linear_quick(const char *name, const struct dray_view *a,
		       const struct dray_view *b, struct dray_array **out,
		       int *ret);

/* A product on its way. */
struct dray_linear {
	const char *name; /* of the function, for sentences */
	dray_dtype dtype; /* that it is computed in */
	struct dray_array *copies[2]; /* of operands that were converted */
	struct dray_view operands[2]; /* at least two axes */
	struct dray_view result; /* (..., m, n) */
	int place; /* of axis m in the result of dot() */
};

/* Checks the arguments, before any of them is used.  -EINVAL. */
int dray_linear_check(const struct dray_view *a, const struct dray_view *b,
		      const struct dray_view *to, struct dray_array **out,
		      const char *function);

/*
 * Chooses the type of the product, and of the result; converts the operands to it.
 * dray_linear_finish() follows, after an error too.
 */
int dray_linear_begin(struct dray_linear *product, const struct dray_view *a,
		      const struct dray_view *b, dray_dtype *dtype);
void dray_linear_finish(struct dray_linear *product);

/* Leaves the last two axes out. */
void dray_linear_drop_matrix(const struct dray_view *view,
			     struct dray_view *out);

/*
 * A shape of the result, and the same elements with the axes (..., m, n): where the
 * function adds, moves or leaves out axes.
 */
typedef int dray_linear_arrange(struct dray_linear *product);

/*
 * Computes the result, of @shape, into @to or a new array.
 * @dtype: of an array that is made
 * @arranged: makes (..., m, n) of the result; NULL: it is that
 */
int dray_linear_deliver(struct dray_linear *product, dray_dtype dtype, int ndim,
			const int64_t *shape, dray_linear_arrange *arranged,
			const struct dray_view *to, struct dray_array **out);

#endif /* DRAY_LINEAR_LINEAR_H */

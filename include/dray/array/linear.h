/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * linear: products of matrices and vectors.
 *
 * Operands are of any strides, and are converted to their common type
 * (dray_result_type()).  Products of float and complex numbers are made by the
 * first BLAS library with a C interface that is found: libopenblas.so.0,
 * libblis.so.4, these two in the folders openblas-pthread/ and blis-pthread/
 * beside libblas.so.3, or that, which may be the slow reference.  Else the
 * library's own loops make them, as for all other types.  The environment
 * variable DRAY_BLAS names another library; "none" asks for the loops, whose
 * results are the same, bit by bit, on all machines.
 *
 *	struct dray_array *product;
 *	struct dray_view turned;
 *
 *	ret = dray_view_transpose(&x, NULL, &turned);
 *	if (!ret)
 *		ret = dray_matmul(&x, &turned, NULL, &product);
 *
 * All functions may be called from any thread.  Nothing here waits.
 */
#ifndef DRAY_LINEAR_H
#define DRAY_LINEAR_H

#include <dray/array/cast.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Multiplies matrices, which are the last two axes; axes before them are
 * broadcast.  A vector on the left is a row, a vector on the right a column,
 * and that axis is not in the result.  (Source: numpy.matmul().)
 *
 * @a: of shape (..., m, k) or (k)
 * @b: of shape (..., k, n) or (k)
 * @to: of shape (..., m, n), to which the product is converted by
 *	DRAY_CASTING_SAME_KIND; it may share memory with operands.  NULL: made
 * @out: the array that was made, with a reference; NULL if @to is given.  May
 *	be NULL then
 *
 * Errors: -EINVAL (an operand without axes, lengths k that differ, axes that
 * cannot be broadcast, @to of another shape, a conversion that is not allowed),
 * -EOPNOTSUPP (types that are not numbers or booleans), -EPERM (@to is
 * read-only), -EDOM (an error of numbers that the thread's state raises; those in
 * threads of BLAS are not seen), -ENOMEM, as dray_view_init() for a bad view.
 */
DRAY_API int dray_matmul(const struct dray_view *a, const struct dray_view *b,
			 const struct dray_view *to, struct dray_array **out);

/**
 * Sums products over the last axis of @a and the last but one of @b, or its
 * only axis; the result's axes are all other axes of @a, then of @b.  An
 * operand without axes multiplies each element of the other.  (Source:
 * numpy.dot().)
 *
 * @to, @out: as of dray_matmul()
 *
 * Errors: as dray_matmul().
 */
DRAY_API int dray_dot(const struct dray_view *a, const struct dray_view *b,
		      const struct dray_view *to, struct dray_array **out);

/**
 * Sums products along the last axes of @a and @b; of complex numbers, with the
 * conjugate of @a.  The axes before are broadcast.  (Source: numpy.vecdot().)
 *
 * @to, @out: as of dray_matmul()
 *
 * Errors: as dray_matmul().
 */
DRAY_API int dray_vecdot(const struct dray_view *a, const struct dray_view *b,
			 const struct dray_view *to, struct dray_array **out);

/**
 * Multiplies matrices, the last two axes of @a, by vectors, the last axis of @b; the
 * axes before are broadcast.  (Source: numpy.matvec().)
 *
 * @a: of shape (..., m, k)
 * @b: of shape (..., k)
 * @to: of shape (..., m); as @to and @out of dray_matmul()
 *
 * Errors: as dray_matmul().
 */
DRAY_API int dray_matvec(const struct dray_view *a, const struct dray_view *b,
			 const struct dray_view *to, struct dray_array **out);

/**
 * Multiplies vectors, the last axis of @a, by matrices, the last two axes of @b; of
 * complex numbers, with the conjugate of @a.  The axes before are broadcast.
 * (Source: numpy.vecmat().)
 *
 * @a: of shape (..., k)
 * @b: of shape (..., k, n)
 * @to: of shape (..., n); as @to and @out of dray_matmul()
 *
 * Errors: as dray_matmul().
 */
DRAY_API int dray_vecmat(const struct dray_view *a, const struct dray_view *b,
			 const struct dray_view *to, struct dray_array **out);

/**
 * Returns the name or the path of the BLAS library that is used, loaded now if it
 * was not; NULL without a library.
 */
DRAY_API const char *dray_blas_name(void);

/**
 * Multiplies two matrices; the library calls it within a product, in the thread
 * that set it.
 *
 * @context: as set
 * @a, @b: aligned elements of the type of @to, with two axes that are not empty
 * @to: DRAY_FLOAT32, DRAY_FLOAT64, DRAY_COMPLEX64 or DRAY_COMPLEX128; shares no
 *	byte with the others
 *
 * Returns 0; for any other value the library makes the product itself.
 */
typedef int dray_multiply(void *context, const struct dray_view *a,
			  const struct dray_view *b,
			  const struct dray_view *to);

/**
 * Sets a function of this thread for products of floats, which is called if no
 * BLAS library is found, only libblas.so.3 without a sign of a fast library in
 * it, or an OpenBLAS that is older than the processor, and makes no use of its
 * AVX2.  It is not called for a few elements, nor if DRAY_BLAS is set.
 *
 * @call: NULL: none
 */
DRAY_API void dray_set_multiplier(dray_multiply *call, void *context);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_LINEAR_H */

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Products by BLAS: of dense matrices, and of vectors with any stride but 0.  Both
 * the sizes and the strides of BLAS are ints.
 */
#include <limits.h>

#include "private.h"
#include "linear/blas.h"
#include "linear/linear.h"

/* A matrix as BLAS sees it. */
struct dense {
	int turn;
	int lead; /* elements from a dense line to the next */
};

/* A vector, from its lowest address on. */
struct strided {
	char *data;
	int step; /* in elements; negative: it begins at its end */
};

/*
 * Describes a matrix with dense rows or columns; false for another.  A line of
 * a single element, or a single line, has no stride that counts.
 */
static bool blas_describe(const struct dray_matrix *matrix, int64_t rows,
			  int64_t columns, int64_t size, bool turns,
			  struct dense *out)
{
	const bool dense_rows = matrix->column == size || columns == 1;
	const bool dense_columns = matrix->row == size || rows == 1;
	int64_t step;

	DRAY_HOLDS(size > 0);
	if (dense_rows) {
		step = rows == 1 ? columns * size : matrix->row;
		*out = (struct dense){ .turn = BLAS_PLAIN };
		if (step >= columns * size && !(step % size) &&
		    step / size <= INT_MAX) {
			out->lead = (int)(step / size);
			return true;
		}
	}
	if (!dense_columns || !turns)
		return false;
	step = columns == 1 ? rows * size : matrix->column;
	if (step < rows * size || step % size || step / size > INT_MAX)
		return false;
	*out = (struct dense){ BLAS_TURNED, (int)(step / size) };
	return true;
}

/* Describes a vector; false if its stride is 0, or too long. */
static bool describe_vector(char *data, int64_t count, int64_t stride,
			    int64_t size, struct strided *out)
{
	int64_t step = count == 1 ? 1 : stride / size;

	if (count > 1 &&
	    (!step || stride % size || step > INT_MAX || step < -INT_MAX))
		return false;
	if (step < 0)
		data += (count - 1) * stride;
	*out = (struct strided){ data, (int)step };
	return true;
}

static const double double_1[2] = { 1, 0 }, double_0[2] = { 0, 0 };
static const float single_1[2] = { 1, 0 }, single_0[2] = { 0, 0 };

/* Calls the function of a type; @call is a macro of its name, 1 and 0. */
#define OF_TYPE(dtype, function, call)                               \
	do {                                                         \
		const struct dray_blas *blas = dray_blas_get();      \
                                                                     \
		if ((dtype) == DRAY_FLOAT32)                         \
			call(blas->float_##function, 1, 0);          \
		else if ((dtype) == DRAY_FLOAT64)                    \
			call(blas->double_##function, 1, 0);         \
		else if ((dtype) == DRAY_COMPLEX64)                  \
			call(blas->function[0], single_1, single_0); \
		else                                                 \
			call(blas->function[1], double_1, double_0); \
	} while (0)

static bool blas_multiply_matrices(dray_dtype dtype,
				   const struct dray_extents *extents,
				   const struct dray_matrix *a,
				   const struct dray_matrix *b,
				   const struct dray_matrix *c)
{
	const int64_t size = dray_dtype_itemsize(dtype);
	const int m = (int)extents->m, n = (int)extents->n, k = (int)extents->k;
	struct dense x, y, z;

	if (!blas_describe(a, m, k, size, true, &x) ||
	    !blas_describe(b, k, n, size, true, &y) ||
	    !blas_describe(c, m, n, size, false, &z))
		return false;
#define CALL(function, first, last)                                          \
	function(BLAS_ROWS, x.turn, y.turn, m, n, k, first, a->data, x.lead, \
		 b->data, y.lead, last, c->data, z.lead)
	OF_TYPE(dtype, gemm, CALL);
#undef CALL
	return true;
}

/*
 * Multiplies a matrix by a vector.
 * @turned: the vector is on the left: as if the matrix were turned
 */
static bool blas_multiply_vector(dray_dtype dtype,
				 const struct dray_matrix *matrix, int64_t rows,
				 int64_t columns, bool turned,
				 const struct strided *x,
				 const struct strided *y)
{
	struct dense dense;
	int turn;

	if (!blas_describe(matrix, rows, columns, dray_dtype_itemsize(dtype),
			   true, &dense))
		return false;
	turn = (dense.turn == BLAS_TURNED) == turned ? BLAS_PLAIN : BLAS_TURNED;
	/* Sizes as the matrix lies in memory. */
	if (dense.turn == BLAS_TURNED) {
		const int64_t swapped = rows;

		rows = columns;
		columns = swapped;
	}
#define CALL(function, first, last)                                         \
	function(BLAS_ROWS, turn, (int)rows, (int)columns, first,           \
		 matrix->data, dense.lead, x->data, x->step, last, y->data, \
		 y->step)
	OF_TYPE(dtype, gemv, CALL);
#undef CALL
	return true;
}

static void blas_multiply_vectors(dray_dtype dtype, int count,
				  const struct strided *x,
				  const struct strided *y, void *out)
{
	const struct dray_blas *blas = dray_blas_get();

	if (dtype == DRAY_FLOAT32)
		*(float *)out = blas->float_dot(count, x->data, x->step,
						y->data, y->step);
	else if (dtype == DRAY_FLOAT64)
		*(double *)out = blas->double_dot(count, x->data, x->step,
						  y->data, y->step);
	else
		blas->dot[dtype == DRAY_COMPLEX128](count, x->data, x->step,
						    y->data, y->step, out);
}

bool dray_blas_has(dray_dtype dtype)
{
	return dtype == DRAY_FLOAT32 || dtype == DRAY_FLOAT64 ||
	       dtype == DRAY_COMPLEX64 || dtype == DRAY_COMPLEX128;
}

bool dray_blas_product(dray_dtype dtype, const struct dray_extents *extents,
		       const struct dray_matrix *a, const struct dray_matrix *b,
		       const struct dray_matrix *c)
{
	const int64_t m = extents->m, n = extents->n, k = extents->k;
	const int64_t size = dray_dtype_itemsize(dtype);
	struct strided x, y;

	if (m > INT_MAX || k > INT_MAX || n > INT_MAX || !m || !k || !n ||
	    !dray_blas_has(dtype) || !*dray_blas_get()->name)
		return false;
	if (m == 1 && n == 1) {
		if (!describe_vector(a->data, k, a->column, size, &x) ||
		    !describe_vector(b->data, k, b->row, size, &y))
			return false;
		blas_multiply_vectors(dtype, (int)k, &x, &y, c->data);
		return true;
	}
	if (n == 1 && describe_vector(b->data, k, b->row, size, &x) &&
	    describe_vector(c->data, m, c->row, size, &y))
		return blas_multiply_vector(dtype, a, m, k, false, &x, &y);
	if (m == 1 && describe_vector(a->data, k, a->column, size, &x) &&
	    describe_vector(c->data, n, c->column, size, &y))
		return blas_multiply_vector(dtype, b, k, n, true, &x, &y);
	return blas_multiply_matrices(dtype, extents, a, b, c);
}

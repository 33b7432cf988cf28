// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The system's BLAS, loaded at the first product, for dense matrices.  (Source: the
 * C interface of the BLAS Technical Forum.)
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"
#include "linear/linear.h"

#define LIBRARY "libblas.so.3"

/* Numbers of the C interface. */
enum {
	BLAS_ROWS = 101, /* rows are dense */
	BLAS_PLAIN = 111,
	BLAS_TURNED = 112,
};

typedef void gemm_float(int order, int turn_a, int turn_b, int m, int n, int k,
			float alpha, const void *a, int lda, const void *b,
			int ldb, float beta, void *c, int ldc);
typedef void gemm_double(int order, int turn_a, int turn_b, int m, int n, int k,
			 double alpha, const void *a, int lda, const void *b,
			 int ldb, double beta, void *c, int ldc);
typedef void gemm_complex(int order, int turn_a, int turn_b, int m, int n,
			  int k, const void *alpha, const void *a, int lda,
			  const void *b, int ldb, const void *beta, void *c,
			  int ldc);

static struct {
	char name[64]; /* empty: none */
	gemm_float *single;
	gemm_double *full;
	gemm_complex *complex_single;
	gemm_complex *complex_full;
} blas;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool blas_find(void *library, const char *name, void *out)
{
	void *symbol = dlsym(library, name);

	memcpy(out, &symbol, sizeof(symbol));
	return symbol;
}

static void blas_load(void)
{
	const char *wanted = secure_getenv("DRAY_BLAS");
	const char *name = wanted && *wanted ? wanted : LIBRARY;
	void *library;

	if (!strcmp(name, "none"))
		return;
	library = dray_load(name, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return;
	if (blas_find(library, "cblas_sgemm", &blas.single) &&
	    blas_find(library, "cblas_dgemm", &blas.full) &&
	    blas_find(library, "cblas_cgemm", &blas.complex_single) &&
	    blas_find(library, "cblas_zgemm", &blas.complex_full))
		snprintf(blas.name, sizeof(blas.name), "%s", name);
	else
		dlclose(library);
}

const char *dray_blas_name(void)
{
	pthread_once(&once, blas_load);
	return *blas.name ? blas.name : NULL;
}

/* One matrix as BLAS sees it. */
struct dense {
	int turn;
	int lead; /* elements from one dense line to the next */
};

/*
 * Describes a matrix with dense rows or columns; false for another.  A line of
 * one element, or a single line, has no stride that counts.
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

bool dray_blas_product(dray_dtype dtype, const struct dray_extents *extents,
		       const struct dray_matrix *a, const struct dray_matrix *b,
		       const struct dray_matrix *c)
{
	static const double one[2] = { 1, 0 }, zero[2] = { 0, 0 };
	static const float one_single[2] = { 1, 0 }, zero_single[2] = { 0, 0 };
	const int64_t size = dray_dtype_itemsize(dtype);
	struct dense x, y, z;
	int m, n, k;

	if (extents->m > INT_MAX || extents->k > INT_MAX ||
	    extents->n > INT_MAX || !extents->m || !extents->k || !extents->n ||
	    !dray_blas_name() ||
	    !blas_describe(a, extents->m, extents->k, size, true, &x) ||
	    !blas_describe(b, extents->k, extents->n, size, true, &y) ||
	    !blas_describe(c, extents->m, extents->n, size, false, &z))
		return false;
	m = (int)extents->m;
	n = (int)extents->n;
	k = (int)extents->k;
	if (dtype == DRAY_FLOAT32)
		blas.single(BLAS_ROWS, x.turn, y.turn, m, n, k, 1, a->data,
			    x.lead, b->data, y.lead, 0, c->data, z.lead);
	else if (dtype == DRAY_FLOAT64)
		blas.full(BLAS_ROWS, x.turn, y.turn, m, n, k, 1, a->data,
			  x.lead, b->data, y.lead, 0, c->data, z.lead);
	else if (dtype == DRAY_COMPLEX64)
		blas.complex_single(BLAS_ROWS, x.turn, y.turn, m, n, k,
				    one_single, a->data, x.lead, b->data,
				    y.lead, zero_single, c->data, z.lead);
	else if (dtype == DRAY_COMPLEX128)
		blas.complex_full(BLAS_ROWS, x.turn, y.turn, m, n, k, one,
				  a->data, x.lead, b->data, y.lead, zero,
				  c->data, z.lead);
	else
		return false;
	return true;
}

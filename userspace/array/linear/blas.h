/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Functions of a BLAS library.  (Source: the BLAS Technical Forum's C interface.) */
#ifndef DRAY_LINEAR_BLAS_H
#define DRAY_LINEAR_BLAS_H

#include <stdbool.h>

/* Numbers of the C interface. */
enum {
	BLAS_ROWS = 101, /* rows are dense */
	BLAS_PLAIN = 111,
	BLAS_TURNED = 112,
};

/* Functions of a real type. */
#define DRAY_BLAS_REAL(type)                                                  \
	void (*type##_gemm)(int order, int turn_a, int turn_b, int m, int n,  \
			    int k, type alpha, const void *a, int lda,        \
			    const void *b, int ldb, type beta, void *c,       \
			    int ldc);                                         \
	void (*type##_gemv)(int order, int turn, int rows, int columns,       \
			    type alpha, const void *a, int lda,               \
			    const void *x, int incx, type beta, void *y,      \
			    int incy);                                        \
	type (*type##_dot)(int n, const void *x, int incx, const void *y,     \
			   int incy);

typedef void dray_blas_gemm(int order, int turn_a, int turn_b, int m, int n,
			    int k, const void *alpha, const void *a, int lda,
			    const void *b, int ldb, const void *beta, void *c,
			    int ldc);
typedef void dray_blas_gemv(int order, int turn, int rows, int columns,
			    const void *alpha, const void *a, int lda,
			    const void *x, int incx, const void *beta, void *y,
			    int incy);
typedef void dray_blas_dot(int n, const void *x, int incx, const void *y,
			   int incy, void *out);

struct dray_blas {
	char name[512]; /* empty: none */
	bool is_slow; /* perhaps the reference, or without AVX; not asked for */
	DRAY_BLAS_REAL(float)
	DRAY_BLAS_REAL(double)
	/* Of complex numbers of single and of full precision. */
	dray_blas_gemm *gemm[2];
	dray_blas_gemv *gemv[2];
	dray_blas_dot *dot[2]; /* without conjugates */
};

/* Returns the library, loaded now if it was not. */
const struct dray_blas *dray_blas_get(void);

#endif /* DRAY_LINEAR_BLAS_H */

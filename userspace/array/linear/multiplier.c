// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The program's own function for products, where this library would be slow: NumPy
 * brings a BLAS of its own, for instance.
 */
#include "private.h"
#include "linear/blas.h"
#include "linear/linear.h"

/* Multiplications from which on the function pays for its call. */
#define MANY 4096

static _Thread_local struct {
	dray_multiply *call;
	void *context;
} multiplier __attribute__((tls_model("initial-exec")));

void dray_set_multiplier(dray_multiply *call, void *context)
{
	multiplier.call = call;
	multiplier.context = context;
}

static void multiplier_view(const struct dray_matrix *matrix, dray_dtype dtype,
			    int64_t rows, int64_t columns, uint32_t flags,
			    struct dray_view *out)
{
	out->data = matrix->data;
	out->dtype = dtype;
	out->ndim = 2;
	out->flags = flags;
	out->shape[0] = rows;
	out->shape[1] = columns;
	out->strides[0] = matrix->row;
	out->strides[1] = matrix->column;
}

bool dray_multiplier_product(dray_dtype dtype,
			     const struct dray_extents *extents,
			     const struct dray_matrix *a,
			     const struct dray_matrix *b,
			     const struct dray_matrix *c)
{
	const int64_t m = extents->m, n = extents->n, k = extents->k;
	struct dray_view x, y, to;
	int64_t work;

	if (!multiplier.call || !dray_blas_has(dtype) || !m || !n || !k ||
	    !dray_blas_get()->is_slow)
		return false;
	if (!__builtin_mul_overflow(m, n, &work) &&
	    !__builtin_mul_overflow(work, k, &work) && work < MANY)
		return false;
	multiplier_view(a, dtype, m, k, DRAY_READ, &x);
	multiplier_view(b, dtype, k, n, DRAY_READ, &y);
	multiplier_view(c, dtype, m, n, DRAY_READ | DRAY_WRITE, &to);
	return !multiplier.call(multiplier.context, &x, &y, &to);
}

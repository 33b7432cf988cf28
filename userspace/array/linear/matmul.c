// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Products of arrays as products of matrices: vectors get an axis, others move. */
#include <errno.h>

#include <dray/array/iterator.h>
#include <dray/array/ufunc.h>

#include "private.h"
#include "linear/linear.h"

/* Adds an axis of one element at @place. */
static int matmul_expand(struct dray_view *view, int place)
{
	return dray_view_expand(view, &place, 1, view);
}

static int expand_row(struct dray_linear *product)
{
	return matmul_expand(&product->result, -2);
}

static int expand_column(struct dray_linear *product)
{
	return matmul_expand(&product->result, -1);
}

static int expand_both(struct dray_linear *product)
{
	int ret = matmul_expand(&product->result, -1);

	return ret ? ret : matmul_expand(&product->result, -1);
}

/* Moves axis m behind those of the right side. */
static int matmul_move_rows(struct dray_linear *product)
{
	const int to = -2;

	return dray_view_move_axes(&product->result, &product->place, &to, 1,
				   &product->result);
}

static int matmul_fail_lengths(const struct dray_linear *product, int64_t one,
			       int64_t other)
{
	const struct dray_view *a = &product->operands[0];
	const struct dray_view *b = &product->operands[1];

	return dray_fail(
		-EINVAL,
		"%s: the last axis of the first operand has %lld elements, and the "
		"axis of the second that it meets %lld; their shapes end with "
		"(%lld, %lld) and (%lld, %lld)",
		product->name, (long long)one, (long long)other,
		(long long)a->shape[a->ndim - 2],
		(long long)a->shape[a->ndim - 1],
		(long long)b->shape[b->ndim - 2],
		(long long)b->shape[b->ndim - 1]);
}

/* Computes (..., m, k) times (..., k, n); vectors have been expanded. */
static int matmul_multiply(struct dray_linear *product, dray_dtype dtype,
			   bool row, bool column, const struct dray_view *to,
			   struct dray_array **out)
{
	struct dray_view *a = &product->operands[0], *b = &product->operands[1];
	const int64_t m = a->shape[a->ndim - 2], n = b->shape[b->ndim - 1];
	const int64_t one = a->shape[a->ndim - 1];
	const int64_t other = b->shape[b->ndim - 2];
	const struct dray_view *views[2];
	struct dray_view batches[2];
	int64_t shape[DRAY_MAX_NDIM + 2];
	int32_t ndim;
	int ret;

	if (one != other)
		return matmul_fail_lengths(product, one, other);
	dray_linear_drop_matrix(a, &batches[0]);
	dray_linear_drop_matrix(b, &batches[1]);
	views[0] = &batches[0];
	views[1] = &batches[1];
	ret = dray_broadcast_shape(views, 2, &ndim, shape);
	if (ret)
		return ret;
	if (!row)
		shape[ndim++] = m;
	if (!column)
		shape[ndim++] = n;
	return dray_linear_deliver(product, dtype, ndim, shape,
				   row && column ? expand_both
				   : row	 ? expand_row
				   : column	 ? expand_column
						 : NULL,
				   to, out);
}

/* Computes matmul(), which dot() is for most operands. */
static int multiply_any(const char *name, const struct dray_view *a,
			const struct dray_view *b, const struct dray_view *to,
			struct dray_array **out)
{
	struct dray_linear product = { .name = name };
	dray_dtype dtype = 0;
	int ret;

	ret = dray_linear_check(a, b, to, out, name);
	if (ret)
		return ret;
	if (a->ndim < 1 || b->ndim < 1)
		return dray_fail(
			-EINVAL,
			"operand %d of matmul has no axes: multiply() takes numbers",
			a->ndim >= 1);
	ret = dray_linear_begin(&product, a, b, &dtype);
	if (!ret && a->ndim == 1)
		ret = matmul_expand(&product.operands[0], 0);
	if (!ret && b->ndim == 1)
		ret = matmul_expand(&product.operands[1], 1);
	if (!ret)
		ret = matmul_multiply(&product, dtype, a->ndim == 1,
				      b->ndim == 1, to, out);
	dray_linear_finish(&product);
	return ret;
}

int dray_matmul(const struct dray_view *a, const struct dray_view *b,
		const struct dray_view *to, struct dray_array **out)
{
	int ret;

	if (a && b && !to && out &&
	    dray_linear_quick("matmul", a, b, out, &ret))
		return ret;
	return multiply_any("matmul", a, b, to, out);
}

/* Conjugates an operand of complex numbers. */
static int matmul_conjugate(struct dray_linear *product, int i)
{
	const struct dray_view *inputs[] = { &product->operands[i] };
	struct dray_array *made = NULL;
	int ret;

	if (dray_dtype_kind(product->dtype) != 'c')
		return 0;
	ret = dray_ufunc_call(dray_ufunc_find("conjugate"), inputs, NULL, NULL,
			      &made);
	if (ret)
		return ret;
	dray_array_unref(product->copies[i]);
	product->copies[i] = made;
	dray_array_view(made, &product->operands[i]);
	return 0;
}

int dray_vecdot(const struct dray_view *a, const struct dray_view *b,
		const struct dray_view *to, struct dray_array **out)
{
	struct dray_linear product = { .name = "vecdot" };
	dray_dtype dtype = 0;
	int ret;

	ret = dray_linear_check(a, b, to, out, __func__);
	if (ret)
		return ret;
	if (a->ndim < 1 || b->ndim < 1)
		return dray_fail(-EINVAL, "operand %d of vecdot has no axes",
				 a->ndim >= 1);
	ret = dray_linear_begin(&product, a, b, &dtype);
	if (!ret)
		ret = matmul_conjugate(&product, 0);
	if (!ret)
		ret = matmul_expand(&product.operands[0], -2);
	if (!ret)
		ret = matmul_expand(&product.operands[1], -1);
	if (!ret)
		ret = matmul_multiply(&product, dtype, true, true, to, out);
	dray_linear_finish(&product);
	return ret;
}

/* Multiplies a matrix and a vector, or a vector and a matrix, as stacks of them. */
static int multiply_vector(struct dray_linear *product, int vector,
			   const struct dray_view *a, const struct dray_view *b,
			   const struct dray_view *to, struct dray_array **out)
{
	const struct dray_view *matrix = vector ? a : b;
	dray_dtype dtype = 0;
	int ret = dray_linear_check(a, b, to, out, product->name);

	if (ret)
		return ret;
	if (a->ndim < 1 || b->ndim < 1 || matrix->ndim < 2)
		return dray_fail(
			-EINVAL,
			"%s takes a vector and a matrix, not operands of %d and %d axes",
			product->name, a->ndim, b->ndim);
	ret = dray_linear_begin(product, a, b, &dtype);
	if (!ret && !vector)
		ret = matmul_conjugate(product, 0);
	if (!ret)
		ret = matmul_expand(&product->operands[vector],
				    vector ? -1 : -2);
	if (!ret)
		ret = matmul_multiply(product, dtype, !vector, vector, to, out);
	dray_linear_finish(product);
	return ret;
}

int dray_matvec(const struct dray_view *a, const struct dray_view *b,
		const struct dray_view *to, struct dray_array **out)
{
	struct dray_linear product = { .name = "matvec" };

	return multiply_vector(&product, 1, a, b, to, out);
}

int dray_vecmat(const struct dray_view *a, const struct dray_view *b,
		const struct dray_view *to, struct dray_array **out)
{
	struct dray_linear product = { .name = "vecmat" };

	return multiply_vector(&product, 0, a, b, to, out);
}

/* Computes dot() of operands with two axes and with three or more. */
static int dot_many(struct dray_linear *product, dray_dtype dtype,
		    const struct dray_view *to, struct dray_array **out)
{
	struct dray_view *a = &product->operands[0], *b = &product->operands[1];
	const int right = b->ndim - 2;
	int64_t shape[2 * DRAY_MAX_NDIM];
	int i, ndim = 0, ret = 0;

	product->place = a->ndim - 2;
	if (a->ndim + right > DRAY_MAX_NDIM)
		return dray_fail(-EINVAL,
				 "the result of dot has %d axes, at most %d",
				 a->ndim + right, DRAY_MAX_NDIM);
	if (a->shape[a->ndim - 1] != b->shape[right])
		return matmul_fail_lengths(product, a->shape[a->ndim - 1],
					   b->shape[right]);
	for (i = 0; i < a->ndim - 1; i++)
		shape[ndim++] = a->shape[i];
	for (i = 0; i < b->ndim; i++)
		if (i != right)
			shape[ndim++] = b->shape[i];
	for (i = 0; !ret && i < right; i++)
		ret = matmul_expand(a, product->place);
	return ret ? ret
		   : dray_linear_deliver(product, dtype, ndim, shape,
					 matmul_move_rows, to, out);
}

int dray_dot(const struct dray_view *a, const struct dray_view *b,
	     const struct dray_view *to, struct dray_array **out)
{
	struct dray_linear product;
	dray_dtype dtype = 0;
	int ret;

	if (a && b && !to && out && dray_linear_quick("dot", a, b, out, &ret))
		return ret;
	product = (struct dray_linear){ .name = "dot" };
	ret = dray_linear_check(a, b, to, out, __func__);
	if (ret)
		return ret;
	if (a->ndim < 1 || b->ndim < 1)
		return dray_ufunc_call(dray_ufunc_find("multiply"),
				       (const struct dray_view *[]){ a, b },
				       to ? &to : NULL, NULL, out);
	if (a->ndim < 2 || b->ndim < 3)
		return multiply_any(product.name, a, b, to, out);
	ret = dray_linear_begin(&product, a, b, &dtype);
	if (!ret)
		ret = dot_many(&product, dtype, to, out);
	dray_linear_finish(&product);
	return ret;
}

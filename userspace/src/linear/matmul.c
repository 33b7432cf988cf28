// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Products of arrays: operands get one type, vectors become matrices, and the axes
 * before the last two are walked.
 */
#include <errno.h>
#include <string.h>

#include <dray/iterator.h>
#include <dray/ufunc.h>

#include "base/error.h"
#include "dtype/dtype.h"
#include "linear/linear.h"
#include "ufunc/fp_state.h"
#include "view/view.h"

/* A product on its way. */
struct product {
	const char *name; /* of the function, for sentences */
	dray_dtype dtype; /* that it is computed in */
	struct dray_array *copies[2]; /* of operands that were converted */
	struct dray_view operands[2]; /* at least two axes */
	struct dray_view result; /* (..., m, n) */
	int place; /* of axis m in the result of dot() */
};

/* Computes in single numbers for halves, and returns the type of the result. */
static int choose_type(struct product *product, const struct dray_view *a,
		       const struct dray_view *b, dray_dtype *out)
{
	const dray_dtype dtypes[] = { a->dtype, b->dtype };
	char one[DRAY_DTYPE_TYPESTR_SIZE], other[DRAY_DTYPE_TYPESTR_SIZE];
	int ret = dray_result_type(dtypes, 2, 0, out);

	if (ret == -EINVAL)
		return dray_fail_adding(-EOPNOTSUPP, ", so %s has no loop",
					product->name);
	if (ret)
		return ret;
	product->dtype = *out == DRAY_FLOAT16 ? DRAY_FLOAT32 : *out;
	if (dray_product_loop(product->dtype))
		return 0;
	dray_dtype_unref(*out);
	return dray_fail(-EOPNOTSUPP, "%s has no loop for the types %s and %s",
			 product->name, dray_dtype_text(a->dtype, one),
			 dray_dtype_text(b->dtype, other));
}

/* Gives operand @i the type of the product, aligned. */
static int take_operand(struct product *product, int i,
			const struct dray_view *given)
{
	struct dray_view *view = &product->operands[i];
	int ret;

	if (!(given->flags & DRAY_READ))
		return dray_fail(-EPERM, "operand %d of %s may not be read", i,
				 product->name);
	dray_view_copy(view, given);
	if (given->dtype == product->dtype &&
	    dray_view_alignment(given) >= dray_dtype_alignment(given->dtype))
		return 0;
	ret = dray_array_empty(product->dtype, given->ndim, given->shape,
			       &product->copies[i]);
	if (ret)
		return ret;
	dray_array_view(product->copies[i], view);
	return dray_view_convert(view, given, DRAY_CASTING_UNSAFE);
}

static struct dray_matrix matrix_of(const struct dray_view *view, char *data)
{
	return (struct dray_matrix){
		.data = data,
		.row = view->strides[view->ndim - 2],
		.column = view->strides[view->ndim - 1],
	};
}

/* Leaves the last two axes out. */
static void drop_matrix(const struct dray_view *view, struct dray_view *out)
{
	dray_view_copy(out, view);
	out->ndim -= 2;
	out->flags = DRAY_READ;
}

/* Computes all matrices of the result, which shares no byte with operands. */
static int compute(const struct product *product)
{
	const struct dray_view *views[3], *result = &product->result;
	struct dray_view batches[3];
	struct dray_multi it;
	struct dray_extents extents = {
		.m = result->shape[result->ndim - 2],
		.k = product->operands[0].shape[product->operands[0].ndim - 1],
		.n = result->shape[result->ndim - 1],
	};
	int i, ret;

	if (!dray_view_size(result))
		return 0;
	drop_matrix(&product->operands[0], &batches[0]);
	drop_matrix(&product->operands[1], &batches[1]);
	drop_matrix(result, &batches[2]);
	for (i = 0; i < 3; i++)
		views[i] = &batches[i];
	ret = dray_multi_init(&it, views, 3);
	if (ret)
		return ret;
	for (; dray_multi_more(&it); dray_multi_next(&it)) {
		const struct dray_matrix a =
			matrix_of(&product->operands[0], it.data[0]);
		const struct dray_matrix b =
			matrix_of(&product->operands[1], it.data[1]);
		const struct dray_matrix c = matrix_of(result, it.data[2]);

		if (!dray_blas_product(product->dtype, &extents, &a, &b, &c))
			dray_product_loop(product->dtype)(&extents, &a, &b, &c);
	}
	return 0;
}

/* Whether elements have bytes of their own, as far as their strides tell. */
static bool is_unique(const struct dray_view *view)
{
	bool unique = false;

	return !dray_view_is_unique(view, DRAY_SHARE_BOUNDS, &unique) && unique;
}

/* Whether the product can be computed where it is wanted. */
static bool is_fit(const struct product *product, const struct dray_view *to)
{
	return to->dtype == product->dtype &&
	       dray_view_alignment(to) >= dray_dtype_alignment(to->dtype) &&
	       !dray_view_spans_overlap(to, &product->operands[0]) &&
	       !dray_view_spans_overlap(to, &product->operands[1]) &&
	       is_unique(to);
}

/*
 * A shape of the result, and the same elements with the axes (..., m, n): where the
 * function adds, moves or leaves out axes.
 */
typedef int arrange(struct product *product);

/*
 * Computes the result, of @shape, into @to or a new array.
 * @dtype: of an array that is made
 * @arranged: makes (..., m, n) of the result; NULL: it is that
 */
static int deliver(struct product *product, dray_dtype dtype, int ndim,
		   const int64_t *shape, arrange *arranged,
		   const struct dray_view *to, struct dray_array **out)
{
	char has[DRAY_SHAPE_TEXT], needs[DRAY_SHAPE_TEXT];
	struct dray_array *made = NULL;
	int ret;

	if (to && (to->ndim != ndim ||
		   memcmp(to->shape, shape, (size_t)ndim * sizeof(*shape))))
		return dray_fail(-EINVAL,
				 "the output of %s has shape %s, its result %s",
				 product->name,
				 dray_shape_format(has, to->ndim, to->shape),
				 dray_shape_format(needs, ndim, shape));
	if (to && !(to->flags & DRAY_WRITE))
		return dray_fail(-EPERM, "the output of %s is read-only",
				 product->name);
	if (to && is_fit(product, to)) {
		dray_view_copy(&product->result, to);
	} else {
		ret = dray_array_empty(product->dtype, ndim, shape, &made);
		if (ret)
			return ret;
		dray_array_view(made, &product->result);
	}
	ret = arranged ? arranged(product) : 0;
	dray_fp_clear();
	if (!ret)
		ret = compute(product);
	if (!ret)
		ret = dray_fp_check(product->name);
	if (!ret && made && to) {
		struct dray_view view;

		ret = dray_view_convert(to, dray_array_view(made, &view),
					DRAY_CASTING_SAME_KIND);
	} else if (!ret && made && dtype != product->dtype) {
		struct dray_array *rounded = NULL;
		struct dray_view from, into;

		ret = dray_array_empty(dtype, ndim, shape, &rounded);
		if (!ret)
			ret = dray_view_convert(dray_array_view(rounded, &into),
						dray_array_view(made, &from),
						DRAY_CASTING_UNSAFE);
		if (ret) {
			dray_array_unref(rounded);
		} else {
			dray_array_unref(made);
			made = rounded;
		}
	}
	if (!ret && !to)
		*out = made;
	else
		dray_array_unref(made);
	if (!ret && to && out)
		*out = NULL;
	return ret;
}

static void finish(struct product *product)
{
	dray_array_unref(product->copies[0]);
	dray_array_unref(product->copies[1]);
}

/* Adds an axis of one element at @place. */
static int expand(struct dray_view *view, int place)
{
	return dray_view_expand(view, &place, 1, view);
}

static int expand_row(struct product *product)
{
	return expand(&product->result, -2);
}

static int expand_column(struct product *product)
{
	return expand(&product->result, -1);
}

static int expand_both(struct product *product)
{
	int ret = expand(&product->result, -1);

	return ret ? ret : expand(&product->result, -1);
}

/* Moves axis m behind those of the right side. */
static int move_rows(struct product *product)
{
	const int to = -2;

	return dray_view_move_axes(&product->result, &product->place, &to, 1,
				   &product->result);
}

static int fail_lengths(const struct product *product, int64_t one,
			int64_t other)
{
	return dray_fail(
		-EINVAL,
		"%s sums over axes of one length, not of %lld and %lld elements",
		product->name, (long long)one, (long long)other);
}

/* Computes (..., m, k) times (..., k, n); vectors have been expanded. */
static int multiply(struct product *product, dray_dtype dtype, bool row,
		    bool column, const struct dray_view *to,
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
		return fail_lengths(product, one, other);
	drop_matrix(a, &batches[0]);
	drop_matrix(b, &batches[1]);
	views[0] = &batches[0];
	views[1] = &batches[1];
	ret = dray_broadcast_shape(views, 2, &ndim, shape);
	if (ret)
		return ret;
	if (!row)
		shape[ndim++] = m;
	if (!column)
		shape[ndim++] = n;
	return deliver(product, dtype, ndim, shape,
		       row && column ? expand_both
		       : row	     ? expand_row
		       : column	     ? expand_column
				     : NULL,
		       to, out);
}

/* Checks the arguments, before any of them is used. */
static int check(const struct dray_view *a, const struct dray_view *b,
		 const struct dray_view *to, struct dray_array **out,
		 const char *function)
{
	struct dray_extent extent;
	int ret;

	if (!dray_given(a, function) || !dray_given(b, function) ||
	    (!to && !dray_given(out, function)))
		return -EINVAL;
	ret = dray_view_check(a, "operand 0", &extent);
	if (!ret)
		ret = dray_view_check(b, "operand 1", &extent);
	if (!ret && to)
		ret = dray_view_check(to, "the output", &extent);
	return ret;
}

static int begin(struct product *product, const struct dray_view *a,
		 const struct dray_view *b, dray_dtype *dtype)
{
	int ret = choose_type(product, a, b, dtype);

	if (!ret)
		ret = take_operand(product, 0, a);
	if (!ret)
		ret = take_operand(product, 1, b);
	return ret;
}

int dray_matmul(const struct dray_view *a, const struct dray_view *b,
		const struct dray_view *to, struct dray_array **out)
{
	struct product product = { .name = "matmul" };
	dray_dtype dtype = 0;
	int ret;

	ret = check(a, b, to, out, __func__);
	if (ret)
		return ret;
	if (a->ndim < 1 || b->ndim < 1)
		return dray_fail(
			-EINVAL,
			"operand %d of matmul has no axes: multiply() takes numbers",
			a->ndim >= 1);
	ret = begin(&product, a, b, &dtype);
	if (!ret && a->ndim == 1)
		ret = expand(&product.operands[0], 0);
	if (!ret && b->ndim == 1)
		ret = expand(&product.operands[1], 1);
	if (!ret)
		ret = multiply(&product, dtype, a->ndim == 1, b->ndim == 1, to,
			       out);
	finish(&product);
	return ret;
}

/* Conjugates an operand of complex numbers. */
static int conjugate(struct product *product, int i)
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
	struct product product = { .name = "vecdot" };
	dray_dtype dtype = 0;
	int ret;

	ret = check(a, b, to, out, __func__);
	if (ret)
		return ret;
	if (a->ndim < 1 || b->ndim < 1)
		return dray_fail(-EINVAL, "operand %d of vecdot has no axes",
				 a->ndim >= 1);
	ret = begin(&product, a, b, &dtype);
	if (!ret)
		ret = conjugate(&product, 0);
	if (!ret)
		ret = expand(&product.operands[0], -2);
	if (!ret)
		ret = expand(&product.operands[1], -1);
	if (!ret)
		ret = multiply(&product, dtype, true, true, to, out);
	finish(&product);
	return ret;
}

/* Computes dot() of operands with two axes and with three or more. */
static int dot_many(struct product *product, dray_dtype dtype,
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
		return fail_lengths(product, a->shape[a->ndim - 1],
				    b->shape[right]);
	for (i = 0; i < a->ndim - 1; i++)
		shape[ndim++] = a->shape[i];
	for (i = 0; i < b->ndim; i++)
		if (i != right)
			shape[ndim++] = b->shape[i];
	for (i = 0; !ret && i < right; i++)
		ret = expand(a, product->place);
	return ret ? ret
		   : deliver(product, dtype, ndim, shape, move_rows, to, out);
}

int dray_dot(const struct dray_view *a, const struct dray_view *b,
	     const struct dray_view *to, struct dray_array **out)
{
	struct product product = { .name = "dot" };
	dray_dtype dtype = 0;
	int ret;

	ret = check(a, b, to, out, __func__);
	if (ret)
		return ret;
	if (a->ndim < 1 || b->ndim < 1)
		return dray_ufunc_call(dray_ufunc_find("multiply"),
				       (const struct dray_view *[]){ a, b },
				       to ? &to : NULL, NULL, out);
	if (a->ndim < 2 || b->ndim < 3)
		return dray_matmul(a, b, to, out);
	ret = begin(&product, a, b, &dtype);
	if (!ret)
		ret = dot_many(&product, dtype, to, out);
	finish(&product);
	return ret;
}

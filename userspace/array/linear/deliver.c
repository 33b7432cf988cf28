// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Computes the matrices of a result, in the output or in a new array. */
#include <errno.h>
#include <string.h>

#include <dray/array/iterator.h>

#include "private.h"
#include "cast/fp_state.h"
#include "cast/cast.h"
#include "linear/linear.h"

static struct dray_matrix matrix_of(const struct dray_view *view, char *data)
{
	return (struct dray_matrix){
		.data = data,
		.row = view->strides[view->ndim - 2],
		.column = view->strides[view->ndim - 1],
	};
}

void dray_linear_drop_matrix(const struct dray_view *view,
			     struct dray_view *out)
{
	dray_view_copy(out, view);
	out->ndim -= 2;
	out->flags = DRAY_READ;
}

void dray_linear_multiply(dray_dtype dtype, const struct dray_extents *extents,
			  const struct dray_matrix *a,
			  const struct dray_matrix *b,
			  const struct dray_matrix *c)
{
	if (!dray_multiplier_product(dtype, extents, a, b, c) &&
	    !dray_blas_product(dtype, extents, a, b, c))
		dray_product_loop(dtype)(extents, a, b, c);
}

/* Computes all matrices of the result, which shares no byte with operands. */
static int deliver_compute(const struct dray_linear *product)
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
	dray_linear_drop_matrix(&product->operands[0], &batches[0]);
	dray_linear_drop_matrix(&product->operands[1], &batches[1]);
	dray_linear_drop_matrix(result, &batches[2]);
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

		dray_linear_multiply(product->dtype, &extents, &a, &b, &c);
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
static bool is_fit(const struct dray_linear *product,
		   const struct dray_view *to)
{
	return to->dtype == product->dtype && dray_view_is_aligned(to) &&
	       !dray_view_spans_overlap(to, &product->operands[0]) &&
	       !dray_view_spans_overlap(to, &product->operands[1]) &&
	       is_unique(to);
}

int dray_linear_deliver(struct dray_linear *product, dray_dtype dtype, int ndim,
			const int64_t *shape, dray_linear_arrange *arranged,
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
		ret = deliver_compute(product);
	if (!ret && made && to) {
		struct dray_view view;

		ret = dray_view_cast(to, dray_array_view(made, &view),
				     DRAY_CASTING_SAME_KIND);
	} else if (!ret && made && dtype != product->dtype) {
		struct dray_array *rounded = NULL;
		struct dray_view from, into;

		ret = dray_array_empty(dtype, ndim, shape, &rounded);
		if (!ret)
			ret = dray_view_cast(dray_array_view(rounded, &into),
					     dray_array_view(made, &from),
					     DRAY_CASTING_UNSAFE);
		if (ret) {
			dray_array_unref(rounded);
		} else {
			dray_array_unref(made);
			made = rounded;
		}
	}
	if (!ret)
		ret = dray_fp_check(product->name);
	if (!ret && !to)
		*out = made;
	else
		dray_array_unref(made);
	if (!ret && to && out)
		*out = NULL;
	return ret;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The quick way: two operands of the same type of BLAS, with an axis or two each, and a
 * result to make.  Everything is checked in a single pass, since this is most of the
 * time of a small product.
 */
#include "array/array.h"
#include "cast/fp_state.h"
#include "linear/linear.h"
#include "private.h"

/* Describes an operand as a matrix; false if it is not of this kind. */
static bool quick_matrix(const struct dray_view *view, bool right,
			 struct dray_matrix *out, int64_t *rows,
			 int64_t *columns)
{
	struct dray_extent extent;
	uint64_t places;

	if (!(view->flags & DRAY_READ) || !dray_view_is_usual(view, &extent) ||
	    !extent.elements)
		return false;
	*out = (struct dray_matrix){ .data = view->data };
	if (view->ndim == 2) {
		*rows = view->shape[0];
		*columns = view->shape[1];
		out->row = view->strides[0];
		out->column = view->strides[1];
	} else if (view->ndim == 1 && right) {
		*rows = view->shape[0];
		*columns = 1;
		out->row = view->strides[0];
	} else if (view->ndim == 1) {
		*rows = 1;
		*columns = view->shape[0];
		out->column = view->strides[0];
	} else {
		return false;
	}
	places = (uintptr_t)view->data | (uint64_t)out->row |
		 (uint64_t)out->column;
	return dray_dtype_fits_address(view->dtype, places);
}

bool dray_linear_quick(const char *name, const struct dray_view *a,
		       const struct dray_view *b, struct dray_array **out,
		       int *ret)
{
	struct dray_matrix left, right, to;
	struct dray_extents extents;
	int64_t shape[2], inner;
	int ndim = 0;

	if (a->dtype != b->dtype || !dray_blas_has(a->dtype) ||
	    !quick_matrix(a, false, &left, &extents.m, &extents.k) ||
	    !quick_matrix(b, true, &right, &inner, &extents.n) ||
	    inner != extents.k)
		return false;
	if (a->ndim == 2)
		shape[ndim++] = extents.m;
	if (b->ndim == 2)
		shape[ndim++] = extents.n;
	*ret = dray_array_from_handler(a->dtype, ndim, shape, NULL, false, out);
	if (*ret)
		return true;
	to.data = (*out)->data;
	to.column = (int64_t)dray_dtype_itemsize(a->dtype);
	to.row = extents.n * to.column;
	dray_fp_clear();
	dray_linear_multiply(a->dtype, &extents, &left, &right, &to);
	*ret = dray_fp_check(name);
	if (*ret) {
		dray_array_unref(*out);
		*out = NULL;
	}
	return true;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* linear: products of small matrices, and refusals. */
#include <dray/array/linear.h>

#include <dray/array.h>

#include "unit.h"

static double left[] = { 1, 2, 3, 4, 5, 6 }; /* 2 x 3 */
static double right[] = { 1, 0, 2, 1, 0, 3 }; /* 3 x 2 */
static double target[6];

static struct dray_view view_of(double *data, int ndim, int64_t rows,
				int64_t columns)
{
	struct dray_view view;

	assert_works(dray_view_init(&view, data, DRAY_FLOAT64, ndim,
				    DIMS(rows, columns), NULL));
	return view;
}

typedef int product(const struct dray_view *a, const struct dray_view *b,
		    const struct dray_view *to, struct dray_array **out);

static const struct {
	product *call;
	int a_ndim, b_ndim;
	int64_t a[2], b[2];
	int ndim;
	int64_t shape[2];
	double wanted[4];
} rows[] = {
	{ dray_matmul, 2, 2, { 2, 3 }, { 3, 2 }, 2, { 2, 2 }, { 5, 11, 14, 23 } },
	{ dray_matmul, 2, 1, { 2, 3 }, { 3 }, 1, { 2 }, { 7, 16 } },
	{ dray_matmul, 1, 2, { 3 }, { 3, 2 }, 1, { 2 }, { 5, 11 } },
	{ dray_matmul, 1, 1, { 3 }, { 3 }, 0, { 0 }, { 7 } },
	{ dray_matmul, 2, 2, { 2, 0 }, { 0, 2 }, 2, { 2, 2 }, { 0, 0, 0, 0 } },
	{ dray_dot, 2, 2, { 2, 3 }, { 3, 2 }, 2, { 2, 2 }, { 5, 11, 14, 23 } },
	{ dray_dot, 0, 1, { 0 }, { 3 }, 1, { 3 }, { 1, 0, 2 } },
	{ dray_vecdot, 2, 1, { 2, 3 }, { 3 }, 1, { 2 }, { 7, 16 } },
};

FACT(products_have_their_shape_and_elements)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct dray_view a = view_of(left, rows[i].a_ndim, rows[i].a[0],
					     rows[i].a[1]);
		struct dray_view b = view_of(right, rows[i].b_ndim,
					     rows[i].b[0], rows[i].b[1]);
		struct dray_array *out = NULL;
		struct dray_view made;

		assert_works(rows[i].call(&a, &b, NULL, &out));
		dray_array_view(out, &made);
		assert_int_equal(made.ndim, rows[i].ndim);
		for (int axis = 0; axis < made.ndim; axis++)
			assert_int_equal(made.shape[axis], rows[i].shape[axis]);
		assert_memory_equal(made.data, rows[i].wanted,
				    (size_t)dray_view_size(&made) *
					    sizeof(double));
		dray_array_unref(out);
	}
}

FACT(a_result_may_lie_over_an_operand)
{
	double square[] = { 1, 2, 3, 4 };
	const double wanted[] = { 7, 10, 15, 22 };
	struct dray_view view = view_of(square, 2, 2, 2);

	assert_works(dray_matmul(&view, &view, &view, NULL));
	assert_memory_equal(square, wanted, sizeof(wanted));
}

FACT(bad_operands_are_refused)
{
	struct dray_view matrix = view_of(left, 2, 2, 3), number = matrix;
	struct dray_view good = view_of(right, 2, 3, 2);
	struct dray_view to = view_of(target, 2, 2, 2), wrong = to;
	struct dray_array *out = NULL;

	number.ndim = 0;
	assert_fails(dray_matmul(&number, &good, NULL, &out), -EINVAL,
		     "operand 0 of matmul has no axes");
	assert_fails(dray_vecdot(&matrix, &number, NULL, &out), -EINVAL,
		     "operand 1 of vecdot has no axes");
	assert_fails(
		dray_matmul(&matrix, &matrix, NULL, &out), -EINVAL,
		"operand has 3 elements, and the axis of the second that it meets 2");
	wrong.shape[1] = 1;
	assert_fails(dray_matmul(&matrix, &good, &wrong, NULL), -EINVAL,
		     "the output of matmul has shape (2,1), its result (2,2)");
	wrong = to;
	wrong.flags &= ~(uint32_t)DRAY_WRITE;
	assert_fails(dray_matmul(&matrix, &good, &wrong, NULL), -EPERM,
		     "read-only");
	wrong = to;
	wrong.dtype = DRAY_INT64;
	assert_fails(dray_matmul(&matrix, &good, &wrong, NULL), -EINVAL, "");
	wrong = good;
	wrong.dtype = DRAY_TIMEDELTA64(DRAY_UNIT_DAY, 1);
	assert_fails(dray_matmul(&wrong, &wrong, NULL, &out), -EOPNOTSUPP,
		     "no loop for the types");
	assert_null(out);
}

FACT(a_view_that_is_none_is_refused)
{
	static int (*const products[])(const struct dray_view *a,
				       const struct dray_view *b,
				       const struct dray_view *to,
				       struct dray_array **out) = {
		dray_matmul,
		dray_dot,
		dray_vecdot,
	};
	static const int ndims[] = { 1000, -1, DRAY_MAX_NDIM + 1 };
	struct dray_view matrix = view_of(left, 2, 2, 2), bad = matrix;
	struct dray_array *out = NULL;

	for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++)
		for (size_t n = 0; n < sizeof(ndims) / sizeof(ndims[0]); n++) {
			bad.ndim = ndims[n];
			assert_fails(products[i](&bad, &matrix, NULL, &out),
				     -EINVAL, "operand 0");
			assert_fails(products[i](&matrix, &bad, NULL, &out),
				     -EINVAL, "operand 1");
			assert_fails(products[i](&matrix, &matrix, &bad, NULL),
				     -EINVAL, "the output");
		}
}

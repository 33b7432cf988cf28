// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Operands of products: one type for both, aligned. */
#include <errno.h>

#include "private.h"
#include "cast/cast.h"
#include "linear/linear.h"

/* Computes in single numbers for halves, and returns the type of the result. */
static int operands_choose_type(struct dray_linear *product,
				const struct dray_view *a,
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
static int take_operand(struct dray_linear *product, int i,
			const struct dray_view *given)
{
	struct dray_view *view = &product->operands[i];
	int ret;

	if (!(given->flags & DRAY_READ))
		return dray_fail(-EPERM, "operand %d of %s may not be read", i,
				 product->name);
	dray_view_copy(view, given);
	if (given->dtype == product->dtype && dray_view_is_aligned(given))
		return 0;
	ret = dray_array_empty(product->dtype, given->ndim, given->shape,
			       &product->copies[i]);
	if (ret)
		return ret;
	dray_array_view(product->copies[i], view);
	return dray_view_cast(view, given, DRAY_CASTING_UNSAFE);
}

int dray_linear_check(const struct dray_view *a, const struct dray_view *b,
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

int dray_linear_begin(struct dray_linear *product, const struct dray_view *a,
		      const struct dray_view *b, dray_dtype *dtype)
{
	int ret = operands_choose_type(product, a, b, dtype);

	if (!ret)
		ret = take_operand(product, 0, a);
	if (!ret)
		ret = take_operand(product, 1, b);
	return ret;
}

void dray_linear_finish(struct dray_linear *product)
{
	dray_array_unref(product->copies[0]);
	dray_array_unref(product->copies[1]);
}

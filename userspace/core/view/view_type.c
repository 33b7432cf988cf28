// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Other types over the same bytes: the parts of complex numbers, fields, and views
 * as another type, with NumPy's rules for types of different sizes.
 */
#include <errno.h>
#include <inttypes.h>

#include "dtype/dtype.h"
#include "view/view_result.h"
#include "base/error.h"
#include "base/number.h"

static bool is_complex(dray_dtype dtype)
{
	return dray_dtype_is_builtin(dtype) && dray_dtype_kind(dtype) == 'c';
}

/* Takes the real or the imaginary parts; real numbers are their own real parts. */
static int type_take_part(const struct dray_view *view, bool imaginary,
			  struct dray_view *out)
{
	uint32_t size = 0;
	struct dray_view result;
	int ret = dray_view_check(view, "the view", NULL);

	if (ret)
		return ret;
	dray_view_copy(&result, view);
	if (is_complex(view->dtype)) {
		size = dray_dtype_itemsize(view->dtype) / 2;
		result.dtype =
			DRAY_DTYPE('f', dray_dtype_order(view->dtype), size);
	} else if (imaginary) {
		return dray_fail(
			-EINVAL,
			"elements of kind '%c' have no imaginary parts in memory",
			dray_dtype_kind(view->dtype));
	}
	if (imaginary)
		result.data = dray_address_add(result.data, size);
	return dray_view_finish(&result, out);
}

int dray_view_real(const struct dray_view *view, struct dray_view *out)
{
	return dray_given(out, __func__) ? type_take_part(view, false, out)
					 : -EINVAL;
}

int dray_view_imag(const struct dray_view *view, struct dray_view *out)
{
	return dray_given(out, __func__) ? type_take_part(view, true, out)
					 : -EINVAL;
}

int dray_view_field(const struct dray_view *view, const char *name,
		    struct dray_view *out)
{
	struct dray_dtype_field field = { 0 };
	struct dray_view result;
	size_t index = 0;
	int ret;

	if (!dray_given(name, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_view_check(view, "the view", NULL);
	if (!ret)
		ret = dray_dtype_find_field(view->dtype, name, &index);
	if (!ret)
		ret = dray_dtype_get_field(view->dtype, index, &field);
	if (ret)
		return ret;
	dray_view_copy(&result, view);
	result.dtype = field.dtype;
	result.data = dray_address_add(view->data, field.offset);
	ret = dray_view_unfold(&result);
	return ret ? ret : dray_view_finish(&result, out);
}

/* Gives the last axis of @result elements of @to bytes instead of @from. */
static int view_type_resize(struct dray_view *result, bool empty, uint32_t from,
			    uint32_t to)
{
	int axis = result->ndim - 1;
	int64_t bytes;

	if (dray_dtype_shape(result->dtype, NULL))
		return dray_fail(
			-EINVAL,
			"elements of %u bytes cannot become a sub-array of %u",
			from, to);
	if (axis < 0)
		return dray_fail(
			-EINVAL,
			"a view without axes has one element of %u bytes, which cannot become %u",
			from, to);
	if (result->shape[axis] != 1 && !empty &&
	    result->strides[axis] != (int64_t)from)
		return dray_fail(
			-EINVAL,
			"elements of %u bytes cannot become %u: axis %d, the last, has gaps (a stride of %" PRId64
			")",
			from, to, axis, result->strides[axis]);
	if (to < from && (to == 0 || from % to))
		return dray_fail(
			-EINVAL,
			"elements of %u bytes are not a multiple of %u", from,
			to);
	if (dray_mul_overflow(result->shape[axis], (int64_t)from, &bytes))
		return dray_fail(-EOVERFLOW,
				 "axis %d has more bytes than 63 bits count",
				 axis);
	if (bytes % to)
		return dray_fail(-EINVAL,
				 "axis %d, the last, has %" PRId64
				 " bytes, which is not a multiple of %u",
				 axis, bytes, to);
	result->shape[axis] = bytes / to;
	result->strides[axis] = to;
	return 0;
}

int dray_view_as_type(const struct dray_view *view, dray_dtype dtype,
		      struct dray_view *out)
{
	struct dray_view result;
	uint32_t from, to;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = dray_view_check(view, "the view", NULL);
	if (ret)
		return ret;
	dray_view_copy(&result, view);
	ret = dray_dtype_normalize(dtype, &result.dtype);
	if (ret)
		return ret;
	if (result.dtype == DRAY_VOID(0)) /* Raw data of the same size. */
		result.dtype = DRAY_VOID(dray_dtype_itemsize(view->dtype));
	from = dray_dtype_itemsize(view->dtype);
	to = dray_dtype_itemsize(result.dtype);
	if (from != to)
		ret = view_type_resize(&result, dray_view_is_empty(view), from,
				       to);
	if (!ret)
		ret = dray_view_unfold(&result);
	/* Elements of no bytes may have become an axis that is too long. */
	if (!ret)
		ret = dray_view_check(&result, "the view of another type",
				      NULL);
	return ret ? ret : dray_view_finish(&result, out);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The parts of a view as Arrow has them: fields, and complex numbers as pairs.
 * Schemas and arrays take the same parts, so that one describes the other.
 */
#include <errno.h>

#include <dray/transfer.h>

#include "interop/arrow.h"
#include "private.h"

int dray_arrow_check_flags(uint32_t flags)
{
	return flags & ~DRAY_ARROW_COPY
		       ? dray_fail(-EINVAL,
				   "flags 0x%x, not DRAY_ARROW_COPY or 0",
				   flags)
		       : 0;
}

int dray_arrow_check_axes(int ndim)
{
	if (ndim >= 1 && ndim <= DRAY_MAX_NDIM)
		return 0;
	return dray_fail(
		-EINVAL,
		"an array of %d axes, Arrow takes 1 to %d: reshape a single element to one axis",
		ndim, DRAY_MAX_NDIM);
}

bool dray_arrow_is_reached(const struct dray_view *view)
{
	struct dray_buffer *buffer = NULL;
	struct dray_span *span;
	int64_t low, high;
	size_t size;

	dray_view_span(view, &low, &high);
	span = low == high
		       ? NULL
		       : dray_window_find(dray_address_add(view->data, low));
	if (span)
		buffer = dray_span_buffer(span, &size);
	return !buffer || dray_buffer_mapped(buffer);
}

int dray_arrow_wait(const struct dray_view *view, int timeout_ms)
{
	return dray_view_wait(view, DRAY_ACCESS_READ, timeout_ms);
}

int dray_arrow_open_complex(struct dray_view *view)
{
	uint32_t size = dray_dtype_itemsize(view->dtype) / 2;

	if (!dray_dtype_is_builtin(view->dtype) ||
	    dray_dtype_kind(view->dtype) != 'c')
		return 0;
	if (view->ndim >= DRAY_MAX_NDIM)
		return dray_fail(
			-EINVAL,
			"complex numbers of %d axes, at most %d leave one for their two parts",
			view->ndim, DRAY_MAX_NDIM - 1);
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): 64 bits */
	view->dtype = DRAY_DTYPE('f', dray_dtype_order(view->dtype), size);
	view->shape[view->ndim] = 2;
	view->strides[view->ndim] = size;
	view->ndim++;
	return 0;
}

int dray_arrow_field(const struct dray_view *view, size_t index,
		     struct dray_dtype_field *field, struct dray_view *out)
{
	int ret = dray_dtype_get_field(view->dtype, index, field);

	if (!ret)
		ret = dray_view_field(view, field->name, out);
	if (!ret)
		ret = dray_arrow_open_complex(out);
	return ret;
}

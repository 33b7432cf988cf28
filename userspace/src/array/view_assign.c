// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Assignment of one view to another: what is refused, and what is put aside
 * where the two overlap.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array/assign.h"
#include "array/dtype.h"
#include "array/overlap.h"
#include "array/view.h"
#include "base/error.h"

/*
 * Through a copy aside, which holds the source's elements once and densely:
 * axes that only repeat them are left out.
 */
static int copy_through(const struct dray_layout *layout)
{
	struct dray_layout in = *layout, out = *layout;
	uint64_t bytes = layout->run;
	unsigned char *aside;

	in.axes_count = 0;
	for (int i = layout->axes_count - 1; i >= 0; i--) {
		if (!layout->axes[i].src_stride)
			continue;
		out.axes[i].src_stride = (int64_t)bytes;
		bytes *= layout->axes[i].count;
	}
	aside = malloc(bytes);
	if (!aside)
		return dray_fail(
			-ENOMEM,
			"source and destination overlap, and there is no memory to put %" PRIu64
			" bytes aside",
			bytes);
	for (int i = 0; i < layout->axes_count; i++) {
		struct dray_layout_axis axis = layout->axes[i];

		if (!axis.src_stride)
			continue;
		axis.dst_stride = out.axes[i].src_stride;
		in.axes[in.axes_count++] = axis;
	}
	in.dst = aside;
	out.src = aside;
	dray_layout_copy(&in);
	dray_layout_copy(&out);
	free(aside);
	return 0;
}

static bool is_onto_itself(const struct dray_layout *layout)
{
	if (layout->dst != layout->src)
		return false;
	for (int i = 0; i < layout->axes_count; i++) {
		if (layout->axes[i].dst_stride != layout->axes[i].src_stride)
			return false;
	}
	return true;
}

int dray_layout_assign(const struct dray_layout *layout,
		       const struct dray_view *dst, const struct dray_view *src)
{
	if (!layout->runs)
		return 0;
	if (!dray_view_spans_overlap(dst, src)) {
		dray_layout_copy(layout);
		return 0;
	}
	if (is_onto_itself(layout))
		return 0;
	if (layout->axes_count == 0) {
		memmove(layout->dst, layout->src, layout->run);
		return 0;
	}
	if (dray_view_overlap(dst, src) != DRAY_OVERLAP_NONE)
		return copy_through(layout);
	dray_layout_copy(layout);
	return 0;
}

static int refuse_types(const struct dray_view *dst,
			const struct dray_view *src)
{
	char to[16] = "", from[16] = "";

	dray_dtype_format(&dst->dtype, to);
	dray_dtype_format(&src->dtype, from);
	return dray_fail(
		-EINVAL,
		"elements of %s cannot be copied to %s: nothing is converted",
		from, to);
}

int dray_view_check_pair(const struct dray_view *dst,
			 const struct dray_view *src)
{
	int error;

	error = dray_view_check(dst, "the destination", NULL);
	if (!error)
		error = dray_view_check(src, "the source", NULL);
	if (error)
		return error;
	if (!dray_dtype_equal(&dst->dtype, &src->dtype))
		return refuse_types(dst, src);
	if (!dray_view_same_shape(dst, src)) {
		if (dst->ndim != src->ndim)
			return dray_fail(
				-EINVAL,
				"the destination has %d axes, the source has %d",
				dst->ndim, src->ndim);
		for (int i = 0; i < dst->ndim; i++) {
			if (dst->shape[i] != src->shape[i])
				return dray_fail(
					-EINVAL,
					"axis %d has %" PRId64
					" elements in the destination and %" PRId64
					" in the source",
					i, dst->shape[i], src->shape[i]);
		}
	}
	if (dst->flags & DRAY_VIEW_READONLY)
		return dray_fail(-EPERM, "the destination is read-only");
	if (dray_view_size(dst) == 0)
		return 0;
	for (int i = 0; i < dst->ndim; i++) {
		if (dst->strides[i] == 0 && dst->shape[i] > 1)
			return dray_fail(
				-EINVAL,
				"axis %d of the destination has %" PRId64
				" elements at one address (a stride of 0)",
				i, dst->shape[i]);
	}
	return 0;
}

int dray_view_assign(const struct dray_view *dst, const struct dray_view *src)
{
	struct dray_layout layout;
	int error;

	error = dray_view_check_pair(dst, src);
	if (error)
		return error;
	dray_layout_reduce(&layout, dst, src);
	return dray_layout_assign(&layout, dst, src);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reduces views to layouts, which the CPU's copy, the engine's descriptors and
 * cache maintenance all start from.
 */
#include "array/layout.h"
#include "array/view.h"
#include "base/number.h"

static uint64_t magnitude(int64_t n)
{
	return n < 0 ? (uint64_t)-n : (uint64_t)n;
}

static bool comes_before(const struct dray_layout_axis *a,
			 const struct dray_layout_axis *b)
{
	if (a->dst_stride != b->dst_stride)
		return a->dst_stride > b->dst_stride;
	return magnitude(a->src_stride) > magnitude(b->src_stride);
}

/* Inserts an axis in order; first reverses it if dst runs backwards. */
static void insert_axis(struct dray_layout *layout,
			struct dray_layout_axis axis)
{
	int at = layout->axes_count++;

	if (axis.dst_stride < 0) {
		int64_t last = (int64_t)axis.count - 1;

		layout->dst =
			dray_address_add(layout->dst, last * axis.dst_stride);
		layout->src =
			dray_address_add(layout->src, last * axis.src_stride);
		axis.dst_stride = -axis.dst_stride;
		axis.src_stride = -axis.src_stride;
	}
	for (; at > 0 && comes_before(&axis, &layout->axes[at - 1]); at--)
		layout->axes[at] = layout->axes[at - 1];
	layout->axes[at] = axis;
}

/* Whether a step of @outer continues where @count steps of @stride end. */
static bool chains(int64_t outer, int64_t stride, uint64_t count)
{
	int64_t end;

	return !dray_mul_overflow(stride, (int64_t)count, &end) && outer == end;
}

static void merge_axes(struct dray_layout *layout)
{
	struct dray_layout_axis *axes = layout->axes;
	int kept = 0;
	int i;

	for (i = 1; i < layout->axes_count; i++) {
		struct dray_layout_axis *outer = &axes[kept];

		if (chains(outer->dst_stride, axes[i].dst_stride,
			   axes[i].count) &&
		    chains(outer->src_stride, axes[i].src_stride,
			   axes[i].count)) {
			axes[i].count *= outer->count;
			*outer = axes[i];
		} else {
			axes[++kept] = axes[i];
		}
	}
	if (layout->axes_count)
		layout->axes_count = kept + 1;
}

static void fold_run(struct dray_layout *layout)
{
	while (layout->axes_count) {
		const struct dray_layout_axis *inner =
			&layout->axes[layout->axes_count - 1];

		if (inner->dst_stride != (int64_t)layout->run ||
		    inner->src_stride != (int64_t)layout->run)
			return;
		layout->run *= inner->count;
		layout->axes_count--;
	}
}

static void count_runs(struct dray_layout *layout)
{
	uint64_t covered = layout->run;
	int i;

	layout->runs = 1;
	layout->nested = true;
	for (i = layout->axes_count - 1; i >= 0; i--) {
		const struct dray_layout_axis *axis = &layout->axes[i];
		uint64_t stride = (uint64_t)axis->dst_stride;

		if (stride < covered)
			layout->nested = false;
		covered += stride * (axis->count - 1);
		layout->runs *= axis->count;
	}
	layout->bytes = layout->runs * layout->run;
}

/*
 * Counts the runs that touch the next one.  Where an axis steps on, those inside
 * it go back to their starts.
 */
static void count_seams(struct dray_layout *layout)
{
	int64_t dst_end = (int64_t)layout->run, src_end = dst_end;
	uint64_t outside = layout->runs;
	int i;

	layout->seams = 0;
	for (i = layout->axes_count - 1; i >= 0; i--) {
		const struct dray_layout_axis *axis = &layout->axes[i];
		int64_t last = (int64_t)axis->count - 1;

		outside /= axis->count;
		if (axis->dst_stride == dst_end && axis->src_stride == src_end)
			layout->seams += outside * (uint64_t)last;
		dst_end += last * axis->dst_stride;
		src_end += last * axis->src_stride;
	}
}

static bool start(struct dray_layout *layout, const struct dray_view *dst,
		  const struct dray_view *src)
{
	layout->dst = dst->data;
	layout->src = src->data;
	layout->run = dray_dtype_itemsize(dst->dtype);
	layout->axes_count = 0;
	layout->runs = 0;
	layout->seams = 0;
	layout->bytes = 0;
	layout->nested = true;
	return dray_view_size(dst) && layout->run;
}

void dray_layout_reduce(struct dray_layout *layout, const struct dray_view *dst,
			const struct dray_view *src)
{
	int i;

	if (!start(layout, dst, src))
		return;
	for (i = 0; i < dst->ndim; i++) {
		if (dst->shape[i] == 1)
			continue;
		insert_axis(layout, (struct dray_layout_axis){
					    (uint64_t)dst->shape[i],
					    dst->strides[i], src->strides[i] });
	}
	merge_axes(layout);
	fold_run(layout);
	count_runs(layout);
	count_seams(layout);
}

void dray_layout_sequence(struct dray_layout *layout,
			  const struct dray_view *view)
{
	int i;

	if (!start(layout, view, view))
		return;
	for (i = 0; i < view->ndim; i++) {
		if (view->shape[i] == 1)
			continue;
		layout->axes[layout->axes_count++] =
			(struct dray_layout_axis){ (uint64_t)view->shape[i],
						   view->strides[i],
						   view->strides[i] };
	}
	merge_axes(layout);
	fold_run(layout);
	layout->runs = 1;
	for (i = 0; i < layout->axes_count; i++)
		layout->runs *= layout->axes[i].count;
	layout->bytes = layout->runs * layout->run;
}

void dray_layout_cover(struct dray_layout *layout, const struct dray_view *view)
{
	int i;

	if (!start(layout, view, view))
		return;
	for (i = 0; i < view->ndim; i++) {
		if (view->shape[i] == 1 || view->strides[i] == 0)
			continue;
		insert_axis(layout,
			    (struct dray_layout_axis){ (uint64_t)view->shape[i],
						       view->strides[i],
						       view->strides[i] });
	}
	merge_axes(layout);
	/* Merge steps no longer than the run: the elements touch or overlap. */
	while (layout->axes_count) {
		const struct dray_layout_axis *inner =
			&layout->axes[layout->axes_count - 1];

		if ((uint64_t)inner->dst_stride > layout->run)
			break;
		layout->run += (uint64_t)inner->dst_stride * (inner->count - 1);
		layout->axes_count--;
	}
	count_runs(layout);
}

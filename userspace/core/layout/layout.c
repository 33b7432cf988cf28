// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reduces views to layouts, which the CPU's copy, the engine's descriptors and
 * cache maintenance all start from.
 *
 * Axes are first ordered by number, then moved to the layout singly: an axis that
 * chains with the axis before becomes a part of it.
 */
#include "layout/layout.h"
#include "view/view.h"
#include "base/number.h"

/* Views on their way into a layout. */
struct views {
	const struct dray_view *const *of; /* the operands */
	int operands;
};

/* Axes of two elements or more, outermost first. */
struct layout_order {
	int count;
	unsigned char axes[DRAY_MAX_NDIM];
};

/* Whether axis @a belongs outside of @b: its stride is longer. */
static bool comes_before(const struct views *views, int a, int b)
{
	int o;

	for (o = 0; o < views->operands; o++) {
		uint64_t of_a = dray_magnitude(views->of[o]->strides[a]);
		uint64_t of_b = dray_magnitude(views->of[o]->strides[b]);

		if (of_a != of_b)
			return of_a > of_b;
	}
	return false;
}

/* Inserts an axis by the length of its strides. */
static void insert_axis(struct layout_order *order, const struct views *views,
			int axis)
{
	int at = order->count++;

	for (; at > 0 && comes_before(views, axis, order->axes[at - 1]); at--)
		order->axes[at] = order->axes[at - 1];
	order->axes[at] = (unsigned char)axis;
}

/* Whether the first operand that moves along an axis runs backwards. */
static bool layout_runs_back(const struct views *views, int axis)
{
	int o;

	for (o = 0; o < views->operands; o++) {
		if (views->of[o]->strides[axis])
			return views->of[o]->strides[axis] < 0;
	}
	return false;
}

/* Whether a step of @outer continues where @count steps of @stride end. */
static bool layout_chains(int64_t outer, int64_t stride, uint64_t count)
{
	int64_t end;

	return !dray_mul_overflow(stride, (int64_t)count, &end) && outer == end;
}

/* Moves an axis inside the layout's axes, in the other direction if @back. */
static void layout_append_axis(struct dray_layout *layout,
			       const struct views *views, int from, bool back)
{
	struct dray_layout_axis *axis = &layout->axes[layout->axes_count];
	bool chained = layout->axes_count;
	int o;

	axis->count = (uint64_t)views->of[0]->shape[from];
	for (o = 0; o < views->operands; o++) {
		int64_t stride = views->of[o]->strides[from];

		if (back) {
			layout->data[o] = dray_address_add(
				layout->data[o],
				((int64_t)axis->count - 1) * stride);
			stride = -stride;
		}
		axis->strides[o] = stride;
		chained = chained && layout_chains(axis[-1].strides[o], stride,
						   axis->count);
	}
	if (!chained) {
		layout->axes_count++;
		return;
	}
	axis[-1].count *= axis->count;
	for (o = 0; o < views->operands; o++)
		axis[-1].strides[o] = axis->strides[o];
}

static void fold_run(struct dray_layout *layout)
{
	while (layout->axes_count) {
		const struct dray_layout_axis *inner =
			&layout->axes[layout->axes_count - 1];
		int o;

		for (o = 0; o < layout->operands; o++) {
			if (inner->strides[o] != (int64_t)layout->run)
				return;
		}
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
		uint64_t stride = (uint64_t)axis->strides[0];

		if (stride < covered)
			layout->nested = false;
		covered += stride * (axis->count - 1);
		layout->runs *= axis->count;
	}
	layout->bytes = layout->runs * layout->run;
}

/* Where an axis steps on, the axes inside it return to their starts. */
uint64_t dray_layout_seams(const struct dray_layout *layout)
{
	int64_t ends[DRAY_MAX_OPERANDS];
	uint64_t outside, seams = 0;
	int i, k, o;

	for (o = 0; o < layout->operands; o++)
		ends[o] = (int64_t)layout->run;
	for (i = layout->axes_count - 1; i >= 0; i--) {
		const struct dray_layout_axis *axis = &layout->axes[i];
		int64_t last = (int64_t)axis->count - 1;
		bool touch = true;

		for (o = 0; o < layout->operands; o++) {
			touch = touch && axis->strides[o] == ends[o];
			ends[o] += last * axis->strides[o];
		}
		if (!touch)
			continue;
		for (k = 0, outside = 1; k < i; k++)
			outside *= layout->axes[k].count;
		seams += outside * (uint64_t)last;
	}
	return seams;
}

/* Begins a layout; false if it is empty. */
static bool layout_start(struct dray_layout *layout, const struct views *views)
{
	const struct dray_view *leader = views->of[0];
	int i, o;

	layout->operands = views->operands;
	for (o = 0; o < views->operands; o++) {
		layout->data[o] = views->of[o]->data;
		layout->sizes[o] = dray_dtype_itemsize(views->of[o]->dtype);
	}
	layout->run = layout->sizes[0];
	layout->axes_count = 0;
	layout->runs = 0;
	layout->bytes = 0;
	layout->nested = true;
	for (i = 0; i < leader->ndim; i++) {
		if (leader->shape[i] == 0)
			return false;
	}
	return layout->run;
}

static void append_all(struct dray_layout *layout, const struct views *views,
		       const struct layout_order *order)
{
	int i;

	for (i = 0; i < order->count; i++)
		layout_append_axis(layout, views, order->axes[i],
				   layout_runs_back(views, order->axes[i]));
}

/* Leaves the elements whole; false if there are none. */
static bool layout_reduce(struct dray_layout *layout, const struct views *views)
{
	struct layout_order order = { .count = 0 };
	int i;

	if (!layout_start(layout, views))
		return false;
	for (i = 0; i < views->of[0]->ndim; i++) {
		if (views->of[0]->shape[i] != 1)
			insert_axis(&order, views, i);
	}
	append_all(layout, views, &order);
	return true;
}

void dray_layout_reduce(struct dray_layout *layout,
			const struct dray_view *const *views, int operands)
{
	const struct views given = { views, operands };

	if (!layout_reduce(layout, &given))
		return;
	fold_run(layout);
	count_runs(layout);
}

void dray_layout_reduce_items(struct dray_layout *layout,
			      const struct dray_view *const *views,
			      int operands)
{
	const struct views given = { views, operands };

	if (!layout_reduce(layout, &given))
		return;
	count_runs(layout);
}

void dray_layout_sequence(struct dray_layout *layout,
			  const struct dray_view *view)
{
	const struct views given = { &view, 1 };
	int i;

	if (!layout_start(layout, &given))
		return;
	for (i = 0; i < view->ndim; i++) {
		if (view->shape[i] != 1)
			layout_append_axis(layout, &given, i, false);
	}
	fold_run(layout);
	count_runs(layout);
}

void dray_layout_cover(struct dray_layout *layout, const struct dray_view *view)
{
	const struct views given = { &view, 1 };
	struct layout_order order = { .count = 0 };
	int i;

	if (!layout_start(layout, &given))
		return;
	for (i = 0; i < view->ndim; i++) {
		if (view->shape[i] != 1 && view->strides[i] != 0)
			insert_axis(&order, &given, i);
	}
	append_all(layout, &given, &order);
	/* Merge steps no longer than the run: the elements touch or overlap. */
	while (layout->axes_count) {
		const struct dray_layout_axis *inner =
			&layout->axes[layout->axes_count - 1];

		if ((uint64_t)inner->strides[0] > layout->run)
			break;
		layout->run += (uint64_t)inner->strides[0] * (inner->count - 1);
		layout->axes_count--;
	}
	count_runs(layout);
}

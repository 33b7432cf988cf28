// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Walks the broadcast shape of an index.  Axes of one element are left out, and
 * those that chain in all arrays and in the other view are one.
 */
#include "index/index_walk.h"
#include "private.h"

static bool index_walk_chains(const struct dray_index_plan *plan,
			      const struct dray_index_axis *outer,
			      const struct dray_index_axis *inner)
{
	int i;

	if (outer->stride != inner->stride * inner->count)
		return false;
	for (i = 0; i < plan->arrays_count; i++) {
		const struct dray_index_array *array = &plan->arrays[i];

		if (dray_index_stride(plan, array, outer->inner) !=
		    dray_index_stride(plan, array, inner->inner) * inner->count)
			return false;
	}
	return true;
}

/* Appends an axis; @sorted: the one with the longer stride goes outside. */
static void walk_append_axis(struct dray_index_walk *walk,
			     struct dray_index_axis axis, bool sorted)
{
	int to = walk->ndim++;

	for (; sorted && to > 0 &&
	       dray_magnitude(walk->axes[to - 1].stride) <
		       dray_magnitude(axis.stride);
	     to--)
		walk->axes[to] = walk->axes[to - 1];
	walk->axes[to] = axis;
}

static void merge_axes(struct dray_index_walk *walk)
{
	int i, n = 0;

	for (i = 1; i < walk->ndim; i++) {
		if (index_walk_chains(walk->plan, &walk->axes[n],
				      &walk->axes[i])) {
			walk->axes[i].count *= walk->axes[n].count;
			walk->axes[n] = walk->axes[i];
		} else {
			walk->axes[++n] = walk->axes[i];
		}
	}
	walk->ndim = n + 1;
}

void dray_index_walk_start(struct dray_index_walk *walk,
			   const struct dray_index_plan *plan,
			   const struct dray_view *other, bool sorted)
{
	int i;

	walk->plan = plan;
	walk->ndim = 0;
	walk->done = false;
	walk->other = other->data;
	for (i = 0; i < plan->broadcast_ndim; i++) {
		struct dray_index_axis axis = { plan->broadcast[i],
						other->strides[plan->at + i],
						i };

		if (axis.count > 1)
			walk_append_axis(walk, axis, sorted);
	}
	if (walk->ndim)
		merge_axes(walk);
	else /* One element, along no axis of an array. */
		walk->axes[walk->ndim++] = (struct dray_index_axis){ 1, 0, -1 };
	for (i = 0; i < walk->ndim; i++)
		walk->position[i] = 0;
	for (i = 0; i < plan->arrays_count; i++)
		walk->at[i] = plan->arrays[i].data;
}

void dray_index_walk_on(struct dray_index_walk *walk, int64_t count)
{
	const struct dray_index_plan *plan = walk->plan;
	int k = walk->ndim - 1, i;

	for (; k >= 0; k--) {
		const struct dray_index_axis *axis = &walk->axes[k];
		int64_t steps = count;

		walk->position[k] += count;
		if (walk->position[k] == axis->count) {
			steps -= axis->count;
			walk->position[k] = 0;
		}
		walk->other += steps * axis->stride;
		for (i = 0; i < plan->arrays_count; i++)
			walk->at[i] += steps *
				       dray_index_stride(plan, &plan->arrays[i],
							 axis->inner);
		if (steps == count)
			return;
		count = 1;
	}
	walk->done = true;
}

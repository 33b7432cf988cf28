// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Copies between the elements that a prepared index leads to and another view.
 *
 * The walk goes over the arrays' broadcast shape in chunks.  A chunk's integers
 * become offsets; then each element of the rest is copied for all offsets, or
 * for each offset a row of the rest, whichever is nearer in memory.
 */
#include <errno.h>
#include <string.h>

#include "array/layout.h"
#include "array/move.h"
#include "array/view.h"
#include "base/error.h"
#include "base/number.h"

/* Rows of the rest that are worth a loop of their own. */
#define LONG_ROW 8

/* An axis of the broadcast shape, or several that chain. */
struct axis {
	int64_t count;
	int64_t stride; /* of the other view */
	int inner; /* the innermost axis of the broadcast shape in it */
};

struct walk {
	const struct dray_index_plan *plan;
	int ndim;
	bool done;
	unsigned char *other; /* the next element of the other view */
	struct axis axes[DRAY_MAX_NDIM];
	int64_t position[DRAY_MAX_NDIM];
	const unsigned char *at[DRAY_MAX_NDIM]; /* the next integers */
};

static int64_t magnitude(int64_t stride)
{
	return stride < 0 ? -stride : stride;
}

static bool chains(const struct dray_index_plan *plan, const struct axis *outer,
		   const struct axis *inner)
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
static void append_axis(struct walk *walk, struct axis axis, bool sorted)
{
	int to = walk->ndim++;

	for (; sorted && to > 0 &&
	       magnitude(walk->axes[to - 1].stride) < magnitude(axis.stride);
	     to--)
		walk->axes[to] = walk->axes[to - 1];
	walk->axes[to] = axis;
}

static void merge_axes(struct walk *walk)
{
	int i, n = 0;

	for (i = 1; i < walk->ndim; i++) {
		if (chains(walk->plan, &walk->axes[n], &walk->axes[i])) {
			walk->axes[i].count *= walk->axes[n].count;
			walk->axes[n] = walk->axes[i];
		} else {
			walk->axes[++n] = walk->axes[i];
		}
	}
	walk->ndim = n + 1;
}

static void start(struct walk *walk, const struct dray_index_plan *plan,
		  const struct dray_view *other, bool sorted)
{
	int i;

	walk->plan = plan;
	walk->ndim = 0;
	walk->done = false;
	walk->other = other->data;
	for (i = 0; i < plan->broadcast_ndim; i++) {
		struct axis axis = { plan->broadcast[i],
				     other->strides[plan->at + i], i };

		if (axis.count > 1)
			append_axis(walk, axis, sorted);
	}
	if (walk->ndim)
		merge_axes(walk);
	else /* One element. */
		walk->axes[walk->ndim++] = (struct axis){ 1, 0, 0 };
	for (i = 0; i < walk->ndim; i++)
		walk->position[i] = 0;
	for (i = 0; i < plan->arrays_count; i++)
		walk->at[i] = plan->arrays[i].data;
}

/* Moves @count elements on, at most to the end of the innermost axis. */
static void advance(struct walk *walk, int64_t count)
{
	const struct dray_index_plan *plan = walk->plan;
	int k = walk->ndim - 1, i;

	for (; k >= 0; k--) {
		const struct axis *axis = &walk->axes[k];
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

/* A chunk: offsets of elements with partners at equal distances. */
struct chunk {
	size_t count;
	unsigned char *other;
	int64_t stride;
	int64_t offsets[DRAY_INDEX_CHUNK];
};

/* Adds a piece of the innermost axis to the chunk. */
static int add_piece(struct walk *walk, struct chunk *chunk, size_t count)
{
	const struct dray_index_plan *plan = walk->plan;
	int inner = walk->axes[walk->ndim - 1].inner, i;
	int64_t *offsets = chunk->offsets + chunk->count;

	memset(offsets, 0, count * sizeof(*offsets));
	for (i = 0; i < plan->arrays_count; i++) {
		const struct dray_index_array *array = &plan->arrays[i];
		int64_t step = dray_index_stride(plan, array, inner);

		if (!dray_index_add(array, plan->mode, walk->at[i], step, count,
				    offsets))
			return dray_index_fail_bounds(array, walk->at[i], step,
						      count);
	}
	chunk->count += count;
	return 0;
}

/* Fills a chunk from where the walk is. */
static int fill(struct walk *walk, struct chunk *chunk)
{
	const struct axis *inner = &walk->axes[walk->ndim - 1];
	int ret;

	chunk->count = 0;
	chunk->other = walk->other;
	chunk->stride = inner->stride;
	do {
		int64_t piece = inner->count - walk->position[walk->ndim - 1];
		int64_t room = DRAY_INDEX_CHUNK - (int64_t)chunk->count;

		piece = piece < room ? piece : room;
		ret = add_piece(walk, chunk, (size_t)piece);
		if (ret)
			return ret;
		advance(walk, piece);
	} while (!walk->done && chunk->count < DRAY_INDEX_CHUNK &&
		 walk->other ==
			 chunk->other + (int64_t)chunk->count * chunk->stride);
	return 0;
}

/* The rest of source and other view, reduced: operand 0 is the other. */
enum {
	OTHER,
	SOURCE
};

struct rest {
	struct dray_mover mover;
	int64_t delta; /* from the other view's data to its rest's first run */
	struct dray_layout layout;
};

static void reduce_rest(struct rest *rest, const struct dray_index_plan *plan,
			const struct dray_view *other, enum dray_index_way way)
{
	struct dray_layout *layout = &rest->layout;
	struct dray_view of_other;
	int i;

	if (!plan->rest.ndim) {
		layout->axes_count = 0;
		layout->run = dray_dtype_itemsize(plan->rest.dtype);
		layout->runs = layout->run != 0;
		layout->data[SOURCE] = plan->rest.data;
		rest->delta = 0;
	} else {
		memcpy(&of_other, other, offsetof(struct dray_view, shape));
		of_other.ndim = plan->rest.ndim;
		for (i = 0; i < plan->rest.ndim; i++) {
			int from = i < plan->at ? i : i + plan->broadcast_ndim;

			of_other.shape[i] = plan->rest.shape[i];
			of_other.strides[i] = other->strides[from];
		}
		dray_layout_reduce(layout,
				   (const struct dray_view *[]){ &of_other,
								 &plan->rest },
				   2);
		if (!layout->runs)
			return;
		rest->delta =
			layout->data[OTHER] - (unsigned char *)other->data;
	}
	rest->mover = dray_mover_for(way, layout->run);
}

/* Moves a chunk for one place in the outer axes of the rest. */
static void move_rows(const struct rest *rest, const struct chunk *chunk,
		      unsigned char *source, unsigned char *other)
{
	const struct dray_mover *mover = &rest->mover;
	const struct dray_layout_axis *row;
	size_t i;

	if (!rest->layout.axes_count) {
		mover->listed(source, chunk->offsets, other, chunk->stride,
			      chunk->count, mover->size);
		return;
	}
	row = &rest->layout.axes[rest->layout.axes_count - 1];
	if (row->count >= LONG_ROW &&
	    row->strides[OTHER] < magnitude(chunk->stride)) {
		for (i = 0; i < chunk->count; i++) {
			mover->strided(source + chunk->offsets[i],
				       row->strides[SOURCE], other,
				       row->strides[OTHER], row->count,
				       mover->size);
			other += chunk->stride;
		}
		return;
	}
	for (i = 0; i < row->count; i++) {
		mover->listed(source, chunk->offsets, other, chunk->stride,
			      chunk->count, mover->size);
		source += row->strides[SOURCE];
		other += row->strides[OTHER];
	}
}

static void move_chunk(const struct rest *rest, const struct chunk *chunk)
{
	const struct dray_layout *layout = &rest->layout;
	unsigned char *source = layout->data[SOURCE];
	unsigned char *other = chunk->other + rest->delta;
	uint64_t position[DRAY_MAX_NDIM];
	int outer = layout->axes_count - 1, k;

	for (k = 0; k < outer; k++)
		position[k] = 0;
	for (;;) {
		move_rows(rest, chunk, source, other);
		for (k = outer - 1; k >= 0; k--) {
			const struct dray_layout_axis *axis = &layout->axes[k];
			int64_t back = 0;

			if (++position[k] == axis->count) {
				position[k] = 0;
				back = (int64_t)axis->count;
			}
			source += (1 - back) * axis->strides[SOURCE];
			other += (1 - back) * axis->strides[OTHER];
			if (!back)
				break;
		}
		if (k < 0)
			return;
	}
}

static bool is_empty(const struct dray_index_plan *plan)
{
	int i;

	for (i = 0; i < plan->broadcast_ndim; i++) {
		if (!plan->broadcast[i])
			return true;
	}
	return false;
}

int dray_index_check_bounds(const struct dray_index_plan *plan)
{
	struct dray_view none;
	struct chunk chunk;
	struct walk walk;
	int ret;

	if (is_empty(plan))
		return 0;
	none.data = NULL;
	memset(none.strides, 0,
	       (size_t)(plan->at + plan->broadcast_ndim) *
		       sizeof(none.strides[0]));
	start(&walk, plan, &none, false);
	while (!walk.done) {
		ret = fill(&walk, &chunk);
		if (ret)
			return ret;
	}
	return 0;
}

int dray_index_move(const struct dray_index_plan *plan,
		    const struct dray_view *other, enum dray_index_way way,
		    bool check)
{
	struct chunk chunk;
	struct walk walk;
	struct rest rest;
	int ret;

	if (is_empty(plan))
		return 0;
	reduce_rest(&rest, plan, other, way);
	if (!rest.layout.runs)
		return check ? dray_index_check_bounds(plan) : 0;
	start(&walk, plan, other, way == DRAY_INDEX_GATHER);
	while (!walk.done) {
		ret = fill(&walk, &chunk);
		if (ret)
			return ret;
		move_chunk(&rest, &chunk);
	}
	return 0;
}

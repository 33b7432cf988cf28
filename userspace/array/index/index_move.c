// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Copies between the elements that a prepared index leads to and another view.
 *
 * The walk covers the arrays' broadcast shape in chunks.  A chunk's integers
 * become offsets; then each element of the rest is copied for all offsets, or
 * for each offset a row of the rest, whichever is nearer in memory.
 */
#include <string.h>

#include "private.h"
#include "index/index_walk.h"
#include "index/move.h"

/* Rows of the rest that are worth a loop of their own. */
#define LONG_ROW 8

/*
 * A chunk: elements with partners at equal distances.  Numbers of a single
 * array need not become offsets.
 */
struct move_chunk {
	size_t count;
	unsigned char *other;
	int64_t stride;
	int64_t step; /* of the axis of a single array, bytes; or 1 */
	int64_t offsets[DRAY_INDEX_CHUNK]; /* in steps */
};

/* Adds a piece of the innermost axis to the chunk. */
static int move_add_piece(struct dray_index_walk *walk,
			  struct move_chunk *chunk, size_t count, bool one)
{
	const struct dray_index_plan *plan = walk->plan;
	int inner = walk->axes[walk->ndim - 1].inner, i;
	int64_t *offsets = chunk->offsets + chunk->count;
	int64_t room[DRAY_INDEX_CHUNK];

	DRAY_HOLDS(plan->arrays_count >= 0);
	for (i = 0; i < plan->arrays_count; i++) {
		const struct dray_index_array *array = &plan->arrays[i];
		int64_t step = dray_index_stride(plan, array, inner);
		int64_t *integers = one ? offsets : room;
		bool natural;

		if (!dray_index_read(array, plan->mode, walk->at[i], step,
				     count, integers, &natural))
			return dray_index_fail_bounds(array, integers, count);
		if (one && natural)
			chunk->step = array->stride;
		else
			dray_index_add(array, integers, count, i == 0, offsets);
	}
	if (!plan->arrays_count)
		memset(offsets, 0, count * sizeof(*offsets));
	chunk->count += count;
	return 0;
}

/* Fills a chunk from where the walk is. */
static int index_move_fill(struct dray_index_walk *walk,
			   struct move_chunk *chunk)
{
	const struct dray_index_plan *plan = walk->plan;
	const struct dray_index_axis *inner = &walk->axes[walk->ndim - 1];
	bool one = plan->arrays_count == 1 && !plan->arrays[0].flat &&
		   (walk->ndim == 1 || inner->count >= LONG_ROW);
	int ret;

	chunk->step = 1;
	chunk->count = 0;
	chunk->other = walk->other;
	chunk->stride = inner->stride;
	do {
		int64_t piece = inner->count - walk->position[walk->ndim - 1];
		int64_t room = DRAY_INDEX_CHUNK - (int64_t)chunk->count;

		piece = piece < room ? piece : room;
		ret = move_add_piece(walk, chunk, (size_t)piece, one);
		if (ret)
			return ret;
		dray_index_walk_on(walk, piece);
	} while (!one && !walk->done && chunk->count < DRAY_INDEX_CHUNK &&
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
	rest->mover = dray_mover_for(way, (size_t)layout->run);
}

/* Moves all elements of a chunk for an element of the rest. */
static void move_elements(const struct dray_mover *mover,
			  const struct move_chunk *chunk, unsigned char *source,
			  unsigned char *other)
{
	mover->listed(source, chunk->step, chunk->offsets, other, chunk->stride,
		      chunk->count, mover->size);
}

/* Moves a chunk for a place in the outer axes of the rest. */
static void index_move_rows(const struct rest *rest,
			    const struct move_chunk *chunk,
			    unsigned char *source, unsigned char *other)
{
	const struct dray_mover *mover = &rest->mover;
	const struct dray_layout_axis *row;
	size_t i;

	if (!rest->layout.axes_count) {
		move_elements(mover, chunk, source, other);
		return;
	}
	row = &rest->layout.axes[rest->layout.axes_count - 1];
	if (row->count >= LONG_ROW && dray_magnitude(row->strides[OTHER]) <
					      dray_magnitude(chunk->stride)) {
		for (i = 0; i < chunk->count; i++) {
			mover->strided(source + chunk->offsets[i] * chunk->step,
				       row->strides[SOURCE], other,
				       row->strides[OTHER], (size_t)row->count,
				       mover->size);
			other += chunk->stride;
		}
		return;
	}
	for (i = 0; i < row->count; i++) {
		move_elements(mover, chunk, source, other);
		source += row->strides[SOURCE];
		other += row->strides[OTHER];
	}
}

static void move_chunk(const struct rest *rest, const struct move_chunk *chunk)
{
	const struct dray_layout *layout = &rest->layout;
	unsigned char *source = layout->data[SOURCE];
	unsigned char *other = chunk->other + rest->delta;
	uint64_t position[DRAY_MAX_NDIM];
	int outer = layout->axes_count - 1, k;

	for (k = 0; k < outer; k++)
		position[k] = 0;
	for (;;) {
		index_move_rows(rest, chunk, source, other);
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

/* Whether an array picks from an axis without elements: none is inside. */
static bool picks_from_nothing(const struct dray_index_plan *plan)
{
	int i;

	for (i = 0; i < plan->arrays_count; i++) {
		if (!plan->arrays[i].extent)
			return true;
	}
	return false;
}

static bool move_is_empty(const struct dray_index_plan *plan)
{
	int i;

	for (i = 0; i < plan->broadcast_ndim; i++) {
		if (!plan->broadcast[i])
			return true;
	}
	return false;
}

int dray_index_check_bounds(struct dray_index_plan *plan)
{
	struct dray_view none;
	struct move_chunk chunk;
	struct dray_index_walk walk;
	int ret = 0;

	if (move_is_empty(plan))
		return 0;
	none.data = &none; /* Any address: there are no elements. */
	memset(none.strides, 0,
	       (size_t)(plan->at + plan->broadcast_ndim) *
		       sizeof(none.strides[0]));
	dray_index_walk_start(&walk, plan, &none, false);
	while (!ret && !walk.done)
		ret = index_move_fill(&walk, &chunk);
	return ret;
}

int dray_index_move(struct dray_index_plan *plan, const struct dray_view *other,
		    enum dray_index_way way, bool first)
{
	struct move_chunk chunk;
	struct dray_index_walk walk;
	struct rest rest;
	int ret;

	if (move_is_empty(plan))
		return 0;
	if (picks_from_nothing(plan))
		return dray_index_check_bounds(plan);
	reduce_rest(&rest, plan, other, way);
	if (!rest.layout.runs)
		return dray_index_check_bounds(plan);
	dray_index_walk_start(&walk, plan, other, way == DRAY_INDEX_GATHER);
	while (!walk.done) {
		ret = index_move_fill(&walk, &chunk);
		/* The only chunk is checked now. */
		if (!ret && first && !walk.done)
			ret = dray_index_check_bounds(plan);
		if (ret)
			return ret;
		first = false;
		move_chunk(&rest, &chunk);
	}
	return 0;
}

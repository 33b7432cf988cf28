// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The way of a reduction through its elements, in the order of memory.
 *
 * Axes that chain are merged.  If the innermost is reduced, each of its lines yields
 * an element of the result.  If it stays, its rows are added to a row of
 * the result, a block at a time, so that the block stays in the cache.  Where
 * lines or rows would be very short, the two innermost axes change places.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"
#include "ufunc/reduce.h"

#define SHORT 8 /* elements of a line or a row that are too few */
#define BLOCK 65536 /* bytes of the result that many rows are added to */
#define PICKED 256 /* elements that are picked by a mask at once */
#define MOST_ITEM 16 /* bytes of an element that is picked so */
#define ROWS 1024 /* short rows that are processed together */

struct reduce_walk {
	const struct dray_reduction *reduction;
	const struct dray_method *method;
	int ndim; /* of axes around lines or rows */
	struct dray_reduce_axis axes[DRAY_MAX_NDIM + 2]; /* outermost first */
};

static bool reduce_walk_chains(const struct dray_reduce_axis *outer,
			       const struct dray_reduce_axis *inner)
{
	return outer->reduced == inner->reduced &&
	       outer->in == inner->in * inner->count &&
	       outer->result == inner->result * inner->count &&
	       outer->mask == inner->mask * inner->count;
}

/* Whether @a lies outside of @b in memory. */
static bool is_outside(const struct dray_reduce_axis *a,
		       const struct dray_reduce_axis *b)
{
	const uint64_t in = dray_magnitude(a->in),
		       other = dray_magnitude(b->in);

	return in != other
		       ? in > other
		       : dray_magnitude(a->result) >= dray_magnitude(b->result);
}

static void reduce_walk_insert(struct reduce_walk *walk,
			       const struct dray_reduce_axis *axis)
{
	int at = walk->ndim++;

	for (; at && !is_outside(&walk->axes[at - 1], axis); at--)
		walk->axes[at] = walk->axes[at - 1];
	walk->axes[at] = *axis;
}

/* Reads the axes longer than 1, in the order of memory. */
static struct dray_reduce_place read_axes(struct reduce_walk *walk,
					  const struct dray_view *result)
{
	const struct dray_reduction *reduction = walk->reduction;
	const struct dray_view *in = reduction->method->in;
	const struct dray_view *mask = reduction->mask;
	struct dray_reduce_place place = { result->data, in->data,
					   mask ? mask->data : NULL };
	int i, from, to;

	walk->ndim = 0;
	for (i = 0; i < in->ndim; i++) {
		struct dray_reduce_axis axis = {
			.count = in->shape[i],
			.in = in->strides[i],
			.result = result->strides[i],
			.mask = mask ? mask->strides[i] : 0,
			.reduced = reduction->reduced >> i & 1,
		};

		if (axis.count == 1)
			continue;
		if (reduction->reorders && axis.reduced && axis.in < 0 &&
		    axis.mask <= 0) {
			place = dray_place_move(place, &axis, axis.count - 1);
			axis.in = -axis.in;
			axis.mask = -axis.mask;
		}
		reduce_walk_insert(walk, &axis);
	}
	for (from = 1, to = 0; from < walk->ndim; from++) {
		struct dray_reduce_axis *outer = &walk->axes[to];
		const struct dray_reduce_axis *inner = &walk->axes[from];

		if (reduce_walk_chains(outer, inner)) {
			const int64_t count = outer->count;

			*outer = *inner;
			outer->count *= count;
		} else {
			walk->axes[++to] = *inner;
		}
	}
	walk->ndim = walk->ndim ? to + 1 : 0;
	return place;
}

/* Removes and returns an axis; an axis of length 1 if @at is below 0. */
static struct dray_reduce_axis walk_take_axis(struct reduce_walk *walk, int at,
					      bool reduced)
{
	struct dray_reduce_axis axis = { .count = 1, .reduced = reduced };

	if (at < 0)
		return axis;
	axis = walk->axes[at];
	for (walk->ndim--; at < walk->ndim; at++)
		walk->axes[at] = walk->axes[at + 1];
	return axis;
}

static int reduce_walk_innermost(const struct reduce_walk *walk, bool reduced)
{
	int at = walk->ndim - 1;

	while (at >= 0 && walk->axes[at].reduced != reduced)
		at--;
	return at;
}

/* Adds a run of elements of a row at a time, where a mask is true. */
static int add_runs(const struct dray_method *method,
		    struct dray_reduce_place at,
		    const struct dray_reduce_axis *row, const char *in,
		    int64_t stride, int64_t count)
{
	int64_t i, end;
	int ret = 0;

	for (i = 0; i < count && !ret; i = end) {
		while (i < count && !at.mask[i * row->mask])
			i++;
		for (end = i; end < count && at.mask[end * row->mask];)
			end++;
		if (end > i)
			ret = dray_method_loop(method,
					       at.result + i * row->result,
					       row->result, in + i * stride,
					       stride, end - i);
	}
	return ret;
}

/* Picks the elements, adds them to the results picked, and puts these back. */
static int add_picked(const struct dray_method *method,
		      struct dray_reduce_place at,
		      const struct dray_reduce_axis *row, const char *in,
		      int64_t stride, int64_t count)
{
	const int64_t item = method->item, result_item = method->result_item;
	_Alignas(16) char inputs[PICKED * MOST_ITEM];
	_Alignas(16) char results[(PICKED + 1) * MOST_ITEM];
	int64_t picked;
	int ret;

	picked = dray_reduce_pick(results, at.result, row->result, result_item,
				  at.mask, row->mask, count);
	dray_reduce_pick(inputs, in, stride, item, at.mask, row->mask, count);
	ret = dray_method_loop(method, results, result_item, inputs, item,
			       picked);
	if (!ret)
		dray_reduce_put(at.result, row->result, results, result_item,
				at.mask, row->mask, count);
	return ret;
}

/* Adds the elements of a row that a mask is true for. */
static int add_masked(const struct dray_method *method,
		      struct dray_reduce_place at,
		      const struct dray_reduce_axis *row, const char *in,
		      int64_t stride, int64_t count)
{
	int64_t done, piece, i, changes;
	int ret = 0;

	for (done = 0; done < count && !ret; done += piece) {
		piece = count - done < PICKED ? count - done : PICKED;
		changes = 0;
		for (i = 1; i < piece; i++)
			changes += at.mask[i * row->mask] !=
				   at.mask[(i - 1) * row->mask];
		ret = changes * 16 > piece && method->item <= MOST_ITEM &&
				      method->result_item <= MOST_ITEM
			      ? add_picked(method, at, row, in, stride, piece)
			      : add_runs(method, at, row, in, stride, piece);
		at = dray_place_move(at, row, piece);
		in += piece * stride;
	}
	return ret;
}

/* Adds @count elements of a row to as many of the result. */
static int walk_add_row(const struct reduce_walk *walk,
			struct dray_reduce_place at,
			const struct dray_reduce_axis *row, int64_t count,
			bool first)
{
	const struct dray_method *method = walk->method;
	int64_t done, piece;
	int ret = 0;

	if (first)
		return dray_method_set(method, at.result, row->result, at.in,
				       row->in, count);
	if (!method->converts && !at.mask)
		return dray_method_loop(method, at.result, row->result, at.in,
					row->in, count);
	for (done = 0; done < count && !ret; done += piece) {
		const char *in = at.in;
		int64_t stride = row->in;

		piece = count - done < method->piece ? count - done
						     : method->piece;
		if (method->converts) {
			ret = dray_method_convert(method, &method->cast,
						  method->buffer, method->item,
						  in, stride, piece);
			in = method->buffer;
			stride = method->item;
		}
		if (ret)
			break;
		ret = at.mask ? add_masked(method, at, row, in, stride, piece)
			      : dray_method_loop(method, at.result, row->result,
						 in, stride, piece);
		at = dray_place_move(at, row, piece);
	}
	return ret;
}

/* Moves to the next element of the axes around; false behind the last. */
static bool reduce_walk_next(struct reduce_walk *walk,
			     struct dray_reduce_place *place)
{
	int k;

	for (k = walk->ndim - 1; k >= 0; k--) {
		struct dray_reduce_axis *axis = &walk->axes[k];

		if (++axis->at < axis->count) {
			*place = dray_place_move(*place, axis, 1);
			return true;
		}
		axis->at = 0;
		*place = dray_place_move(*place, axis, 1 - axis->count);
	}
	return false;
}

/* Whether the result is met for the first time, by axes around. */
static bool is_first(const struct reduce_walk *walk)
{
	int k;

	if (!walk->reduction->starts)
		return false;
	for (k = 0; k < walk->ndim; k++)
		if (walk->axes[k].reduced && walk->axes[k].at)
			return false;
	return true;
}

/* Reduces a line along @line for each element of @stay, some rows at a time. */
static int walk_lines(struct reduce_walk *walk, struct dray_reduce_place place,
		      const struct dray_reduce_axis *line,
		      const struct dray_reduce_axis *stay)
{
	const int64_t rows = stay->count > 1 ? ROWS : line->count;
	const struct dray_reduction *reduction = walk->reduction;
	int ret = 0;

	if (reduction->line && !reduction->converts && !reduction->starts &&
	    !place.mask && stay->count == 1) {
		do {
			reduction->line->loop(place.result, place.in, line->in,
					      line->count);
		} while (reduce_walk_next(walk, &place));
		return 0;
	}
	do {
		const bool first = is_first(walk);
		struct dray_reduce_axis part = *line;
		int64_t at, i;

		for (at = 0; at < line->count && !ret; at += part.count) {
			const struct dray_reduce_place start =
				dray_place_move(place, line, at);

			part.count = line->count - at < rows ? line->count - at
							     : rows;
			for (i = 0; i < stay->count && !ret; i++)
				ret = dray_reduce_line(walk->reduction,
						       dray_place_move(start,
								       stay, i),
						       &part, first && !at);
		}
	} while (!ret && reduce_walk_next(walk, &place));
	return ret;
}

/* The short cut for several rows, if their elements lie as it wants them. */
static dray_line_rows *walk_rows_of(const struct reduce_walk *walk,
				    const struct dray_reduce_axis *row)
{
	const struct dray_line *line = walk->reduction->line;
	const struct dray_method *method = walk->method;

	if (!line || method->converts || walk->reduction->mask ||
	    row->in != method->item || row->result != method->result_item)
		return NULL;
	return line->rows;
}

/* Adds the rows of @reduced to each row of @row, block by block. */
static int walk_rows(struct reduce_walk *walk, struct dray_reduce_place place,
		     const struct dray_reduce_axis *row,
		     const struct dray_reduce_axis *reduced)
{
	const int64_t item = walk->method->result_item;
	const int64_t block = item < BLOCK / 64 ? BLOCK / item : 64;
	dray_line_rows *const rows = walk_rows_of(walk, row);
	int ret = 0;

	do {
		const bool first = is_first(walk);
		int64_t at, count, i;

		for (at = 0; at < row->count && !ret; at += count) {
			const struct dray_reduce_place start =
				dray_place_move(place, row, at);

			count = row->count - at < block ? row->count - at
							: block;
			for (i = 0; i < reduced->count && !ret; i++) {
				const struct dray_reduce_place at_row =
					dray_place_move(start, reduced, i);

				if (rows &&
				    i + DRAY_LINE_ROWS <= reduced->count &&
				    !(first && !i)) {
					rows(at_row.result, at_row.in,
					     reduced->in, count);
					i += DRAY_LINE_ROWS - 1;
					continue;
				}
				ret = walk_add_row(walk, at_row, row, count,
						   first && !i);
			}
		}
	} while (!ret && reduce_walk_next(walk, &place));
	return ret;
}

int dray_reduce_walk(struct dray_reduction *reduction,
		     const struct dray_view *result)
{
	struct reduce_walk walk = {
		.reduction = reduction,
		.method = reduction->method,
	};
	struct dray_reduce_place place = read_axes(&walk, result);
	const int line_at = reduce_walk_innermost(&walk, true);
	const int row_at = reduce_walk_innermost(&walk, false);
	struct dray_reduce_axis line, row;
	bool by_rows = row_at > line_at;
	int ret;

	if (by_rows && line_at >= 0 && walk.axes[row_at].count < SHORT &&
	    walk.axes[line_at].count > walk.axes[row_at].count)
		by_rows = false;
	else if (!by_rows && row_at >= 0 && walk.axes[line_at].count < SHORT &&
		 walk.axes[row_at].count > walk.axes[line_at].count)
		by_rows = true;
	if (reduction->mask) {
		reduction->picked = malloc((size_t)reduction->method->piece *
					   (size_t)dray_reduce_item(reduction));
		if (!reduction->picked)
			return dray_fail(-ENOMEM, "no memory for a buffer");
	}
	/* The outer of the two first, so that the other's place stays. */
	if (by_rows) {
		row = walk_take_axis(&walk, row_at, false);
		line = walk_take_axis(&walk, reduce_walk_innermost(&walk, true),
				      true);
		ret = walk_rows(&walk, place, &row, &line);
	} else {
		line = walk_take_axis(&walk, line_at, true);
		row = (struct dray_reduce_axis){ .count = 1 };
		if (row_at > line_at)
			row = walk_take_axis(
				&walk, reduce_walk_innermost(&walk, false),
				false);
		ret = walk_lines(&walk, place, &line, &row);
	}
	free(reduction->picked);
	return ret;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The way of a reduction through its elements, in the order of memory.
 *
 * Axes that chain are one.  If the innermost is reduced, each of its lines goes
 * into one element of the result.  If it stays, its rows are added to a row of
 * the result, a block at a time, so that the block stays in the cache.  Where
 * lines or rows would be very short, the two innermost axes change places.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/number.h"
#include "ufunc/reduce.h"

#define SHORT 8 /* elements of a line or a row that are too few */
#define BLOCK 16384 /* bytes of the result that many rows are added to */
#define ROWS 1024 /* rows that short rows are taken together by */

struct axis {
	int64_t count;
	int64_t in, result, mask; /* strides in bytes */
	bool reduced;
	int64_t at;
};

struct walk {
	const struct dray_reduction *reduction;
	const struct dray_method *method;
	char *picked; /* elements that a mask is true for, or NULL */
	int64_t piece; /* elements of picked and of the method's buffer */
	int ndim; /* of axes around lines or rows */
	struct axis axes[DRAY_MAX_NDIM + 2]; /* outermost first */
};

/* Addresses of one element. */
struct place {
	char *result;
	const char *in;
	const char *mask;
};

static struct place move(struct place place, const struct axis *axis,
			 int64_t steps)
{
	place.result += axis->result * steps;
	place.in += axis->in * steps;
	if (place.mask)
		place.mask += axis->mask * steps;
	return place;
}

static bool chains(const struct axis *outer, const struct axis *inner)
{
	return outer->reduced == inner->reduced &&
	       outer->in == inner->in * inner->count &&
	       outer->result == inner->result * inner->count &&
	       outer->mask == inner->mask * inner->count;
}

/* Whether @a lies outside of @b in memory. */
static bool is_outside(const struct axis *a, const struct axis *b)
{
	const uint64_t in = dray_magnitude(a->in),
		       other = dray_magnitude(b->in);

	return in != other ? in > other
			   : dray_magnitude(a->result) >=
				     dray_magnitude(b->result);
}

static void insert(struct walk *walk, const struct axis *axis)
{
	int at = walk->ndim++;

	for (; at && !is_outside(&walk->axes[at - 1], axis); at--)
		walk->axes[at] = walk->axes[at - 1];
	walk->axes[at] = *axis;
}

/* Reads the axes, in the order of memory, without those of one element. */
static struct place read_axes(struct walk *walk, const struct dray_view *result)
{
	const struct dray_reduction *reduction = walk->reduction;
	const struct dray_view *in = reduction->method->in;
	const struct dray_view *mask = reduction->mask;
	struct place place = { result->data, in->data,
			       mask ? mask->data : NULL };
	int i, from, to;

	walk->ndim = 0;
	for (i = 0; i < in->ndim; i++) {
		struct axis axis = {
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
			place = move(place, &axis, axis.count - 1);
			axis.in = -axis.in;
			axis.mask = -axis.mask;
		}
		insert(walk, &axis);
	}
	for (from = 1, to = 0; from < walk->ndim; from++) {
		struct axis *outer = &walk->axes[to];
		const struct axis *inner = &walk->axes[from];

		if (chains(outer, inner)) {
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

/* Takes an axis out; one of a single element if @at is below 0. */
static struct axis take_axis(struct walk *walk, int at, bool reduced)
{
	struct axis axis = { .count = 1, .reduced = reduced };

	if (at < 0)
		return axis;
	axis = walk->axes[at];
	for (walk->ndim--; at < walk->ndim; at++)
		walk->axes[at] = walk->axes[at + 1];
	return axis;
}

static int innermost(const struct walk *walk, bool reduced)
{
	int at = walk->ndim - 1;

	while (at >= 0 && walk->axes[at].reduced != reduced)
		at--;
	return at;
}

/* Whether elements to come cannot change a result. */
static bool is_settled(const struct walk *walk, const char *result)
{
	const struct dray_line *line = walk->reduction->line;

	return line && line->settles && *result == line->settled;
}

static int add_line(const struct walk *walk, char *result, const char *in,
		    int64_t stride, int64_t count)
{
	const struct dray_line *line = walk->reduction->line;

	if (!line)
		return dray_method_loop(walk->method, result, 0, in, stride,
					count);
	line->loop(result, in, stride, count);
	return 0;
}

/* Copies the elements that a mask is true for, and returns their number. */
static int64_t pick(char *to, const char *from, int64_t stride, int64_t item,
		    const char *mask, int64_t mask_stride, int64_t count)
{
	int64_t i, picked = 0;

#define PICK(type)                                                           \
	do {                                                                 \
		for (i = 0; i < count; i++) {                                \
			((type *)(void *)to)[picked] =                       \
				*(const type *)(const void *)(from +         \
							      i * stride);   \
			picked += mask[i * mask_stride] != 0;                \
		}                                                            \
	} while (0)
	switch (item) {
	case 1:
		PICK(uint8_t);
		break;
	case 2:
		PICK(uint16_t);
		break;
	case 4:
		PICK(uint32_t);
		break;
	case 8:
		PICK(uint64_t);
		break;
	default:
		for (i = 0; i < count; i++)
			if (mask[i * mask_stride])
				__builtin_memcpy(to + picked++ * item,
						 from + i * stride,
						 (size_t)item);
	}
#undef PICK
	return picked;
}

/* Bytes of an element that lines are given. */
static int64_t element_bytes(const struct walk *walk)
{
	return walk->reduction->converts
		       ? walk->method->item
		       : (int64_t)dray_dtype_itemsize(walk->method->in->dtype);
}

/* Reduces a line to one element. */
static int reduce_line(const struct walk *walk, struct place at,
		       const struct axis *line, bool first)
{
	const struct dray_method *method = walk->method;
	const bool converts = walk->reduction->converts;
	const int64_t item = element_bytes(walk);
	int64_t count = line->count, done, piece;
	int ret = 0;

	if (first) {
		ret = dray_method_set(method, at.result, 0, at.in, 0, 1);
		at = move(at, line, 1);
		count--;
	}
	if (!converts && !at.mask && !ret)
		return count ? add_line(walk, at.result, at.in, line->in, count)
			     : 0;
	for (done = 0; done < count && !ret; done += piece) {
		const char *in = at.in;
		int64_t stride = line->in, left;

		piece = count - done < walk->piece ? count - done : walk->piece;
		left = piece;
		if (converts) {
			ret = dray_cast_run(&method->cast, method->buffer, item,
					    in, stride, piece);
			in = method->buffer;
			stride = item;
		}
		if (at.mask) {
			left = pick(walk->picked, in, stride,
				    item, at.mask, line->mask, piece);
			in = walk->picked;
			stride = item;
		}
		if (!ret && left)
			ret = add_line(walk, at.result, in, stride, left);
		if (is_settled(walk, at.result))
			break;
		at.in += piece * line->in;
		if (at.mask)
			at.mask += piece * line->mask;
	}
	return ret;
}

/* Adds the elements of a row that a mask is true for. */
static int add_masked(const struct dray_method *method, struct place at,
		      const struct axis *row, const char *in, int64_t stride,
		      int64_t count)
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

/* Adds @count elements of a row to as many of the result. */
static int add_row(const struct walk *walk, struct place at,
		   const struct axis *row, int64_t count, bool first)
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

		piece = count - done < walk->piece ? count - done : walk->piece;
		if (method->converts) {
			ret = dray_cast_run(&method->cast, method->buffer,
					    method->item, in, stride, piece);
			in = method->buffer;
			stride = method->item;
		}
		if (ret)
			break;
		ret = at.mask ? add_masked(method, at, row, in, stride, piece)
			      : dray_method_loop(method, at.result, row->result,
						 in, stride, piece);
		at = move(at, row, piece);
	}
	return ret;
}

/* Goes on to the next element of the axes around; false behind the last. */
static bool next(struct walk *walk, struct place *place)
{
	int k;

	for (k = walk->ndim - 1; k >= 0; k--) {
		struct axis *axis = &walk->axes[k];

		if (++axis->at < axis->count) {
			*place = move(*place, axis, 1);
			return true;
		}
		axis->at = 0;
		*place = move(*place, axis, 1 - axis->count);
	}
	return false;
}

/* Whether the result is met for the first time, by axes around. */
static bool is_first(const struct walk *walk)
{
	int k;

	if (!walk->reduction->starts)
		return false;
	for (k = 0; k < walk->ndim; k++)
		if (walk->axes[k].reduced && walk->axes[k].at)
			return false;
	return true;
}

/* Lines of @line; the elements of @stay have one each, some rows at a time. */
static int walk_lines(struct walk *walk, struct place place,
		      const struct axis *line, const struct axis *stay)
{
	const int64_t rows = stay->count > 1 ? ROWS : line->count;
	int ret = 0;

	do {
		const bool first = is_first(walk);
		struct axis part = *line;
		int64_t at, i;

		for (at = 0; at < line->count && !ret; at += part.count) {
			const struct place start = move(place, line, at);

			part.count = line->count - at < rows ? line->count - at
							     : rows;
			for (i = 0; i < stay->count && !ret; i++)
				ret = reduce_line(walk, move(start, stay, i),
						  &part, first && !at);
		}
	} while (!ret && next(walk, &place));
	return ret;
}

/* Rows of @row, block by block; those of @reduced are added to one. */
static int walk_rows(struct walk *walk, struct place place,
		     const struct axis *row, const struct axis *reduced)
{
	const int64_t item = walk->method->result_item;
	const int64_t block = item < BLOCK / 64 ? BLOCK / item : 64;
	int ret = 0;

	do {
		const bool first = is_first(walk);
		int64_t at, count, i;

		for (at = 0; at < row->count && !ret; at += count) {
			const struct place start = move(place, row, at);

			count = row->count - at < block ? row->count - at
							: block;
			for (i = 0; i < reduced->count && !ret; i++)
				ret = add_row(walk, move(start, reduced, i),
					      row, count, first && !i);
		}
	} while (!ret && next(walk, &place));
	return ret;
}

int dray_reduce_walk(const struct dray_reduction *reduction,
		     const struct dray_view *result)
{
	struct walk walk = {
		.reduction = reduction,
		.method = reduction->method,
		.piece = reduction->method->piece,
	};
	struct place place = read_axes(&walk, result);
	const int line_at = innermost(&walk, true);
	const int row_at = innermost(&walk, false);
	struct axis line, row;
	bool by_rows = row_at > line_at;
	int ret;

	if (by_rows && line_at >= 0 && walk.axes[row_at].count < SHORT &&
	    walk.axes[line_at].count > walk.axes[row_at].count)
		by_rows = false;
	else if (!by_rows && row_at >= 0 && walk.axes[line_at].count < SHORT &&
		 walk.axes[row_at].count > walk.axes[line_at].count)
		by_rows = true;
	if (reduction->mask) {
		walk.picked = malloc((size_t)walk.piece *
				     (size_t)element_bytes(&walk));
		if (!walk.picked)
			return dray_fail(-ENOMEM, "no memory for a buffer");
	}
	/* The outer one of the two first, so that the other's place stays. */
	if (by_rows) {
		row = take_axis(&walk, row_at, false);
		line = take_axis(&walk, innermost(&walk, true), true);
		ret = walk_rows(&walk, place, &row, &line);
	} else {
		line = take_axis(&walk, line_at, true);
		row = (struct axis){ .count = 1 };
		if (row_at > line_at)
			row = take_axis(&walk, innermost(&walk, false), false);
		ret = walk_lines(&walk, place, &line, &row);
	}
	free(walk.picked);
	return ret;
}

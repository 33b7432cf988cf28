// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Elements on their way between operands and buffers.  A buffer starts at the
 * place of the axes' coordinates.  Operands that need no buffer are pointed at.
 */
#include <errno.h>

#include "cast/fp_state.h"
#include "cast/cast.h"
#include "iterator/nditer.h"

/* A way of elements: along the axes of an operand, and through its buffer. */
struct transfer_way {
	struct dray_nditer *iter;
	int operand;
	const struct dray_cast *cast;
	bool writes; /* from the buffer */
	const char *mask; /* of elements to be written, or NULL */
	int64_t mask_stride;
	char *data; /* in the operand */
	char *buffer;
	int64_t stride; /* bytes, in the buffer */
	int64_t count;
	int ndim; /* axes to be walked; 1: along @line alone */
	int64_t line; /* bytes, in the operand */
};

static int nditer_transfer_convert(const struct transfer_way *way, char *data,
				   int64_t data_stride, char *buffer,
				   int64_t count)
{
	return way->writes ? dray_cast_run(way->cast, data, data_stride, buffer,
					   way->stride, count)
			   : dray_cast_run(way->cast, buffer, way->stride, data,
					   data_stride, count);
}

/* Converts the parts of a line where the mask is true. */
static int convert_masked(struct transfer_way *way, char *data,
			  int64_t data_stride, char *buffer, int64_t count)
{
	int64_t from = 0, to;
	int ret;

	while (from < count) {
		while (from < count && !way->mask[from * way->mask_stride])
			from++;
		to = from;
		while (to < count && way->mask[to * way->mask_stride])
			to++;
		if (to > from) {
			ret = nditer_transfer_convert(
				way, data + from * data_stride, data_stride,
				buffer + from * way->stride, to - from);
			if (ret)
				return ret;
		}
		from = to;
	}
	way->mask += count * way->mask_stride;
	return 0;
}

static int convert_line(struct transfer_way *way, char *data,
			int64_t data_stride, char *buffer, int64_t count)
{
	return way->mask ? convert_masked(way, data, data_stride, buffer, count)
			 : nditer_transfer_convert(way, data, data_stride,
						   buffer, count);
}

/* Walks the axes line by line, from their coordinates on. */
static int nditer_transfer_walk(struct transfer_way *way)
{
	const struct nditer_axis *axes = way->iter->axes;
	int64_t at[DRAY_MAX_NDIM], left = way->count, line;
	int o = way->operand;
	char *buffer = way->buffer, *data = way->data;
	int ret, i;

	for (i = 0; i < way->ndim; i++)
		at[i] = axes[i].at;
	for (;;) {
		line = axes[0].count - at[0];
		if (line > left)
			line = left;
		ret = convert_line(way, data, axes[0].strides[o], buffer, line);
		if (ret)
			return ret;
		left -= line;
		if (!left)
			return 0;
		buffer += line * way->stride;
		data -= at[0] * axes[0].strides[o];
		at[0] = 0;
		for (i = 1; i < way->ndim; i++) {
			data += axes[i].strides[o];
			if (++at[i] < axes[i].count)
				break;
			data -= axes[i].count * axes[i].strides[o];
			at[i] = 0;
		}
	}
}

/* Finds the way of an operand for @count elements of the iteration. */
static void find_way(struct transfer_way *way, struct dray_nditer *iter, int o,
		     int64_t count)
{
	struct nditer_operand *operand = &iter->operand[o];
	const struct nditer_axis *outer = &iter->axes[iter->outer];
	bool fills_lines = (operand->flags & DRAY_OPERAND_CONTIGUOUS) &&
			   !(operand->flags & DRAY_OPERAND_WRITE);

	*way = (struct transfer_way){
		.iter = iter,
		.operand = o,
		.data = iter->data[o],
		.buffer = operand->buffer,
		.stride = operand->buffer_stride,
		.count = count,
		.ndim = iter->ndim,
		.line = iter->axes[0].strides[o],
	};
	if ((operand->flags & OPERAND_IS_DOUBLE) && outer->strides[o]) {
		/* It stands still in the core: an element of each. */
		way->stride = operand->outer_stride;
		way->count = iter->reduce_count;
		way->line = outer->strides[o];
		way->ndim = 1;
		return;
	}
	if (operand->flags & OPERAND_IS_DOUBLE) {
		way->ndim--;
		if (way->count > iter->core)
			way->count = iter->core;
	}
	if (!(operand->flags & OPERAND_HAS_ONE_STRIDE))
		return;
	way->ndim = 1;
	if (!way->line && !fills_lines) {
		way->count = 1;
		way->stride = 0;
	}
}

static int iterator_nditer_transfer(struct transfer_way *way)
{
	if (way->ndim == 1 || way->iter->ndim < 2)
		return convert_line(way, way->data, way->line, way->buffer,
				    way->count);
	return nditer_transfer_walk(way);
}

static int nditer_transfer_go(struct transfer_way *way)
{
	const struct dray_cast *cast = way->cast;
	struct dray_nditer *iter = way->iter;
	unsigned int errors;
	int ret;

	if (iter->flags & DRAY_NDITER_KEEP_FP_FLAGS ||
	    !dray_cast_notes_errors(cast->to, cast->from))
		return iterator_nditer_transfer(way);
	dray_fp_clear();
	ret = iterator_nditer_transfer(way);
	if (ret || !fetestexcept(DRAY_FP_FLAGS))
		return ret;
	errors = dray_fp_take() & ~iter->reported;
	iter->reported |= errors;
	return errors ? dray_fp_report("cast", errors) : 0;
}

static void set_mask(struct transfer_way *way, const struct dray_nditer *iter)
{
	const struct nditer_operand *mask = &iter->operand[iter->mask];

	way->mask = mask->flags & OPERAND_IS_UNBUFFERED ? iter->data[iter->mask]
							: mask->buffer;
	way->mask_stride = mask->buffer_stride;
}

int dray_nditer_flush_buffers(struct dray_nditer *iter)
{
	int64_t count = iter->buffered;
	struct transfer_way way;
	int ret, o;

	if (!count)
		return 0;
	if (iter->flags & NDITER_DOUBLE_LOOP)
		count *= iter->reduce_count;
	for (o = 0; o < iter->operands; o++) {
		struct nditer_operand *operand = &iter->operand[o];

		if ((operand->flags & OPERAND_IS_UNBUFFERED) ||
		    !(operand->flags & DRAY_OPERAND_WRITE))
			continue;
		find_way(&way, iter, o, count);
		way.cast = &iter->casts[o].write;
		way.writes = true;
		if (operand->flags & DRAY_OPERAND_WRITE_MASKED)
			set_mask(&way, iter);
		ret = nditer_transfer_go(&way);
		if (ret)
			return ret;
	}
	return 0;
}

/* Finds how many elements the next buffers hold. */
static int64_t transfer_count_elements(const struct dray_nditer *iter)
{
	const struct nditer_axis *outer = &iter->axes[iter->outer];
	int64_t rest = nditer_product(iter->core, outer->count - outer->at);
	int64_t count = iter->buffer_size;

	/* After a jump into a core, that core is ended first. */
	if (iter->core_offset)
		count = iter->core - iter->core_offset;
	else if (count > rest)
		count = rest;
	if (count > iter->end - iter->position)
		count = iter->end - iter->position;
	/* A double loop covers whole cores; a range may end inside of a core. */
	if ((iter->flags & NDITER_DOUBLE_LOOP) && count > iter->core)
		count -= count % iter->core;
	return count;
}

/* Sets up the double loop of a reduction. */
static void nditer_transfer_split(struct dray_nditer *iter, int64_t count)
{
	iter->reduce_at = 0;
	iter->reduce_count = count / iter->core;
	if (iter->reduce_count <= 1) {
		iter->reduce_count = 1;
		return;
	}
	iter->buffered = iter->core;
	iter->buffer_end = iter->position + iter->core;
}

/* Whether the buffer still holds the elements; marks it if it will hold them. */
static bool is_filled(struct dray_nditer *iter, int o, int64_t count,
		      const char *before)
{
	struct nditer_operand *operand = &iter->operand[o];
	bool core_repeats = (operand->flags & OPERAND_IS_DOUBLE) &&
			    count >= iter->core &&
			    !iter->axes[iter->outer].strides[o];

	if (before && before == iter->data[o] &&
	    (operand->flags & OPERAND_IS_REUSABLE))
		return true;
	if (count == iter->buffer_size || core_repeats)
		operand->flags |= OPERAND_IS_REUSABLE;
	else
		operand->flags &= ~OPERAND_IS_REUSABLE;
	return false;
}

int dray_nditer_fill_buffers(struct dray_nditer *iter, char *const *before)
{
	int64_t count = transfer_count_elements(iter);
	struct transfer_way way;
	int ret, o;

	if (iter->core_offset)
		before = NULL;
	iter->buffered = count;
	iter->buffer_end = iter->position + count;
	if (!count)
		return 0;
	if (iter->flags & NDITER_DOUBLE_LOOP)
		nditer_transfer_split(iter, count);
	for (o = 0; o < iter->operands; o++) {
		struct nditer_operand *operand = &iter->operand[o];
		const char *last = before ? before[o] : NULL;

		if (operand->flags & OPERAND_IS_UNBUFFERED) {
			iter->user[o] = iter->data[o];
			operand->outer_data = iter->data[o];
			continue;
		}
		iter->user[o] = operand->buffer;
		operand->outer_data = operand->buffer;
		if (!(operand->flags & DRAY_OPERAND_READ) ||
		    is_filled(iter, o, count, last))
			continue;
		find_way(&way, iter, o, count);
		way.cast = &iter->casts[o].read;
		ret = nditer_transfer_go(&way);
		if (ret) {
			iter->buffered = 0;
			iter->buffer_end = iter->position;
			return ret;
		}
	}
	return 0;
}

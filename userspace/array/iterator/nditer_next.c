// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Steps of an iterator.  One function is compiled for each number of axes and
 * operands that is common, and each way to step.
 */
#include <errno.h>
#include <string.h>

#include "iterator/nditer.h"
#include "private.h"

/* The caller may advance its copy of the addresses. */
static void start_loop(struct dray_nditer *iter)
{
	int o;

	for (o = 0; o < iter->operands; o++)
		iter->user[o] = iter->data[o];
}

void dray_nditer_place(struct dray_nditer *iter, int64_t position)
{
	int ndim = iter->ndim ? iter->ndim : 1;
	int64_t rest = position;
	int i, o;

	iter->position = position;
	for (o = 0; o < iter->operands; o++)
		iter->data[o] = iter->first[o];
	iter->index = iter->first_index;
	for (i = 0; i < ndim; i++) {
		struct nditer_axis *axis = &iter->axes[i];

		axis->at = 0;
		if (!rest)
			continue;
		axis->at = rest % axis->count;
		rest /= axis->count;
		for (o = 0; o < iter->operands; o++)
			iter->data[o] += axis->at * axis->strides[o];
		iter->index += axis->at * axis->index_stride;
	}
	if (iter->flags & DRAY_NDITER_BUFFERED)
		iter->core_offset = iter->core ? position % iter->core : 0;
	else if (iter->flags & DRAY_NDITER_EXTERNAL_LOOP)
		start_loop(iter);
}

enum how {
	STEP_PLAIN,
	STEP_INDEXED, /* with an index, a range or both */
	STEP_LOOP /* the innermost axis is the caller's */
};

#define MANY DRAY_MAX_OPERANDS

/* Moves the addresses, and the index if there is one. */
static inline __attribute__((always_inline)) void
next_move(struct dray_nditer *iter, const struct nditer_axis *axis,
	  int64_t steps, int operands, enum how how)
{
	int o;

	for (o = 0; o < operands; o++) {
		iter->data[o] += steps * axis->strides[o];
		if (how == STEP_LOOP)
			iter->user[o] = iter->data[o];
	}
	if (how == STEP_INDEXED)
		iter->index += steps * axis->index_stride;
}

/* @ndim and @operands are constants, or those of the iterator. */
static inline __attribute__((always_inline)) bool
next_step(struct dray_nditer *iter, int ndim, int operands, enum how how)
{
	struct nditer_axis *axis = &iter->axes[how == STEP_LOOP];
	struct nditer_axis *end = &iter->axes[ndim];

	if (how == STEP_INDEXED && (iter->flags & DRAY_NDITER_RANGED) &&
	    ++iter->position >= iter->end)
		return false;
	for (;;) {
		next_move(iter, axis, 1, operands, how);
		if (++axis->at < axis->count)
			return true;
		if (axis + 1 >= end)
			return false;
		next_move(iter, axis, -axis->count, operands, how);
		axis->at = 0;
		axis++;
	}
}

#define STEP(name, ndim, operands, how)                      \
	static bool name(struct dray_nditer *iter)           \
	{                                                    \
		return next_step(iter, ndim, operands, how); \
	}

#define STEPS(name, how)                                            \
	STEP(name##_1_1, 1, 1, how)                                 \
	STEP(name##_1_2, 1, 2, how)                                 \
	STEP(name##_1_3, 1, 3, how)                                 \
	STEP(name##_1_n, 1, iter->operands, how)                    \
	STEP(name##_2_1, 2, 1, how)                                 \
	STEP(name##_2_2, 2, 2, how)                                 \
	STEP(name##_2_3, 2, 3, how)                                 \
	STEP(name##_2_n, 2, iter->operands, how)                    \
	STEP(name##_n_1, iter->ndim, 1, how)                        \
	STEP(name##_n_2, iter->ndim, 2, how)                        \
	STEP(name##_n_3, iter->ndim, 3, how)                        \
	STEP(name##_n_n, iter->ndim, iter->operands, how)           \
	static dray_nditer_step_fn *const name[3][4] = {            \
		{ name##_1_1, name##_1_2, name##_1_3, name##_1_n }, \
		{ name##_2_1, name##_2_2, name##_2_3, name##_2_n }, \
		{ name##_n_1, name##_n_2, name##_n_3, name##_n_n }, \
	}

STEPS(plain, STEP_PLAIN);
STEPS(indexed, STEP_INDEXED);
STEPS(loop, STEP_LOOP);

/* The only step was that to the start. */
static bool nditer_next_end(struct dray_nditer *iter)
{
	if (iter->flags & DRAY_NDITER_RANGED)
		iter->position = iter->end;
	return false;
}

static bool nditer_next_refuse(struct dray_nditer *iter)
{
	iter->error =
		iter->size < 0
			? dray_fail(
				  -EOVERFLOW,
				  "iterator is too large: it has more elements than 63 bits count")
			: dray_fail(
				  -EINVAL,
				  "the iterator's buffers are delayed: dray_nditer_reset() allocates them");
	return false;
}

static bool nditer_next_fail(struct dray_nditer *iter, int error)
{
	iter->error = error;
	iter->buffered = 0;
	return false;
}

/* Moves to the next inner loop of a reduction in the same buffers. */
static void move_outer(struct dray_nditer *iter)
{
	int o;

	for (o = 0; o < iter->operands; o++) {
		struct nditer_operand *operand = &iter->operand[o];

		operand->outer_data += operand->outer_stride;
		iter->user[o] = operand->outer_data;
	}
	iter->buffer_end = iter->position + iter->buffered;
}

/* Steps within the buffers, or fills them with the next elements. */
static bool step_buffered(struct dray_nditer *iter)
{
	bool is_double = iter->flags & NDITER_DOUBLE_LOOP;
	char *before[DRAY_MAX_OPERANDS];
	int ret, o;

	if (iter->flags & DRAY_NDITER_EXTERNAL_LOOP) {
		iter->position += iter->buffered;
	} else if (++iter->position < iter->buffer_end) {
		for (o = 0; o < iter->operands; o++)
			iter->user[o] += iter->inner_strides[o];
		return true;
	}
	if (is_double && iter->buffered &&
	    ++iter->reduce_at < iter->reduce_count) {
		move_outer(iter);
		return true;
	}
	memcpy(before, iter->data, sizeof(before));
	ret = dray_nditer_flush_buffers(iter);
	if (ret)
		return nditer_next_fail(iter, ret);
	if (iter->position >= iter->end) {
		iter->buffered = 0;
		return false;
	}
	dray_nditer_place(iter, iter->position);
	ret = dray_nditer_fill_buffers(iter, is_double ? before : NULL);
	return ret ? nditer_next_fail(iter, ret) : true;
}

void dray_nditer_choose_step(struct dray_nditer *iter)
{
	int ndim = iter->ndim < 1 ? 1 : iter->ndim > 3 ? 3 : iter->ndim;
	int operands = iter->operands > 4 ? 4 : iter->operands;
	bool is_loop = iter->flags & DRAY_NDITER_EXTERNAL_LOOP;

	/* An inner loop over all elements, or the only one. */
	iter->flags &= ~NDITER_ONE_STEP;
	if (iter->size == (is_loop ? iter->axes[0].count : 1))
		iter->flags |= NDITER_ONE_STEP;
	if (iter->size < 0 || (iter->flags & NDITER_DELAYED))
		iter->next = nditer_next_refuse;
	else if (iter->flags & DRAY_NDITER_BUFFERED)
		iter->next = step_buffered;
	else if (iter->flags & NDITER_ONE_STEP)
		iter->next = nditer_next_end;
	else if (is_loop)
		iter->next = loop[ndim - 1][operands - 1];
	else if (iter->flags & (NDITER_INDEX | DRAY_NDITER_RANGED))
		iter->next = indexed[ndim - 1][operands - 1];
	else
		iter->next = plain[ndim - 1][operands - 1];
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Jumps of an iterator, its ranges, and changes of its axes. */
#include <errno.h>
#include <inttypes.h>

#include "iterator/iterator.h"
#include "iterator/nditer.h"
#include "private.h"

/* Writes the buffers back, moves, and fills them; they are allocated. */
static int nditer_move_restart(struct dray_nditer *iter, int64_t position)
{
	int ret;

	if (!(iter->flags & DRAY_NDITER_BUFFERED)) {
		dray_nditer_place(iter, position);
		return 0;
	}
	ret = dray_nditer_flush_buffers(iter);
	/* Drops them even so: they would fail again. */
	iter->buffered = 0;
	if (ret)
		return ret;
	dray_nditer_place(iter, position);
	return dray_nditer_fill_buffers(iter, NULL);
}

static int allocate_delayed(struct dray_nditer *iter)
{
	int ret;

	if (!(iter->flags & NDITER_DELAYED))
		return 0;
	ret = dray_nditer_allocate_buffers(iter);
	if (ret) {
		dray_nditer_free_buffers(iter);
		return ret;
	}
	iter->flags &= ~NDITER_DELAYED;
	dray_nditer_choose_step(iter);
	return 0;
}

/* Whether it is at the start, and its buffers end within the range. */
static bool has_first_buffers(const struct dray_nditer *iter)
{
	int64_t reach = iter->buffered;

	if (!(iter->flags & DRAY_NDITER_BUFFERED) || !iter->buffered)
		return false;
	if (iter->flags & NDITER_DOUBLE_LOOP)
		reach *= iter->reduce_count;
	return iter->position == iter->start &&
	       iter->start + reach <= iter->end;
}

int dray_nditer_reset(struct dray_nditer *iter)
{
	int ret;

	if (!dray_given(iter, __func__))
		return -EINVAL;
	iter->error = 0;
	ret = allocate_delayed(iter);
	if (ret)
		return ret;
	if (has_first_buffers(iter))
		return 0;
	return nditer_move_restart(iter, iter->start);
}

int dray_nditer_reset_data(struct dray_nditer *iter, char *const *data)
{
	int ret = 0, o;

	if (!dray_given(iter, __func__) || !dray_given(data, __func__))
		return -EINVAL;
	ret = allocate_delayed(iter);
	if (!ret && (iter->flags & DRAY_NDITER_BUFFERED))
		ret = dray_nditer_flush_buffers(iter);
	if (ret)
		return ret;
	iter->buffered = 0;
	for (o = 0; o < iter->operands; o++)
		iter->first[o] = dray_address_add(data[o], iter->offsets[o]);
	return nditer_move_restart(iter, iter->start);
}

static int fail_large(void)
{
	return dray_fail(
		-EOVERFLOW,
		"iterator is too large: the count of its elements exceeds 63 bits");
}

int dray_nditer_reset_range(struct dray_nditer *iter, int64_t start,
			    int64_t end)
{
	if (!dray_given(iter, __func__))
		return -EINVAL;
	if (!(iter->flags & DRAY_NDITER_RANGED))
		return dray_fail(
			-EINVAL,
			"the iterator is without ranges: create it with the flag RANGED");
	if (iter->size < 0)
		return fail_large();
	if (start < 0 || end > iter->size)
		return dray_fail(-ERANGE,
				 "Out-of-bounds range [%" PRId64 ", %" PRId64
				 ") of an iterator of %" PRId64 " elements",
				 start, end, iter->size);
	if (end < start)
		return dray_fail(-EINVAL,
				 "Invalid range [%" PRId64 ", %" PRId64
				 "): it ends before it starts",
				 start, end);
	iter->start = start;
	iter->end = end;
	return dray_nditer_reset(iter);
}

/* Checks that the iterator can go to an element that is not its next. */
static int check_jump(const struct dray_nditer *iter, uint32_t needed,
		      const char *name)
{
	if (needed && !(iter->flags & needed))
		return dray_fail(-EINVAL,
				 "the iterator does not track %s to jump to",
				 name);
	if (needed && (iter->flags & DRAY_NDITER_BUFFERED))
		return dray_fail(
			-EINVAL,
			"an iterator which is buffered cannot jump to %s",
			name);
	if (iter->flags & DRAY_NDITER_EXTERNAL_LOOP)
		return dray_fail(
			-EINVAL,
			"an iterator with the flag EXTERNAL_LOOP cannot jump to %s",
			name);
	if (iter->size < 0)
		return fail_large();
	return 0;
}

static int move_check_range(const struct dray_nditer *iter, int64_t position)
{
	if (position >= iter->start && position < iter->end)
		return 0;
	return dray_fail(-ERANGE,
			 "position %" PRId64
			 " is outside the iteration range [%" PRId64
			 ", %" PRId64 ")",
			 position, iter->start, iter->end);
}

static int nditer_move_go(struct dray_nditer *iter, int64_t position)
{
	int ret = move_check_range(iter, position);

	if (ret)
		return ret;
	dray_nditer_place(iter, position);
	return 0;
}

int dray_nditer_go(struct dray_nditer *iter, const int64_t *coordinates)
{
	int64_t position = 0;
	int ret, i;

	if (!dray_given(iter, __func__) ||
	    (iter->ndim && !dray_given(coordinates, __func__)))
		return -EINVAL;
	ret = check_jump(iter, DRAY_NDITER_MULTI_INDEX, "a multi-index");
	if (ret)
		return ret;
	for (i = iter->ndim - 1; i >= 0; i--) {
		const struct nditer_axis *axis = &iter->axes[i];
		int64_t at = coordinates[axis->axis];

		if (at < 0 || at >= axis->count)
			return dray_fail(
				-ERANGE,
				"index %" PRId64
				" is out of bounds for axis %d with size %" PRId64,
				at, axis->axis, axis->count);
		if (axis->flipped)
			at = axis->count - 1 - at;
		position = position * axis->count + at;
	}
	return nditer_move_go(iter, position);
}

int dray_nditer_go_index(struct dray_nditer *iter, int64_t index)
{
	int64_t position = 0;
	int ret, i;

	if (!dray_given(iter, __func__))
		return -EINVAL;
	ret = check_jump(iter, NDITER_INDEX, "an index");
	if (ret)
		return ret;
	if (index < 0 || index >= iter->size)
		return dray_iterator_fail_index(index, iter->size);
	for (i = iter->ndim - 1; i >= 0; i--) {
		const struct nditer_axis *axis = &iter->axes[i];
		int64_t stride = axis->index_stride;
		int64_t at = 0;

		if (stride > 0)
			at = index / stride % axis->count;
		else if (stride < 0)
			at = axis->count - 1 - index / -stride % axis->count;
		position = position * axis->count + at;
	}
	return nditer_move_go(iter, position);
}

int dray_nditer_go_position(struct dray_nditer *iter, int64_t position)
{
	int64_t delta;
	int ret, o;

	if (!dray_given(iter, __func__))
		return -EINVAL;
	ret = check_jump(iter, 0, "a position");
	if (!ret)
		ret = move_check_range(iter, position);
	if (!ret)
		ret = allocate_delayed(iter);
	if (ret)
		return ret;
	/* The element is in the buffers. */
	if ((iter->flags & DRAY_NDITER_BUFFERED) &&
	    !(iter->flags & NDITER_DOUBLE_LOOP) &&
	    position < iter->buffer_end &&
	    position >= iter->buffer_end - iter->buffered) {
		delta = position - iter->position;
		for (o = 0; o < iter->operands; o++)
			iter->user[o] += delta * iter->inner_strides[o];
		iter->position = position;
		return 0;
	}
	return nditer_move_restart(iter, position);
}

/* Takes axis number @at out, at its first element. */
static void move_take_out(struct dray_nditer *iter, int at)
{
	const struct nditer_axis removed = iter->axes[at];
	int i, o;

	for (o = 0; o < iter->operands && removed.flipped; o++) {
		int64_t back =
			nditer_product(removed.count - 1, removed.strides[o]);

		iter->offsets[o] += back;
		iter->first[o] = dray_address_add(iter->first[o], back);
	}
	iter->ndim--;
	for (i = at; i < iter->ndim; i++)
		iter->axes[i] = iter->axes[i + 1];
	for (i = 0; i < iter->ndim; i++) {
		if (iter->axes[i].axis > removed.axis)
			iter->axes[i].axis--;
	}
	if (!iter->ndim)
		iter->axes[0] = (struct nditer_axis){ .count = 1 };
}

int dray_nditer_remove_axis(struct dray_nditer *iter, int axis)
{
	int at = 0;

	if (!dray_given(iter, __func__))
		return -EINVAL;
	if (!(iter->flags & DRAY_NDITER_MULTI_INDEX))
		return dray_fail(
			-EINVAL,
			"an axis may only be removed if a multi-index is being tracked");
	if (iter->flags & (NDITER_INDEX | DRAY_NDITER_BUFFERED))
		return dray_fail(
			-EINVAL,
			"an axis may not be removed if an index is being tracked, or with buffers");
	if (axis < 0 || axis >= iter->ndim)
		return dray_fail(
			-EINVAL,
			"axis %d is out of bounds for an iterator of %d axes",
			axis, iter->ndim);
	while (iter->axes[at].axis != axis)
		at++;
	move_take_out(iter, at);
	dray_nditer_measure(iter);
	dray_nditer_choose_step(iter);
	return dray_nditer_reset(iter);
}

/* Plans buffers for axes that were merged; if it fails, they are delayed. */
static int plan_again(struct dray_nditer *iter)
{
	int ret;

	iter->buffered = 0;
	dray_nditer_free_buffers(iter);
	ret = dray_nditer_plan_buffers(iter);
	iter->flags |= NDITER_DELAYED;
	return ret ? ret : allocate_delayed(iter);
}

int dray_nditer_remove_multi_index(struct dray_nditer *iter)
{
	int ret;

	if (!dray_given(iter, __func__))
		return -EINVAL;
	if (!(iter->flags & DRAY_NDITER_MULTI_INDEX))
		return dray_nditer_reset(iter);
	if (iter->size < 0)
		return fail_large();
	ret = dray_nditer_reset(iter);
	if (ret)
		return ret;
	dray_nditer_merge(iter);
	if (iter->flags & DRAY_NDITER_BUFFERED)
		ret = plan_again(iter);
	dray_nditer_choose_step(iter);
	return ret ? ret : nditer_move_restart(iter, iter->start);
}

int dray_nditer_enable_external_loop(struct dray_nditer *iter)
{
	if (!dray_given(iter, __func__))
		return -EINVAL;
	if (iter->flags & (NDITER_INDEX | DRAY_NDITER_MULTI_INDEX))
		return dray_fail(
			-EINVAL,
			"Iterator flag EXTERNAL_LOOP cannot be used if an index or multi-index is being tracked");
	if ((iter->flags & (DRAY_NDITER_BUFFERED | DRAY_NDITER_RANGED)) ==
	    DRAY_NDITER_RANGED)
		return dray_fail(
			-EINVAL,
			"Iterator flag EXTERNAL_LOOP cannot be used with ranged iteration unless buffering is also enabled");
	iter->flags |= DRAY_NDITER_EXTERNAL_LOOP;
	dray_nditer_choose_step(iter);
	return dray_nditer_reset(iter);
}

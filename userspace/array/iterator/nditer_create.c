// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The life of an iterator.  All of it is one allocation: its axes and the
 * operands' extents lie behind it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "iterator/iterator.h"
#include "iterator/nditer.h"
#include "private.h"
#include "cast/options.h"

static int check_operands(const struct dray_view *const *views, int count)
{
	int ret, o;

	ret = dray_operands_check_count(count);
	if (ret)
		return ret;
	for (o = 0; o < count; o++) {
		if (views[o] &&
		    (views[o]->ndim < 0 || views[o]->ndim > DRAY_MAX_NDIM))
			return dray_fail(
				-EINVAL,
				"operand %d has %d axes, 0 to %d are possible",
				o, views[o]->ndim, DRAY_MAX_NDIM);
	}
	return 0;
}

static int count_axes(const struct dray_view *const *views, int count,
		      const struct dray_nditer_options *options)
{
	int ndim = 0, o;

	if (options->operand_axes || options->shape)
		return options->ndim;
	for (o = 0; o < count; o++) {
		if (views[o] && views[o]->ndim > ndim)
			ndim = views[o]->ndim;
	}
	return ndim;
}

/* Allocates an iterator with room for operands and @extents numbers. */
static struct dray_nditer *
nditer_create_allocate(int ndim, size_t extents, int count,
		       const struct dray_nditer_options *options)
{
	size_t axes = (size_t)(ndim ? ndim : 1), casts, places, bytes;
	struct dray_nditer *iter;

	casts = sizeof(*iter) + axes * sizeof(iter->axes[0]) +
		(size_t)count * sizeof(iter->operand[0]);
	places = casts;
	if (options->flags & DRAY_NDITER_BUFFERED)
		places += (size_t)count * sizeof(iter->casts[0]);
	bytes = places + extents * sizeof(iter->extents[0]);
	iter = malloc(bytes);
	if (!iter) {
		dray_fail(-ENOMEM, "no memory for an iterator of %d operands",
			  count);
		return NULL;
	}
	iter->bytes = bytes;
	iter->flags = options->flags;
	iter->ndim = ndim;
	iter->operands = count;
	iter->error = 0;
	iter->reported = 0;
	iter->position = 0;
	iter->buffered = 0;
	iter->buffer_end = 0;
	iter->buffer_wanted = options->buffer_size;
	iter->operand = (void *)&iter->axes[axes];
	iter->casts = (void *)((char *)iter + casts);
	iter->extents = (void *)((char *)iter + places);
	return iter;
}

static struct dray_nditer *
allocate_for(const struct dray_view *const *views, int count,
	     const struct dray_nditer_options *options)
{
	struct dray_nditer *iter;
	uint32_t extents = 0;
	int o;

	for (o = 0; o < count; o++)
		extents += views[o] ? 2 * (uint32_t)views[o]->ndim : 0;
	iter = nditer_create_allocate(count_axes(views, count, options),
				      extents, count, options);
	if (!iter)
		return NULL;
	extents = 0;
	for (o = 0; o < count; o++) {
		iter->operand[o] =
			(struct nditer_operand){ .extents_at = extents };
		iter->first[o] = NULL;
		iter->offsets[o] = 0;
		extents += views[o] ? 2 * (uint32_t)views[o]->ndim : 0;
	}
	return iter;
}

/* Frees an iterator; writes nothing back. */
static void nditer_create_discard(struct dray_nditer *iter)
{
	int o;

	if (iter->flags & DRAY_NDITER_BUFFERED)
		dray_nditer_free_buffers(iter);
	for (o = 0; o < iter->operands; o++) {
		struct nditer_operand *operand = &iter->operand[o];

		dray_dtype_unref(operand->stored);
		dray_dtype_unref(operand->dtype);
		if (operand->array)
			dray_array_unref(operand->array);
	}
	free(iter);
}

static bool all_are_fortran(const struct dray_nditer *iter)
{
	struct dray_view view;
	int o;

	for (o = 0; o < iter->operands; o++) {
		if (!nditer_exists(&iter->operand[o]))
			continue;
		dray_nditer_view_of(iter, o, &view);
		dray_view_set_facts(&view);
		if (!(view.flags & DRAY_F_CONTIGUOUS))
			return false;
	}
	return true;
}

static void nditer_create_order(struct dray_nditer *iter, char wanted)
{
	bool allocates = false;
	int o;

	dray_nditer_number(iter);
	dray_nditer_force_order(iter, wanted,
				wanted == 'A' && all_are_fortran(iter));
	if (iter->flags & NDITER_FORCED_ORDER)
		return;
	dray_nditer_find_order(iter);
	for (o = 0; o < iter->operands; o++)
		allocates |= !nditer_exists(&iter->operand[o]);
	/* An allocated operand has no axes that run backwards. */
	if (!allocates && !(iter->flags & DRAY_NDITER_KEEP_DIRECTION))
		dray_nditer_flip(iter);
}

static int set_up_buffers(struct dray_nditer *iter)
{
	int ret;

	if (iter->mask >= 0) {
		dray_dtype dtype = iter->operand[iter->mask].dtype;

		if (dtype != DRAY_BOOL && dtype != DRAY_UINT8)
			return dray_fail(
				-EINVAL,
				"Only bool and uint8 masks are supported, operand %d is neither",
				iter->mask);
	}
	ret = dray_nditer_plan_buffers(iter);
	if (ret)
		return ret;
	if (iter->flags & DRAY_NDITER_DELAY_BUFFERS) {
		iter->flags |= NDITER_DELAYED;
		return 0;
	}
	ret = dray_nditer_allocate_buffers(iter);
	return ret ? ret : dray_nditer_fill_buffers(iter, NULL);
}

/* Goes to the start of an iterator with its axes in order. */
static int nditer_create_start(struct dray_nditer *iter)
{
	int ret = 0;

	if (!(iter->flags & DRAY_NDITER_MULTI_INDEX))
		dray_nditer_merge(iter);
	iter->core = 0;
	dray_nditer_place(iter, 0);
	if (iter->flags & DRAY_NDITER_BUFFERED)
		ret = set_up_buffers(iter);
	if (!ret)
		dray_nditer_choose_step(iter);
	return ret;
}

static int nditer_create_build(struct dray_nditer *iter,
			       const struct dray_view *const *views,
			       const struct dray_nditer_options *options)
{
	int ret;

	ret = dray_nditer_prepare(iter, views, options);
	if (!ret)
		ret = dray_nditer_fill_axes(iter, options);
	if (ret)
		return ret;
	nditer_create_order(iter, options->order);
	ret = dray_nditer_choose_types(iter, options);
	if (!ret)
		ret = dray_nditer_replace_operands(iter, options);
	return ret ? ret : nditer_create_start(iter);
}

static int create_plain(const struct dray_view *const *views, int count,
			const struct dray_nditer_options *options,
			int64_t elements, struct dray_nditer **out)
{
	int ndim = views[0]->ndim;
	struct dray_nditer *iter = nditer_create_allocate(
		ndim, 2 * (size_t)(ndim * count), count, options);

	if (!iter)
		return -ENOMEM;
	dray_nditer_describe(iter, views, options, elements);
	iter->flags |= NDITER_IS_PLAIN;
	iter->first_index = 0;
	dray_nditer_find_order(iter);
	if (!(options->flags & DRAY_NDITER_KEEP_DIRECTION))
		dray_nditer_flip(iter);
	*out = iter;
	return nditer_create_start(iter);
}

int dray_nditer_create(const struct dray_view *const *views, int count,
		       const struct dray_nditer_options *options,
		       struct dray_nditer **out)
{
	struct dray_nditer_options known;
	struct dray_nditer *iter;
	int64_t elements;
	int ret;

	if (!dray_given(views, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	if (!options || !DRAY_OPTIONS_ARE_KNOWN(options)) {
		ret = DRAY_READ_OPTIONS(&known, options,
					DRAY_NDITER_OPTIONS_SIZE_FIRST);
		if (ret)
			return ret;
		options = &known;
	}
	if (dray_nditer_is_plain(views, count, options, &elements))
		return create_plain(views, count, options, elements, out);
	ret = check_operands(views, count);
	if (!ret)
		ret = dray_nditer_check_flags(options);
	if (!ret)
		ret = dray_nditer_check_map(count, options);
	if (ret)
		return ret;
	iter = allocate_for(views, count, options);
	if (!iter)
		return -ENOMEM;
	ret = nditer_create_build(iter, views, options);
	if (ret) {
		nditer_create_discard(iter);
		return ret;
	}
	*out = iter;
	return 0;
}

/* Gives a copy buffers of its own, filled from its place on. */
static int copy_buffers(struct dray_nditer *copy)
{
	bool filled = copy->buffered;
	int ret;

	copy->buffered = 0;
	if (!(copy->flags & DRAY_NDITER_BUFFERED) ||
	    (copy->flags & NDITER_DELAYED))
		return 0;
	ret = dray_nditer_allocate_buffers(copy);
	if (ret || !filled)
		return ret;
	dray_nditer_place(copy, copy->position);
	return dray_nditer_fill_buffers(copy, NULL);
}

/* The address in a copy that is as far from its start as @at is. */
static void *same_place(struct dray_nditer *copy,
			const struct dray_nditer *iter, const void *at)
{
	return (char *)copy + ((const char *)at - (const char *)iter);
}

int dray_nditer_copy(const struct dray_nditer *iter, struct dray_nditer **out)
{
	struct dray_nditer *copy;
	int ret, o;

	if (!dray_given(iter, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	copy = malloc(iter->bytes);
	if (!copy)
		return dray_fail(-ENOMEM,
				 "no memory for a copy of an iterator");
	memcpy(copy, iter, iter->bytes);
	copy->operand = same_place(copy, iter, iter->operand);
	copy->casts = same_place(copy, iter, iter->casts);
	copy->extents = same_place(copy, iter, iter->extents);
	for (o = 0; o < copy->operands; o++) {
		struct nditer_operand *operand = &copy->operand[o];

		dray_dtype_ref(operand->stored);
		dray_dtype_ref(operand->dtype);
		dray_array_ref(operand->array);
		operand->flags &= ~OPERAND_WRITES_BACK;
		operand->buffer = NULL;
	}
	ret = copy_buffers(copy);
	if (ret) {
		nditer_create_discard(copy);
		return ret;
	}
	*out = copy;
	return 0;
}

int dray_nditer_finish(struct dray_nditer *iter)
{
	if (!dray_given(iter, __func__))
		return -EINVAL;
	if (iter->flags & (NDITER_IS_FINISHED | NDITER_IS_PLAIN))
		return iter->error;
	iter->flags |= NDITER_IS_FINISHED;
	if (!iter->error && (iter->flags & DRAY_NDITER_BUFFERED))
		iter->error = dray_nditer_flush_buffers(iter);
	if (!iter->error)
		iter->error = dray_nditer_write_back(iter);
	return iter->error;
}

int dray_nditer_destroy(struct dray_nditer *iter)
{
	int ret;

	if (!iter)
		return 0;
	ret = dray_nditer_finish(iter);
	if (iter->flags & NDITER_IS_PLAIN)
		free(iter);
	else
		nditer_create_discard(iter);
	return ret;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Plain iterations at once: usual views of one shape, each with its own type,
 * through neither buffers nor maps.  Nothing is broadcast, converted or allocated,
 * so operands and axes are described in one pass.  All else, and each error, takes
 * the way of nditer_prepare.c and nditer_axes.c, with the same results.
 */
#include "iterator/nditer.h"
#include "private.h"

/* Flags that make no difference before the axes are ordered. */
#define PLAIN                                                  \
	(DRAY_NDITER_EXTERNAL_LOOP | DRAY_NDITER_MULTI_INDEX | \
	 DRAY_NDITER_ZEROSIZE_OK | DRAY_NDITER_KEEP_DIRECTION)

static bool are_plain(const struct dray_nditer_options *options)
{
	const uint32_t both =
		DRAY_NDITER_EXTERNAL_LOOP | DRAY_NDITER_MULTI_INDEX;

	return !(options->flags & ~PLAIN) && (options->flags & both) != both &&
	       (!options->order || options->order == 'K') &&
	       options->casting <= DRAY_CASTING_UNSAFE && !options->dtypes &&
	       !options->operand_axes && !options->shape &&
	       options->buffer_size >= 0;
}

static uint32_t flags_of(const struct dray_nditer_options *options, int o)
{
	return options->operand_flags ? options->operand_flags[o]
				      : DRAY_OPERAND_READ;
}

static bool operand_is_plain(const struct dray_view *view, uint32_t flags,
			     int64_t *elements)
{
	struct dray_extent extent;

	if (!dray_view_is_usual(view, &extent) || !flags ||
	    (flags & ~OPERAND_READ_WRITE) ||
	    ((flags & DRAY_OPERAND_WRITE) && !(view->flags & DRAY_WRITE)))
		return false;
	*elements = extent.elements;
	return true;
}

static bool has_shape_of(const struct dray_view *view,
			 const struct dray_view *other)
{
	int i = 0;

	if (view->ndim != other->ndim)
		return false;
	while (i < view->ndim && view->shape[i] == other->shape[i])
		i++;
	return i == view->ndim;
}

bool dray_nditer_is_plain(const struct dray_view *const *views, int count,
			  const struct dray_nditer_options *options,
			  int64_t *elements)
{
	int o;

	if (count < 1 || count > DRAY_MAX_OPERANDS || !are_plain(options))
		return false;
	for (o = 0; o < count; o++) {
		if (!operand_is_plain(views[o], flags_of(options, o),
				      elements) ||
		    (o && !has_shape_of(views[o], views[0])))
			return false;
	}
	return true;
}

static void nditer_plain_describe(struct dray_nditer *iter, int o,
				  const struct dray_view *view, uint32_t flags)
{
	uint32_t at = (uint32_t)(2 * o * view->ndim);
	struct nditer_axis *axis = &iter->axes[view->ndim];
	int64_t *extents = iter->extents + at;
	int i;

	/* Types are numbers, which count no references. */
	iter->operand[o] = (struct nditer_operand){
		.flags = flags,
		.ndim = view->ndim,
		.data = view->data,
		.stored = view->dtype,
		.permissions =
			view->flags & (DRAY_READ | DRAY_WRITE | DRAY_IMMUTABLE),
		.extents_at = at,
		.dtype = view->dtype,
	};
	iter->first[o] = view->data;
	iter->offsets[o] = 0;
	iter->axes[0].strides[o] = 0;
	for (i = 0; i < view->ndim; i++) {
		int64_t extent = view->shape[i], stride = view->strides[i];

		extents[i] = extent;
		extents[view->ndim + i] = stride;
		(--axis)->strides[o] = extent == 1 ? 0 : stride;
	}
}

void dray_nditer_describe(struct dray_nditer *iter,
			  const struct dray_view *const *views,
			  const struct dray_nditer_options *options,
			  int64_t elements)
{
	int last = iter->ndim - 1, i, o;

	iter->mask = -1;
	iter->size = elements;
	iter->start = 0;
	iter->end = elements;
	/* Without axes, there is one of one element. */
	iter->axes[0].count = 1;
	iter->axes[0].axis = 0;
	for (i = 0; i <= last; i++) {
		iter->axes[last - i].count = views[0]->shape[i];
		iter->axes[last - i].axis = (int16_t)i;
	}
	for (i = 0; i <= last || !i; i++) {
		iter->axes[i].at = 0;
		iter->axes[i].index_stride = 0;
		iter->axes[i].flipped = false;
	}
	for (o = 0; o < iter->operands; o++)
		nditer_plain_describe(iter, o, views[o], flags_of(options, o));
}

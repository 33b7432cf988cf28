// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arrays in place of operands: allocated results, and copies of operands that
 * need a conversion or overlap others.  Their elements lie in the order of
 * iteration, so axes were ordered before and are merged later.
 */
#include <errno.h>
#include <string.h>

#include "array/array.h"
#include "cast/cast.h"
#include "iterator/nditer.h"
#include "private.h"

#define STRIDE_UNSET INT64_MAX

/* The axis of operand @o along @axis of the iteration, or a negative number. */
static int own_axis(const struct dray_nditer *iter, const int *map, int ndim,
		    int axis, bool *reduces)
{
	*reduces = false;
	return map ? nditer_mapped_axis(map[axis], reduces)
		   : axis - (iter->ndim - ndim);
}

/*
 * Finds shape and strides of an operand to be allocated.  Returns the number of
 * its axes; -EINVAL if the map leaves any out.
 */
static int shape_allocated(const struct dray_nditer *iter, const int *map,
			   int64_t *shape, int64_t *strides, int64_t stride)
{
	int i, used = 0;
	bool reduces;

	for (i = 0; i < iter->ndim; i++)
		strides[i] = STRIDE_UNSET;
	for (i = 0; i < iter->ndim; i++) {
		int axis = own_axis(iter, map, iter->ndim, iter->axes[i].axis,
				    &reduces);

		if (axis < 0)
			continue;
		if (axis >= iter->ndim)
			return dray_fail(
				-EINVAL,
				"automatically allocated output array specified with an inconsistent axis mapping; the axis mapping cannot include dimension %d which is too large for the iterator dimension of %d.",
				axis, iter->ndim);
		used++;
		strides[axis] = stride;
		shape[axis] = reduces ? 1 : iter->axes[i].count;
		stride = nditer_product(stride, shape[axis]);
	}
	for (i = 0; i < used; i++) {
		if (strides[i] == STRIDE_UNSET)
			return dray_fail(
				-EINVAL,
				"automatically allocated output array specified with an inconsistent axis mapping; the axis mapping is missing an entry for dimension %d.",
				i);
	}
	return used;
}

/*
 * Finds strides of a copy of an operand.  Axes that the map leaves out lie
 * inside of the others, in C order.
 */
static void stride_copy(const struct dray_nditer *iter, const int *map,
			int ndim, const int64_t *shape, int64_t *strides,
			int64_t itemsize)
{
	int64_t stride = itemsize, inside = 1;
	bool reduces;
	int i;

	for (i = 0; i < ndim; i++)
		strides[i] = STRIDE_UNSET;
	for (i = 0; i < iter->ndim; i++) {
		int axis =
			own_axis(iter, map, ndim, iter->axes[i].axis, &reduces);

		if (axis < 0)
			continue;
		strides[axis] = stride;
		stride = nditer_product(stride, shape[axis]);
	}
	for (i = ndim; i-- > 0;) {
		if (strides[i] == STRIDE_UNSET)
			inside = nditer_product(inside, shape[i]);
	}
	stride = itemsize;
	for (i = ndim; i-- > 0;) {
		if (strides[i] != STRIDE_UNSET) {
			strides[i] = nditer_product(strides[i], inside);
			continue;
		}
		strides[i] = stride;
		stride = nditer_product(stride, shape[i]);
	}
}

/* An array of no bytes gets strides of 0. */
static int make_array(dray_dtype dtype, int ndim, const int64_t *shape,
		      const int64_t *strides, struct dray_array **out)
{
	static const int64_t none[DRAY_MAX_NDIM];
	struct dray_block *block;
	struct dray_view view;
	size_t bytes;
	int ret;

	ret = dray_view_bytes(dtype, ndim, shape, &bytes);
	if (!ret)
		ret = dray_block_create_handled(dray_get_handler(), bytes,
						false, &block);
	if (ret)
		return ret;
	ret = dray_view_init_closed(&view, dray_block_data(block), dtype, ndim,
				    shape, bytes ? strides : none);
	if (!ret)
		ret = dray_array_adopt(&view, DRAY_OWNED, block, out);
	dray_block_unref(block);
	return ret;
}

/* Sets the axes to the strides and the address of an operand's new array. */
static void point_at(struct dray_nditer *iter, int o, const int *map, int ndim)
{
	struct nditer_operand *operand = &iter->operand[o];
	int64_t offset = 0;
	bool reduces;
	int i;

	for (i = 0; i < iter->ndim; i++) {
		struct nditer_axis *axis = &iter->axes[i];
		int own = own_axis(iter, map, ndim, axis->axis, &reduces);
		int64_t extent, stride;

		if (own < 0)
			continue;
		extent = nditer_extent(iter, operand, own);
		if (extent == 1)
			continue;
		stride = nditer_stride(iter, operand, own);
		if (axis->flipped) {
			offset += stride * (extent - 1);
			stride = -stride;
		}
		axis->strides[o] = stride;
	}
	iter->first[o] = dray_address_add(operand->array->data, offset);
	iter->offsets[o] = offset;
	operand->flags &= ~OPERAND_CONVERTS;
}

static int nditer_replace_allocate(struct dray_nditer *iter, int o,
				   const int *map)
{
	struct nditer_operand *operand = &iter->operand[o];
	int64_t shape[DRAY_MAX_NDIM], strides[DRAY_MAX_NDIM];
	int ndim, ret;

	ndim = shape_allocated(iter, map, shape, strides,
			       dray_dtype_itemsize(operand->dtype));
	if (ndim < 0)
		return ndim;
	ret = make_array(operand->dtype, ndim, shape, strides, &operand->array);
	if (ret)
		return ret;
	operand->ndim = ndim;
	point_at(iter, o, map, iter->ndim);
	return 0;
}

static int nditer_replace_convert(const struct dray_nditer *iter,
				  const struct dray_view *dst,
				  const struct dray_view *src)
{
	return iter->flags & DRAY_NDITER_KEEP_FP_FLAGS
		       ? dray_view_cast(dst, src, DRAY_CASTING_UNSAFE)
		       : dray_view_convert(dst, src, DRAY_CASTING_UNSAFE);
}

static int nditer_replace_copy(struct dray_nditer *iter, int o, const int *map)
{
	struct nditer_operand *operand = &iter->operand[o];
	const int64_t *shape = iter->extents + operand->extents_at;
	int64_t strides[DRAY_MAX_NDIM];
	struct dray_view from, to;
	struct dray_array *array;
	int ret;

	stride_copy(iter, map, operand->ndim, shape, strides,
		    dray_dtype_itemsize(operand->dtype));
	ret = make_array(operand->dtype, operand->ndim, shape, strides, &array);
	if (ret)
		return ret;
	if (operand->flags & DRAY_OPERAND_READ) {
		dray_nditer_view_of(iter, o, &from);
		ret = nditer_replace_convert(iter, dray_array_view(array, &to),
					     &from);
		if (ret) {
			dray_array_unref(array);
			return ret;
		}
	}
	if (operand->flags & DRAY_OPERAND_WRITE)
		operand->flags |= OPERAND_WRITES_BACK;
	operand->array = array;
	point_at(iter, o, map, operand->ndim);
	return 0;
}

/* Whether an operand that exists is copied as a whole. */
static bool is_copied(const struct nditer_operand *operand)
{
	if (operand->flags & OPERAND_COPIES)
		return true;
	if (!(operand->flags & OPERAND_CONVERTS))
		return false;
	/* A single element that is only read is cheap to copy. */
	if (!operand->ndim && !(operand->flags & DRAY_OPERAND_WRITE))
		return true;
	return operand->flags & (DRAY_OPERAND_COPY | DRAY_OPERAND_COPY_BACK);
}

/* Whether an operand stays as it is, for any axes. */
static bool replace_is_usable(const struct nditer_operand *operand)
{
	const uint32_t others =
		OPERAND_COPIES | OPERAND_CONVERTS | DRAY_OPERAND_CONTIGUOUS;

	return nditer_exists(operand) && !(operand->flags & others);
}

static int iterator_nditer_replace(struct dray_nditer *iter, int o,
				   const int *map)
{
	struct nditer_operand *operand = &iter->operand[o];
	bool buffered = iter->flags & DRAY_NDITER_BUFFERED;
	int ret = 0;

	if (!nditer_exists(operand))
		ret = nditer_replace_allocate(iter, o, map);
	else if (is_copied(operand))
		ret = dray_nditer_check_elements(iter, o)
			      ?: nditer_replace_copy(iter, o, map);
	if (ret)
		return ret;
	if ((operand->flags & OPERAND_CONVERTS) && !buffered)
		return dray_fail(
			-EINVAL,
			"Iterator operand %d required copying or buffering, but neither copying nor buffering was enabled",
			o);
	if (!(operand->flags & DRAY_OPERAND_CONTIGUOUS) ||
	    iter->axes[0].strides[o] ==
		    (int64_t)dray_dtype_itemsize(operand->dtype))
		return 0;
	operand->flags |= OPERAND_CONVERTS;
	if (!buffered)
		return dray_fail(
			-EINVAL,
			"Iterator operand %d required buffering, to be contiguous as requested, but buffering is not enabled",
			o);
	return 0;
}

/* Lets a reduction see a single value of its mask for each element. */
static int check_masked_reduction(const struct dray_nditer *iter, int o)
{
	const uint32_t both = DRAY_OPERAND_WRITE_MASKED | OPERAND_REDUCES;
	int i;

	if ((iter->operand[o].flags & both) != both)
		return 0;
	for (i = 0; i < iter->ndim; i++) {
		if (iter->axes[i].strides[iter->mask] &&
		    !iter->axes[i].strides[o])
			return dray_fail(
				-EINVAL,
				"Iterator reduction operand %d is WRITE_MASKED, but also broadcasts to multiple mask values. There can be only one mask value per WRITE_MASKED element.",
				o);
	}
	return 0;
}

int dray_nditer_replace_operands(struct dray_nditer *iter,
				 const struct dray_nditer_options *options)
{
	int ret = 0, o;

	if (iter->flags & DRAY_NDITER_COPY_IF_OVERLAP)
		ret = dray_nditer_mark_overlaps(iter);
	for (o = 0; o < iter->operands && !ret; o++) {
		if (!replace_is_usable(&iter->operand[o]))
			ret = iterator_nditer_replace(
				iter, o, nditer_map_of(options, o));
	}
	for (o = 0; iter->mask >= 0 && o < iter->operands && !ret; o++)
		ret = check_masked_reduction(iter, o);
	return ret;
}

int dray_nditer_write_back(struct dray_nditer *iter)
{
	int ret, first = 0, o;

	for (o = 0; o < iter->operands; o++) {
		struct nditer_operand *operand = &iter->operand[o];
		struct dray_array *array = operand->array;
		struct dray_view from, to;

		if (!(operand->flags & OPERAND_WRITES_BACK))
			continue;
		dray_array_view(array, &from);
		operand->array = NULL;
		dray_nditer_view_of(iter, o, &to);
		operand->array = array;
		ret = nditer_replace_convert(iter, &to, &from);
		if (ret && !first)
			first = ret;
	}
	return first;
}

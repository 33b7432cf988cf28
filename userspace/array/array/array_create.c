// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arrays over a block of their elements: made with it, or over an existing block.
 * Freeing memory that an engine still uses only parks it, so the last reference
 * may be dropped at any time.
 */
#include <errno.h>
#include <inttypes.h>

#include "array/array.h"
#include "private.h"

int dray_array_adopt(const struct dray_view *view, uint32_t flags,
		     struct dray_block *base, struct dray_array **out)
{
	struct dray_array_options options = {
		.dtype = view->dtype,
		.flags = view->flags | flags,
		.ndim = view->ndim,
		.reference = base,
	};
	struct dray_array_axis *axes;
	struct dray_array *array;
	int64_t low, high;
	int ret, i;

	dray_view_span(view, &low, &high);
	options.data = dray_address_add(view->data, low);
	options.bytes = (size_t)(high - low);
	ret = dray_array_make(&options, &array);
	if (ret)
		return ret;
	array->data = view->data;
	axes = dray_array_axes(array);
	for (i = 0; i < view->ndim; i++)
		axes[i] = (struct dray_array_axis){ view->shape[i],
						    view->strides[i] };
	if (dray_notes_are_wanted())
		dray_array_note(array);
	*out = array;
	return 0;
}

/* Makes an array that owns @base, and drops the caller's reference. */
static int array_create_own(struct dray_block *base, dray_dtype dtype, int ndim,
			    const int64_t *shape, const int64_t *strides,
			    struct dray_array **out)
{
	struct dray_view view;
	int ret, i;

	ret = dray_view_init(&view, dray_block_data(base), dtype, ndim, shape,
			     strides);
	/* As in NumPy, nothing is a step away from nothing. */
	for (i = 0; !ret && !dray_view_has_bytes(&view) && i < view.ndim; i++)
		view.strides[i] = 0;
	if (!ret)
		ret = dray_array_adopt(&view, DRAY_OWNED, base, out);
	dray_block_unref(base);
	return ret;
}

/* Makes a planned array, in the room of its base. */
static void array_create_place(struct dray_view *view, size_t bytes,
			       struct dray_block *base, struct dray_array **out)
{
	int i;

	view->data = dray_block_data(base);
	dray_view_set_facts(view);
	/* As in NumPy, nothing is a step away from nothing. */
	for (i = 0; !bytes && i < view->ndim; i++)
		view->strides[i] = 0;
	*out = dray_array_place(view, view->data, bytes, DRAY_OWNED, base);
}

/*
 * Plans an array of numbers in C order, with elements and with its facts but for
 * the alignment.  False for any other, and if dray_view_plan() would refuse it.
 */
static bool plan_numbers(struct dray_view *view, dray_dtype dtype, int ndim,
			 const int64_t *shape, const int64_t *strides,
			 size_t *bytes)
{
	uint64_t stride = dray_dtype_itemsize(dtype);
	int i, lines = 0;

	if (!dray_dtype_is_number(dtype) || ndim < 0 || ndim > DRAY_MAX_NDIM ||
	    (ndim && !shape))
		return false;
	for (i = ndim - 1; i >= 0; i--) {
		view->shape[i] = shape[i];
		view->strides[i] = (int64_t)stride;
		lines += shape[i] > 1;
		if (shape[i] < 1 ||
		    (strides && strides[i] != view->strides[i]) ||
		    dray_mul_overflow(stride, (uint64_t)shape[i], &stride) ||
		    stride > PTRDIFF_MAX)
			return false;
	}
	view->dtype = dtype;
	view->ndim = ndim;
	view->flags = DRAY_READ | DRAY_WRITE | DRAY_C_CONTIGUOUS;
	if (lines <= 1)
		view->flags |= DRAY_F_CONTIGUOUS;
	*bytes = (size_t)stride;
	return true;
}

int dray_array_from_handler(dray_dtype dtype, int ndim, const int64_t *shape,
			    const int64_t *strides, bool zeroed,
			    struct dray_array **out)
{
	struct dray_block *base;
	struct dray_view view;
	bool planned;
	size_t bytes;
	int ret = 0;

	planned = plan_numbers(&view, dtype, ndim, shape, strides, &bytes);
	if (!planned)
		ret = dray_view_plan(&view, dtype, ndim, shape, strides,
				     &bytes);
	if (!ret)
		ret = dray_block_create_current(dray_get_handler(), bytes,
						zeroed,
						dray_array_room(view.ndim),
						&base);
	if (ret)
		return ret;
	if (planned) {
		view.data = dray_block_data(base);
		if (!((uintptr_t)view.data & (dray_dtype_alignment(dtype) - 1)))
			view.flags |= DRAY_ALIGNED;
		*out = dray_array_place(&view, view.data, bytes, DRAY_OWNED,
					base);
	} else {
		array_create_place(&view, bytes, base, out);
	}
	return 0;
}

int dray_array_empty(dray_dtype dtype, int ndim, const int64_t *shape,
		     struct dray_array **out)
{
	if (!dray_given(out, __func__))
		return -EINVAL;
	return dray_array_from_handler(dtype, ndim, shape, NULL, false, out);
}

int dray_array_zeros(dray_dtype dtype, int ndim, const int64_t *shape,
		     struct dray_array **out)
{
	if (!dray_given(out, __func__))
		return -EINVAL;
	return dray_array_from_handler(dtype, ndim, shape, NULL, true, out);
}

int dray_array_create(struct dray_pool *pool, dray_dtype dtype, int ndim,
		      const int64_t *shape, struct dray_array **out)
{
	struct dray_block *base;
	struct dray_view view;
	size_t bytes;
	int ret;

	if (!dray_given(pool, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_view_plan(&view, dtype, ndim, shape, NULL, &bytes);
	if (!ret)
		ret = dray_block_create_cleared(
			pool, bytes, dray_array_room(view.ndim), &base);
	if (!ret)
		array_create_place(&view, bytes, base, out);
	return ret;
}

int dray_array_create_alone(struct dray_node *node, dray_dtype dtype, int ndim,
			    const int64_t *shape, struct dray_array **out)
{
	struct dray_buffer *buffer;
	struct dray_block *base;
	size_t bytes;
	int ret;

	if (!dray_given(node, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_view_bytes(dtype, ndim, shape, &bytes);
	if (!ret)
		ret = dray_buffer_alloc(node, bytes ? bytes : 1, NULL, &buffer);
	if (ret)
		return ret;
	ret = dray_block_create_buffer(buffer, &base);
	dray_buffer_unref(buffer);
	return ret ? ret
		   : array_create_own(base, dtype, ndim, shape, NULL, out);
}

int dray_array_over(const struct dray_view *view, struct dray_block *base,
		    struct dray_array **out)
{
	const struct dray_array *beneath;
	struct dray_view checked;
	int ret;

	if (!dray_given(base, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_view_check(view, "the view", NULL);
	if (ret)
		return ret;
	dray_view_copy(&checked, view);
	ret = dray_view_unfold(&checked);
	if (ret)
		return ret;
	dray_view_set_facts(&checked);
	beneath = dray_block_as_array(base);
	if (beneath && (view->flags & DRAY_WRITE & ~beneath->flags))
		return dray_fail(-EPERM,
				 "array %p is %s: a slice may not be written",
				 (const void *)beneath,
				 beneath->flags & DRAY_IMMUTABLE ? "immutable"
								 : "read-only");
	if (beneath && beneath->reference)
		base = beneath->reference;
	return dray_array_adopt(&checked, 0, base, out);
}

int dray_array_from_pointer(const struct dray_view *view,
			    void (*release)(void *owner), void *owner,
			    struct dray_array **out)
{
	struct dray_block *base;
	int64_t low, high;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = dray_view_check(view, "the view", NULL);
	if (ret)
		return ret;
	dray_view_span(view, &low, &high);
	ret = dray_block_create_external(dray_address_add(view->data, low),
					 (size_t)(high - low),
					 DRAY_READ | (view->flags & DRAY_WRITE),
					 NULL, NULL, &base);
	if (ret)
		return ret;
	ret = dray_array_over(view, base, out);
	/* The memory stays the caller's unless all went well. */
	if (!ret)
		dray_block_set_owner(base, release, owner);
	dray_block_unref(base);
	return ret;
}

int dray_array_from_buffer(struct dray_buffer *buffer, uint64_t offset,
			   dray_dtype dtype, int ndim, const int64_t *shape,
			   const int64_t *strides, struct dray_array **out)
{
	struct dray_block *base;
	struct dray_view view;
	int ret;

	if (!dray_given(buffer, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	if (offset > dray_buffer_size(buffer))
		return dray_fail(-EINVAL,
				 "offset %" PRIu64 " in a buffer of %" PRIu64
				 " bytes",
				 offset, dray_buffer_size(buffer));
	ret = dray_view_init(&view, (char *)dray_buffer_data(buffer) + offset,
			     dtype, ndim, shape, strides);
	if (!ret)
		ret = dray_block_create_buffer(buffer, &base);
	if (ret)
		return ret;
	if (!dray_buffer_writable(buffer))
		view.flags &= ~DRAY_WRITE;
	ret = dray_array_over(&view, base, out);
	dray_block_unref(base);
	return ret;
}

const struct dray_handler *dray_array_handler(const struct dray_array *array)
{
	return dray_given(array, __func__)
		       ? dray_block_handler(array->reference)
		       : NULL;
}

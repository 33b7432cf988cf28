// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arrays as DLPack tensors.  A tensor, its shape and its strides are one
 * allocation, which its deleter frees; all that is impossible is refused before it
 * is made.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "interop/dlpack.h"
#include "private.h"

struct dlpack_exported {
	void (*release)(void *owner); /* may be NULL */
	void *owner;
	union {
		struct dray_dlpack_versioned versioned;
		struct dray_dlpack_managed legacy;
	};
	int64_t numbers[]; /* ndim extents, ndim strides */
};

/* Returns the device of memory that the caller keeps. */
static struct dray_dlpack_device
export_device_of(const struct dray_view *view, const struct dray_extent *extent)
{
	struct dray_dlpack_device device = { DRAY_DLPACK_CPU, 0 };
	struct dray_buffer *buffer = NULL;
	struct dray_span *span;
	size_t size;

	span = dray_window_find(dray_address_add(view->data, extent->low));
	if (span && extent->elements)
		buffer = dray_span_buffer(span, &size);
	if (buffer && !dray_buffer_mapped(buffer))
		device.device_type = DRAY_DLPACK_EXT_DEV;
	return device;
}

int dray_dlpack_find_device(const struct dray_view *view,
			    struct dray_dlpack_device *out)
{
	struct dray_extent extent;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = dray_view_check(view, "the view", &extent);
	if (!ret)
		*out = export_device_of(view, &extent);
	return ret;
}

/*
 * Writes strides in elements, of a type with a code: its size is a power of two.
 * Axes of fewer than two have no step to be exact.
 */
static int count_strides(const struct dray_view *view, bool empty,
			 int64_t *strides)
{
	uint32_t size = dray_dtype_itemsize(view->dtype);
	int shift = __builtin_ctz(size), i;

	for (i = 0; i < view->ndim; i++) {
		strides[i] = view->strides[i] >> shift;
		if ((view->strides[i] & (int64_t)(size - 1)) && !empty &&
		    view->shape[i] > 1)
			return dray_fail(
				-EINVAL,
				"axis %d has a stride of %" PRId64
				" bytes, no multiple of elements of %" PRIu32,
				i, view->strides[i], size);
	}
	return 0;
}

/* Describes a checked view, but for its shape. */
static int dlpack_export_describe(const struct dray_view *view,
				  const struct dray_extent *extent,
				  int64_t *strides,
				  struct dray_dlpack_tensor *out)
{
	struct dray_dlpack_dtype dtype;
	int ret;

	ret = dray_dlpack_from_dtype(view->dtype, &dtype);
	if (!ret)
		ret = count_strides(view, !extent->elements, strides);
	if (!ret && extent->elements)
		ret = dray_dlpack_check_aligned(view->data, view->dtype);
	if (ret)
		return ret;
	if (!(view->flags & DRAY_READ))
		return dray_fail(-EPERM, "the view may not be read");
	*out = (struct dray_dlpack_tensor){
		.data = view->data,
		.device = export_device_of(view, extent),
		.ndim = view->ndim,
		.dtype = dtype,
		.strides = strides,
	};
	return 0;
}

int dray_dlpack_describe(const struct dray_view *view, int64_t *strides,
			 struct dray_dlpack_tensor *out)
{
	struct dray_dlpack_tensor tensor;
	struct dray_extent extent;
	int ret;

	if (!dray_given(strides, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_view_check(view, "the view", &extent);
	if (!ret)
		ret = dlpack_export_describe(view, &extent, strides, &tensor);
	if (ret)
		return ret;
	*out = tensor;
	out->shape = (int64_t *)view->shape;
	return 0;
}

static void export_give_back(struct dlpack_exported *exported)
{
	if (exported->release)
		exported->release(exported->owner);
	free(exported);
}

static void export_delete_versioned(struct dray_dlpack_versioned *self)
{
	export_give_back(self->manager_ctx);
}

static void export_delete_legacy(struct dray_dlpack_managed *self)
{
	export_give_back(self->manager_ctx);
}

/* Makes a tensor, of which the caller fills in all around @tensor. */
static int dlpack_export_make(const struct dray_view *view, uint32_t flags,
			      int timeout_ms, struct dray_dlpack_tensor *tensor,
			      struct dlpack_exported **out)
{
	int64_t strides[DRAY_MAX_NDIM];
	struct dlpack_exported *exported;
	struct dray_extent extent;
	int ret, i, ndim;

	ret = dray_view_check(view, "the view", &extent);
	if (!ret)
		ret = dlpack_export_describe(view, &extent, strides, tensor);
	if (!ret)
		ret = dray_dlpack_wait(view, flags,
				       DRAY_DLPACK_NO_WAIT | DRAY_DLPACK_COPIED,
				       timeout_ms);
	if (ret)
		return ret;
	ndim = view->ndim;
	exported = malloc(sizeof(*exported) +
			  2 * (size_t)ndim * sizeof(exported->numbers[0]));
	if (!exported)
		return dray_fail(-ENOMEM, "no memory for a tensor of %d axes",
				 ndim);
	for (i = 0; i < ndim; i++) {
		exported->numbers[i] = view->shape[i];
		exported->numbers[ndim + i] = strides[i];
	}
	tensor->shape = exported->numbers;
	tensor->strides = exported->numbers + ndim;
	*out = exported;
	return 0;
}

int dray_dlpack_export_view(const struct dray_view *view,
			    void (*release)(void *owner), void *owner,
			    uint32_t flags, int timeout_ms,
			    struct dray_dlpack_versioned **out)
{
	struct dray_dlpack_tensor tensor;
	struct dlpack_exported *exported = NULL;
	uint64_t marks = 0;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = dlpack_export_make(view, flags, timeout_ms, &tensor, &exported);
	if (ret)
		return ret;
	if (!(view->flags & DRAY_WRITE))
		marks |= DRAY_DLPACK_FLAG_READ_ONLY;
	if (flags & DRAY_DLPACK_COPIED)
		marks |= DRAY_DLPACK_FLAG_IS_COPIED;
	exported->release = release;
	exported->owner = owner;
	exported->versioned = (struct dray_dlpack_versioned){
		.version = { DRAY_DLPACK_MAJOR, DRAY_DLPACK_MINOR },
		.manager_ctx = exported,
		.deleter = export_delete_versioned,
		.flags = marks,
		.dl_tensor = tensor,
	};
	*out = &exported->versioned;
	return 0;
}

int dray_dlpack_export_view_legacy(const struct dray_view *view,
				   void (*release)(void *owner), void *owner,
				   uint32_t flags, int timeout_ms,
				   struct dray_dlpack_managed **out)
{
	struct dray_dlpack_tensor tensor;
	struct dlpack_exported *exported = NULL;
	int ret;

	if (!dray_given(view, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	if (!(view->flags & DRAY_WRITE))
		return dray_fail(
			-EPERM,
			"a read-only array; a tensor before DLPack 1.0 cannot say so");
	ret = dlpack_export_make(view, flags, timeout_ms, &tensor, &exported);
	if (ret)
		return ret;
	exported->release = release;
	exported->owner = owner;
	exported->legacy = (struct dray_dlpack_managed){
		.dl_tensor = tensor,
		.manager_ctx = exported,
		.deleter = export_delete_legacy,
	};
	*out = &exported->legacy;
	return 0;
}

static void drop_array(void *array)
{
	dray_array_unref(array);
}

int dray_dlpack_export(const struct dray_array *array, uint32_t flags,
		       int timeout_ms, struct dray_dlpack_versioned **out)
{
	struct dray_array *owner = (struct dray_array *)array;
	struct dray_view view;
	int ret;

	if (!dray_array_view(array, &view))
		return -EINVAL;
	ret = dray_dlpack_export_view(&view, drop_array, owner, flags,
				      timeout_ms, out);
	if (!ret)
		dray_array_ref(owner);
	return ret;
}

int dray_dlpack_export_legacy(const struct dray_array *array, uint32_t flags,
			      int timeout_ms, struct dray_dlpack_managed **out)
{
	struct dray_array *owner = (struct dray_array *)array;
	struct dray_view view;
	int ret;

	if (!dray_array_view(array, &view))
		return -EINVAL;
	ret = dray_dlpack_export_view_legacy(&view, drop_array, owner, flags,
					     timeout_ms, out);
	if (!ret)
		dray_array_ref(owner);
	return ret;
}

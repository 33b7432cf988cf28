// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * DLPack tensors as arrays.  A tensor is a stranger's: each number is checked
 * before it is used, and nothing is kept of a tensor that is refused.
 */
#include <errno.h>
#include <inttypes.h>

#include "interop/dlpack.h"
#include "array/array.h"
#include "private.h"

static int check_version(const struct dray_dlpack_version *version)
{
	if (!version || version->major == DRAY_DLPACK_MAJOR)
		return 0;
	return dray_fail(-EPROTO,
			 "a tensor of DLPack %" PRIu32 ".%" PRIu32
			 ", only versions %d are possible",
			 version->major, version->minor, DRAY_DLPACK_MAJOR);
}

/* Whether a tensor of this version, NULL: of none, may be without strides. */
static bool may_lack_strides(const struct dray_dlpack_version *version)
{
	return !version || version->minor < 2;
}

static int import_check_axes(const struct dray_dlpack_tensor *tensor,
			     const struct dray_dlpack_version *version)
{
	if (tensor->ndim < 0 || tensor->ndim > DRAY_MAX_NDIM)
		return dray_fail(-EINVAL,
				 "a tensor of %" PRId32
				 " axes, 0 to %d are possible",
				 tensor->ndim, DRAY_MAX_NDIM);
	if (!tensor->ndim)
		return 0;
	if (!tensor->shape)
		return dray_fail(-EINVAL,
				 "the shape of a tensor of %" PRId32
				 " axes is NULL",
				 tensor->ndim);
	if (!tensor->strides && !may_lack_strides(version))
		return dray_fail(-EINVAL,
				 "the strides of a tensor of DLPack %d.%" PRIu32
				 " are NULL, which is possible before 1.2 only",
				 DRAY_DLPACK_MAJOR, version->minor);
	return 0;
}

/* Copies the axes, with strides in bytes. */
static int take_axes(const struct dray_dlpack_tensor *tensor,
		     struct dray_view *view)
{
	int64_t size = dray_dtype_itemsize(view->dtype);
	int i;

	view->ndim = tensor->ndim;
	for (i = 0; i < tensor->ndim; i++)
		view->shape[i] = tensor->shape[i];
	if (!tensor->strides) {
		int ret =
			dray_shape_check("the tensor", view->ndim, view->shape);

		return ret ? ret
			   : dray_strides_fill(view->ndim, view->shape, size,
					       true, view->strides);
	}
	for (i = 0; i < tensor->ndim; i++) {
		if (dray_mul_overflow(tensor->strides[i], size,
				      &view->strides[i]))
			return dray_fail(-EOVERFLOW,
					 "axis %d has a stride of %" PRId64
					 " elements of %" PRId64
					 " bytes, which 63 bits do not count",
					 i, tensor->strides[i], size);
	}
	return 0;
}

/* Finds the element [0, 0, ...]; NULL without data. */
static int dlpack_import_place(const struct dray_dlpack_tensor *tensor,
			       void **data)
{
	uintptr_t address;

	*data = NULL;
	if (!tensor->data)
		return 0;
	if (dray_add_overflow((uintptr_t)tensor->data, tensor->byte_offset,
			      &address))
		return dray_fail(-EOVERFLOW,
				 "an offset of %" PRIu64
				 " bytes from %p leaves the address space",
				 tensor->byte_offset, tensor->data);
	*data = (void *)address; /* NOLINT(performance-no-int-to-ptr) */
	return 0;
}

/* Checks that elements outside of the CPU's reach lie in dray's memory. */
static int check_own(const struct dray_view *view,
		     const struct dray_extent *extent)
{
	void *lowest = dray_address_add(view->data, extent->low);
	struct dray_location where;

	if (!extent->elements)
		return 0;
	if (dray_locate(lowest, &where))
		return dray_fail(
			-EOPNOTSUPP,
			"a tensor of device type %d at %p, not in dray's memory",
			DRAY_DLPACK_EXT_DEV, view->data);
	if (!dray_range_holds(where.block, (size_t)where.block_size, lowest,
			      (size_t)(extent->high - extent->low)))
		return dray_fail(-EINVAL,
				 "a tensor of %" PRId64
				 " bytes leaves its block of %" PRIu64,
				 extent->high - extent->low, where.block_size);
	return 0;
}

static int import_check_device(const struct dray_dlpack_device *device,
			       const struct dray_view *view,
			       const struct dray_extent *extent)
{
	switch (device->device_type) {
	case DRAY_DLPACK_CPU:
	case DRAY_DLPACK_CUDA_HOST:
	case DRAY_DLPACK_ROCM_HOST:
	case DRAY_DLPACK_CUDA_MANAGED:
		return 0;
	case DRAY_DLPACK_EXT_DEV:
		return check_own(view, extent);
	}
	return dray_fail(-EOPNOTSUPP,
			 "memory of device (%" PRId32 ", %" PRId32
			 "), which the CPU does not reach",
			 device->device_type, device->device_id);
}

/* Reads a tensor into @view, which is of no use if that fails. */
static int read_tensor(const struct dray_dlpack_tensor *tensor,
		       const struct dray_dlpack_version *version,
		       struct dray_view *view, struct dray_extent *extent)
{
	int ret;

	/* Of another version, the tensor may lie elsewhere. */
	ret = check_version(version);
	if (!ret)
		ret = import_check_axes(tensor, version);
	if (!ret)
		ret = dray_dlpack_to_dtype(&tensor->dtype, &view->dtype);
	if (!ret)
		ret = take_axes(tensor, view);
	if (!ret)
		ret = dlpack_import_place(tensor, &view->data);
	if (ret)
		return ret;
	view->flags = DRAY_READ | DRAY_WRITE;
	ret = dray_view_check_inline(view, "the tensor", extent);
	if (!ret)
		ret = import_check_device(&tensor->device, view, extent);
	if (!ret && extent->elements &&
	    !dray_dtype_fits_address(view->dtype, (uintptr_t)view->data))
		ret = dray_dlpack_check_aligned(view->data, view->dtype);
	if (!ret)
		view->flags |= dray_view_facts(view);
	return ret;
}

int dray_dlpack_read(const struct dray_dlpack_tensor *tensor,
		     const struct dray_dlpack_version *version,
		     struct dray_view *out)
{
	struct dray_extent extent;
	struct dray_view view;
	int ret;

	if (!dray_given(tensor, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = read_tensor(tensor, version, &view, &extent);
	if (!ret)
		dray_view_write(out, &view);
	return ret;
}

/* Makes an array over a read tensor, with a function that gives it back. */
static int dlpack_import_adopt(struct dray_view *view,
			       const struct dray_extent *extent, uint32_t flags,
			       int timeout_ms, void (*release)(void *tensor),
			       void *tensor, struct dray_array **out)
{
	void *start = dray_address_add(view->data, extent->low);
	size_t bytes = (size_t)(extent->high - extent->low);
	struct dray_block *base;
	int ret;

	ret = dray_dlpack_wait(view, flags,
			       DRAY_DLPACK_NO_WAIT | DRAY_DLPACK_WRITABLE,
			       timeout_ms);
	if (!ret)
		ret = dray_block_create_foreign(
			start, bytes, view->flags & DRAY_WRITE, release, tensor,
			dray_array_room(view->ndim), &base);
	if (!ret)
		*out = dray_array_place(view, start, bytes, 0, base);
	return ret;
}

static void drop_versioned(void *tensor)
{
	dray_dlpack_drop(tensor);
}

static void drop_legacy(void *tensor)
{
	dray_dlpack_drop_legacy(tensor);
}

int dray_dlpack_import(struct dray_dlpack_versioned *tensor, uint32_t flags,
		       int timeout_ms, struct dray_array **out)
{
	struct dray_extent extent;
	struct dray_view view;
	int ret;

	if (!dray_given(tensor, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = read_tensor(&tensor->dl_tensor, &tensor->version, &view, &extent);
	if (ret)
		return ret;
	if (tensor->flags & DRAY_DLPACK_FLAG_READ_ONLY) {
		if (flags & DRAY_DLPACK_WRITABLE)
			return dray_fail(
				-EPERM,
				"the tensor is read-only, and its array was to be written");
		view.flags &= ~DRAY_WRITE;
	}
	return dlpack_import_adopt(&view, &extent, flags, timeout_ms,
				   drop_versioned, tensor, out);
}

int dray_dlpack_import_legacy(struct dray_dlpack_managed *tensor,
			      uint32_t flags, int timeout_ms,
			      struct dray_array **out)
{
	struct dray_extent extent;
	struct dray_view view;
	int ret;

	if (!dray_given(tensor, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = read_tensor(&tensor->dl_tensor, NULL, &view, &extent);
	if (ret)
		return ret;
	if (!(flags & DRAY_DLPACK_WRITABLE))
		view.flags &= ~DRAY_WRITE;
	return dlpack_import_adopt(&view, &extent, flags, timeout_ms,
				   drop_legacy, tensor, out);
}

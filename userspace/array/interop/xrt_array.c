// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Arrays as BOs of XRT, and arrays over BOs. */
#include <errno.h>
#include <inttypes.h>

#include <dray/array/xrt_array.h>

#include "private.h"

int dray_xrt_import_array(struct dray_xrt_device *device,
			  struct dray_array *array, struct dray_xrt_bo **out)
{
	struct dray_view view;

	if (!dray_given(device, __func__) || !dray_given(array, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	return dray_xrt_import_view(device, dray_array_view(array, &view),
				    &array->block, out);
}

int dray_xrt_bo_array(struct dray_xrt_bo *bo, struct dray_node *node,
		      uint64_t offset, dray_dtype dtype, int ndim,
		      const int64_t *shape, const int64_t *strides,
		      struct dray_array **out)
{
	struct dray_block *block;
	struct dray_view view;
	int ret;

	if (!dray_given(bo, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_xrt_bo_block(bo, node, &block);
	if (ret)
		return ret;
	if (offset > dray_block_size(block))
		ret = dray_fail(-EINVAL,
				"offset %" PRIu64 " in a BO of %zu bytes",
				offset, dray_block_size(block));
	if (!ret)
		ret = dray_view_init(&view,
				     (char *)dray_block_data(block) + offset,
				     dtype, ndim, shape, strides);
	if (!ret && !dray_block_writable(block))
		view.flags &= ~DRAY_WRITE;
	if (!ret)
		ret = dray_array_over(&view, block, out);
	dray_block_unref(block);
	return ret;
}

/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * xrt_array: arrays as buffer objects of the Xilinx runtime, and arrays over them.
 *
 *	struct dray_xrt_bo *bo;
 *
 *	ret = dray_xrt_import_array(device, array, &bo);
 *	if (ret)
 *		return ret;
 *	ret = dray_xrt_sync(bo, DRAY_SYNC_FOR_DEVICE, 0, 0);
 *	dray_xrt_bo_unref(bo);
 */
#ifndef DRAY_XRT_ARRAY_H
#define DRAY_XRT_ARRAY_H

#include <dray/array/array.h>
#include <dray/xrt.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Makes a BO of an array by dray_xrt_import_view(), and keeps the array.
 * Errors: as that function.
 */
DRAY_API int dray_xrt_import_array(struct dray_xrt_device *device,
				   struct dray_array *array,
				   struct dray_xrt_bo **out);

/**
 * Makes an array over the memory of a BO, which it keeps, by dray_xrt_bo_block().
 *
 * @offset: bytes in the BO, of the element [0, 0, ...]
 * @strides: @ndim strides in bytes; NULL: C order
 *
 * Errors: as that function and dray_view_init(), -EINVAL (elements outside the BO).
 */
DRAY_API int dray_xrt_bo_array(struct dray_xrt_bo *bo, struct dray_node *node,
			       uint64_t offset, dray_dtype dtype, int ndim,
			       const int64_t *shape, const int64_t *strides,
			       struct dray_array **out);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_XRT_ARRAY_H */

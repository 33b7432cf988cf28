// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Syncs of exactly the bytes asked for, by the side that can. */
#include <errno.h>
#include <inttypes.h>

#include "base/cancel.h"
#include "base/error.h"
#include "xrt/xrt.h"
#include "memory/node.h"

enum dray_xrt_side dray_xrt_side(const struct dray_xrt_bo *bo)
{
	return dray_given(bo, __func__) ? bo->side : DRAY_XRT_SIDE_NONE;
}

static int sync_by_dray(const struct dray_xrt_bo *bo,
			enum dray_sync_owner owner, uint64_t offset,
			uint64_t size)
{
	struct dray_region region = {
		.buffer = bo->whole->buffer,
		.offset = bo->offset + offset,
		.width = size,
		.pitch = size,
		.rows = 1,
	};

	return dray_node_sync(dray_buffer_node(region.buffer), owner,
			      owner == DRAY_SYNC_FOR_DEVICE ? DRAY_TO_DEVICE
							    : DRAY_FROM_DEVICE,
			      &region, 1);
}

static int sync_by_xrt(const struct dray_xrt_bo *bo, int direction,
		       uint64_t offset, uint64_t size)
{
	const struct dray_xrt_foreign *foreign = &bo->whole->foreign;
	bool is_foreign = bo->whole->kind == DRAY_XRT_FOREIGN;
	int ret;

	ret = dray_xrt_begin_call(bo->process);
	if (ret)
		return ret;
	if (is_foreign)
		ret = foreign->sync(foreign->owner, direction, size, offset);
	else
		ret = dray_xrt.xrtBOSync(dray_xrt_bo_handle(bo), direction,
					 (size_t)size, (size_t)offset);
	dray_xrt_end_call();
	if (ret && !is_foreign)
		return dray_fail(-EIO,
				 "xrtBOSync() refuses %" PRIu64
				 " bytes at offset %" PRIu64
				 " of a BO of %" PRIu64
				 "; XRT says more on stderr",
				 size, offset, bo->size);
	return ret;
}

int dray_xrt_sync(struct dray_xrt_bo *bo, enum dray_sync_owner owner,
		  uint64_t offset, uint64_t size)
{
	DRAY_NO_CANCEL;
	int ret;

	if (!dray_given(bo, __func__))
		return -EINVAL;
	if (owner != DRAY_SYNC_FOR_DEVICE && owner != DRAY_SYNC_FOR_CPU)
		return dray_fail(-EINVAL,
				 "owner %d, not DRAY_SYNC_FOR_DEVICE or _CPU",
				 (int)owner);
	if (offset >= bo->size || size > bo->size - offset)
		return dray_fail(-EINVAL,
				 "%" PRIu64 " bytes at offset %" PRIu64
				 " leave a BO of %" PRIu64,
				 size, offset, bo->size);
	if (!size)
		size = bo->size - offset;
	ret = dray_xrt_check(bo->process);
	if (ret || bo->side == DRAY_XRT_SIDE_NONE)
		return ret;
	if (bo->side == DRAY_XRT_SIDE_DRAY)
		return sync_by_dray(bo, owner, offset, size);
	/* XCL_BO_SYNC_BO_TO_DEVICE is 0, XCL_BO_SYNC_BO_FROM_DEVICE is 1. */
	return sync_by_xrt(bo, owner == DRAY_SYNC_FOR_CPU, offset, size);
}

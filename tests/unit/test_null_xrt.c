// SPDX-License-Identifier: Apache-2.0 OR MIT
/* NULL for the parameters of <dray/xrt.h>.  XRT need not be there to be asked. */
#include <dray/array.h>

#include "null.h"

FACT(xrt)
{
	struct dray_xrt_foreign foreign = { .size = sizeof(foreign) };
	struct dray_xrt_device *device = NULL;
	struct dray_xrt_bo *bo = NULL;
	/* Never followed: the NULL beside it is refused first. */
	struct dray_xrt_device *any_device = (void *)&device;
	struct dray_xrt_bo *any_bo = (void *)&bo;
	struct dray_array *array = NULL, *any_array = (void *)&array;
	struct dray_view any_view = { 0 };
	struct dray_buffer *buffer = NULL;
	struct dray_block *block;
	void *handle = &handle;
	uint64_t number;

	assert_works(dray_buffer_alloc(node, 4096, NULL, &buffer));
	allows(dray_xrt_load);
	refuses(dray_xrt_device_open(0, NULL));
	refuses(dray_xrt_device_adopt(NULL, NULL, NULL, &device));
	refuses(dray_xrt_device_adopt(handle, NULL, NULL, NULL));
	ignores(assert_null(dray_xrt_device_ref(NULL)));
	ignores(dray_xrt_device_unref(NULL));
	gives_nothing(dray_xrt_device_handle(NULL));
	refuses(dray_xrt_import_buffer(NULL, buffer, 0, 0, &bo));
	refuses(dray_xrt_import_buffer(any_device, NULL, 0, 0, &bo));
	refuses(dray_xrt_import_buffer(any_device, buffer, 0, 0, NULL));
	refuses(dray_xrt_import_array(NULL, any_array, &bo));
	refuses(dray_xrt_import_array(any_device, NULL, &bo));
	refuses(dray_xrt_import_array(any_device, any_array, NULL));
	refuses(dray_xrt_import_view(NULL, &any_view, NULL, &bo));
	refuses(dray_xrt_import_view(any_device, NULL, NULL, &bo));
	refuses(dray_xrt_import_view(any_device, &any_view, NULL, NULL));
	refuses(dray_xrt_import_user(NULL, &number, 4096, NULL, &bo));
	refuses(dray_xrt_import_user(any_device, NULL, 4096, NULL, &bo));
	refuses(dray_xrt_import_user(any_device, &number, 4096, NULL, NULL));
	refuses(dray_xrt_alloc(NULL, 4096, 0, 0, &bo));
	refuses(dray_xrt_alloc(any_device, 4096, 0, 0, NULL));
	refuses(dray_xrt_adopt(NULL, handle, NULL, NULL, NULL, &bo));
	refuses(dray_xrt_adopt(any_device, NULL, NULL, NULL, NULL, &bo));
	refuses(dray_xrt_adopt(any_device, handle, NULL, NULL, NULL, NULL));
	refuses(dray_xrt_wrap(NULL, NULL, &bo));
	refuses(dray_xrt_wrap(NULL, &foreign, NULL));
	refuses(dray_xrt_bo_part(NULL, 0, 1, &bo));
	refuses(dray_xrt_bo_part(any_bo, 0, 1, NULL));
	ignores(assert_null(dray_xrt_bo_ref(NULL)));
	ignores(dray_xrt_bo_unref(NULL));
	gives_nothing(dray_xrt_bo_handle(NULL));
	gives_nothing(dray_xrt_bo_device(NULL));
	gives(0, dray_xrt_bo_size(NULL));
	refuses(dray_xrt_bo_address(NULL, &number));
	refuses(dray_xrt_bo_address(any_bo, NULL));
	gives(DRAY_XRT_SIDE_NONE, dray_xrt_side(NULL));
	refuses(dray_xrt_sync(NULL, DRAY_SYNC_FOR_CPU, 0, 0));
	refuses(dray_xrt_bo_buffer(NULL, node, &buffer, &number));
	refuses(dray_xrt_bo_buffer(any_bo, node, NULL, &number));
	refuses(dray_xrt_bo_buffer(any_bo, node, &buffer, NULL));
	refuses(dray_xrt_bo_block(NULL, node, &block));
	refuses(dray_xrt_bo_block(any_bo, node, NULL));
	refuses(dray_xrt_bo_array(NULL, node, 0, u1, 0, NULL, NULL, &array));
	refuses(dray_xrt_bo_array(any_bo, node, 0, u1, 0, NULL, NULL, NULL));
	dray_buffer_unref(buffer);
}

FACTS_SHARE(set_up, tear_down)

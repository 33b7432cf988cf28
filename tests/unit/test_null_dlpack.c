// SPDX-License-Identifier: Apache-2.0 OR MIT
/* NULL where a function needs something: tensors of DLPack. */
#include <dray/array.h>

#include "null.h"
#include "tensors.h"

FACT(tensors)
{
	struct dray_dlpack_versioned versioned = versioned_tensor();
	struct dray_dlpack_managed legacy = legacy_tensor();
	struct dray_dlpack_versioned *no_versioned = NULL;
	struct dray_dlpack_managed *no_legacy = NULL;
	struct dray_dlpack_device device;
	struct dray_dlpack_tensor tensor;
	struct dray_array *array = NULL, *none = NULL;
	struct dray_view view;
	int64_t strides[2];
	dray_dtype dtype;

	assert_works(dray_array_zeros(f4, 2, DIMS(2, 3), &array));
	dray_array_view(array, &view);
	refuses(dray_dlpack_from_dtype(f4, NULL));
	refuses(dray_dlpack_to_dtype(NULL, &dtype));
	refuses(dray_dlpack_to_dtype(&legacy.dl_tensor.dtype, NULL));
	refuses(dray_dlpack_find_device(NULL, &device));
	refuses(dray_dlpack_find_device(&view, NULL));
	refuses(dray_dlpack_describe(NULL, strides, &tensor));
	refuses(dray_dlpack_describe(&view, NULL, &tensor));
	refuses(dray_dlpack_describe(&view, strides, NULL));
	refuses(dray_dlpack_read(NULL, NULL, &view));
	refuses(dray_dlpack_read(&legacy.dl_tensor, NULL, NULL));
	refuses(dray_dlpack_export(NULL, 0, -1, &no_versioned));
	refuses(dray_dlpack_export(array, 0, -1, NULL));
	refuses(dray_dlpack_export_legacy(NULL, 0, -1, &no_legacy));
	refuses(dray_dlpack_export_legacy(array, 0, -1, NULL));
	refuses(dray_dlpack_export_view(NULL, NULL, NULL, 0, -1,
					&no_versioned));
	refuses(dray_dlpack_export_view(&view, NULL, NULL, 0, -1, NULL));
	refuses(dray_dlpack_export_view_legacy(NULL, NULL, NULL, 0, -1,
					       &no_legacy));
	refuses(dray_dlpack_export_view_legacy(&view, NULL, NULL, 0, -1, NULL));
	refuses(dray_dlpack_import(NULL, 0, -1, &none));
	refuses(dray_dlpack_import(&versioned, 0, -1, NULL));
	refuses(dray_dlpack_import_legacy(NULL, 0, -1, &none));
	refuses(dray_dlpack_import_legacy(&legacy, 0, -1, NULL));
	ignores(dray_dlpack_drop(NULL));
	ignores(dray_dlpack_drop_legacy(NULL));
	dray_array_unref(array);
	assert_int_equal(given_back, 0);
}

FACTS_SHARE(set_up, tear_down)

// SPDX-License-Identifier: Apache-2.0 OR MIT
/* NULL where a function needs something: Arrow's structures. */
#include <dray/array.h>

#include "null.h"

FACT(arrow)
{
	struct dray_array *array = NULL, *other = NULL;
	struct ArrowDeviceArray device = { .device_id = 0 };
	struct ArrowArrayStream stream = { .release = NULL };
	struct ArrowSchema schema = { .format = NULL };
	struct ArrowArray out = { .length = 0 };
	struct dray_block *strings = NULL;
	int64_t shape = 2;

	assert_works(dray_array_zeros(DRAY_INT8, 1, &shape, &array));
	refuses(dray_arrow_schema(DRAY_INT8, 1, NULL, &schema));
	refuses(dray_arrow_schema(DRAY_INT8, 1, &shape, NULL));
	refuses(dray_arrow_export(NULL, NULL, 0, -1, &out));
	refuses(dray_arrow_export(array, NULL, 0, -1, NULL));
	refuses(dray_arrow_export_device(NULL, NULL, 0, -1, &device));
	refuses(dray_arrow_export_device(array, NULL, 0, -1, NULL));
	refuses(dray_arrow_import(NULL, &out, 0, -1, &other, NULL));
	refuses(dray_arrow_import(&schema, NULL, 0, -1, &other, NULL));
	refuses(dray_arrow_import(&schema, &out, 0, -1, NULL, NULL));
	refuses(dray_arrow_import_fields(NULL, &out, 0, -1, 1, &other, NULL));
	refuses(dray_arrow_import_fields(&schema, NULL, 0, -1, 1, &other,
					 NULL));
	refuses(dray_arrow_import_fields(&schema, &out, 0, -1, 1, NULL, NULL));
	assert_works(dray_strings_from(NULL, NULL, 0, &strings));
	refuses(dray_arrow_schema_strings(NULL, &schema));
	refuses(dray_arrow_schema_strings("u", NULL));
	refuses(dray_arrow_export_strings(NULL, "u", 0, &out));
	refuses(dray_arrow_export_strings(strings, NULL, 0, &out));
	refuses(dray_arrow_export_strings(strings, "u", 0, NULL));
	refuses(dray_arrow_import_strings(NULL, &out, -1, &strings));
	refuses(dray_arrow_import_strings(&schema, NULL, -1, &strings));
	refuses(dray_arrow_import_strings(&schema, &out, -1, NULL));
	dray_block_unref(strings);
	refuses(dray_arrow_check_device(NULL));
	refuses(dray_arrow_read_stream(NULL, &schema, &out));
	refuses(dray_arrow_read_stream(&stream, NULL, &out));
	refuses(dray_arrow_read_stream(&stream, &schema, NULL));
	dray_array_unref(array);
}

FACTS_SHARE(set_up, tear_down)

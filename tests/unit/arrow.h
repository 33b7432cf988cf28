/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Arrays in Arrow's structures, for the tests of them. */
#ifndef DRAY_TESTS_ARROW_H
#define DRAY_TESTS_ARROW_H

#include <dray/array.h>

#include "unit.h"

/* Makes the type of a text, or fails the test. */
static inline dray_dtype type_of(const char *text)
{
	dray_dtype dtype = 0;

	assert_works(dray_dtype_parse(text, &dtype));
	return dtype;
}

/* Makes an array of a type's text, with the bytes 0, 1, 2, ... in it. */
static inline struct dray_array *make(const char *text, int ndim,
				      const int64_t *shape)
{
	dray_dtype dtype = type_of(text);
	struct dray_array *array = NULL;
	struct dray_view view;
	size_t bytes;

	assert_works(dray_array_empty(dtype, ndim, shape, &array));
	dray_dtype_unref(dtype);
	dray_array_view(array, &view);
	bytes = (size_t)dray_view_size(&view) *
		dray_dtype_itemsize(view.dtype);
	for (size_t i = 0; i < bytes; i++)
		((unsigned char *)view.data)[i] =
			view.dtype == DRAY_BOOL ? i % 3 == 0 : (uint8_t)i;
	return array;
}

static inline int schema_of(const struct dray_array *array,
			    struct ArrowSchema *out)
{
	struct dray_view view;

	dray_array_view(array, &view);
	return dray_arrow_schema(view.dtype, view.ndim, view.shape, out);
}

/* Array and schema together, as a producer passes them. */
struct passed {
	struct ArrowSchema schema;
	struct ArrowArray array;
};

static inline void pass(struct dray_array *array, const struct dray_view *mask,
			uint32_t flags, struct passed *out)
{
	assert_works(schema_of(array, &out->schema));
	assert_works(dray_arrow_export(array, mask, flags, -1, &out->array));
}

static inline void drop(struct passed *passed)
{
	if (passed->array.release)
		passed->array.release(&passed->array);
	if (passed->schema.release)
		passed->schema.release(&passed->schema);
}

#endif /* DRAY_TESTS_ARROW_H */

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Masks of imported arrays: a bool for each element, and for a structure a
 * structure of bools with the same names, as NumPy's masked arrays have them.  A
 * null of a list, or of a structure, is one of all that it has.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "interop/arrow_take.h"
#include "private.h"

/* Makes the type of a mask for elements of @dtype: one reference. */
static int mask_type(dray_dtype dtype, dray_dtype *out);

static int mask_of_fields(dray_dtype dtype, dray_dtype *out)
{
	size_t count = dray_dtype_field_count(dtype), i;
	struct dray_dtype_field *fields = calloc(count + 1, sizeof(*fields));
	int ret = 0;

	if (!fields)
		return dray_fail(-ENOMEM, "no memory for %zu fields", count);
	for (i = 0; !ret && i < count; i++) {
		ret = dray_dtype_get_field(dtype, i, &fields[i]);
		if (!ret)
			ret = mask_type(fields[i].dtype, &fields[i].dtype);
		/* Borrowed until it was replaced. */
		if (ret)
			fields[i].dtype = 0;
	}
	if (!ret)
		ret = dray_dtype_create_struct(fields, count, 0, 0, out);
	for (i = 0; i < count; i++)
		dray_dtype_unref(fields[i].dtype);
	free(fields);
	return ret;
}

static int mask_type(dray_dtype dtype, dray_dtype *out)
{
	const int64_t *shape = NULL;
	int ndim = dray_dtype_shape(dtype, &shape);
	dray_dtype base;
	int ret;

	if (dray_dtype_flags(dtype) & DRAY_DTYPE_STRUCT)
		return mask_of_fields(dtype, out);
	if (!ndim) {
		*out = DRAY_BOOL;
		return 0;
	}
	ret = mask_type(dray_dtype_base(dtype), &base);
	if (ret)
		return ret;
	ret = dray_dtype_create_subarray(base, ndim, shape, out);
	dray_dtype_unref(base);
	return ret;
}

int dray_arrow_make_mask(const struct dray_array *array,
			 struct dray_array **out)
{
	struct dray_view view;
	dray_dtype dtype;
	int ret = mask_type(array->dtype, &dtype);

	if (ret)
		return ret;
	dray_array_view(array, &view);
	ret = dray_array_zeros(dtype, view.ndim, view.shape, out);
	dray_dtype_unref(dtype);
	return ret;
}

/* Marks the rows of a mask, along its first axis, that have a bit of 0. */
static void arrow_mask_mark(const uint8_t *bits, int64_t first, int64_t count,
			    struct dray_array *mask)
{
	size_t row = dray_dtype_itemsize(mask->dtype);
	const struct dray_array_axis *axes = dray_array_axes(mask);
	char *to = mask->data;
	int64_t i;
	int axis;

	for (axis = 1; axis < mask->ndim; axis++)
		row *= (size_t)axes[axis].size;
	for (i = 0; row && i < count; i++) {
		if (!dray_arrow_bit(bits, first + i))
			memset(to + (size_t)i * row, 1, row);
	}
}

int dray_arrow_add_nulls(struct dray_arrow_take *take,
			 const struct ArrowArray *from, int64_t first,
			 int64_t count, struct dray_arrow_taken *out)
{
	const uint8_t *bits = from->buffers[0];
	int64_t nulls;
	int ret = 0;

	if (from->null_count > 0 && !bits)
		return dray_fail(-EINVAL,
				 "an array of Arrow has %" PRId64
				 " nulls but no bits for them",
				 from->null_count);
	if (!bits || !from->null_count)
		return 0;
	nulls = count - dray_arrow_count(bits, first, count);
	if (!nulls)
		return 0;
	if (!take->masks)
		return dray_fail(-EINVAL,
				 "%" PRId64 " of %" PRId64
				 " elements are null, and no mask is wanted",
				 nulls, count);
	if (!out->mask)
		ret = dray_arrow_make_mask(out->array, &out->mask);
	if (!ret)
		arrow_mask_mark(bits, first, count, out->mask);
	return ret;
}

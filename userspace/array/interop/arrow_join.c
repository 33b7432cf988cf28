// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * One array of a structured type of the children of a structure of Arrow, which
 * lie apart: a copy.
 */
#include <errno.h>
#include <stdlib.h>

#include "interop/arrow_take.h"
#include "private.h"

/* Makes the type of one field: axes behind the first are those of a sub-array. */
static int field_type(const struct dray_array *array, dray_dtype *out)
{
	struct dray_view view;

	dray_array_view(array, &view);
	if (view.ndim > 1)
		return dray_dtype_create_subarray(view.dtype, view.ndim - 1,
						  view.shape + 1, out);
	*out = dray_dtype_ref(view.dtype);
	return 0;
}

/* Makes the structured type, one reference. */
static int join_make_type(const struct ArrowSchema *schema,
			  const struct dray_arrow_taken *taken, dray_dtype *out)
{
	size_t count = (size_t)schema->n_children, i;
	struct dray_dtype_field *fields = calloc(count + 1, sizeof(*fields));
	int ret = 0;

	if (!fields)
		return dray_fail(-ENOMEM, "no memory for %zu fields", count);
	for (i = 0; !ret && i < count; i++) {
		fields[i].name = schema->children[i]->name;
		ret = field_type(taken[i].array, &fields[i].dtype);
	}
	if (!ret)
		ret = dray_dtype_create_struct(fields, count, 0, 0, out);
	for (i = 0; i < count; i++)
		dray_dtype_unref(fields[i].dtype);
	free(fields);
	return ret;
}

/* Copies @from to field @index of @to. */
static int copy_field(struct dray_array *to, size_t index,
		      const struct dray_array *from)
{
	struct dray_dtype_field field = { 0 };
	struct dray_view whole, part, source;
	int ret = dray_dtype_get_field(to->dtype, index, &field);

	if (!ret)
		ret = dray_view_field(dray_array_view(to, &whole), field.name,
				      &part);
	return ret ? ret
		   : dray_view_assign(&part, dray_array_view(from, &source));
}

int dray_arrow_join(const struct ArrowSchema *schema, int64_t length,
		    const struct dray_arrow_taken *fields,
		    struct dray_arrow_taken *out)
{
	size_t count = (size_t)schema->n_children, i;
	dray_dtype dtype;
	int ret = join_make_type(schema, fields, &dtype);

	if (ret)
		return ret;
	ret = dray_array_empty(dtype, 1, &length, &out->array);
	dray_dtype_unref(dtype);
	for (i = 0; !ret && i < count; i++) {
		ret = copy_field(out->array, i, fields[i].array);
		if (!ret && fields[i].mask && !out->mask)
			ret = dray_arrow_make_mask(out->array, &out->mask);
		if (!ret && fields[i].mask)
			ret = copy_field(out->mask, i, fields[i].mask);
	}
	return ret;
}

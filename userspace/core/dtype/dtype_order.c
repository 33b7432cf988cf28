// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Types in another byte order: a type object is made anew, part by part. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dtype/dtype.h"
#include "base/error.h"

#define OTHER_ORDER(order) ((order) == '<' ? '>' : '<')

/* @order: '<', '>' or 's' */
static int change_order(dray_dtype dtype, char order, dray_dtype *out);

static int change_builtin(dray_dtype dtype, char order, dray_dtype *out)
{
	dray_dtype normal;
	int ret = dray_dtype_normalize(dtype, &normal);
	char before;

	if (ret)
		return ret;
	before = dray_dtype_order(normal);
	if (before == '|')
		order = '|';
	else if (order == 's')
		order = OTHER_ORDER(before);
	*out = (normal & ~(dray_dtype)0xff00) | (dray_dtype)(uint8_t)order << 8;
	return 0;
}

static int change_subarray(const struct dray_dtype_subarray *subarray,
			   char order, dray_dtype *out)
{
	dray_dtype base;
	int ret = change_order(subarray->base, order, &base);

	if (ret)
		return ret;
	ret = dray_dtype_create_subarray(base, subarray->ndim, subarray->shape,
					 out);
	dray_dtype_unref(base);
	return ret;
}

static int change_structure(const struct dray_dtype_structure *structure,
			    char order, dray_dtype *out)
{
	size_t bytes = structure->count * sizeof(structure->fields[0]), i;
	const struct dray_dtype_object *object = &structure->start.object;
	struct dray_dtype_field *fields = malloc(bytes ? bytes : 1);
	int ret = 0;

	if (!fields)
		return dray_fail(-ENOMEM, "no memory for %zu fields",
				 structure->count);
	memcpy(fields, structure->fields, bytes);
	for (i = 0; i < structure->count && !ret; i++)
		ret = change_order(structure->fields[i].dtype, order,
				   &fields[i].dtype);
	if (!ret)
		ret = dray_dtype_create_struct(fields, structure->count,
					       DRAY_DTYPE_PLACED |
						       (object->flags &
							DRAY_DTYPE_ALIGNED),
					       object->itemsize, out);
	else
		i--; /* The last one has no new type. */
	while (i--)
		dray_dtype_unref(fields[i].dtype);
	free(fields);
	return ret;
}

static int change_order(dray_dtype dtype, char order, dray_dtype *out)
{
	if (dray_dtype_is_builtin(dtype))
		return change_builtin(dtype, order, out);
	if (dray_dtype_as_structure(dtype))
		return change_structure(dray_dtype_as_structure(dtype), order,
					out);
	if (dray_dtype_as_subarray(dtype))
		return change_subarray(dray_dtype_as_subarray(dtype), order,
				       out);
	*out = dray_dtype_ref(dtype);
	return 0;
}

int dray_dtype_with_order(dray_dtype dtype, char order, dray_dtype *out)
{
	if (!dray_given(out, __func__))
		return -EINVAL;
	if (!dtype)
		return dray_fail(-EINVAL, "the type is 0, which is none");
	if (order == '=')
		order = DRAY_NATIVE_ORDER;
	if (order != '<' && order != '>' && order != 's')
		return dray_fail(-EINVAL,
				 "byte order 0x%02x is not <, >, = or s",
				 (unsigned char)order);
	return change_order(dtype, order, out);
}

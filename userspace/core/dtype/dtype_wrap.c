// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Lists of fields, and sub-arrays, for the readers of texts. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "dtype/dtype_text.h"
#include "base/error.h"
#include "base/number.h"

int dray_field_list_add(struct dray_field_list *list,
			const struct dray_dtype_field *field)
{
	size_t room = list->room ? 2 * list->room : 8;
	struct dray_dtype_field *fields = list->fields;

	if (list->count == list->room) {
		fields = realloc(fields, room * sizeof(*fields));
		if (!fields) {
			dray_dtype_unref(field->dtype);
			return dray_fail(-ENOMEM, "no memory for %zu fields",
					 room);
		}
		list->fields = fields;
		list->room = room;
	}
	fields[list->count++] = *field;
	return 0;
}

void dray_field_list_end(struct dray_field_list *list)
{
	while (list->count)
		dray_dtype_unref(list->fields[--list->count].dtype);
	free(list->fields);
}

/* Whether it is text or a void without a size. */
static bool lacks_size(dray_dtype dtype)
{
	return dray_dtype_is_builtin(dtype) && !dray_dtype_itemsize(dtype);
}

static int dtype_wrap_resize(dray_dtype dtype, int64_t size, dray_dtype *out)
{
	char kind = dray_dtype_kind(dtype);
	uint32_t bytes;

	if (size < 0 || size > UINT32_MAX ||
	    dray_mul_overflow((uint32_t)size, dray_dtype_unit_size(kind),
			      &bytes))
		return dray_fail(-EINVAL,
				 "a type of %" PRId64
				 " units does not fit 32 bits",
				 size);
	*out = DRAY_DTYPE(kind, dray_dtype_order(dtype), bytes);
	return 0;
}

int dray_dtype_wrap(dray_dtype base, int ndim, const int64_t *shape,
		    dray_dtype *out)
{
	int ret;

	if (ndim < 0 && lacks_size(base))
		return dtype_wrap_resize(base, shape[0], out);
	ret = dray_dtype_create_subarray(base, ndim < 0 ? 1 : ndim, shape, out);
	dray_dtype_unref(base);
	return ret;
}

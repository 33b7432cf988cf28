// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Parts of finished arrays of strings: slices, which share bounds and bytes, and
 * copies, of which the bytes lie side by side in memory of the thread's handler.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <dray/slice.h>

#include "array/strings.h"
#include "private.h"

int dray_strings_check_view(const struct dray_view *view, const char *name,
			    dray_dtype dtype, int64_t count, uint32_t flags)
{
	char text[DRAY_DTYPE_TYPESTR_SIZE];
	int ret = dray_view_check(view, name, NULL);

	if (ret)
		return ret;
	if (view->ndim != 1 || view->shape[0] != count || view->dtype != dtype)
		return dray_fail(-EINVAL,
				 "%s: %d axes of %s, the first with %" PRId64
				 " elements; it must have one axis of %" PRId64
				 " elements of kind %c",
				 name, view->ndim,
				 dray_dtype_text(view->dtype, text),
				 view->ndim ? view->shape[0] : 0, count,
				 dray_dtype_kind(dtype));
	if (~view->flags & flags)
		return dray_fail(-EPERM, "%s may not be %s", name,
				 flags & DRAY_WRITE ? "written" : "read");
	return 0;
}

/* Adds up the bytes of strings that are to be copied. */
static int strings_measure(const struct dray_string *from, size_t count,
			   size_t *out)
{
	size_t i, bytes = 0;

	for (i = 0; i < count; i++) {
		if (from[i].end < from[i].begin ||
		    (!from[i].begin && from[i].end))
			return dray_fail(
				-EINVAL,
				"string %zu of %zu begins at %p and ends at %p",
				i, count, (void *)from[i].begin,
				(void *)from[i].end);
		if (dray_add_overflow(bytes,
				      (size_t)(from[i].end - from[i].begin),
				      &bytes))
			return dray_fail(-EOVERFLOW,
					 "%zu strings exceed the address space",
					 count);
	}
	*out = bytes;
	return 0;
}

int dray_strings_copy(const struct dray_string *from, size_t count,
		      struct dray_block **out)
{
	struct dray_block *bytes, *strings;
	size_t total = 0, size, i;
	char *to;
	int ret;

	if (!out || (!from && count))
		return dray_fail(
			-EINVAL,
			"%zu strings at NULL, or the result pointer is NULL",
			count);
	ret = strings_measure(from, count, &total);
	if (!ret)
		ret = dray_block_create_handled(dray_get_handler(), total,
						false, &bytes);
	if (ret)
		return ret;
	ret = dray_strings_over(bytes, count, &strings);
	if (ret) {
		dray_block_unref(bytes);
		return ret;
	}
	to = dray_block_data(bytes);
	for (i = 0; i < count; i++) {
		size = (size_t)(from[i].end - from[i].begin);
		if (size)
			memcpy(to, from[i].begin, size);
		if (from[i].begin)
			dray_strings_add(strings, to, to + size);
		else
			dray_strings_add(strings, NULL, NULL);
		to += size;
	}
	*out = strings;
	return 0;
}

int dray_strings_slice(const struct dray_block *strings, int64_t start,
		       int64_t stop, int64_t step, struct dray_block **out)
{
	struct dray_view view;
	int ret = dray_strings_view(strings, &view);

	if (!ret && !out)
		ret = dray_fail(-EINVAL, "the result pointer is NULL");
	if (!ret)
		ret = dray_view_index(&view, &DRAY_SLICE(start, stop, step), 1,
				      &view);
	return ret ? ret
		   : dray_strings_share((struct dray_block *)strings, &view,
					out);
}

/* Reads the bounds of chosen strings. */
static int strings_gather(const struct dray_view *view,
			  const struct dray_view *indices, int64_t count,
			  struct dray_string *to)
{
	int64_t size = view->shape[0], index, i;

	for (i = 0; i < count; i++) {
		index = i;
		if (indices)
			memcpy(&index,
			       (const char *)indices->data +
				       i * indices->strides[0],
			       sizeof(index));
		if (index < -size || index >= size)
			return dray_fail(-ERANGE,
					 "index %" PRId64
					 " is out of bounds for %" PRId64
					 " string%s",
					 index, size,
					 dray_plural((uint64_t)size));
		to[i] = *dray_strings_at(view,
					 index < 0 ? index + size : index);
	}
	return 0;
}

int dray_strings_take(const struct dray_block *strings,
		      const struct dray_view *indices, struct dray_block **out)
{
	struct dray_string *chosen;
	struct dray_view view;
	int64_t count;
	int ret = dray_strings_view(strings, &view);

	if (ret)
		return ret;
	count = view.shape[0];
	if (indices) {
		count = indices->ndim == 1 ? indices->shape[0] : 0;
		ret = dray_strings_check_view(indices, "the indices",
					      DRAY_INT64, count, DRAY_READ);
		if (ret)
			return ret;
	}
	chosen = calloc((size_t)count + 1, sizeof(*chosen));
	if (!chosen)
		return dray_fail(-ENOMEM, "no memory for %" PRId64 " bounds",
				 count);
	ret = strings_gather(&view, indices, count, chosen);
	if (!ret)
		ret = dray_strings_copy(chosen, (size_t)count, out);
	free(chosen);
	return ret;
}

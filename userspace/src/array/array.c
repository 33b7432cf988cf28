// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Counted arrays: a view, and its memory, which is a block of a pool, a
 * reference to a buffer, or memory opened by a record.  Freeing a block that an
 * engine still uses only parks it, so the last reference may be dropped at any
 * time.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "array/array.h"
#include "base/error.h"

struct dray_array {
	_Atomic uint32_t references;
	struct dray_pool *pool; /* with block, or */
	void *block;
	struct dray_buffer *buffer; /* one reference, or */
	struct dray_ipc_memory *memory; /* opened */
	struct dray_view view;
};

int dray_array_adopt(const struct dray_view *view, struct dray_buffer *buffer,
		     struct dray_ipc_memory *memory, struct dray_array **out)
{
	struct dray_array *array = malloc(sizeof(*array));

	if (!array)
		return dray_fail(-ENOMEM, "no memory for an array");
	atomic_init(&array->references, 1);
	array->pool = NULL;
	array->block = NULL;
	array->buffer = buffer;
	array->memory = memory;
	dray_view_copy(&array->view, view);
	*out = array;
	return 0;
}

int dray_array_create(struct dray_pool *pool, struct dray_dtype dtype, int ndim,
		      const int64_t *shape, struct dray_array **out)
{
	struct dray_view view;
	size_t bytes;
	void *block;
	int ret;

	if (!dray_given(pool, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_view_bytes(dtype, ndim, shape, &bytes);
	if (ret)
		return ret;
	block = dray_pool_calloc(pool, 1, bytes);
	if (!block) /* With the pool's sentence. */
		return -ENOMEM;
	ret = dray_view_init(&view, block, dtype, ndim, shape, NULL);
	if (!ret)
		ret = dray_array_adopt(&view, NULL, NULL, out);
	if (ret) {
		dray_pool_free(pool, block);
		return ret;
	}
	(*out)->pool = pool;
	(*out)->block = block;
	return 0;
}

int dray_array_create_alone(struct dray_node *node, struct dray_dtype dtype,
			    int ndim, const int64_t *shape,
			    struct dray_array **out)
{
	struct dray_buffer *buffer;
	struct dray_view view;
	size_t bytes;
	int ret;

	if (!dray_given(node, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_view_bytes(dtype, ndim, shape, &bytes);
	if (!ret)
		ret = dray_buffer_alloc(node, bytes ? bytes : 1, NULL, &buffer);
	if (ret)
		return ret;
	ret = dray_view_init(&view, dray_buffer_data(buffer), dtype, ndim,
			     shape, NULL);
	if (!ret)
		ret = dray_array_adopt(&view, buffer, NULL, out);
	if (ret)
		dray_buffer_unref(buffer);
	return ret;
}

struct dray_array *dray_array_ref(struct dray_array *array)
{
	if (array)
		atomic_fetch_add(&array->references, 1);
	return array;
}

void dray_array_unref(struct dray_array *array)
{
	if (!array || atomic_fetch_sub(&array->references, 1) > 1)
		return;
	if (array->block)
		dray_pool_free(array->pool, array->block);
	dray_buffer_unref(array->buffer);
	dray_ipc_close(array->memory);
	free(array);
}

const struct dray_view *dray_array_view(const struct dray_array *array)
{
	return dray_given(array, __func__) ? &array->view : NULL;
}

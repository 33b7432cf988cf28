// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Counted arrays: a view, and what keeps its memory alive, which is a block
 * of a pool, a reference to a buffer, or memory that was opened by a record.
 * Giving up a block that an engine still uses only parks it, so that the last
 * reference may go at any time.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "array/array.h"
#include "array/view.h"
#include "base/error.h"

struct dray_array {
	_Atomic uint32_t references;
	struct dray_pool *pool; /* with block, or */
	void *block;
	struct dray_buffer *buffer; /* one reference, or */
	struct dray_ipc_memory *memory; /* opened */
	struct dray_view view;
};

static struct dray_array *array_new(const struct dray_view *view)
{
	struct dray_array *array = malloc(sizeof(*array));

	if (!array) {
		dray_fail(-ENOMEM, "no memory for an array");
		return NULL;
	}
	atomic_init(&array->references, 1);
	array->pool = NULL;
	array->block = NULL;
	array->buffer = NULL;
	array->memory = NULL;
	dray_view_copy(&array->view, view);
	return array;
}

/* What a new array looks like, wherever it will lie. */
static int measure(struct dray_dtype dtype, int ndim, const int64_t *shape,
		   struct dray_view *view, struct dray_extent *extent)
{
	int error;

	/* any address will do until there is a block */
	error = dray_view_init(view, view, dtype, ndim, shape, NULL);
	if (!error)
		error = dray_view_check(view, "the array", extent);
	if (error)
		return error;
	if ((uint64_t)extent->bytes > SIZE_MAX)
		return dray_fail(
			-EOVERFLOW,
			"the array has more bytes than there are addresses");
	return 0;
}

int dray_array_create(struct dray_pool *pool, struct dray_dtype dtype, int ndim,
		      const int64_t *shape, struct dray_array **out)
{
	struct dray_array *array;
	struct dray_extent extent;
	struct dray_view view;
	int error;

	if (!dray_given(pool, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	error = measure(dtype, ndim, shape, &view, &extent);
	if (error)
		return error;
	array = array_new(&view);
	if (!array)
		return -ENOMEM;
	array->pool = pool;
	array->block = dray_pool_calloc(pool, 1, (size_t)extent.bytes);
	if (!array->block) { /* the pool left its sentence */
		free(array);
		return -ENOMEM;
	}
	array->view.data = array->block;
	*out = array;
	return 0;
}

int dray_array_create_alone(struct dray_node *node, struct dray_dtype dtype,
			    int ndim, const int64_t *shape,
			    struct dray_array **out)
{
	struct dray_buffer *buffer;
	struct dray_extent extent;
	struct dray_view view;
	int error;

	if (!dray_given(node, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	error = measure(dtype, ndim, shape, &view, &extent);
	if (!error)
		error = dray_buffer_alloc(
			node, extent.bytes ? (uint64_t)extent.bytes : 1, NULL,
			&buffer);
	if (error)
		return error;
	view.data = dray_buffer_data(buffer);
	error = dray_array_adopt(buffer, &view, out);
	if (error)
		dray_buffer_unref(buffer);
	return error;
}

int dray_array_adopt(struct dray_buffer *buffer, const struct dray_view *view,
		     struct dray_array **out)
{
	struct dray_array *array = array_new(view);

	if (!array)
		return -ENOMEM;
	array->buffer = buffer;
	*out = array;
	return 0;
}

int dray_array_adopt_memory(struct dray_ipc_memory *memory,
			    const struct dray_view *view,
			    struct dray_array **out)
{
	struct dray_array *array = array_new(view);

	if (!array)
		return -ENOMEM;
	array->memory = memory;
	*out = array;
	return 0;
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

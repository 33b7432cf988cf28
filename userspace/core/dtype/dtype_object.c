// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Type objects as blocks, and sub-arrays: counted, and never changed after they
 * are made.  A type object has a reference to each type that it is made of, so
 * there are no circles, and a limited depth.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dtype/dtype.h"
#include "base/error.h"
#include "base/number.h"

static struct dray_dtype_start *start_of(const struct dray_block *block)
{
	return dray_block_around(block, struct dray_dtype_start, object.block);
}

static dray_dtype object_dtype_of(const struct dray_block *block)
{
	return (uintptr_t)block;
}

static void dtype_destroy(struct dray_block *block)
{
	dray_dtype dtype = object_dtype_of(block);
	struct dray_dtype_structure *structure = dray_dtype_as_structure(dtype);
	struct dray_dtype_subarray *subarray = dray_dtype_as_subarray(dtype);
	struct dray_dtype_user *user = dray_dtype_as_user(dtype);
	size_t i;

	for (i = 0; structure && i < structure->count; i++)
		dray_dtype_unref(structure->fields[i].dtype);
	if (subarray)
		dray_dtype_unref(subarray->base);
	if (user && user->functions.release)
		user->functions.release(user->context);
	free(start_of(block));
}

static void dtype_range(const struct dray_block *block,
			struct dray_block_range *out)
{
	out->data = &start_of(block)->object;
	out->size = sizeof(struct dray_dtype_object);
	out->writable = false;
}

static void dtype_dump(const struct dray_block *block, FILE *stream)
{
	const struct dray_dtype_object *object = &start_of(block)->object;
	char text[256];

	if (dray_dtype_format(object_dtype_of(block), text, sizeof(text)) < 0)
		text[0] = 0;
	fprintf(stream, " type: %s\n element: %u bytes, aligned to %u\n", text,
		object->itemsize, object->alignment);
}

static const struct dray_block_class dtype_class = {
	.type = DRAY_BLOCK_DTYPE,
	.destroy = dtype_destroy,
	.range = dtype_range,
	.dump = dtype_dump,
};

dray_dtype dray_dtype_finish(struct dray_dtype_start *start, uint32_t itemsize,
			     uint32_t alignment, uint32_t flags)
{
	struct dray_dtype_object *object = &start->object;

	object->itemsize = itemsize;
	object->alignment = alignment;
	object->flags = (uint16_t)flags;
	object->order = '|';
	object->reserved = 0;
	if (!(flags & DRAY_DTYPE_USER))
		object->kind = 'V';
	dray_block_init(&object->block, &dtype_class);
	return object_dtype_of(&object->block);
}

int dray_dtype_check_depth(uint32_t below)
{
	if (below < DRAY_DTYPE_MAX_DEPTH)
		return 0;
	return dray_fail(-EINVAL,
			 "types lie in types %u deep, at most %d are possible",
			 below + 1, DRAY_DTYPE_MAX_DEPTH);
}

/* Writes the bytes of @ndim extents of elements of @itemsize bytes. */
static int measure_subarray(uint32_t itemsize, int ndim, const int64_t *shape,
			    uint32_t *bytes)
{
	uint64_t size = itemsize, elements = 1;
	bool overflow;
	int i;

	for (i = 0; i < ndim; i++) {
		if (shape[i] < 0)
			return dray_fail(-EINVAL,
					 "axis %d of a sub-array has %" PRId64
					 " elements",
					 i, shape[i]);
		/* Elements of no bytes are counted, too: loops visit them. */
		overflow = shape[i] > INT32_MAX;
		overflow |= dray_mul_overflow(size, (uint64_t)shape[i], &size);
		overflow |= dray_mul_overflow(elements, (uint64_t)shape[i],
					      &elements);
		if (overflow || size > UINT32_MAX || elements > UINT32_MAX)
			return dray_fail(-EOVERFLOW,
					 "axis %d of a sub-array has %" PRId64
					 " elements: %s do not fit 32 bits",
					 i, shape[i],
					 size > UINT32_MAX ? "its bytes"
							   : "all of them");
	}
	*bytes = (uint32_t)size;
	return 0;
}

static int check_subarray(dray_dtype base, int ndim, const int64_t *shape)
{
	if (ndim < 0 || ndim > 64)
		return dray_fail(
			-EINVAL,
			"a sub-array has %d axes, 0 to 64 are possible", ndim);
	if (ndim && !shape)
		return dray_fail(-EINVAL,
				 "a sub-array has %d axes and no shape", ndim);
	return dray_dtype_check_depth(dray_dtype_depth(base));
}

int dray_dtype_create_subarray(dray_dtype base, int ndim, const int64_t *shape,
			       dray_dtype *out)
{
	struct dray_dtype_subarray *subarray;
	uint32_t bytes = 0;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = dray_dtype_normalize(base, &base);
	if (!ret)
		ret = check_subarray(base, ndim, shape);
	if (!ret)
		ret = measure_subarray(dray_dtype_itemsize(base), ndim, shape,
				       &bytes);
	if (ret)
		return ret;
	if (!ndim) {
		*out = dray_dtype_ref(base);
		return 0;
	}
	subarray = malloc(sizeof(*subarray) + (size_t)ndim * sizeof(*shape));
	if (!subarray)
		return dray_fail(-ENOMEM, "no memory for a sub-array's type");
	subarray->start.depth = dray_dtype_depth(base) + 1;
	subarray->base = dray_dtype_ref(base);
	subarray->ndim = ndim;
	memcpy(subarray->shape, shape, (size_t)ndim * sizeof(*shape));
	*out = dray_dtype_finish(&subarray->start, bytes,
				 dray_dtype_alignment(base),
				 DRAY_DTYPE_SUBARRAY | (dray_dtype_flags(base) &
							DRAY_DTYPE_INHERITED));
	return 0;
}

dray_dtype dray_dtype_base(dray_dtype dtype)
{
	const struct dray_dtype_subarray *subarray =
		dray_dtype_as_subarray(dtype);

	return subarray ? subarray->base : dtype;
}

int dray_dtype_shape(dray_dtype dtype, const int64_t **shape)
{
	const struct dray_dtype_subarray *subarray =
		dray_dtype_as_subarray(dtype);

	if (!subarray)
		return 0;
	if (shape)
		*shape = subarray->shape;
	return subarray->ndim;
}

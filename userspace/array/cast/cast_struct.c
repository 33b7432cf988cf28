// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Finds casts: of structures and of elements that are arrays, and of all other
 * types.  Fields meet by their place, not by their names, and each is cast on its
 * own.  Its cast is found again for every piece of elements, so a cast owns
 * nothing.
 *
 * A structure of a single field also converts as that field does, and any value is
 * written to all fields of a structure.  (Source: NumPy's dtype_transfer.c.)
 */
#include <errno.h>
#include <string.h>

#include "cast/cast.h"
#include "private.h"

static int cast_struct_find(dray_dtype to, dray_dtype from,
			    struct dray_cast *cast)
{
	const struct dray_typed target = dray_typed(to);
	const struct dray_typed source = dray_typed(from);

	cast->numerator = 1;
	cast->denominator = 1;
	return dray_cast_prepare(to, &target, from, &source, cast);
}

/* Types of a field on both sides, and its place. */
struct struct_way {
	dray_dtype to;
	dray_dtype from;
	int64_t to_offset;
	int64_t from_offset;
};

/* Ways of a cast to or from a structure; 0 if there is none. */
static size_t count_ways(dray_dtype to, dray_dtype from)
{
	const struct dray_dtype_structure *target = dray_dtype_as_structure(to);
	const struct dray_dtype_structure *source =
		dray_dtype_as_structure(from);

	if (target && source)
		return target->count == source->count ? target->count : 0;
	if (target)
		return target->count;
	return source && source->count == 1 ? 1 : 0;
}

static struct struct_way way_of(dray_dtype to, dray_dtype from, size_t i)
{
	const struct dray_dtype_structure *target = dray_dtype_as_structure(to);
	const struct dray_dtype_structure *source =
		dray_dtype_as_structure(from);
	struct struct_way way = { .to = to, .from = from };

	if (target) {
		way.to = target->fields[i].dtype;
		way.to_offset = target->fields[i].offset;
	}
	if (source) {
		way.from = source->fields[i].dtype;
		way.from_offset = source->fields[i].offset;
	}
	return way;
}

static int convert_fields(char *const *data, const int64_t *strides,
			  int64_t count, void *context)
{
	const struct dray_cast *cast = context;
	const size_t ways = count_ways(cast->to, cast->from);
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < ways; i++) {
		const struct struct_way way = way_of(cast->to, cast->from, i);
		struct dray_cast field;

		ret = cast_struct_find(way.to, way.from, &field);
		if (!ret)
			ret = dray_cast_run(&field, data[0] + way.to_offset,
					    strides[0],
					    data[1] + way.from_offset,
					    strides[1], count);
	}
	return ret;
}

static dray_loop *fields_loop(dray_dtype to, dray_dtype from)
{
	const size_t ways = count_ways(to, from);
	struct dray_cast field;
	size_t i;

	for (i = 0; i < ways; i++) {
		const struct struct_way way = way_of(to, from, i);

		if (cast_struct_find(way.to, way.from, &field))
			return NULL;
	}
	return ways ? convert_fields : NULL;
}

/* The item of the source that an item of the destination gets; -1: zeros. */
static int64_t source_item(int64_t item, int to_ndim, const int64_t *to_shape,
			   int from_ndim, const int64_t *from_shape)
{
	int64_t stride = 1, found = 0;
	int k;

	/* From the last axis on; axes that the source lacks are repeated. */
	for (k = 1; k <= from_ndim; k++) {
		const int64_t extent = from_shape[from_ndim - k];
		int64_t at = 0;

		if (k <= to_ndim) {
			at = item % to_shape[to_ndim - k];
			item /= to_shape[to_ndim - k];
		}
		if (extent == 1)
			at = 0;
		if (at >= extent)
			return -1;
		found += at * stride;
		stride *= extent;
	}
	return found;
}

static void cast_struct_clear(char *data, int64_t stride, int64_t count,
			      size_t size)
{
	int64_t i;

	for (i = 0; i < count; i++)
		memset(data + i * stride, 0, size);
}

static int convert_items(char *const *data, const int64_t *strides,
			 int64_t count, void *context)
{
	const struct dray_cast *cast = context;
	const dray_dtype to = dray_dtype_base(cast->to);
	const dray_dtype from = dray_dtype_base(cast->from);
	const int64_t size = dray_dtype_itemsize(to);
	const int64_t from_size = dray_dtype_itemsize(from);
	const int64_t *to_shape = NULL, *from_shape = NULL;
	const int to_ndim = dray_dtype_shape(cast->to, &to_shape);
	const int from_ndim = dray_dtype_shape(cast->from, &from_shape);
	struct dray_cast item;
	int64_t items = 1, i;
	int k, ret;

	for (k = 0; k < to_ndim; k++)
		items *= to_shape[k];
	ret = cast_struct_find(to, from, &item);
	for (i = 0; !ret && i < items; i++) {
		const int64_t at = source_item(i, to_ndim, to_shape, from_ndim,
					       from_shape);

		if (at < 0)
			cast_struct_clear(data[0] + i * size, strides[0], count,
					  (size_t)size);
		else
			ret = dray_cast_run(&item, data[0] + i * size,
					    strides[0],
					    data[1] + at * from_size,
					    strides[1], count);
	}
	return ret;
}

static dray_loop *parts_loop(dray_dtype to, dray_dtype from)
{
	struct dray_cast item;

	if (dray_dtype_as_structure(to) || dray_dtype_as_structure(from))
		return fields_loop(to, from);
	if (!dray_dtype_as_subarray(to) && !dray_dtype_as_subarray(from))
		return NULL;
	return cast_struct_find(dray_dtype_base(to), dray_dtype_base(from),
				&item)
		       ? NULL
		       : convert_items;
}

int dray_cast_prepare(dray_dtype to, const struct dray_typed *target,
		      dray_dtype from, const struct dray_typed *source,
		      struct dray_cast *out)
{
	dray_loop *parts = NULL;

	out->to = to;
	out->from = from;
	if ((target->class == DRAY_CLASS_OTHER ||
	     source->class == DRAY_CLASS_OTHER) &&
	    !dray_parts_same(to, from))
		parts = parts_loop(to, from);
	return dray_cast_plan(out, target, source, parts);
}

int dray_cast_find(dray_dtype to, dray_dtype from, struct dray_cast *out)
{
	struct dray_cast cast = { .numerator = 1, .denominator = 1 };
	struct dray_typed target, source;
	dray_dtype normal;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = dray_dtype_check(to, &normal);
	if (!ret)
		ret = dray_dtype_check(from, &normal);
	if (ret)
		return ret;
	target = dray_typed(to);
	source = dray_typed(from);
	ret = dray_cast_prepare(to, &target, from, &source, &cast);
	if (!ret)
		*out = cast;
	return ret;
}

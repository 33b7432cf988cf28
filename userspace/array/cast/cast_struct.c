// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Casts of structures and of elements that are arrays.  Fields meet by their
 * place, not by their names, and each has a cast of its own, which is found
 * again for every piece of elements: a cast then owns nothing.
 *
 * A structure of one field also converts as that field does, and any value is
 * given to all fields of a structure.  (Source: NumPy's dtype_transfer.c.)
 */
#include <string.h>

#include "cast/cast.h"
#include "private.h"

static int find(dray_dtype to, dray_dtype from, struct dray_cast *cast)
{
	const struct dray_typed target = dray_typed(to);
	const struct dray_typed source = dray_typed(from);

	cast->numerator = 1;
	cast->denominator = 1;
	return dray_cast_prepare(to, &target, from, &source, cast);
}

/* Types of a field on both sides, and its place. */
struct way {
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

static struct way way_of(dray_dtype to, dray_dtype from, size_t i)
{
	const struct dray_dtype_structure *target = dray_dtype_as_structure(to);
	const struct dray_dtype_structure *source =
		dray_dtype_as_structure(from);
	struct way way = { .to = to, .from = from };

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
		const struct way way = way_of(cast->to, cast->from, i);
		struct dray_cast field;

		ret = find(way.to, way.from, &field);
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
		const struct way way = way_of(to, from, i);

		if (find(way.to, way.from, &field))
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

static void clear(char *data, int64_t stride, int64_t count, size_t size)
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
	ret = find(to, from, &item);
	for (i = 0; !ret && i < items; i++) {
		const int64_t at = source_item(i, to_ndim, to_shape, from_ndim,
					       from_shape);

		if (at < 0)
			clear(data[0] + i * size, strides[0], count,
			      (size_t)size);
		else
			ret = dray_cast_run(&item, data[0] + i * size,
					    strides[0],
					    data[1] + at * from_size,
					    strides[1], count);
	}
	return ret;
}

dray_loop *dray_parts_loop(dray_dtype to, dray_dtype from)
{
	struct dray_cast item;

	if (dray_dtype_as_structure(to) || dray_dtype_as_structure(from))
		return fields_loop(to, from);
	if (!dray_dtype_as_subarray(to) && !dray_dtype_as_subarray(from))
		return NULL;
	return find(dray_dtype_base(to), dray_dtype_base(from), &item)
		       ? NULL
		       : convert_items;
}

static enum dray_casting higher(enum dray_casting a, enum dray_casting b)
{
	return a > b ? a : b;
}

static enum dray_casting
structure_level(const struct dray_dtype_structure *from,
		const struct dray_dtype_structure *to)
{
	enum dray_casting level = DRAY_CASTING_NO;
	size_t i;

	if (from->count != to->count)
		return DRAY_CASTING_NEVER;
	if (from->start.object.itemsize != to->start.object.itemsize)
		level = DRAY_CASTING_EQUIV;
	for (i = 0; i < to->count; i++) {
		const struct dray_dtype_field *source = &from->fields[i];
		const struct dray_dtype_field *target = &to->fields[i];

		if (source->offset != target->offset)
			level = higher(level, DRAY_CASTING_EQUIV);
		if (!dray_same_text(source->name, target->name) ||
		    !dray_same_text(source->title, target->title))
			level = higher(level, DRAY_CASTING_SAFE);
		level = higher(level, dray_level(source->dtype, target->dtype));
	}
	return level;
}

static bool same_axes(dray_dtype a, dray_dtype b)
{
	const int64_t *one = NULL, *other = NULL;
	const int ndim = dray_dtype_shape(a, &one);

	return ndim == dray_dtype_shape(b, &other) &&
	       !memcmp(one, other, (size_t)ndim * sizeof(*one));
}

static enum dray_casting subarray_level(dray_dtype from, dray_dtype to)
{
	const enum dray_casting base =
		dray_level(dray_dtype_base(from), dray_dtype_base(to));

	if (!dray_dtype_as_subarray(from))
		return higher(base, DRAY_CASTING_SAFE);
	if (dray_dtype_as_subarray(to) && same_axes(from, to))
		return base;
	return higher(base, DRAY_CASTING_UNSAFE);
}

bool dray_parts_same(dray_dtype to, dray_dtype from)
{
	return dray_dtype_equal(to, from) && !dray_dtype_has_gaps(to);
}

enum dray_casting dray_parts_level(dray_dtype from, dray_dtype to)
{
	const struct dray_dtype_structure *source =
		dray_dtype_as_structure(from);
	const struct dray_dtype_structure *target = dray_dtype_as_structure(to);

	if (dray_dtype_equal(from, to))
		return DRAY_CASTING_NO;
	if (source && to == DRAY_VOID(0))
		return DRAY_CASTING_NO;
	if (source && target)
		return structure_level(source, target);
	if (source)
		return source->count == 1 ? DRAY_CASTING_UNSAFE
					  : DRAY_CASTING_NEVER;
	if (target)
		return DRAY_CASTING_UNSAFE;
	if (dray_dtype_as_subarray(from) || dray_dtype_as_subarray(to))
		return subarray_level(from, to);
	return dray_user_level(from, to);
}

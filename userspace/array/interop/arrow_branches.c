// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Imports the branches of an array of Arrow in turn.  The caller names a range of
 * elements; a branch adds its offset to it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <dray/array/cast.h>

#include "interop/arrow_take.h"
#include "private.h"

void dray_arrow_keeper_drop(void *owner)
{
	struct dray_arrow_keeper *keeper = owner;

	if (atomic_fetch_sub(&keeper->count, 1) > 1)
		return;
	if (keeper->array.release)
		keeper->array.release(&keeper->array);
	free(keeper);
}

static void arrow_branches_drop(struct dray_arrow_taken *taken)
{
	dray_array_unref(taken->array);
	dray_array_unref(taken->mask);
	*taken = (struct dray_arrow_taken){ 0 };
}

/* Checks a number of a branch against its format. */
static int branches_check_number(const char *name, int64_t is, int64_t expected,
				 const char *format)
{
	return is == expected
		       ? 0
		       : dray_fail(
				 -EINVAL,
				 "an array of Arrow's format \"%.20s\" with %" PRId64
				 " %s, not %" PRId64,
				 format, is, name, expected);
}

/* Checks the children of a branch, @count in both structures. */
static int check_children(const struct ArrowSchema *schema,
			  const struct ArrowArray *from, int64_t count)
{
	const char *format = schema->format;
	int64_t i;
	int ret = branches_check_number("types of children", schema->n_children,
					count, format);

	if (!ret)
		ret = branches_check_number("children", from->n_children, count,
					    format);
	if (ret || !count)
		return ret;
	if (!schema->children || !from->children)
		return dray_fail(-EINVAL, "\"%.20s\" lacks its children",
				 format);
	for (i = 0; i < count; i++) {
		if (!schema->children[i] || !from->children[i] ||
		    !schema->children[i]->release ||
		    !from->children[i]->release)
			return dray_fail(
				-EINVAL,
				"child %" PRId64
				" of \"%.20s\" is missing or was moved",
				i, format);
	}
	return 0;
}

int dray_arrow_check_node(const struct ArrowSchema *schema,
			  const struct ArrowArray *from, int64_t buffers,
			  int64_t children, int64_t first, int64_t count,
			  int64_t *start)
{
	int64_t end;
	int ret;

	if (schema->dictionary || from->dictionary)
		return dray_fail(
			-EOPNOTSUPP,
			"elements of a dictionary are not supported: decode the array first");
	if (from->length < 0 || from->offset < 0 || from->null_count < -1 ||
	    from->null_count > from->length)
		return dray_fail(-EINVAL,
				 "an array of Arrow states a length of %" PRId64
				 ", an offset of %" PRId64 " and %" PRId64
				 " nulls",
				 from->length, from->offset, from->null_count);
	if (dray_add_overflow(first, count, &end) || end > from->length)
		return dray_fail(-EINVAL,
				 "an array of Arrow ends after %" PRId64
				 " elements, "
				 "its parent "
				 "needs the "
				 "elements "
				 "from %" PRId64 " on, %" PRId64 " of them",
				 from->length, first, count);
	if (dray_add_overflow(from->offset, from->length, &end))
		return dray_fail(-EOVERFLOW,
				 "an offset of %" PRId64
				 " and a length of %" PRId64 " exceed 63 bits",
				 from->offset, from->length);
	ret = branches_check_number("buffers", from->n_buffers, buffers,
				    schema->format);
	if (!ret && !from->buffers)
		ret = dray_fail(-EINVAL, "\"%.20s\" lacks its buffers",
				schema->format);
	if (!ret)
		ret = check_children(schema, from, children);
	*start = from->offset + first;
	return ret;
}

/* Describes elements of a producer, and waits until no transfer writes them. */
static int view_memory(const struct dray_arrow_take *take, char *data,
		       dray_dtype dtype, int64_t count, struct dray_view *out)
{
	int ret = dray_view_init(out, data, dtype, 1, &count, NULL);

	return ret ? ret : dray_arrow_wait(out, take->timeout_ms);
}

/* Makes an array over elements in Arrow's layout. */
static int branches_take_memory(struct dray_arrow_take *take, char *data,
				dray_dtype dtype, int64_t count,
				struct dray_array **out)
{
	struct dray_view view;
	int ret = view_memory(take, data, dtype, count, &view);

	if (ret)
		return ret;
	view.flags = (view.flags & ~DRAY_WRITE) | DRAY_IMMUTABLE;
	atomic_fetch_add(&take->keeper->count, 1);
	ret = dray_array_from_pointer(&view, dray_arrow_keeper_drop,
				      take->keeper, out);
	if (ret)
		dray_arrow_keeper_drop(take->keeper);
	return ret;
}

/* Makes a copy of 32-bit numbers as dates or durations of 64. */
static int take_halves(const struct dray_arrow_take *take, char *data,
		       dray_dtype dtype, int64_t count, struct dray_array **out)
{
	struct dray_array *array = NULL;
	struct dray_view from, to;
	int ret = view_memory(take, data, DRAY_INT32, count, &from);

	if (!ret)
		ret = dray_array_empty(dtype, 1, &count, &array);
	if (ret)
		return ret;
	dray_array_view(array, &to);
	to.dtype = DRAY_INT64;
	ret = dray_view_convert(&to, &from, DRAY_CASTING_SAFE);
	if (ret)
		dray_array_unref(array);
	else
		*out = array;
	return ret;
}

/* Makes a copy of bits as bools. */
static int take_bits(const struct dray_arrow_take *take, char *bits,
		     int64_t first, int64_t count, struct dray_array **out)
{
	struct dray_view bytes;
	int ret = view_memory(take, bits, DRAY_UINT8,
			      (first + count) / 8 + !!((first + count) % 8),
			      &bytes);

	return ret ? ret : dray_arrow_unpack(bytes.data, first, count, out);
}

/* Imports elements without children. */
static int branches_take_elements(struct dray_arrow_take *take,
				  const struct ArrowSchema *schema,
				  const struct ArrowArray *from, int64_t first,
				  int64_t count, struct dray_arrow_taken *out)
{
	struct dray_arrow_type type;
	int64_t start = 0, bytes = 0;
	char *data;
	int ret = dray_arrow_parse(schema->format, &type);

	if (!ret)
		ret = dray_arrow_check_node(schema, from, 2, 0, first, count,
					    &start);
	if (ret)
		return ret;
	if (dray_mul_overflow(from->offset + from->length, (int64_t)type.size,
			      &bytes) ||
	    bytes > PTRDIFF_MAX)
		return dray_fail(
			-EOVERFLOW,
			"%" PRId64
			" elements of %u bytes exceed the address space",
			from->offset + from->length, type.size);
	/* The views that are made of it allow no writes. */
	data = (char *)(uintptr_t)from->buffers[1];
	if (!data && count && (type.size || type.change == DRAY_ARROW_BITS))
		return dray_fail(-EINVAL,
				 "an array of %" PRId64
				 " elements lacks its buffer",
				 count);
	if (type.change != DRAY_ARROW_SAME && !(take->flags & DRAY_ARROW_COPY))
		return dray_fail(
			-EAGAIN,
			"elements of Arrow's format \"%.20s\" are of another size here and need a copy, which is not allowed",
			schema->format);
	if (data)
		data += start * (int64_t)type.size;
	if (type.change == DRAY_ARROW_BITS)
		ret = take_bits(take, data, start, count, &out->array);
	else if (type.change == DRAY_ARROW_HALVES)
		ret = take_halves(take, data, type.dtype, count, &out->array);
	else
		ret = branches_take_memory(take, data, type.dtype, count,
					   &out->array);
	return ret ? ret : dray_arrow_add_nulls(take, from, start, count, out);
}

/* Makes an axis of @size elements behind the first axis of @array; replaces it. */
static int add_axis(struct dray_array **array, int64_t count, int64_t size)
{
	int64_t shape[DRAY_MAX_NDIM];
	struct dray_array *result = NULL;
	struct dray_view view;
	int i, ret;

	if (!*array)
		return 0;
	dray_array_view(*array, &view);
	if (view.ndim >= DRAY_MAX_NDIM)
		return dray_fail(-EINVAL, "lists of more levels than %d axes",
				 DRAY_MAX_NDIM);
	shape[0] = count;
	shape[1] = size;
	for (i = 1; i < view.ndim; i++)
		shape[i + 1] = view.shape[i];
	ret = dray_view_reshape(&view, view.ndim + 1, shape, DRAY_ORDER_C,
				&view);
	if (!ret)
		ret = dray_array_over(&view, &(*array)->block, &result);
	if (ret)
		return ret;
	dray_array_unref(*array);
	*array = result;
	return 0;
}

static int take_list(struct dray_arrow_take *take,
		     const struct ArrowSchema *schema,
		     const struct ArrowArray *from, int64_t first,
		     int64_t count, int depth, struct dray_arrow_taken *out)
{
	int64_t start = 0, child = 0, children = 0;
	uint32_t size = 0;
	int ret = dray_arrow_parse_size(schema->format, "+w:", &size);

	if (!ret)
		ret = dray_arrow_check_node(schema, from, 1, 1, first, count,
					    &start);
	if (ret)
		return ret;
	if (dray_mul_overflow(start, (int64_t)size, &child) ||
	    dray_mul_overflow(count, (int64_t)size, &children))
		return dray_fail(-EOVERFLOW,
				 "%" PRId64
				 " lists of %u elements exceed 63 bits",
				 start + count, size);
	ret = dray_arrow_take(take, schema->children[0], from->children[0],
			      child, children, depth + 1, out);
	if (!ret)
		ret = add_axis(&out->array, count, size);
	if (!ret)
		ret = add_axis(&out->mask, count, size);
	return ret ? ret : dray_arrow_add_nulls(take, from, start, count, out);
}

int dray_arrow_check_fields(const struct ArrowSchema *schema, size_t count)
{
	if (!schema->format || strcmp(schema->format, "+s"))
		return dray_fail(
			-EINVAL,
			"Arrow's format \"%.20s\" is not a structure (+s)",
			schema->format ? schema->format : "");
	if (schema->n_children < 0 || (uint64_t)schema->n_children != count ||
	    count > DRAY_DTYPE_MAX_FIELDS)
		return dray_fail(-EINVAL,
				 "a structure of Arrow with %" PRId64 " "
				 "children, asked for %zu, at most %d",
				 schema->n_children, count,
				 DRAY_DTYPE_MAX_FIELDS);
	return 0;
}

int dray_arrow_take_fields(struct dray_arrow_take *take,
			   const struct ArrowSchema *schema,
			   const struct ArrowArray *from, int64_t first,
			   int64_t count, int depth,
			   struct dray_arrow_taken *out)
{
	int64_t start = 0, i;
	int ret = dray_arrow_check_node(schema, from, 1, schema->n_children,
					first, count, &start);

	for (i = 0; !ret && i < schema->n_children; i++) {
		ret = dray_arrow_take(take, schema->children[i],
				      from->children[i], start, count,
				      depth + 1, &out[i]);
		if (!ret)
			ret = dray_arrow_add_nulls(take, from, start, count,
						   &out[i]);
	}
	return ret;
}

/* Imports a structure as a single array. */
static int branches_take_structure(struct dray_arrow_take *take,
				   const struct ArrowSchema *schema,
				   const struct ArrowArray *from, int64_t first,
				   int64_t count, int depth,
				   struct dray_arrow_taken *out)
{
	size_t fields = (size_t)schema->n_children, i;
	struct dray_arrow_taken *taken;
	int ret = dray_arrow_check_fields(schema, fields);

	if (ret)
		return ret;
	if (!(take->flags & DRAY_ARROW_COPY))
		return dray_fail(
			-EAGAIN,
			"the children of a structure of Arrow lie apart: a single array needs a copy, which is not allowed");
	taken = calloc(fields + 1, sizeof(*taken));
	if (!taken)
		return dray_fail(-ENOMEM, "no memory for %zu fields", fields);
	ret = dray_arrow_take_fields(take, schema, from, first, count, depth,
				     taken);
	if (!ret)
		ret = dray_arrow_join(schema, count, taken, out);
	for (i = 0; i < fields; i++)
		arrow_branches_drop(&taken[i]);
	free(taken);
	return ret;
}

int dray_arrow_take(struct dray_arrow_take *take,
		    const struct ArrowSchema *schema,
		    const struct ArrowArray *from, int64_t first, int64_t count,
		    int depth, struct dray_arrow_taken *out)
{
	int ret;

	if (depth > DRAY_ARROW_MAX_DEPTH)
		return dray_fail(-EINVAL,
				 "an array of Arrow is deeper than %d levels",
				 DRAY_ARROW_MAX_DEPTH);
	if (++take->branches > DRAY_ARROW_MAX_BRANCHES)
		return dray_fail(
			-EINVAL,
			"an array of Arrow contains more than %d children in all",
			DRAY_ARROW_MAX_BRANCHES);
	if (!schema->format)
		return dray_fail(-EINVAL, "a schema of Arrow lacks its format");
	if (!strcmp(schema->format, "+s"))
		ret = branches_take_structure(take, schema, from, first, count,
					      depth, out);
	else if (!strncmp(schema->format, "+w:", 3))
		ret = take_list(take, schema, from, first, count, depth, out);
	else
		ret = branches_take_elements(take, schema, from, first, count,
					     out);
	if (ret)
		arrow_branches_drop(out);
	return ret;
}

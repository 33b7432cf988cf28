// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arrays of strings: pairs of pointers in an array block, and bytes in an
 * arena.  The arena is filled through the allocator that serves any elements of
 * variable size.  Arrays over other blocks of bytes are finished from the start.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "array/strings.h"
#include "private.h"

static const dray_dtype string_dtype =
	DRAY_DTYPE(DRAY_KIND_STRING, '|', sizeof(struct dray_string));

static struct dray_array *strings_array_of(const struct dray_block *block)
{
	struct dray_array *array;

	array = dray_block_as_array((struct dray_block *)block);
	if (!array || array->dtype != string_dtype || array->ndim != 1)
		return NULL;
	return array;
}

static struct dray_strings_meta *meta_of(struct dray_array *array)
{
	return dray_array_meta(array);
}

static int no_strings(const struct dray_block *block)
{
	return dray_fail(-EINVAL, "block %p (%s) is not an array of strings",
			 (const void *)block,
			 dray_block_type_name(dray_block_type(block)));
}

static const struct dray_block_allocator *allocator_of(struct dray_array *array)
{
	const struct dray_block_allocator *allocator = NULL;

	/* Cannot fail for an arena. */
	dray_block_get_allocator(meta_of(array)->bytes, &allocator);
	return allocator;
}

static void strings_destroy(struct dray_array *array)
{
	dray_block_unref(meta_of(array)->bytes);
}

/* Makes an array of @options, whose meta-data adopts @bytes unless it fails. */
static int strings_allocate(struct dray_array_options *options,
			    struct dray_block *bytes, uint64_t capacity,
			    struct dray_array **out)
{
	int ret;

	options->dtype = string_dtype;
	options->ndim = 1;
	options->element_meta = sizeof(struct dray_strings_meta);
	options->destroy = strings_destroy;
	ret = dray_array_make(options, out);
	if (ret)
		return ret;
	dray_array_axes(*out)->stride = sizeof(struct dray_string);
	meta_of(*out)->bytes = bytes;
	meta_of(*out)->capacity = capacity;
	return 0;
}

/* Makes an empty array, as dray_strings_over(). */
static int strings_make_empty(struct dray_block *bytes, size_t capacity,
			      uint64_t flags, struct dray_block **out)
{
	struct dray_array_options options = { .flags = flags };
	struct dray_array *array;
	int ret;

	if (dray_mul_overflow(capacity, sizeof(struct dray_string),
			      &options.bytes))
		return dray_fail(-EOVERFLOW,
				 "%zu strings exceed the address space",
				 capacity);
	ret = strings_allocate(&options, bytes, capacity, &array);
	if (!ret)
		*out = &array->block;
	return ret;
}

int dray_strings_over(struct dray_block *bytes, size_t capacity,
		      struct dray_block **out)
{
	return strings_make_empty(bytes, capacity, DRAY_READ | DRAY_IMMUTABLE,
				  out);
}

void dray_strings_add(struct dray_block *strings, char *begin, char *end)
{
	struct dray_array *array = strings_array_of(strings);
	struct dray_string *string = array->data;

	string[dray_array_axes(array)->size++] =
		(struct dray_string){ begin, end };
}

int dray_strings_share(struct dray_block *strings, const struct dray_view *part,
		       struct dray_block **out)
{
	struct dray_array *array = strings_array_of(strings), *slice;
	struct dray_array_options options = {
		.flags = DRAY_READ | DRAY_IMMUTABLE,
		.reference = array->reference ? array->reference : strings,
	};
	struct dray_block *bytes = meta_of(array)->bytes;
	int64_t low, high;
	int ret;

	dray_view_span(part, &low, &high);
	options.bytes = (size_t)(high - low);
	if (options.bytes)
		options.data = dray_address_add(part->data, low);
	ret = strings_allocate(&options, bytes, (uint64_t)part->shape[0],
			       &slice);
	if (ret)
		return ret;
	dray_block_ref(bytes);
	slice->data = part->data;
	*dray_array_axes(slice) =
		(struct dray_array_axis){ part->shape[0], part->strides[0] };
	*out = &slice->block;
	return 0;
}

int dray_strings_view(const struct dray_block *strings, struct dray_view *view)
{
	struct dray_array *array = strings_array_of(strings);

	if (!array)
		return no_strings(strings);
	if (!(array->flags & DRAY_IMMUTABLE))
		return dray_fail(
			-EPERM,
			"strings %p are not finished: call dray_strings_finish() first",
			(const void *)strings);
	dray_array_view(array, view);
	view->dtype = DRAY_VOID(sizeof(struct dray_string));
	return 0;
}

int dray_strings_create(struct dray_pool *pool, size_t capacity,
			struct dray_block **out)
{
	struct dray_block *bytes;
	int ret;

	if (!out)
		return dray_fail(-EINVAL, "the result pointer is NULL");
	ret = dray_block_create_pod(pool, &bytes);
	if (ret)
		return ret;
	ret = strings_make_empty(bytes, capacity, DRAY_READ | DRAY_WRITE, out);
	if (ret)
		dray_block_unref(bytes);
	return ret;
}

int dray_strings_from(struct dray_pool *pool, const char *const *texts,
		      size_t count, struct dray_block **out)
{
	struct dray_block *block;
	size_t i;
	int ret;

	if (!out || (!texts && count))
		return dray_fail(
			-EINVAL,
			"%zu strings at NULL, or the result pointer is NULL",
			count);
	ret = dray_strings_create(pool, count, &block);
	if (ret)
		return ret;
	for (i = 0; i < count && !ret; i++)
		ret = texts[i] ? dray_strings_append(block, texts[i],
						     strlen(texts[i]))
			       : dray_fail(-EINVAL, "string %zu of %zu is NULL",
					   i, count);
	if (!ret)
		ret = dray_strings_finish(block);
	if (ret) {
		dray_block_unref(block);
		return ret;
	}
	*out = block;
	return 0;
}

static int strings_check_text(const struct dray_block *block,
			      const struct dray_array *array, const char *text,
			      size_t size)
{
	if (!array)
		return no_strings(block);
	if (!text && size)
		return dray_fail(-EINVAL, "%zu byte%s at NULL", size,
				 dray_plural(size));
	if (array->flags & DRAY_IMMUTABLE)
		return dray_fail(-EPERM, "strings %p are finished",
				 (const void *)block);
	return 0;
}

int dray_strings_append(struct dray_block *strings, const char *text,
			size_t size)
{
	struct dray_array *array = strings_array_of(strings);
	struct dray_string *string, fresh;
	struct dray_array_axis *axis;
	int ret;

	ret = strings_check_text(strings, array, text, size);
	if (ret)
		return ret;
	axis = dray_array_axes(array);
	if ((uint64_t)axis->size >= meta_of(array)->capacity)
		return dray_fail(-ENOSPC,
				 "the array is full: its capacity is %" PRIu64,
				 meta_of(array)->capacity);
	ret = allocator_of(array)->allocate(meta_of(array)->bytes, size, 1,
					    &fresh.begin, &fresh.end);
	if (ret)
		return ret;
	if (size)
		memcpy(fresh.begin, text, size);
	string = array->data;
	string[axis->size++] = fresh;
	return 0;
}

int dray_strings_extend(struct dray_block *strings, const char *text,
			size_t size)
{
	struct dray_array *array = strings_array_of(strings);
	struct dray_string *last;
	size_t old, whole, at;
	int64_t count;
	int ret;

	ret = strings_check_text(strings, array, text, size);
	if (ret)
		return ret;
	count = dray_array_axes(array)->size;
	if (!count)
		return dray_fail(-EINVAL, "there is no string yet to extend");
	last = (struct dray_string *)array->data + count - 1;
	old = (size_t)(last->end - last->begin);
	if (dray_add_overflow(old, size, &whole))
		return dray_fail(-EOVERFLOW,
				 "a string of %zu bytes and %zu more", old,
				 size);
	at = (uintptr_t)text - (uintptr_t)last->begin;
	ret = allocator_of(array)->resize(meta_of(array)->bytes, whole,
					  &last->begin, &last->end);
	if (ret)
		return ret;
	/* If @text lay in the string, it has moved with it. */
	if (at < old)
		text = last->begin + at;
	if (size)
		memcpy(last->begin + old, text, size);
	return 0;
}

int dray_strings_finish(struct dray_block *strings)
{
	struct dray_array *array = strings_array_of(strings);
	int ret;

	if (!array)
		return no_strings(strings);
	if (array->flags & DRAY_IMMUTABLE)
		return 0;
	ret = allocator_of(array)->finalize(meta_of(array)->bytes);
	if (!ret)
		array->flags = DRAY_READ | DRAY_IMMUTABLE;
	return ret;
}

size_t dray_strings_count(const struct dray_block *strings)
{
	struct dray_array *array = strings_array_of(strings);

	return array ? (size_t)dray_array_axes(array)->size : 0;
}

int dray_strings_get(const struct dray_block *strings, size_t index,
		     const char **begin, const char **end)
{
	struct dray_array *array = strings_array_of(strings);
	const struct dray_string *string;
	struct dray_view view;

	if (!array)
		return no_strings(strings);
	if (!begin || !end)
		return dray_fail(-EINVAL, "a result pointer is NULL");
	if (index >= (uint64_t)dray_array_axes(array)->size)
		return dray_fail(-ERANGE, "string %zu of %" PRId64, index,
				 dray_array_axes(array)->size);
	dray_array_view(array, &view);
	string = dray_strings_at(&view, (int64_t)index);
	*begin = string->begin;
	*end = string->end;
	return 0;
}

struct dray_block *dray_strings_bytes(const struct dray_block *strings)
{
	struct dray_array *array = strings_array_of(strings);

	return array ? meta_of(array)->bytes : NULL;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Text and bytes of Arrow as arrays of strings, over the producer's bytes.  Each
 * number of the producer is read once, and checked before it becomes an address.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "array/strings.h"
#include "interop/arrow_take.h"
#include "interop/arrow_text.h"
#include "private.h"

static const struct dray_arrow_text formats[] = {
	{ "u", true, 4 },
	{ "U", true, 8 },
	{ "z", false, 4 },
	{ "Z", false, 8 },
	{ "vu", true, DRAY_ARROW_VIEW_SIZE },
	{ "vz", false, DRAY_ARROW_VIEW_SIZE },
};

int dray_arrow_find_text(const char *format, struct dray_arrow_text *out)
{
	size_t i;

	if (!format)
		return dray_fail(-EINVAL, "a schema of Arrow lacks its format");
	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (!strcmp(format, formats[i].format)) {
			*out = formats[i];
			return 0;
		}
	}
	return dray_fail(
		-EOPNOTSUPP,
		"Arrow's format \"%.20s\" is not a format of strings: u, U, z, Z, vu, vz",
		format);
}

/* A producer's strings. */
struct text_source {
	const struct ArrowArray *from;
	int64_t start; /* the first string, from the first in memory */
	int64_t count;
	int width; /* as in dray_arrow_text */
	int timeout_ms;
	struct dray_view bytes; /* all strings, unless views name buffers */
};

/* Describes a producer's memory, and waits until no transfer writes it. */
static int text_wait(const struct text_source *source, const void *data,
		     uint32_t size, int64_t count, struct dray_view *out)
{
	int ret = dray_view_init(out, (void *)(uintptr_t)data, DRAY_VOID(size),
				 1, &count, NULL);

	return ret ? ret : dray_arrow_wait(out, source->timeout_ms);
}

/* Describes the views of the strings, or their offsets, which are @more. */
static int text_find_numbers(const struct text_source *source, int64_t more,
			     struct dray_view *out)
{
	const struct ArrowArray *from = source->from;
	int64_t end;

	if (dray_add_overflow(source->start + source->count, more, &end) ||
	    dray_mul_overflow(end, (int64_t)source->width, &end) ||
	    end > PTRDIFF_MAX)
		return dray_fail(-EOVERFLOW,
				 "%" PRId64
				 " strings of Arrow exceed the address space",
				 source->count);
	if (!from->buffers[1])
		return dray_fail(
			-EINVAL,
			"an array of Arrow with %" PRId64
			" strings lacks its buffer of offsets or views",
			source->count);
	return text_wait(source,
			 (const char *)from->buffers[1] +
				 source->start * source->width,
			 (uint32_t)source->width, source->count + more, out);
}

static int64_t text_offset(const struct dray_view *offsets, int64_t at)
{
	const char *from =
		(const char *)offsets->data + at * offsets->strides[0];
	int32_t narrow;
	int64_t wide;

	if (offsets->strides[0] == sizeof(wide)) {
		memcpy(&wide, from, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, from, sizeof(narrow));
	return narrow;
}

/* Finds offsets, and the bytes between the first and the last. */
static int text_find_offsets(struct text_source *source,
			     struct dray_view *offsets)
{
	const char *data = source->from->buffers[2];
	int64_t first, last;
	int ret = text_find_numbers(source, 1, offsets);

	if (ret)
		return ret;
	first = text_offset(offsets, 0);
	last = text_offset(offsets, source->count);
	if (first < 0 || last < first || last > PTRDIFF_MAX)
		return dray_fail(-EINVAL,
				 "offsets of Arrow from %" PRId64 " to %" PRId64
				 ", which must not decrease from 0 on",
				 first, last);
	if (!data && last > first)
		return dray_fail(-EINVAL,
				 "an array of Arrow with %" PRId64
				 " bytes of strings lacks their buffer",
				 last - first);
	return text_wait(source, data ? data + first : NULL, 1, last - first,
			 &source->bytes);
}

static bool text_is_null(const struct text_source *source, int64_t at)
{
	const struct ArrowArray *from = source->from;

	return from->null_count && from->buffers[0] &&
	       !dray_arrow_bit(from->buffers[0], source->start + at);
}

static int text_add_by_offsets(const struct text_source *source,
			       const struct dray_view *offsets,
			       struct dray_block *strings)
{
	/* Empty strings are not null, also without a buffer. */
	char *data = source->bytes.data ? source->bytes.data : (char *)"";
	int64_t first, begin, end, i;

	if (!source->count)
		return 0;
	first = begin = text_offset(offsets, 0);
	for (i = 0; i < source->count; i++) {
		end = text_offset(offsets, i + 1);
		if (end < begin || end - first > source->bytes.shape[0])
			return dray_fail(
				-EINVAL,
				"string %" PRId64 " of Arrow begins at %" PRId64
				" and ends at %" PRId64
				"; offsets must not decrease, the last is %" PRId64,
				i, begin, end, first + source->bytes.shape[0]);
		if (text_is_null(source, i))
			dray_strings_add(strings, NULL, NULL);
		else
			dray_strings_add(strings, data + (begin - first),
					 data + (end - first));
		begin = end;
	}
	return 0;
}

/* The view of a string in "vu" and "vz". */
struct text_view {
	int32_t size;
	char begin[4]; /* all, of at most 12 bytes; else a prefix */
	int32_t buffer;
	int32_t offset;
};
_Static_assert(sizeof(struct text_view) == DRAY_ARROW_VIEW_SIZE, "a view");

#define TEXT_VIEW_INLINE 12

/* Reads the bytes of a buffer with longer strings. */
static int64_t text_buffer_size(const struct ArrowArray *from, int64_t buffer)
{
	const char *sizes = from->buffers[from->n_buffers - 1];
	int64_t size;

	memcpy(&size, sizes + buffer * (int64_t)sizeof(size), sizeof(size));
	return size;
}

/* Waits until no transfer writes a buffer with longer strings. */
static int text_wait_for_buffers(const struct text_source *source)
{
	const struct ArrowArray *from = source->from;
	struct dray_view unused;
	int64_t i;
	int ret = 0;

	if (from->n_buffers > 3 && !from->buffers[from->n_buffers - 1])
		return dray_fail(-EINVAL,
				 "an array of Arrow lacks the sizes of %" PRId64
				 " buffers",
				 from->n_buffers - 3);
	for (i = 0; !ret && i < from->n_buffers - 3; i++)
		ret = text_wait(source, from->buffers[2 + i], 1,
				text_buffer_size(from, i), &unused);
	return ret;
}

/* Finds the bytes of a longer string. */
static int text_find_bytes(const struct text_source *source,
			   const struct text_view *view, int64_t index,
			   const char **out)
{
	const struct ArrowArray *from = source->from;

	if (view->buffer < 0 || view->buffer >= from->n_buffers - 3 ||
	    view->offset < 0 ||
	    (int64_t)view->offset + view->size >
		    text_buffer_size(from, view->buffer))
		return dray_fail(
			-EINVAL,
			"string %" PRId64
			" of Arrow states %d bytes at %d of buffer %d of "
			"%" PRId64 ", which lie outside of it",
			index, view->size, view->offset, view->buffer,
			from->n_buffers - 3);
	*out = (const char *)from->buffers[2 + view->buffer] + view->offset;
	return 0;
}

static int text_add_by_views(const struct text_source *source,
			     const struct dray_view *views,
			     struct dray_block *strings)
{
	struct text_view view;
	const char *begin;
	int64_t i;
	int ret;

	for (i = 0; i < source->count; i++) {
		if (text_is_null(source, i)) {
			dray_strings_add(strings, NULL, NULL);
			continue;
		}
		begin = (const char *)views->data + i * views->strides[0];
		memcpy(&view, begin, sizeof(view));
		begin += offsetof(struct text_view, begin);
		if (view.size < 0)
			return dray_fail(-EINVAL,
					 "string %" PRId64
					 " of Arrow states %d bytes",
					 i, view.size);
		ret = view.size > TEXT_VIEW_INLINE
			      ? text_find_bytes(source, &view, i, &begin)
			      : 0;
		if (ret)
			return ret;
		dray_strings_add(strings, (char *)(uintptr_t)begin,
				 (char *)(uintptr_t)begin + view.size);
	}
	return 0;
}

/* Makes an array without strings yet, which keeps @keeper; adopts that. */
static int text_make(const struct text_source *source,
		     struct dray_arrow_keeper *keeper, struct dray_block **out)
{
	struct dray_block *bytes;
	int ret = dray_block_create_external(source->bytes.data,
					     (size_t)source->bytes.shape[0],
					     DRAY_READ, dray_arrow_keeper_drop,
					     keeper, &bytes);

	if (ret) {
		dray_arrow_keeper_drop(keeper);
		return ret;
	}
	ret = dray_strings_over(bytes, (size_t)source->count, out);
	if (ret)
		dray_block_unref(bytes);
	return ret;
}

static int text_take(struct text_source *source, struct ArrowArray *from,
		     struct dray_block **out)
{
	bool views = source->width == DRAY_ARROW_VIEW_SIZE;
	struct dray_arrow_keeper *keeper;
	struct dray_block *strings;
	struct dray_view numbers;
	int ret = 0;

	if (from->null_count > 0 && !from->buffers[0])
		ret = dray_fail(-EINVAL,
				"an array of Arrow states %" PRId64
				" nulls but no bits for them",
				from->null_count);
	else if (source->count && views)
		ret = text_find_numbers(source, 0, &numbers);
	else if (source->count)
		ret = text_find_offsets(source, &numbers);
	if (!ret && views)
		ret = text_wait_for_buffers(source);
	if (!ret)
		ret = dray_arrow_keeper_make(&keeper);
	if (!ret)
		ret = text_make(source, keeper, &strings);
	if (ret)
		return ret;
	ret = views ? text_add_by_views(source, &numbers, strings)
		    : text_add_by_offsets(source, &numbers, strings);
	if (ret) {
		dray_block_unref(strings);
		return ret;
	}
	keeper->array = *from;
	from->release = NULL;
	*out = strings;
	return 0;
}

int dray_arrow_import_strings(const struct ArrowSchema *schema,
			      struct ArrowArray *from, int timeout_ms,
			      struct dray_block **out)
{
	struct text_source source = { .from = from, .timeout_ms = timeout_ms };
	struct dray_arrow_text text = { 0 };
	int64_t buffers = 3;
	int ret;

	if (!dray_given(schema, __func__) || !dray_given(from, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_arrow_check_given(schema, from, 0);
	/* A dictionary has the format of its indices, and is refused below. */
	if (!ret && !schema->dictionary)
		ret = dray_arrow_find_text(schema->format, &text);
	/* Of views the number of buffers is free, as far as they can name them. */
	if (text.width == DRAY_ARROW_VIEW_SIZE && from->n_buffers > buffers)
		buffers = from->n_buffers < INT32_MAX ? from->n_buffers
						      : INT32_MAX;
	if (!ret)
		ret = dray_arrow_check_node(schema, from, buffers, 0, 0,
					    from->length, &source.start);
	if (ret)
		return ret;
	source.count = from->length;
	source.width = text.width;
	return text_take(&source, from, out);
}

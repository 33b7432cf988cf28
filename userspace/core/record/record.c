// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Records of views: a record of the memory, which ipc/ makes and opens,
 * followed by type, shape and strides.  The strides are checked against the
 * bytes that the memory's record names, not against the whole buffer.  A type
 * object travels as its text, never as its address.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "record/opened.h"
#include "record/record.h"
#include "view/view.h"
#include "base/error.h"

#define MAGIC 0x61797264u /* "drya" in memory */
#define VERSION 2u
#define MAX_TEXT 4088 /* bytes of a type's text, with its zero */
#define PERMISSIONS (DRAY_READ | DRAY_WRITE | DRAY_IMMUTABLE)

_Static_assert(sizeof(struct dray_view_record) == 96,
	       "a record is part of the ABI");

/* In front of a type's text. */
struct text_header {
	uint32_t size; /* bytes with the zero at the end */
	uint32_t reserved; /* 0 */
};

_Static_assert(sizeof(struct dray_view_record) + (size_t)16 * DRAY_MAX_NDIM +
			       sizeof(struct text_header) + MAX_TEXT ==
		       DRAY_VIEW_RECORD_SIZE,
	       "the longest record");

static size_t record_size_of(uint32_t ndim)
{
	return sizeof(struct dray_view_record) + 2 * sizeof(int64_t) * ndim;
}

int dray_view_record_measure(const struct dray_view *view, size_t *size)
{
	int length = 0;

	*size = record_size_of((uint32_t)view->ndim);
	if (dray_dtype_is_builtin(view->dtype))
		return 0;
	if (dray_dtype_flags(view->dtype) & DRAY_DTYPE_LOCAL)
		return dray_fail(
			-EINVAL,
			"a user type means nothing in another process");
	length = dray_dtype_format(view->dtype, NULL, 0);
	if (length < 0)
		return length;
	if (length >= MAX_TEXT)
		return dray_fail(
			-E2BIG,
			"the type's text has %d bytes, a record has room for %d",
			length, MAX_TEXT - 1);
	*size += sizeof(struct text_header) + (size_t)length + 1;
	return 0;
}

/* Writes the text of a type object at @to. */
static void write_text(char *to, dray_dtype dtype)
{
	struct text_header header = { 0 };

	header.size = (uint32_t)dray_dtype_format(dtype, to + sizeof(header),
						  MAX_TEXT) +
		      1;
	memcpy(to, &header, sizeof(header));
}

void dray_view_record_write(void *record, const struct dray_ipc_record *memory,
			    const struct dray_view *view, uint64_t offset)
{
	bool is_builtin = dray_dtype_is_builtin(view->dtype);
	const struct dray_view_record fixed = {
		.memory = *memory,
		.magic = MAGIC,
		.version = VERSION,
		.flags = view->flags & PERMISSIONS,
		.ndim = (uint32_t)view->ndim,
		.dtype = is_builtin ? view->dtype : 0,
		.offset = offset,
	};
	size_t axes = (size_t)view->ndim * sizeof(view->shape[0]);
	char *at = record;

	memcpy(at, &fixed, sizeof(fixed));
	memcpy(at + sizeof(fixed), view->shape, axes);
	memcpy(at + sizeof(fixed) + axes, view->strides, axes);
	if (!is_builtin)
		write_text(at + record_size_of(fixed.ndim), view->dtype);
}

static int record_check(const struct dray_view_record *record, size_t size)
{
	if (record->magic != MAGIC)
		return dray_fail(
			-EBADMSG,
			"not a record of an array: it starts with 0x%08x",
			record->magic);
	if (record->version != VERSION)
		return dray_fail(
			-EPROTO,
			"the record is of version %u, this is version %u",
			record->version, VERSION);
	if (record->flags & ~PERMISSIONS)
		return dray_fail(-EBADMSG, "the record's view flags are 0x%x",
				 record->flags);
	if (record->ndim > DRAY_MAX_NDIM || size < record_size_of(record->ndim))
		return dray_fail(-EBADMSG, "a record of %zu bytes for %u axes",
				 size, record->ndim);
	return 0;
}

/* Makes a type of the text at @at; @size bytes are left of the record. */
static int record_read_text(const char *at, size_t size, dray_dtype *out,
			    size_t *used)
{
	struct text_header header;
	int ret;

	if (size < sizeof(header))
		return dray_fail(-EBADMSG, "the record ends before its type");
	memcpy(&header, at, sizeof(header));
	size -= sizeof(header);
	if (header.reserved || !header.size || header.size > MAX_TEXT ||
	    header.size > size ||
	    memchr(at + sizeof(header), 0, header.size) !=
		    at + sizeof(header) + header.size - 1)
		return dray_fail(
			-EBADMSG,
			"the record's type is not a text of %u bytes, with %zu bytes left",
			header.size, size);
	*used += sizeof(header) + header.size;
	ret = dray_dtype_parse(at + sizeof(header), out);
	return ret && ret != -ENOMEM ? -EBADMSG : ret;
}

/* Reads the type: a builtin type, or the text behind the axes. */
static int read_type(const struct dray_view_record *fixed, const char *record,
		     size_t size, dray_dtype *out, size_t *used)
{
	*used = record_size_of(fixed->ndim);
	if (!fixed->dtype)
		return record_read_text(record + *used, size - *used, out,
					used);
	/* An address of the other process would be a type object. */
	if (!dray_dtype_is_builtin(fixed->dtype))
		return dray_fail(-EBADMSG,
				 "the record's type 0x%" PRIx64
				 " is not a builtin one",
				 fixed->dtype);
	*out = fixed->dtype;
	return 0;
}

int dray_view_record_read(const void *record, size_t size,
			  struct dray_view_record *fixed,
			  struct dray_view *view, size_t *used)
{
	const char *at = record;
	size_t axes;
	int ret;

	if (size < sizeof(*fixed))
		return dray_fail(-EBADMSG,
				 "a record of %zu bytes, the shortest has %zu",
				 size, sizeof(*fixed));
	memcpy(fixed, at, sizeof(*fixed));
	ret = record_check(fixed, size);
	if (!ret)
		ret = read_type(fixed, record, size, &view->dtype, used);
	if (ret)
		return ret;
	view->ndim = (int32_t)fixed->ndim;
	view->flags = fixed->flags;
	axes = (size_t)fixed->ndim * sizeof(view->shape[0]);
	memcpy(view->shape, at + sizeof(*fixed), axes);
	memcpy(view->strides, at + sizeof(*fixed) + axes, axes);
	return 0;
}

int dray_view_export(const struct dray_view *view, uint32_t flags, void *record,
		     size_t room, size_t *size)
{
	struct dray_ipc_record memory;
	struct dray_extent extent;
	size_t needed;
	int ret;

	if (!dray_given(record, __func__) || !dray_given(size, __func__))
		return -EINVAL;
	ret = dray_view_check(view, "the view", &extent);
	if (ret)
		return ret;
	ret = dray_view_record_measure(view, &needed);
	if (ret)
		return ret;
	if (room < needed)
		return dray_fail(
			-ENOSPC,
			"the record takes %zu bytes, there is room for %zu",
			needed, room);
	ret = dray_ipc_export(dray_address_add(view->data, extent.low),
			      (uint64_t)(extent.high - extent.low), flags,
			      &memory);
	if (ret)
		return ret;
	dray_view_record_write(record, &memory, view, (uint64_t)-extent.low);
	*size = needed;
	return 0;
}

/* Reads a record that has no more bytes than it says. */
static int record_read_whole(const void *record, size_t size,
			     struct dray_view_record *fixed,
			     struct dray_view *view)
{
	size_t used = 0;
	int ret = dray_view_record_read(record, size, fixed, view, &used);

	if (ret || size == used)
		return ret;
	dray_dtype_unref(view->dtype);
	return dray_fail(-EBADMSG, "a record of %zu bytes for %u axes", size,
			 fixed->ndim);
}

/* Opens the memory of a record that was read, and places the view in it. */
static int open_memory(const struct dray_view_record *fixed,
		       struct dray_node *node, struct dray_view *view,
		       struct dray_block **block)
{
	struct dray_ipc_memory *memory;
	int ret = dray_ipc_open(&fixed->memory, node, &memory);

	if (ret)
		return ret;
	ret = dray_view_place(view, dray_ipc_data(memory),
			      dray_ipc_size(memory), fixed->offset);
	if (!dray_ipc_writable(memory))
		view->flags &= ~DRAY_WRITE;
	if (ret) {
		dray_ipc_close(memory);
		return ret;
	}
	return dray_block_create_opened(memory, block);
}

int dray_view_open(const void *record, size_t size, struct dray_node *node,
		   struct dray_view *view, struct dray_block **block)
{
	struct dray_view_record fixed;
	dray_dtype dtype;
	int ret;

	if (!dray_given(record, __func__) || !dray_given(view, __func__) ||
	    !dray_given(block, __func__))
		return -EINVAL;
	ret = record_read_whole(record, size, &fixed, view);
	if (ret)
		return ret;
	dtype = view->dtype;
	ret = open_memory(&fixed, node, view, block);
	if (ret)
		dray_dtype_unref(dtype);
	return ret;
}

int dray_view_fetch(const void *record, size_t size, void *to, uint64_t room,
		    uint64_t *needed, struct dray_view *out)
{
	struct dray_view_record fixed;
	dray_dtype dtype;
	int ret;

	if (!dray_given(record, __func__) || !dray_given(needed, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	ret = record_read_whole(record, size, &fixed, out);
	if (ret)
		return ret;
	dtype = out->dtype;
	ret = dray_ipc_copy(&fixed.memory, to, room, needed);
	if (!ret)
		ret = dray_view_place(out, to, *needed, fixed.offset);
	if (ret)
		dray_dtype_unref(dtype);
	return ret;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Records of arrays: a record of the memory, which ipc/ makes and opens,
 * followed by type, shape and strides.  The strides are checked against the
 * bytes that the memory's record names, not against the whole buffer.
 */
#include <errno.h>
#include <string.h>

#include "array/array.h"
#include "array/view.h"
#include "base/error.h"

#define MAGIC 0x61797264u /* "drya" in memory */
#define VERSION 2u
#define PERMISSIONS (DRAY_READ | DRAY_WRITE | DRAY_IMMUTABLE)

_Static_assert(sizeof(struct dray_array_record) == 96,
	       "a record is part of the ABI");
_Static_assert(sizeof(struct dray_array_record) + (size_t)16 * DRAY_MAX_NDIM ==
		       DRAY_ARRAY_RECORD_SIZE,
	       "the longest record");

static size_t size_of(uint32_t ndim)
{
	return sizeof(struct dray_array_record) + 2 * sizeof(int64_t) * ndim;
}

size_t dray_array_record_write(void *record,
			       const struct dray_ipc_record *memory,
			       const struct dray_view *view, uint64_t offset)
{
	const struct dray_array_record fixed = {
		.memory = *memory,
		.magic = MAGIC,
		.version = VERSION,
		.flags = view->flags & PERMISSIONS,
		.ndim = (uint32_t)view->ndim,
		.dtype = view->dtype,
		.offset = offset,
	};
	size_t axes = (size_t)view->ndim * sizeof(view->shape[0]);
	char *at = record;

	memcpy(at, &fixed, sizeof(fixed));
	memcpy(at + sizeof(fixed), view->shape, axes);
	memcpy(at + sizeof(fixed) + axes, view->strides, axes);
	return size_of(fixed.ndim);
}

static int check(const struct dray_array_record *record, size_t size)
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
	if (record->ndim > DRAY_MAX_NDIM || size < size_of(record->ndim))
		return dray_fail(-EBADMSG, "a record of %zu bytes for %u axes",
				 size, record->ndim);
	return 0;
}

int dray_array_record_read(const void *record, size_t size,
			   struct dray_array_record *fixed,
			   struct dray_view *view)
{
	const char *at = record;
	size_t axes;
	int ret;

	if (size < sizeof(*fixed))
		return dray_fail(-EBADMSG,
				 "a record of %zu bytes, the shortest has %zu",
				 size, sizeof(*fixed));
	memcpy(fixed, at, sizeof(*fixed));
	ret = check(fixed, size);
	if (ret)
		return ret;
	view->ndim = (int32_t)fixed->ndim;
	view->flags = fixed->flags;
	axes = (size_t)fixed->ndim * sizeof(view->shape[0]);
	memcpy(view->shape, at + sizeof(*fixed), axes);
	memcpy(view->strides, at + sizeof(*fixed) + axes, axes);
	return 0;
}

int dray_array_export(const struct dray_view *view, uint32_t flags,
		      void *record, size_t room, size_t *size)
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
	needed = size_of((uint32_t)view->ndim);
	if (room < needed)
		return dray_fail(
			-ENOSPC,
			"the record takes %zu bytes, there is room for %zu",
			needed, room);
	ret = dray_ipc_export(dray_address_add(view->data, extent.low),
			      (uint64_t)(extent.high - extent.low), flags,
			      &memory);
	if (!ret)
		*size = dray_array_record_write(record, &memory, view,
						(uint64_t)-extent.low);
	return ret;
}

/* Reads a record that has no more bytes than its axes need. */
static int read_whole(const void *record, size_t size,
		      struct dray_array_record *fixed, struct dray_view *view)
{
	int ret = dray_array_record_read(record, size, fixed, view);

	if (!ret && size != size_of(fixed->ndim))
		ret = dray_fail(-EBADMSG, "a record of %zu bytes for %u axes",
				size, fixed->ndim);
	return ret;
}

int dray_array_open(const void *record, size_t size, struct dray_node *node,
		    struct dray_array **out)
{
	struct dray_array_record fixed;
	struct dray_ipc_memory *memory;
	struct dray_block *base;
	struct dray_view view;
	int ret;

	if (!dray_given(record, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = read_whole(record, size, &fixed, &view);
	if (!ret)
		ret = dray_ipc_open(&fixed.memory, node, &memory);
	if (ret)
		return ret;
	ret = dray_view_place(&view, fixed.dtype, dray_ipc_data(memory),
			      dray_ipc_size(memory), fixed.offset);
	if (!dray_ipc_writable(memory))
		view.flags &= ~DRAY_WRITE;
	if (ret) {
		dray_ipc_close(memory);
		return ret;
	}
	ret = dray_block_create_opened(memory, &base);
	if (ret)
		return ret;
	ret = dray_array_adopt(&view, 0, base, out);
	dray_block_unref(base);
	return ret;
}

int dray_array_fetch(const void *record, size_t size, void *to, uint64_t room,
		     uint64_t *needed, struct dray_view *out)
{
	struct dray_array_record fixed;
	int ret;

	if (!dray_given(record, __func__) || !dray_given(needed, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	ret = read_whole(record, size, &fixed, out);
	if (!ret)
		ret = dray_ipc_copy(&fixed.memory, to, room, needed);
	return ret ? ret
		   : dray_view_place(out, fixed.dtype, to, *needed,
				     fixed.offset);
}

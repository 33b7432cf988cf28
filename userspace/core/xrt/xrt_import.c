// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dray's memory as BOs: imports of dma-bufs, one for each dma-buf and device, and
 * user memory.  Memory that XRT allocates is made here, too.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <dray/pool.h>
#include <dray/transfer.h>
#include "base/cancel.h"
#include "base/error.h"
#include "xrt/xrt.h"
#include "memory/node.h"
#include "memory/window.h"
#include "view/view.h"

/*
 * With the lock: makes the first BO of a whole, or gives the whole up, which is
 * discarded after the lock.
 */
static int first_bo(struct dray_xrt_whole *whole, int ret,
		    struct dray_xrt_bo **out)
{
	if (!ret) {
		dray_xrt_before_exit(DRAY_XRT_MADE);
		ret = dray_xrt_new_bo(whole, 0, whole->size, NULL, out);
	}
	if (ret)
		dray_xrt_close(whole);
	dray_xrt_leave();
	if (ret)
		dray_xrt_discard(whole);
	return ret;
}

static int xrt_whole_import(struct dray_xrt_whole *whole,
			    struct dray_buffer *buffer, int fd,
			    const struct dray_xrt_inode *inode, uint64_t size)
{
	dray_xrt_handle handle =
		dray_xrt.xrtBOImport(atomic_load(&whole->device->handle), fd);

	if (!handle)
		return dray_fail(
			-EIO,
			"xrtBOImport() refuses a dma-buf of %" PRIu64
			" bytes: it is not contiguous for the device, out of its reach, or the device imports nothing; XRT says more on stderr",
			size);
	atomic_store(&whole->handle, handle);
	whole->buffer = dray_buffer_ref(buffer);
	whole->inode = *inode;
	whole->size = size;
	dray_xrt_before_exit(DRAY_XRT_MADE);
	return 0;
}

/* With @size 0: to the end. */
static int import_range(struct dray_xrt_device *device,
			struct dray_buffer *buffer, uint64_t offset,
			uint64_t size, struct dray_block *keep,
			struct dray_xrt_bo **out)
{
	struct dray_xrt_whole *whole;
	struct dray_xrt_inode inode;
	int fd = dray_buffer_fd(buffer);
	uint64_t end;
	int ret;

	if (fd < 0)
		return dray_fail(
			-EOPNOTSUPP,
			"private memory of the host is not a dma-buf that XRT can import");
	ret = dray_xrt_measure(fd, &end, &inode);
	if (!ret)
		ret = dray_xrt_load();
	if (!ret)
		ret = dray_xrt_enter(device->process);
	if (ret)
		return ret;
	ret = dray_xrt_find(device, &inode, &whole);
	if (!ret && !whole) {
		whole = dray_xrt_new_whole(DRAY_XRT_IMPORT, device);
		ret = whole ? xrt_whole_import(whole, buffer, fd, &inode, end)
			    : -ENOMEM;
	}
	if (!ret && !size && offset < whole->size)
		size = whole->size - offset;
	if (!ret)
		ret = dray_xrt_new_bo(whole, offset, size, NULL, out);
	if (!ret)
		(*out)->keep = dray_block_ref(keep);
	if (whole && whole->count)
		whole = NULL;
	if (whole)
		dray_xrt_close(whole);
	dray_xrt_leave();
	if (whole)
		dray_xrt_discard(whole);
	return ret;
}

int dray_xrt_import_buffer(struct dray_xrt_device *device,
			   struct dray_buffer *buffer, uint64_t offset,
			   uint64_t size, struct dray_xrt_bo **out)
{
	DRAY_NO_CANCEL;
	uint64_t end;

	if (!dray_given(device, __func__) || !dray_given(buffer, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	end = dray_buffer_size(buffer);
	if (offset >= end || size > end - offset)
		return dray_fail(-EINVAL,
				 "%" PRIu64 " bytes at offset %" PRIu64
				 " leave the buffer of %" PRIu64 " bytes",
				 size, offset, end);
	return import_range(device, buffer, offset, size, NULL, out);
}

int dray_xrt_import_view(struct dray_xrt_device *device,
			 const struct dray_view *view, struct dray_block *keep,
			 struct dray_xrt_bo **out)
{
	DRAY_NO_CANCEL;
	struct dray_extent extent;
	struct dray_location where;
	const char *start;
	uint64_t size;
	int ret;

	if (!dray_given(device, __func__) || !dray_given(view, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_view_check(view, "the view", &extent);
	if (ret)
		return ret;
	size = (uint64_t)(extent.high - extent.low);
	if (!size)
		return dray_fail(-EINVAL,
				 "a view without elements cannot be a BO");
	start = (const char *)view->data + extent.low;
	if (dray_locate(start, &where) ||
	    size > dray_buffer_size(where.buffer) - where.offset)
		return dray_fail(-EINVAL,
				 "the view at %p lies in no buffer of dray",
				 (const void *)start);
	do {
		ret = dray_view_wait(view, DRAY_ACCESS_READ | DRAY_ACCESS_WRITE,
				     -1);
	} while (ret == -EINTR);
	if (ret)
		return ret;
	return import_range(device, where.buffer, where.offset, size, keep,
			    out);
}

/* Pages that must come back, or are none, cannot be pinned for ever. */
static int may_be_pinned(struct dray_buffer *buffer)
{
	struct dray_node *node = dray_buffer_node(buffer);
	struct dray_buffer_info info;
	struct dray_heap_info heap;
	int ret;

	if (!strcmp(dray_node_backend(node), "host"))
		return 0;
	if (!dray_buffer_mapped(buffer))
		return dray_fail(
			-EOPNOTSUPP,
			"a buffer for devices alone is not mapped: XRT can import it");
	ret = dray_node_buffer_info(node, dray_buffer_id(buffer), &info,
				    sizeof(info));
	if (!ret && info.heap != DRAY_HEAP_ANY)
		ret = dray_node_heap(node, info.heap, &heap, sizeof(heap));
	if (ret == -ENODEV)
		return ret;
	if (ret || info.heap == DRAY_HEAP_ANY)
		return dray_fail(
			-EOPNOTSUPP,
			"user memory for XRT cannot be in a buffer of another driver or user: import it");
	if (heap.type == DRAY_HEAP_CMA || !(heap.flags & DRAY_HEAP_PINNABLE))
		return dray_fail(
			-EOPNOTSUPP,
			"user memory for XRT cannot be in heap \"%.*s\", %s: import it",
			DRAY_NAME_LEN, heap.name,
			heap.type == DRAY_HEAP_CMA
				? "as XRT keeps its pages, which must return to the system"
				: "as it is mapped without pages");
	return 0;
}

static int import_check_user(char *address, uint64_t size,
			     struct dray_buffer **buffer)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	struct dray_location where;

	*buffer = NULL;
	if ((uintptr_t)address % page)
		return dray_fail(-EINVAL,
				 "user memory at %p is not at a multiple of "
				 "the page size %zu",
				 (void *)address, (size_t)page);
	if (!size || size > UINTPTR_MAX - (uintptr_t)address)
		return dray_fail(
			-EINVAL,
			"%" PRIu64
			" bytes at %p leave the address space, or are 0",
			size, (void *)address);
	if (!dray_locate(address, &where)) {
		if (size > dray_buffer_size(where.buffer) - where.offset)
			return dray_fail(-EINVAL,
					 "%" PRIu64 " bytes at offset %" PRIu64
					 " leave the buffer of %" PRIu64
					 " bytes",
					 size, where.offset,
					 dray_buffer_size(where.buffer));
		*buffer = where.buffer;
		return may_be_pinned(where.buffer);
	}
	if (dray_window_find(address) || dray_window_find(address + (size - 1)))
		return dray_fail(
			-EINVAL,
			"%" PRIu64
			" bytes at %p lie in memory of dray that is free",
			size, (void *)address);
	return 0;
}

int dray_xrt_import_user(struct dray_xrt_device *device, void *address,
			 uint64_t size, struct dray_block *keep,
			 struct dray_xrt_bo **out)
{
	DRAY_NO_CANCEL;
	struct dray_xrt_whole *whole;
	struct dray_buffer *buffer;
	dray_xrt_handle handle;
	int ret;

	if (!dray_given(device, __func__) || !dray_given(address, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	ret = import_check_user(address, size, &buffer);
	if (!ret)
		ret = dray_xrt_load();
	if (!ret)
		ret = dray_xrt_enter(device->process);
	if (ret)
		return ret;
	whole = dray_xrt_new_whole(DRAY_XRT_USER, device);
	if (!whole) {
		dray_xrt_leave();
		return -ENOMEM;
	}
	handle = dray_xrt.xrtBOAllocUserPtr(atomic_load(&device->handle),
					    address, (size_t)size, 0, 0);
	if (handle) {
		atomic_store(&whole->handle, handle);
		whole->buffer = dray_buffer_ref(buffer);
		whole->data = address;
		whole->size = size;
	} else {
		ret = dray_fail(
			-EIO,
			"xrtBOAllocUserPtr() refuses %" PRIu64
			" bytes at %p: on boards they must be contiguous for the device; XRT says more on stderr",
			size, address);
	}
	ret = first_bo(whole, ret, out);
	if (!ret)
		(*out)->keep = dray_block_ref(keep);
	return ret;
}

int dray_xrt_alloc(struct dray_xrt_device *device, uint64_t size,
		   uint64_t flags, uint32_t bank, struct dray_xrt_bo **out)
{
	DRAY_NO_CANCEL;
	struct dray_xrt_whole *whole;
	dray_xrt_handle handle;
	int ret;

	if (!dray_given(device, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	if (!size || size > PTRDIFF_MAX)
		return dray_fail(-EINVAL, "a BO of %" PRIu64 " bytes, 1 to %td",
				 size, PTRDIFF_MAX);
	ret = dray_xrt_load();
	if (!ret)
		ret = dray_xrt_enter(device->process);
	if (ret)
		return ret;
	whole = dray_xrt_new_whole(DRAY_XRT_OWN, device);
	if (!whole) {
		dray_xrt_leave();
		return -ENOMEM;
	}
	handle = dray_xrt.xrtBOAlloc(atomic_load(&device->handle), (size_t)size,
				     flags, bank);
	if (handle) {
		atomic_store(&whole->handle, handle);
		whole->size = size;
	} else {
		ret = dray_fail(-EIO,
				"xrtBOAlloc() cannot allocate %" PRIu64
				" bytes with flags 0x%" PRIx64
				" in bank %" PRIu32 "; XRT says more on stderr",
				size, flags, bank);
	}
	return first_bo(whole, ret, out);
}

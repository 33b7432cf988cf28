// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Buffers of the kernel back end: a buffer is a dma-buf that the module or
 * another driver made, mapped shared into the window.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "memory/kernel.h"
#include "memory/reason.h"
#include "memory/unlocked.h"
#include "memory/window.h"

/* The file system that every dma-buf lives on (linux/magic.h). */
#define DMA_BUF_FILE_SYSTEM 0x444d4142

/*
 * Takes addresses and maps the dma-buf there; the caller closes it if not.  Memory
 * for devices alone has addresses too, so that views can describe it, but an
 * access by the CPU faults.
 */
static int kernel_buffer_map(struct dray_buffer *buffer, uint64_t size,
			     uint64_t alignment)
{
	int protection = PROT_READ | (buffer->writable ? PROT_WRITE : 0);
	int ret = dray_window_take(size, alignment, &buffer->data);

	if (ret)
		return ret;
	if (buffer->mode != DRAY_MODE_DEVICE &&
	    mmap(buffer->data, (size_t)size, protection, MAP_SHARED | MAP_FIXED,
		 buffer->fd, 0) == MAP_FAILED) {
		ret = dray_map_refused("a buffer", size, errno);
		dray_window_give(buffer->data);
		return ret;
	}
	buffer->reserved = size;
	atomic_store(&buffer->size, size);
	return 0;
}

static const char *mode_name(uint32_t mode)
{
	static const char *const names[] = { "cached", "write-combined",
					     "coherent", "device" };

	return names[mode];
}

static int alloc_failed(const struct dray_node *node,
			const struct dray_request *request,
			const struct dray_alloc *args, int error)
{
	char heap[16] = "any heap";

	/* A mode that the heap lacks is not an invalid argument. */
	if (args->reason == DRAY_REASON_MODE)
		error = -EOPNOTSUPP;
	if (request->heap != DRAY_HEAP_ANY)
		snprintf(heap, sizeof(heap), "heap %u", request->heap);
	return dray_fail_reason(error, args->reason, args->limit,
				"%s: %" PRIu64
				" %s bytes of %s, aligned to %" PRIu64,
				node->info.name, request->size,
				mode_name(request->mode), heap,
				request->alignment);
}

static int buffer_no_descriptor(void)
{
	return dray_fail(-errno, "a descriptor of a dma-buf: %s",
			 strerror(errno));
}

int dray_kernel_alloc(struct dray_buffer *buffer,
		      const struct dray_request *request)
{
	DRAY_NO_CANCEL;
	struct dray_node *node = buffer->node;
	struct dray_alloc args = {
		.size = request->size,
		.alignment = request->alignment,
		.address_limit = request->address_limit,
		.heap = request->heap,
		.mode = request->mode,
		.flags = request->flags,
		.fd = -1,
	};
	int ret;

	memcpy(args.name, buffer->name, sizeof(args.name));
	ret = dray_kernel_call(node->fd, DRAY_IOC_ALLOC, &args);
	if (ret)
		return alloc_failed(node, request, &args, ret);

	buffer->fd = dray_descriptor(args.fd);
	if (buffer->fd < 0)
		return buffer_no_descriptor();
	buffer->id = args.id;
	buffer->heap = args.heap;
	buffer->mode = args.mode;
	buffer->writable = true;
	ret = kernel_buffer_map(buffer, args.size, request->alignment);
	if (ret)
		close(buffer->fd);
	return ret;
}

/*
 * Any dma-buf can be mapped.  The module describes its own; another driver's
 * gets its inode's number as id, in a range that the module never reaches.
 */
static void kernel_buffer_identify(struct dray_buffer *buffer,
				   const struct stat *status)
{
	struct dray_buffer_info info = {
		.fd = buffer->fd,
		.flags = DRAY_BUFFER_BY_FD,
	};

	buffer->heap = DRAY_HEAP_ANY;
	if (dray_kernel_call(buffer->node->fd, DRAY_IOC_BUFFER_INFO, &info)) {
		buffer->id = (uint64_t)status->st_ino | (uint64_t)1 << 63;
		return;
	}
	buffer->id = info.id;
	buffer->heap = info.heap;
	buffer->mode = info.mode;
	memcpy(buffer->name, info.name, sizeof(buffer->name) - 1);
}

int dray_kernel_import(struct dray_buffer *buffer, int fd, uint64_t need)
{
	DRAY_NO_CANCEL;
	uint32_t page = buffer->node->info.page_size;
	int flags = fcntl(fd, F_GETFL);
	struct statfs system;
	struct stat status;
	off_t size;
	int ret;

	(void)need;
	if (flags < 0 || fstatfs(fd, &system) || fstat(fd, &status))
		return dray_fail(-errno, "file descriptor %d: %s", fd,
				 strerror(errno));
	if ((unsigned long)system.f_type != DMA_BUF_FILE_SYSTEM)
		return dray_fail(-EINVAL, "file descriptor %d is not a dma-buf",
				 fd);
	/* fstat() knows no size of a dma-buf, seeking to its end does. */
	size = lseek(fd, 0, SEEK_END);
	if (size <= 0 || size % page)
		return dray_fail(
			-EINVAL,
			"dma-buf %d has %jd bytes, not a multiple of the "
			"page size %u",
			fd, (intmax_t)size, page);
	lseek(fd, 0, SEEK_SET);

	buffer->writable = (flags & O_ACCMODE) == O_RDWR;
	buffer->fd = dray_descriptor_copy(fd);
	if (buffer->fd < 0)
		return dray_fail(-errno, "duplicating file descriptor %d: %s",
				 fd, strerror(errno));
	kernel_buffer_identify(buffer, &status);
	ret = kernel_buffer_map(buffer, (uint64_t)size, page);
	if (ret)
		close(buffer->fd);
	return ret;
}

void dray_kernel_release(struct dray_buffer *buffer)
{
	DRAY_NO_CANCEL;

	dray_window_give(buffer->data);
	close(buffer->fd);
}

int dray_kernel_share(struct dray_buffer *buffer, bool read_only, int *fd)
{
	struct dray_export args = {
		.buffer_fd = buffer->fd,
		.flags = DRAY_EXPORT_READ_ONLY,
		.fd = -1,
	};
	int ret;

	if (read_only) {
		ret = dray_kernel_call(buffer->node->fd, DRAY_IOC_EXPORT,
				       &args);
		if (ret)
			return dray_fail_reason(ret, args.reason, args.limit,
						"passing buffer %" PRIu64
						" on for reading",
						buffer->id);
		*fd = dray_descriptor(args.fd);
		return *fd < 0 ? buffer_no_descriptor() : 0;
	}
	*fd = dray_descriptor_copy(buffer->fd);
	if (*fd < 0)
		return dray_fail(-errno, "duplicating a dma-buf: %s",
				 strerror(errno));
	return 0;
}

int dray_kernel_addresses(struct dray_buffer *buffer, uint64_t offset,
			  uint64_t length, struct dray_segment *segments,
			  size_t room, size_t *count)
{
	struct dray_address args = {
		.fd = buffer->fd,
		.offset = offset,
		.length = length,
		.segments = (uintptr_t)segments,
		.room = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX,
	};
	int ret = dray_kernel_call(buffer->node->fd, DRAY_IOC_ADDRESS, &args);

	if (ret)
		return dray_fail_reason(ret, args.reason, args.limit,
					"DMA addresses of %" PRIu64
					" bytes at offset %" PRIu64
					" of buffer %" PRIu64,
					length, offset, buffer->id);
	*count = args.count;
	return 0;
}

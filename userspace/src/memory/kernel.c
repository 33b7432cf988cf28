// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The kernel back end: /dev/drayN.  A buffer is a dma-buf that the module
 * made, mapped shared into the window.  Each call is one ioctl; what the
 * kernel answers beside errno becomes a sentence (reason.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/error.h"
#include "memory/backend.h"
#include "memory/reason.h"
#include "memory/window.h"

/* The file system that every dma-buf lives on (linux/magic.h). */
#define DMA_BUF_FILE_SYSTEM 0x444d4142

/* 0 or a negative errno; a signal is no reason to stop half-way. */
static int call(int fd, unsigned long request, void *args)
{
	while (ioctl(fd, request, args)) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

static int kernel_info(struct dray_node *node, struct dray_info *info)
{
	int ret = call(node->fd, DRAY_IOC_INFO, info);

	if (ret)
		return dray_fail(ret, "INFO of %s: %s", node->info.name,
				 strerror(-ret));
	return 0;
}

/* The module answers what the node as a whole ever needs. */
static bool ask_needs_sync(struct dray_node *node)
{
	struct dray_sync args = {
		.target = DRAY_TARGET_NODE,
		.owner = DRAY_SYNC_FOR_DEVICE,
		.direction = DRAY_BIDIRECTIONAL,
	};

	/* Without an answer sync is called: slower, and never wrong. */
	return call(node->fd, DRAY_IOC_SYNC, &args) ||
	       !(args.flags & DRAY_SYNC_NOT_NEEDED);
}

static int first_node(char name[DRAY_NAME_LEN])
{
	char names[1][DRAY_NAME_LEN];
	size_t count;
	int ret = dray_node_names(names, 1, &count);

	if (ret)
		return ret;
	if (!count)
		return dray_fail(-ENODEV, "the dray module has no node");
	memcpy(name, names[0], DRAY_NAME_LEN);
	return 0;
}

static int open_device(const char *name)
{
	char path[16 + DRAY_NAME_LEN];
	int fd, error;

	if (!*name || strchr(name, '/') || strlen(name) >= DRAY_NAME_LEN)
		return dray_fail(-EINVAL, "\"%s\" is no name of a node", name);
	snprintf(path, sizeof(path), "/dev/%s", name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	error = errno;
	if (error == ENOENT || error == ENXIO || error == ENODEV)
		return dray_fail(-ENODEV, "no node %s", path);
	return dray_fail(-error, "%s: %s", path, strerror(error));
}

static int kernel_open(struct dray_node *node, const char *name)
{
	char first[DRAY_NAME_LEN];
	int ret;

	if (!name) {
		ret = first_node(first);
		if (ret)
			return ret;
		name = first;
	}
	node->fd = open_device(name);
	if (node->fd < 0)
		return node->fd;
	snprintf(node->info.name, sizeof(node->info.name), "%s", name);
	ret = call(node->fd, DRAY_IOC_INFO, &node->info);
	if (ret) {
		ret = dray_fail(ret == -ENOTTY ? -ENODEV : ret,
				"/dev/%s is no node of dray: %s", name,
				strerror(-ret));
		goto close_fd;
	}
	if (node->info.abi_version != DRAY_ABI_VERSION) {
		ret = dray_fail(
			-EPROTO,
			"the module speaks version %u of the interface, "
			"the library version %u",
			node->info.abi_version, DRAY_ABI_VERSION);
		goto close_fd;
	}
	node->needs_sync = ask_needs_sync(node);
	return 0;
close_fd:
	close(node->fd);
	return ret;
}

static void kernel_close(struct dray_node *node)
{
	close(node->fd);
}

static int kernel_heap(struct dray_node *node, struct dray_heap_info *info)
{
	uint32_t index = info->index;
	int ret = call(node->fd, DRAY_IOC_HEAP_INFO, info);

	if (ret)
		return dray_fail(ret, "HEAP_INFO of heap %u of %s: %s", index,
				 node->info.name, strerror(-ret));
	return 0;
}

static int kernel_channel(struct dray_node *node,
			  struct dray_channel_info *info)
{
	uint32_t index = info->index;
	int ret = call(node->fd, DRAY_IOC_CHANNEL_INFO, info);

	if (ret)
		return dray_fail(ret, "CHANNEL_INFO of channel %u of %s: %s",
				 index, node->info.name, strerror(-ret));
	return 0;
}

static int kernel_list(struct dray_node *node, uint64_t *ids, size_t room,
		       size_t *count)
{
	struct dray_list args = {
		.ids = (uintptr_t)ids,
		.room = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX,
	};
	int ret = call(node->fd, DRAY_IOC_LIST, &args);

	if (ret)
		return dray_fail(ret, "LIST of %s: %s", node->info.name,
				 strerror(-ret));
	*count = args.count;
	return 0;
}

static int kernel_buffer_info(struct dray_node *node,
			      struct dray_buffer_info *info)
{
	uint64_t id = info->id;
	int ret = call(node->fd, DRAY_IOC_BUFFER_INFO, info);

	if (ret == -ENOENT)
		return dray_fail(ret,
				 "no buffer or attachment %" PRIu64
				 " to be seen on %s",
				 id, node->info.name);
	if (ret)
		return dray_fail(ret, "BUFFER_INFO of %" PRIu64 " on %s: %s",
				 id, node->info.name, strerror(-ret));
	return 0;
}

static int kernel_reclaim(struct dray_node *node, struct dray_reclaim *args)
{
	int ret = call(node->fd, DRAY_IOC_RECLAIM, args);

	if (ret == -ENOENT)
		return dray_fail(ret, "nothing with id %" PRIu64 " is held",
				 (uint64_t)args->id);
	if (ret)
		return dray_fail_reason(ret, args->reason, args->limit,
					"RECLAIM on %s", node->info.name);
	return 0;
}

/* Takes addresses and maps the dma-buf there; the caller closes it if not. */
static int map(struct dray_buffer *buffer, uint64_t size, uint64_t alignment)
{
	int protection = PROT_READ | (buffer->writable ? PROT_WRITE : 0);
	int ret = dray_window_take(size, alignment, &buffer->data);

	if (ret)
		return ret;
	if (mmap(buffer->data, size, protection, MAP_SHARED | MAP_FIXED,
		 buffer->fd, 0) == MAP_FAILED) {
		ret = dray_fail(-errno,
				"mapping a buffer of %" PRIu64 " bytes: %s",
				size, strerror(errno));
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
					     "coherent" };

	return names[mode];
}

static int alloc_failed(const struct dray_node *node,
			const struct dray_request *request,
			const struct dray_alloc *args, int error)
{
	char heap[16] = "any heap";

	/* A mode that the heap does not have is no wrong argument. */
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

static int kernel_alloc(struct dray_buffer *buffer,
			const struct dray_request *request)
{
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
	ret = call(node->fd, DRAY_IOC_ALLOC, &args);
	if (ret)
		return alloc_failed(node, request, &args, ret);

	buffer->fd = args.fd;
	buffer->id = args.id;
	buffer->heap = args.heap;
	buffer->mode = args.mode;
	buffer->writable = true;
	ret = map(buffer, args.size, request->alignment);
	if (ret)
		close(buffer->fd);
	return ret;
}

/*
 * Any dma-buf can be mapped; what the module knows of its own is asked of it,
 * and another driver's gets its inode's number as id, in a range that the
 * module never reaches.
 */
static void identify(struct dray_buffer *buffer, const struct stat *status)
{
	struct dray_buffer_info info = {
		.fd = buffer->fd,
		.flags = DRAY_BUFFER_BY_FD,
	};

	buffer->heap = DRAY_HEAP_ANY;
	if (call(buffer->node->fd, DRAY_IOC_BUFFER_INFO, &info)) {
		buffer->id = (uint64_t)status->st_ino | (uint64_t)1 << 63;
		return;
	}
	buffer->id = info.id;
	buffer->heap = info.heap;
	buffer->mode = info.mode;
	memcpy(buffer->name, info.name, sizeof(buffer->name) - 1);
}

static int kernel_import(struct dray_buffer *buffer, int fd)
{
	uint32_t page = buffer->node->info.page_size;
	int flags = fcntl(fd, F_GETFL);
	struct statfs system;
	struct stat status;
	off_t size;
	int ret;

	if (flags < 0 || fstatfs(fd, &system) || fstat(fd, &status))
		return dray_fail(-errno, "descriptor %d: %s", fd,
				 strerror(errno));
	if ((unsigned long)system.f_type != DMA_BUF_FILE_SYSTEM)
		return dray_fail(-EINVAL, "descriptor %d is no dma-buf", fd);
	/* fstat() knows no size of a dma-buf, seeking to its end does. */
	size = lseek(fd, 0, SEEK_END);
	if (size <= 0 || size % page)
		return dray_fail(-EINVAL,
				 "dma-buf %d has %jd bytes, no multiple of the "
				 "page size %u",
				 fd, (intmax_t)size, page);
	lseek(fd, 0, SEEK_SET);

	buffer->writable = (flags & O_ACCMODE) == O_RDWR;
	buffer->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (buffer->fd < 0)
		return dray_fail(-errno, "duplicating descriptor %d: %s", fd,
				 strerror(errno));
	identify(buffer, &status);
	ret = map(buffer, (uint64_t)size, page);
	if (ret)
		close(buffer->fd);
	return ret;
}

static void kernel_release(struct dray_buffer *buffer)
{
	dray_window_give(buffer->data);
	close(buffer->fd);
}

static int kernel_share(struct dray_buffer *buffer, bool read_only, int *fd)
{
	struct dray_export args = {
		.buffer_fd = buffer->fd,
		.flags = DRAY_EXPORT_READ_ONLY,
		.fd = -1,
	};
	int ret;

	if (read_only) {
		ret = call(buffer->node->fd, DRAY_IOC_EXPORT, &args);
		if (ret)
			return dray_fail_reason(ret, args.reason, args.limit,
						"passing buffer %" PRIu64
						" on for reading",
						buffer->id);
		*fd = args.fd;
		return 0;
	}
	*fd = fcntl(buffer->fd, F_DUPFD_CLOEXEC, 0);
	if (*fd < 0)
		return dray_fail(-errno, "duplicating a dma-buf: %s",
				 strerror(errno));
	return 0;
}

static int kernel_addresses(struct dray_buffer *buffer, uint64_t offset,
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
	int ret = call(buffer->node->fd, DRAY_IOC_ADDRESS, &args);

	if (ret)
		return dray_fail_reason(ret, args.reason, args.limit,
					"DMA addresses of %" PRIu64
					" bytes at offset %" PRIu64
					" of buffer %" PRIu64,
					length, offset, buffer->id);
	*count = args.count;
	return 0;
}

static int kernel_sync(struct dray_node *node, uint32_t target,
		       enum dray_sync_owner owner,
		       enum dray_direction direction,
		       const struct dray_region *regions, size_t count)
{
	struct dray_range few[16], *ranges = few;
	struct dray_sync args = {
		.target = target,
		.owner = owner,
		.direction = direction,
		.count = (uint32_t)count,
	};
	size_t i;
	int ret;

	if (count > sizeof(few) / sizeof(few[0])) {
		ranges = calloc(count, sizeof(*ranges));
		if (!ranges)
			return dray_fail(-ENOMEM,
					 "no memory to sync %zu regions",
					 count);
	}
	for (i = 0; i < count; i++)
		ranges[i] = (struct dray_range){
			.fd = regions[i].buffer->fd,
			.offset = regions[i].offset,
			.width = regions[i].width,
			.pitch = regions[i].pitch,
			.rows = regions[i].rows,
		};
	args.ranges = (uintptr_t)ranges;
	ret = call(node->fd, DRAY_IOC_SYNC, &args);
	if (ranges != few)
		free(ranges);
	if (ret)
		return dray_fail_reason(ret, args.reason, args.limit,
					"syncing %zu regions on %s, number %u",
					count, node->info.name, args.failed);
	return 0;
}

static int kernel_submit(struct dray_node *node, struct dray_submit *args)
{
	uint32_t count = args->count;
	int ret = 0;

	/* Without an answer the sentence must not be that of an older call. */
	args->reason = DRAY_REASON_NONE;
	args->limit = 0;
	args->failed = 0;
	/* A signal ends the wait for a slot, and the caller decides. */
	if (ioctl(node->fd, DRAY_IOC_SUBMIT, args))
		ret = -errno;
	if (ret)
		return dray_fail_reason(ret, args->reason, args->limit,
					"%u transfers on %s (%" PRIu64
					" descriptors, %" PRIu64
					" bytes), number %u",
					count, node->info.name,
					(uint64_t)args->runs,
					(uint64_t)args->bytes, args->failed);
	return 0;
}

const struct dray_backend dray_backend_kernel = {
	.name = "kernel",
	.open = kernel_open,
	.close = kernel_close,
	.info = kernel_info,
	.heap = kernel_heap,
	.channel = kernel_channel,
	.list = kernel_list,
	.buffer_info = kernel_buffer_info,
	.reclaim = kernel_reclaim,
	.alloc = kernel_alloc,
	.import = kernel_import,
	.release = kernel_release,
	.share = kernel_share,
	.addresses = kernel_addresses,
	.sync = kernel_sync,
	.submit = kernel_submit,
};

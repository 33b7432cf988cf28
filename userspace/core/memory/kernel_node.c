// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The kernel back end: /dev/drayN and its calls.  Each call is an ioctl; reason.c
 * makes a sentence of the kernel's reply, kernel_buffer.c the buffers.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "memory/kernel.h"
#include "memory/reason.h"

static int kernel_info(struct dray_node *node, struct dray_info *info)
{
	int ret = dray_kernel_call(node->fd, DRAY_IOC_INFO, info);

	if (ret)
		return dray_fail(ret, "INFO of %s: %s", node->info.name,
				 strerror(-ret));
	return 0;
}

/* The module answers if any device of the node needs it. */
static bool ask_needs_sync(struct dray_node *node)
{
	struct dray_sync args = {
		.target = DRAY_TARGET_NODE,
		.owner = DRAY_SYNC_FOR_DEVICE,
		.direction = DRAY_BIDIRECTIONAL,
	};

	/* Without an answer sync is called: slower, and never wrong. */
	return dray_kernel_call(node->fd, DRAY_IOC_SYNC, &args) ||
	       !(args.flags & DRAY_SYNC_NOT_NEEDED);
}

/* The name of the first node; @before: of dray_fail_no_node() */
static int first_node(char name[DRAY_NAME_LEN], const char *before)
{
	char names[1][DRAY_NAME_LEN];
	size_t count = 0;
	int ret = dray_node_names(names, 1, &count);

	if (ret && ret != -ENODEV)
		return ret;
	if (!count)
		return dray_fail_no_node(before);
	memcpy(name, names[0], DRAY_NAME_LEN);
	return 0;
}

static int fail_missing(const char *path)
{
	char first[DRAY_NAME_LEN], before[32 + DRAY_NAME_LEN];
	int ret;

	snprintf(before, sizeof(before), "no node %s: ", path);
	ret = first_node(first, before);
	if (ret == -ENODEV)
		return ret;
	/* The list of nodes may fail, for want of descriptors. */
	if (ret)
		return dray_fail(-ENODEV,
				 "%sdmactl nodes lists those that exist",
				 before);
	return dray_fail(-ENODEV, "%sthere is %s; open it as kernel:%s", before,
			 first, first);
}

static int open_device(const char *name)
{
	char path[16 + DRAY_NAME_LEN];
	int fd, error;

	if (!*name || strchr(name, '/') || strlen(name) >= DRAY_NAME_LEN)
		return dray_fail(
			-EINVAL,
			"\"%s\" is not the name of a node, such as dray0",
			name);
	snprintf(path, sizeof(path), "/dev/%s", name);
	fd = dray_descriptor(open(path, O_RDWR | O_CLOEXEC));
	if (fd >= 0)
		return fd;
	error = errno;
	if (error == ENOENT || error == ENXIO || error == ENODEV)
		return fail_missing(path);
	return dray_fail(-error, "%s: %s", path, strerror(error));
}

static int kernel_open(struct dray_node *node, const char *name)
{
	DRAY_NO_CANCEL;
	char first[DRAY_NAME_LEN] = "";
	int ret;

	if (!name) {
		ret = first_node(first, "");
		if (ret)
			return ret;
		name = first;
	}
	node->fd = open_device(name);
	if (node->fd < 0)
		return node->fd;
	snprintf(node->info.name, sizeof(node->info.name), "%s", name);
	ret = dray_kernel_call(node->fd, DRAY_IOC_INFO, &node->info);
	if (ret) {
		ret = dray_fail(ret == -ENOTTY ? -ENODEV : ret,
				"/dev/%s is not a node of dray: %s; /proc/misc "
				"lists the nodes",
				name, strerror(-ret));
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
	DRAY_NO_CANCEL;

	close(node->fd);
}

static int kernel_heap(struct dray_node *node, struct dray_heap_info *info)
{
	uint32_t index = info->index;
	int ret = dray_kernel_call(node->fd, DRAY_IOC_HEAP_INFO, info);

	if (ret)
		return dray_fail(ret, "HEAP_INFO of heap %u of %s: %s", index,
				 node->info.name, strerror(-ret));
	return 0;
}

static int kernel_channel(struct dray_node *node,
			  struct dray_channel_info *info)
{
	uint32_t index = info->index;
	int ret = dray_kernel_call(node->fd, DRAY_IOC_CHANNEL_INFO, info);

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
	int ret = dray_kernel_call(node->fd, DRAY_IOC_LIST, &args);

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
	int ret = dray_kernel_call(node->fd, DRAY_IOC_BUFFER_INFO, info);

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
	int ret = dray_kernel_call(node->fd, DRAY_IOC_RECLAIM, args);

	if (ret == -ENOENT)
		return dray_fail(ret, "nothing with id %" PRIu64 " is held",
				 (uint64_t)args->id);
	if (ret)
		return dray_fail_reason(ret, args->reason, args->limit,
					"RECLAIM on %s", node->info.name);
	return 0;
}

static int kernel_heap_map(struct dray_node *node, struct dray_heap_map *args)
{
	uint32_t index = args->heap;
	int ret = dray_kernel_call(node->fd, DRAY_IOC_HEAP_MAP, args);

	if (ret)
		return dray_fail_reason(ret, args->reason, args->limit,
					"HEAP_MAP of heap %u of %s", index,
					node->info.name);
	return 0;
}

/* Returns 0 or a negative errno; a new file's number is above 2 then. */
static int raise_file(int ret, int32_t *fd)
{
	if (ret || *fd < 0)
		return ret;
	*fd = dray_descriptor(*fd);
	return *fd < 0 ? -errno : 0;
}

static int kernel_area(struct dray_node *node, struct dray_register_area *args)
{
	int ret = dray_kernel_call(node->fd, DRAY_IOC_REGISTER_AREA, args);

	return raise_file(ret, &args->fd);
}

static int kernel_line(struct dray_node *node, struct dray_interrupt_line *args)
{
	int ret = dray_kernel_call(node->fd, DRAY_IOC_INTERRUPT_LINE, args);

	return raise_file(ret, &args->fd);
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
	ret = dray_kernel_call(node->fd, DRAY_IOC_SYNC, &args);
	if (ranges != few)
		free(ranges);
	if (ret)
		return dray_fail_reason(ret, args.reason, args.limit,
					"syncing %zu regions on %s, number %u",
					count, node->info.name, args.failed);
	return 0;
}

/*
 * The transfers are on their way: if no other descriptor is left, the fence keeps
 * its own, which no process can write.
 */
static int raise_fence(int fd)
{
	int copy;

	if (fd < 0 || fd >= DRAY_DESCRIPTOR_LOWEST)
		return fd;
	copy = dray_descriptor_copy(fd);
	if (copy < 0)
		return fd;
	close(fd);
	return copy;
}

static int kernel_submit(struct dray_node *node, struct dray_submit *args)
{
	uint32_t count = args->count;
	int ret = 0;

	/* Without an answer the sentence must not be an older call's. */
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
	args->fence_fd = raise_fence(args->fence_fd);
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
	.heap_map = kernel_heap_map,
	.area = kernel_area,
	.line = kernel_line,
	.alloc = dray_kernel_alloc,
	.import = dray_kernel_import,
	.release = dray_kernel_release,
	.share = dray_kernel_share,
	.addresses = dray_kernel_addresses,
	.sync = kernel_sync,
	.submit = kernel_submit,
	.ports = &dray_kernel_ports,
};

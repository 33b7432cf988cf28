// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What is done while allocations fail; see scenario.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <linux/dma-buf.h>

#include "../selftests/fence.h"
#include "../selftests/importer.h"
#include "../selftests/process.h"
#include "inject.h"
#include "scenario.h"

#define SIZE 65536
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const struct scenario *scenario;

static int node = -1; /* open all the time */
static int other = -1; /* what a scenario opens or is given */
static struct buffer src = { .fd = -1 }, dst = { .fd = -1 };
static int fence = -1;
static int importer = -1;
static uint32_t handle;
static uint32_t mode; /* of the next allocation */
static uint8_t *map;
static int ends[2] = { -1, -1 }; /* of a pipe */
static char driver[PATH_MAX];
static char device[DRAY_NAME_LEN];

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void undo_all(void)
{
	if (map)
		munmap(map, SIZE);
	map = NULL;
	/* It keeps what it was given, where it could not tell the handle. */
	close_one(&importer);
	if (fence >= 0)
		fence_wait(fence);
	close_one(&fence);
	close_one(&other);
	close_one(&ends[0]);
	close_one(&ends[1]);
	buffer_close(&src);
	buffer_close(&dst);
}

static int prepare_nothing(void)
{
	return 0;
}

static int prepare_buffers(void)
{
	int ret = buffer_open(node, scenario->heap, SIZE, &src);

	return ret ? ret : buffer_open(node, scenario->heap, SIZE, &dst);
}

static int run_open(void)
{
	other = node_open();
	return other < 0 ? other : 0;
}

/* Which mode a heap takes is asked before, where no question fails. */
static int prepare_mode(void)
{
	struct dray_heap_info heap;
	int ret = node_heap(node, scenario->heap, &heap);

	mode = heap_usual_mode(&heap);
	return ret;
}

static int run_alloc(void)
{
	struct dray_alloc alloc = { .size = SIZE,
				    .heap = scenario->heap,
				    .mode = mode };
	int ret = node_call(node, DRAY_IOC_ALLOC, &alloc);

	if (!ret)
		src.fd = alloc.fd;
	return ret;
}

static int prepare_unmapped(void)
{
	return buffer_allocate(node, scenario->heap, SIZE, &src);
}

static int run_mmap(void)
{
	void *at =
		mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, src.fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	map = at;
	return 0;
}

static int prepare_pipe(void)
{
	return pipe(ends) ? -errno : prepare_buffers();
}

/* Pages that were thrown out come back by faults. */
static int run_fault(void)
{
	if (madvise(src.bytes, src.size, MADV_DONTNEED))
		return -errno;
	/* Not by a touch: what cannot be had there is a signal. */
	return write(ends[1], src.bytes, 16384) == 16384 ? 0 : -EFAULT;
}

static int run_address(void)
{
	struct dray_segment segments[4];
	struct dray_address address = {
		.fd = src.fd,
		.segments = (uintptr_t)segments,
		.room = 4,
	};

	return node_call(node, DRAY_IOC_ADDRESS, &address);
}

static int run_sync(void)
{
	struct dray_range ranges[8];
	struct dray_sync sync = {
		.target = DRAY_TARGET_NODE,
		.owner = DRAY_SYNC_FOR_DEVICE,
		.direction = DRAY_BIDIRECTIONAL,
		.count = COUNT(ranges),
		.ranges = (uintptr_t)ranges,
	};
	unsigned int i;

	for (i = 0; i < COUNT(ranges); i++)
		ranges[i] = (struct dray_range){
			.fd = src.fd,
			.width = 64,
			.pitch = 4096,
			.rows = 16,
		};
	return node_call(node, DRAY_IOC_SYNC, &sync);
}

static int run_cpu_access(void)
{
	int ret =
		buffer_cpu_access(src.fd, DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW);

	return ret ? ret
		   : buffer_cpu_access(src.fd,
				       DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW);
}

static int prepare_transfer(void)
{
	struct dray_info info;
	int ret = node_info(node, &info);

	if (ret)
		return ret;
	return info.channel_count ? prepare_buffers() : NOT_HERE;
}

static int submit(const struct dray_transfer *transfer, const int *in_fence)
{
	struct dray_submit args = {
		.channel = DRAY_CHANNEL_ANY,
		.transfers = (uintptr_t)transfer,
		.count = 1,
		.in_fences = (uintptr_t)in_fence,
		.in_fence_count = in_fence ? 1 : 0,
		.fence_fd = -1,
	};
	int ret = node_call(node, DRAY_IOC_SUBMIT, &args);

	if (ret)
		return ret;
	close_one(&fence);
	fence = args.fence_fd;
	return 0;
}

static const struct dray_axis axes[] = {
	{ .count = 4, .dst_stride = 16384, .src_stride = 16384 },
	{ .count = 16, .dst_stride = 512, .src_stride = 1024 },
	{ .count = 2, .dst_stride = 128, .src_stride = 256 },
};

static struct dray_transfer strided(void)
{
	return (struct dray_transfer){
		.op = DRAY_OP_COPY,
		.dst_fd = dst.fd,
		.src_fd = src.fd,
		.run = 64,
		.axes = (uintptr_t)axes,
		.axes_count = COUNT(axes),
	};
}

static int run_copy(void)
{
	struct dray_transfer transfer = strided();

	return submit(&transfer, NULL);
}

static int prepare_chain(void)
{
	int ret = prepare_transfer();

	return ret ? ret : run_copy();
}

/* Waits for the one before, which may still be on its way. */
static int run_chain(void)
{
	struct dray_transfer transfer = strided();
	int before = fence;

	return submit(&transfer, &before);
}

static int run_fill(void)
{
	struct dray_transfer transfer = {
		.op = DRAY_OP_FILL,
		.dst_fd = dst.fd,
		.src_fd = -1,
		.run = 4096,
		.pattern_size = 8,
		.pattern = { 1, 2, 3, 4, 5, 6, 7, 8 },
	};

	return submit(&transfer, NULL);
}

static int prepare_import(void)
{
	importer = importer_open();
	return importer < 0 ? NOT_HERE : prepare_unmapped();
}

static int run_import(void)
{
	return importer_attach(importer, src.fd, &handle);
}

static int run_list(void)
{
	uint64_t ids[4];
	struct dray_list list = { .ids = (uintptr_t)ids, .room = 4 };

	return node_call(node, DRAY_IOC_LIST, &list);
}

static int run_questions(void)
{
	struct dray_buffer_info buffer;
	struct dray_heap_info heap;
	struct dray_info info;
	int ret = node_info(node, &info);

	if (!ret)
		ret = node_heap(node, 0, &heap);
	return ret ? ret : node_buffer_info(node, src.id, &buffer);
}

static int run_export(void)
{
	struct dray_export export = { .buffer_fd = src.fd,
				      .flags = DRAY_EXPORT_READ_ONLY };
	int ret = node_call(node, DRAY_IOC_EXPORT, &export);

	if (!ret)
		other = export.fd;
	return ret;
}

static int attach(struct dray_attach *attach)
{
	int ret = node_call(node, DRAY_IOC_ATTACH, attach);

	if (!ret)
		other = attach->fd;
	return ret;
}

static int run_attach_user(void)
{
	static uint8_t memory[SIZE];
	struct dray_attach args = {
		.dmabuf_fd = -1,
		.flags = DRAY_ATTACH_USER,
		.address = (uintptr_t)memory + 100,
		.length = sizeof(memory) - 200,
	};

	return attach(&args);
}

/* A dma-buf of the importer's own memory. */
static int prepare_foreign(void)
{
	int ret;

	importer = importer_open();
	if (importer < 0)
		return NOT_HERE;
	ret = importer_create(importer, SIZE, &handle);
	if (ret)
		return ret;
	src.fd = importer_export(importer, handle);
	return src.fd < 0 ? src.fd : 0;
}

static int run_attach_dmabuf(void)
{
	struct dray_attach args = { .dmabuf_fd = src.fd };

	return attach(&args);
}

static int run_cancel(void)
{
	struct dray_cancel cancel = { .fence_fd = -1,
				      .channel = DRAY_CHANNEL_ANY };

	return node_call(node, DRAY_IOC_CANCEL, &cancel);
}

static int write_name(const char *file)
{
	char path[PATH_MAX + 16];
	int fd, ret = 0;

	snprintf(path, sizeof(path), "%s/%s", driver, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, device, strlen(device)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

static int prepare_bind(void)
{
	close_one(&node);
	/* Where it was not bound again it is not there. */
	write_name("unbind");
	return 0;
}

static int run_bind(void)
{
	int ret = write_name("bind");

	/* The core may have lost the device file; dray's part is done. */
	return ret;
}

static bool node_comes(void *context)
{
	(void)context;
	if (node < 0)
		node = node_open();
	return node >= 0;
}

static void undo_bind(void)
{
	write_name("bind");
	if (wait_for(node_comes, NULL, 1000))
		return;
	/* It was bound, but the core could not make its file. */
	write_name("unbind");
	write_name("bind");
	wait_for(node_comes, NULL, 5000);
}

/* A channel is asked for by the first that needs it. */
static int prepare_fresh(void)
{
	close_one(&node);
	write_name("unbind");
	undo_bind();
	return node < 0 ? node : prepare_transfer();
}

const struct scenario scenarios[] = {
	{ "open", prepare_nothing, run_open, undo_all },
	{ "alloc from heap 0", prepare_mode, run_alloc, undo_all, 0 },
	{ "alloc from heap 1", prepare_mode, run_alloc, undo_all, 1 },
	{ "alloc from heap 2", prepare_mode, run_alloc, undo_all, 2 },
	{ "alloc from heap 3", prepare_mode, run_alloc, undo_all, 3 },
	{ "mmap of heap 0", prepare_unmapped, run_mmap, undo_all, 0, EAGAIN },
	{ "mmap of heap 1", prepare_unmapped, run_mmap, undo_all, 1, EAGAIN },
	{ "mmap of heap 2", prepare_unmapped, run_mmap, undo_all, 2, EAGAIN },
	{ "faults of heap 0", prepare_pipe, run_fault, undo_all },
	{ "export", prepare_unmapped, run_export, undo_all },
	{ "attach of memory", prepare_nothing, run_attach_user, undo_all },
	{ "attach of a dma-buf", prepare_foreign, run_attach_dmabuf, undo_all },
	{ "address", prepare_unmapped, run_address, undo_all },
	{ "sync", prepare_unmapped, run_sync, undo_all },
	{ "cpu access", prepare_unmapped, run_cpu_access, undo_all },
	{ "submit with axes", prepare_transfer, run_copy, undo_all },
	{ "submit after another", prepare_chain, run_chain, undo_all },
	{ "submit of a fill", prepare_transfer, run_fill, undo_all },
	{ "cancel", prepare_chain, run_cancel, undo_all },
	{ "import of heap 0", prepare_import, run_import, undo_all, 0 },
	{ "import of heap 1", prepare_import, run_import, undo_all, 1 },
	{ "list", prepare_unmapped, run_list, undo_all },
	{ "questions", prepare_unmapped, run_questions, undo_all },
	{ "submit to a new channel", prepare_fresh, run_copy, undo_all, 0,
	  ENODEV },
	{ "bind", prepare_bind, run_bind, undo_bind, 0, ENODEV },
};

const unsigned int scenario_count = COUNT(scenarios);

int scenarios_open(void)
{
	struct dray_info info;
	struct stat status;
	char link[64];
	int ret;

	node = node_open();
	if (node < 0)
		return node;
	ret = node_info(node, &info);
	if (ret)
		return ret;
	memcpy(device, info.device, sizeof(device));
	if (fstat(node, &status))
		return -errno;
	snprintf(link, sizeof(link), "/sys/dev/char/%u:%u/device/driver",
		 major(status.st_rdev), minor(status.st_rdev));
	return realpath(link, driver) ? 0 : -errno;
}

/* After this the node has its channel, which it asks for but once. */
static int transfer_first(void)
{
	int ret = run_copy(), status;

	if (ret)
		return ret;
	status = fence_wait(fence);
	close_one(&fence);
	return status == 1 ? 0 : -EIO;
}

int transfers_run(unsigned int number, unsigned int percent)
{
	int ret, status;

	scenario = &scenarios[0];
	ret = prepare_transfer();
	if (!ret)
		ret = transfer_first();
	if (!ret && percent)
		ret = inject_module_begin(percent) ? NOT_HERE : 0;
	while (!ret && number--) {
		ret = run_copy();
		if (ret == -ENOMEM && percent) {
			ret = 0;
			continue;
		}
		if (ret)
			break;
		status = fence_wait(fence);
		if (!status || status == -ETIME)
			ret = -ETIME;
		close_one(&fence);
	}
	if (percent)
		inject_module_end();
	undo_all();
	return ret;
}

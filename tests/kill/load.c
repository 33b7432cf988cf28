// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The mixed load; see load.h.  Nothing here waits for long and nothing is
 * cleaned up at an end: the end is SIGKILL, wherever it comes.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/dma-buf.h>

#include "../selftests/fence.h"
#include "../selftests/importer.h"
#include "../selftests/node.h"
#include "../selftests/process.h"
#include "../selftests/ring.h"
#include "load.h"

#define BUFFERS 8
#define FENCES 8
#define LARGEST (512 * 1024)

const char *const work_names[WORKS] = {
	[WORK_ALLOC] = "allocations",
	[WORK_SYNC] = "syncs",
	[WORK_SUBMIT] = "transfers",
	[WORK_CHAIN] = "transfers after others",
	[WORK_FINISHED] = "transfers seen to end",
	[WORK_FORK] = "forks",
	[WORK_SEND] = "descriptors sent",
	[WORK_RECEIVE] = "descriptors received",
	[WORK_DIRECT_READ] = "direct reads",
	[WORK_DIRECT_WRITE] = "direct writes",
	[WORK_RING] = "buffers pinned by io_uring",
	[WORK_PIPE] = "pages given to a pipe",
	[WORK_IMPORT] = "imports",
	[WORK_EXPORT] = "read-only exports",
	[WORK_ATTACH] = "attachments",
	[WORK_CANCEL] = "cancellations",
	[WORK_ADDRESS] = "addresses",
	[WORK_REMAP] = "mappings moved",
	[WORK_ASK] = "questions",
};

/* The state of this process. */
static struct load me;
static uint64_t state;
static int node = -1;
static struct dray_info info;
static struct buffer buffers[BUFFERS];
static int fences[FENCES];
static int importer;
static int pipe_ends[2];

static uint64_t pick(uint64_t below)
{
	return next_random(&state) % below;
}

static void count(enum work work, int ret)
{
	if (!ret)
		atomic_fetch_add(&me.board->done[work], 1);
	else if (ret == -ENOTTY || ret == -ENODEV || ret == -ENOSYS ||
		 ret == -EOPNOTSUPP)
		atomic_store(&me.board->absent[work], true);
}

static struct buffer *any_buffer(void)
{
	struct buffer *buffer = &buffers[pick(BUFFERS)];

	return buffer->fd < 0 ? NULL : buffer;
}

static void work_alloc(void)
{
	struct buffer *buffer = &buffers[pick(BUFFERS)];
	size_t size = 1 + pick(pick(4) ? 65536 : LARGEST);
	int ret;

	buffer_close(buffer);
	ret = buffer_open(node, (uint32_t)pick(info.heap_count), size, buffer);
	if (!ret)
		memset(buffer->bytes, (int)pick(256), buffer->size);
	count(WORK_ALLOC, ret);
}

static void work_sync(void)
{
	struct buffer *buffer = any_buffer();
	uint64_t offset;

	if (!buffer)
		return;
	offset = pick(buffer->size);
	count(WORK_SYNC, buffer_sync(node, buffer->fd, 1 + (uint32_t)pick(2),
				     1 + (uint32_t)pick(3), offset,
				     1 + pick(buffer->size - offset)));
	buffer_cpu_access(buffer->fd, DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW);
	buffer_cpu_access(buffer->fd, DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW);
}

static void fences_look(void)
{
	int i, waiting = 0;

	for (i = 0; i < FENCES; i++) {
		if (fences[i] < 0)
			continue;
		if (!fence_is_readable(fences[i])) {
			waiting++;
			continue;
		}
		count(WORK_FINISHED, fence_status(fences[i]) != 1);
		close(fences[i]);
		fences[i] = -1;
	}
	atomic_store(&me.board->in_flight[me.index], waiting);
}

static int any_fence(void)
{
	size_t start = pick(FENCES), i;

	for (i = 0; i < FENCES && pick(FENCES); i++)
		if (fences[(start + i) % FENCES] >= 0)
			return fences[(start + i) % FENCES];
	return -1;
}

/* Every other element of one buffer into another, or a fill. */
static void work_submit(void)
{
	struct buffer *dst = any_buffer(), *src = any_buffer();
	uint64_t unit = 64, most;
	struct dray_axis axis = { .dst_stride = 128, .src_stride = 128 };
	struct dray_transfer transfer = { .axes = (uintptr_t)&axis,
					  .axes_count = 1 };
	struct dray_submit submit = {
		.channel = DRAY_CHANNEL_ANY,
		.flags = (uint32_t)pick(4),
		.transfers = (uintptr_t)&transfer,
		.count = 1,
	};
	int *fence = &fences[pick(FENCES)], in = any_fence(), ret;

	if (!dst || !src || dst == src)
		return;
	most = dst->size < src->size ? dst->size : src->size;
	axis.count = 1 + pick(most / axis.dst_stride);
	transfer.run = unit;
	transfer.dst_fd = dst->fd;
	transfer.src_fd = src->fd;
	transfer.op = DRAY_OP_COPY;
	if (!pick(4)) {
		transfer.op = DRAY_OP_FILL;
		transfer.src_fd = -1;
		transfer.pattern_size = 4;
		axis.src_stride = 0;
	}
	if (in >= 0) {
		submit.in_fences = (uintptr_t)&in;
		submit.in_fence_count = 1;
	}
	ret = node_call(node, DRAY_IOC_SUBMIT, &submit);
	count(WORK_SUBMIT, ret);
	if (in >= 0)
		count(WORK_CHAIN, ret);
	if (ret)
		return;
	if (*fence >= 0)
		close(*fence);
	*fence = submit.fence_fd;
	fences_look();
}

/* A child that uses all that it inherits, and goes soon. */
static void work_fork(void)
{
	struct buffer *buffer = any_buffer();
	pid_t parent = getpid(), child = fork();

	if (child) {
		count(WORK_FORK, child < 0);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	if (buffer) {
		memset(buffer->bytes, 0x5a, buffer->size);
		work_submit();
		work_sync();
	}
	_exit(0);
}

static void work_send(void)
{
	struct buffer *buffer = any_buffer();

	if (buffer)
		count(WORK_SEND, send_descriptor(me.outbox, buffer->fd));
}

static void work_receive(void)
{
	struct buffer *buffer = &buffers[pick(BUFFERS)];
	int fd = receive_descriptor(me.inbox);
	off_t size;

	if (fd < 0)
		return;
	buffer_close(buffer);
	size = lseek(fd, 0, SEEK_END);
	buffer->bytes = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
			     MAP_SHARED, fd, 0);
	if (buffer->bytes == MAP_FAILED) {
		buffer->bytes = NULL;
		close(fd);
		return;
	}
	buffer->fd = fd;
	buffer->size = (size_t)size;
	buffer->bytes[pick(buffer->size)]++;
	count(WORK_RECEIVE, 0);
}

static void work_direct(void)
{
	struct buffer *buffer = any_buffer();
	bool write = pick(2);
	ssize_t ret;

	if (!buffer)
		return;
	if (me.disk < 0)
		ret = -1, errno = ENODEV;
	else if (write)
		ret = pwrite(me.disk, buffer->bytes, buffer->size, 0);
	else
		ret = pread(me.disk, buffer->bytes, buffer->size, 0);
	count(write ? WORK_DIRECT_WRITE : WORK_DIRECT_READ,
	      ret < 0 ? -errno : 0);
}

/* Reads into a pinned buffer, and does not wait for the end. */
static void work_ring(void)
{
	struct buffer *buffer = any_buffer();
	static struct ring ring;
	static bool open;
	int ret;

	if (!buffer)
		return;
	if (open)
		ring_close(&ring);
	ret = ring_open(&ring);
	open = !ret;
	if (!ret)
		ret = ring_register(&ring, buffer->bytes, buffer->size);
	/* Before 6.5 it takes no mapping of a file. */
	count(WORK_RING, ret == -EFAULT ? -EOPNOTSUPP : ret);
	if (!ret && me.disk >= 0)
		ring_start(&ring, IORING_OP_READ_FIXED, me.disk, buffer->bytes,
			   buffer->size);
}

static void work_pipe(void)
{
	struct buffer *buffer = any_buffer();
	struct iovec iovec;
	char drain[4096];
	ssize_t ret;

	if (!buffer)
		return;
	iovec.iov_base = buffer->bytes;
	iovec.iov_len = 4096;
	ret = vmsplice(pipe_ends[1], &iovec, 1, SPLICE_F_NONBLOCK);
	count(WORK_PIPE, ret < 0 ? -EAGAIN : 0);
	if (ret < 0 || pick(2))
		while (read(pipe_ends[0], drain, sizeof(drain)) > 0)
			;
}

static void work_import(void)
{
	struct buffer *buffer = any_buffer();
	uint32_t handle;
	int ret;

	if (!buffer)
		return;
	ret = importer < 0 ? -ENODEV
			   : importer_attach(importer, buffer->fd, &handle);
	count(WORK_IMPORT, ret);
	if (!ret && pick(2))
		importer_detach(importer, handle);
}

static void work_export(void)
{
#ifdef DRAY_IOC_EXPORT
	struct dray_export export = { .flags = DRAY_EXPORT_READ_ONLY };
	struct buffer *buffer = any_buffer();
	void *bytes;
	int ret;

	if (!buffer)
		return;
	export.buffer_fd = buffer->fd;
	ret = node_call(node, DRAY_IOC_EXPORT, &export);
	count(WORK_EXPORT, ret);
	if (ret)
		return;
	bytes = mmap(NULL, buffer->size, PROT_READ, MAP_SHARED, export.fd, 0);
	send_descriptor(me.outbox, export.fd);
	close(export.fd);
	if (bytes != MAP_FAILED && pick(2))
		munmap(bytes, buffer->size);
#else
	count(WORK_EXPORT, -ENOTTY);
#endif
}

/* Memory of this process, pinned and copied into a buffer. */
static void work_attach(void)
{
#ifdef DRAY_IOC_ATTACH
	static uint8_t memory[4][16384] __attribute__((aligned(64)));
	struct dray_attach attach = {
		.dmabuf_fd = -1,
		.flags = DRAY_ATTACH_USER,
		.address = (uintptr_t)memory[pick(4)],
		.length = sizeof(memory[0]),
	};
	struct buffer *buffer = any_buffer();
	struct dray_transfer transfer = { .op = DRAY_OP_COPY, .run = 4096 };
	struct dray_submit submit = {
		.channel = DRAY_CHANNEL_ANY,
		.transfers = (uintptr_t)&transfer,
		.count = 1,
	};
	int *fence = &fences[pick(FENCES)];
	int ret = node_call(node, DRAY_IOC_ATTACH, &attach);

	count(WORK_ATTACH, ret);
	if (ret)
		return;
	if (buffer) {
		transfer.dst_fd = buffer->fd;
		transfer.src_fd = attach.fd;
		if (!node_call(node, DRAY_IOC_SUBMIT, &submit)) {
			if (*fence >= 0)
				close(*fence);
			*fence = submit.fence_fd;
		}
	}
	close(attach.fd);
#else
	count(WORK_ATTACH, -ENOTTY);
#endif
}

static void work_cancel(void)
{
#ifdef DRAY_IOC_CANCEL
	struct dray_cancel cancel = { .fence_fd = -1,
				      .channel = DRAY_CHANNEL_ANY };

	count(WORK_CANCEL, node_call(node, DRAY_IOC_CANCEL, &cancel));
#else
	count(WORK_CANCEL, -ENOTTY);
#endif
}

static void work_address(void)
{
	struct dray_segment segment;
	struct dray_address address = { .segments = (uintptr_t)&segment,
					.room = 1 };
	struct buffer *buffer = any_buffer();

	if (!buffer)
		return;
	address.fd = buffer->fd;
	count(WORK_ADDRESS, node_call(node, DRAY_IOC_ADDRESS, &address));
}

static void work_remap(void)
{
	struct buffer *buffer = any_buffer();
	void *moved;

	if (!buffer)
		return;
	madvise(buffer->bytes, buffer->size, MADV_DONTNEED);
	mprotect(buffer->bytes, 4096, PROT_READ);
	mprotect(buffer->bytes, 4096, PROT_READ | PROT_WRITE);
	moved = mremap(buffer->bytes, buffer->size, buffer->size,
		       MREMAP_MAYMOVE);
	if (moved != MAP_FAILED)
		buffer->bytes = moved;
	count(WORK_REMAP, moved == MAP_FAILED);
}

static void work_ask(void)
{
	struct dray_buffer_info about;
	struct buffer *buffer = any_buffer();
	struct dray_heap_info heap;
	int ret = node_heap(node, (uint32_t)pick(info.heap_count), &heap);

	if (!ret)
		ret = node_count(node) < 0;
	if (!ret && buffer && buffer->id)
		ret = node_buffer_info(node, buffer->id, &about);
	count(WORK_ASK, ret);
}

/* Another opener, whose submissions end with the one before. */
static void work_reopen(void)
{
	if (pick(8) || node < 0)
		return;
	close(node);
	node = node_open();
}

static void (*const works[])(void) = {
	work_alloc,  work_alloc,   work_alloc,	 work_sync,   work_submit,
	work_submit, work_submit,  work_submit,	 work_fork,   work_send,
	work_send,   work_receive, work_receive, work_direct, work_direct,
	work_ring,   work_pipe,	   work_import,	 work_export, work_attach,
	work_cancel, work_address, work_remap,	 work_ask,    work_reopen,
};

_Noreturn void load_run(const struct load *load)
{
	int i;

	me = *load;
	state = load->seed;
	signal(SIGCHLD, SIG_IGN);
	for (i = 0; i < BUFFERS; i++)
		buffers[i].fd = -1;
	for (i = 0; i < FENCES; i++)
		fences[i] = -1;
	importer = importer_open();
	node = node_open();
	if (node < 0 || node_info(node, &info) ||
	    pipe2(pipe_ends, O_NONBLOCK | O_CLOEXEC))
		_exit(1);
	while (node >= 0) {
		works[pick(sizeof(works) / sizeof(works[0]))]();
		fences_look();
	}
	_exit(2);
}

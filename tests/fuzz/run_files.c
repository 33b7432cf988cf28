// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What may be done with descriptors: of buffers, fences, attachments, nodes.
 */
#include <linux/sync_file.h>

#include "../selftests/fence.h"
#include "../selftests/process.h"
#include "run.h"

static enum object_type type_pick(const struct call *call)
{
	/* Buffers mostly: they are what all else is about. */
	return call->seed & 4 ? OBJECT_BUFFER : call->seed % OBJECT_TYPES;
}

static int call_result(long ret)
{
	return ret < 0 ? -errno : 0;
}

int run_close(struct thread *thread, const struct call *call)
{
	enum object_type type = type_pick(call);

	if (object_fd(type, call->a) < 0)
		return -EBADF;
	object_close(type, call->a);
	return 0;
}

int run_dup(struct thread *thread, const struct call *call)
{
	enum object_type type = type_pick(call);
	int fd = fcntl(object_fd(type, call->a), F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	object_put(type, call->b, fd, object_size(type, call->a));
	return 0;
}

/* Another way to the same file, with another mode. */
int run_reopen(struct thread *thread, const struct call *call)
{
	static const int modes[] = { O_RDWR, O_RDONLY, O_WRONLY, O_PATH };
	enum object_type type = type_pick(call);
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d",
		 object_fd(type, call->a));
	fd = open(path, modes[call->seed >> 8 & 3] | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	object_put(type, call->b, fd, object_size(type, call->a));
	return 0;
}

int run_seek(struct thread *thread, const struct call *call)
{
	static const int whence[] = { SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA };

	return call_result(lseek(object_fd(type_pick(call), call->a),
				 (off_t)(call->seed & 64 ? call->offset : 0),
				 whence[call->seed >> 8 & 3]));
}

int run_poll(struct thread *thread, const struct call *call)
{
	struct pollfd poll_fd = {
		.fd = object_fd(type_pick(call), call->a),
		.events = (short)(call->seed >> 8),
	};
	int ret = poll(&poll_fd, 1, (int)(call->seed >> 24 & 3));

	if (ret < 0)
		return -errno;
	return poll_fd.revents & POLLNVAL ? -EBADF : 0;
}

int run_send(struct thread *thread, const struct call *call)
{
	return send_descriptor(thread->outbox,
			       object_fd(type_pick(call), call->a));
}

int run_receive(struct thread *thread, const struct call *call)
{
	int fd = receive_descriptor(thread->inbox);
	off_t size;

	if (fd < 0)
		return fd;
	size = lseek(fd, 0, SEEK_END);
	object_put(call->seed & 3 ? OBJECT_BUFFER : type_pick(call), call->a,
		   fd, size > 0 ? (uint64_t)size : 0);
	return 0;
}

int run_cpu_sync(struct thread *thread, const struct call *call)
{
	struct dma_buf_sync sync = { .flags = call->seed >> 8 & 7 };

	flaw_apply(call, 0, &sync, sizeof(sync));
	return call_result(ioctl(object_fd(OBJECT_BUFFER, call->a),
				 DMA_BUF_IOCTL_SYNC, &sync));
}

int run_set_name(struct thread *thread, const struct call *call)
{
	return call_result(ioctl(object_fd(OBJECT_BUFFER, call->a),
				 DMA_BUF_SET_NAME_B, "fuzz"));
}

int run_export_fence(struct thread *thread, const struct call *call)
{
	struct dma_buf_export_sync_file export = {
		.flags = 1 + (call->seed >> 8) % 3,
		.fd = -1,
	};

	flaw_apply(call, 0, &export, sizeof(export));
	if (ioctl(object_fd(OBJECT_BUFFER, call->a),
		  DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export))
		return -errno;
	object_put(OBJECT_FENCE, call->b, export.fd, 0);
	return 0;
}

int run_import_fence(struct thread *thread, const struct call *call)
{
	struct dma_buf_import_sync_file import = {
		.flags = 1 + (call->seed >> 8) % 3,
		.fd = object_fd(OBJECT_FENCE, call->b),
	};

	flaw_apply(call, 0, &import, sizeof(import));
	return call_result(ioctl(object_fd(OBJECT_BUFFER, call->a),
				 DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &import));
}

/* Sees a transfer end well. */
int run_fence_wait(struct thread *thread, const struct call *call)
{
	int fence = object_fd(OBJECT_FENCE, call->a), status;
	struct pollfd poll_fd = { .fd = fence, .events = POLLIN };

	if (poll(&poll_fd, 1, 50) < 0)
		return -errno;
	status = fence_status(fence);
	if (!status)
		return -EAGAIN;
	return status < 0 ? status : 0;
}

int run_fence_merge(struct thread *thread, const struct call *call)
{
	int fd = fence_merge(object_fd(OBJECT_FENCE, call->a),
			     object_fd(OBJECT_FENCE, call->b));

	if (fd < 0)
		return fd;
	object_put(OBJECT_FENCE, call->c, fd, 0);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Works of the load: buffers in the hands of other processes, and of other parts
 * of the kernel.
 */
#include <sys/prctl.h>

#include "../selftests/importer.h"
#include "../selftests/ring.h"
#include "works.h"

/* A child that uses all that it inherits, and goes soon. */
void work_fork(void)
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

void work_send(void)
{
	struct buffer *buffer = any_buffer();

	if (buffer)
		count(WORK_SEND, send_descriptor(me.load.outbox, buffer->fd));
}

void work_receive(void)
{
	struct buffer *buffer = &me.buffers[pick(BUFFERS)];
	int fd = receive_descriptor(me.load.inbox);
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

void work_direct(void)
{
	struct buffer *buffer = any_buffer();
	bool write = pick(2);
	ssize_t ret;

	if (!buffer)
		return;
	if (me.load.disk < 0)
		ret = -1, errno = ENODEV;
	else if (write)
		ret = pwrite(me.load.disk, buffer->bytes, buffer->size, 0);
	else
		ret = pread(me.load.disk, buffer->bytes, buffer->size, 0);
	count(write ? WORK_DIRECT_WRITE : WORK_DIRECT_READ,
	      ret < 0 ? -errno : 0);
}

/* Reads into a pinned buffer, and does not wait for the end. */
void work_ring(void)
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
	if (!ret && me.load.disk >= 0)
		ring_start(&ring, IORING_OP_READ_FIXED, me.load.disk,
			   buffer->bytes, buffer->size);
}

void work_pipe(void)
{
	struct buffer *buffer = any_buffer();
	struct iovec iovec;
	char drain[4096];
	ssize_t ret;

	if (!buffer)
		return;
	iovec.iov_base = buffer->bytes;
	iovec.iov_len = 4096;
	ret = vmsplice(me.pipe_ends[1], &iovec, 1, SPLICE_F_NONBLOCK);
	count(WORK_PIPE, ret < 0 ? -EAGAIN : 0);
	if (ret < 0 || pick(2))
		while (read(me.pipe_ends[0], drain, sizeof(drain)) > 0)
			;
}

void work_import(void)
{
	struct buffer *buffer = any_buffer();
	uint32_t handle;
	int ret;

	if (!buffer)
		return;
	ret = me.importer < 0
		      ? -ENODEV
		      : importer_attach(me.importer, buffer->fd, &handle);
	count(WORK_IMPORT, ret);
	if (!ret && pick(2))
		importer_detach(me.importer, handle);
}

void work_remap(void)
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

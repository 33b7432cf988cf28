// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * io_uring with one registered buffer; see ring.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ring.h"

int ring_open(struct ring *ring)
{
	size_t completions;
	int ret;

	memset(ring, 0, sizeof(*ring));
	ring->fd = (int)syscall(SYS_io_uring_setup, 4, &ring->params);
	if (ring->fd < 0)
		return -errno;
	/* both queues lie in one mapping since 5.4 */
	ring->size = ring->params.sq_off.array +
		     ring->params.sq_entries * sizeof(uint32_t);
	completions = ring->params.cq_off.cqes +
		      ring->params.cq_entries * sizeof(struct io_uring_cqe);
	if (ring->size < completions)
		ring->size = completions;
	ring->queues = mmap(NULL, ring->size, PROT_READ | PROT_WRITE,
			    MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
	ring->entries =
		mmap(NULL, ring->params.sq_entries * sizeof(*ring->entries),
		     PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
		     IORING_OFF_SQES);
	if (ring->queues != MAP_FAILED && ring->entries != MAP_FAILED)
		return 0;
	ret = -errno;
	ring_close(ring);
	return ret;
}

void ring_close(struct ring *ring)
{
	if (ring->queues != MAP_FAILED)
		munmap(ring->queues, ring->size);
	if (ring->entries != MAP_FAILED)
		munmap(ring->entries,
		       ring->params.sq_entries * sizeof(*ring->entries));
	close(ring->fd);
}

int ring_register(struct ring *ring, void *bytes, size_t size)
{
	struct iovec iovec = { .iov_base = bytes, .iov_len = size };

	return syscall(SYS_io_uring_register, ring->fd, IORING_REGISTER_BUFFERS,
		       &iovec, 1) < 0
		       ? -errno
		       : 0;
}

int ring_read(struct ring *ring, int file, void *bytes, size_t size)
{
	uint32_t *tail = (uint32_t *)(ring->queues + ring->params.sq_off.tail);
	uint32_t *mask =
		(uint32_t *)(ring->queues + ring->params.sq_off.ring_mask);
	uint32_t *array =
		(uint32_t *)(ring->queues + ring->params.sq_off.array);
	uint32_t slot = *tail & *mask;

	ring->entries[slot] = (struct io_uring_sqe){
		.opcode = IORING_OP_READ_FIXED,
		.fd = file,
		.addr = (uintptr_t)bytes,
		.len = (uint32_t)size,
	};
	array[slot] = slot;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	return syscall(SYS_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0) < 0
		       ? -errno
		       : 0;
}

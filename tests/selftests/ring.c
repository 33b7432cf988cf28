// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * io_uring with one registered buffer; see ring.h.
 */
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

static uint32_t *ring_word(struct ring *ring, uint32_t offset)
{
	return (uint32_t *)(ring->queues + offset);
}

/* One entry; returns when @wanted of them have completed. */
static int ring_enter(struct ring *ring, uint8_t operation, int file,
		      void *bytes, size_t size, unsigned int wanted)
{
	const struct io_sqring_offsets *sq = &ring->params.sq_off;
	uint32_t *tail = ring_word(ring, sq->tail);
	uint32_t slot = *tail & *ring_word(ring, sq->ring_mask);

	ring->entries[slot] = (struct io_uring_sqe){
		.opcode = operation,
		.fd = file,
		.addr = (uintptr_t)bytes,
		.len = (uint32_t)size,
	};
	ring_word(ring, sq->array)[slot] = slot;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	return syscall(SYS_io_uring_enter, ring->fd, 1, wanted,
		       wanted ? IORING_ENTER_GETEVENTS : 0, NULL, 0) < 0
		       ? -errno
		       : 0;
}

int ring_start(struct ring *ring, uint8_t operation, int file, void *bytes,
	       size_t size)
{
	return ring_enter(ring, operation, file, bytes, size, 0);
}

int ring_run(struct ring *ring, uint8_t operation, int file, void *bytes,
	     size_t size)
{
	const struct io_cqring_offsets *cq = &ring->params.cq_off;
	int ret = ring_enter(ring, operation, file, bytes, size, 1);
	uint32_t *head = ring_word(ring, cq->head);
	struct io_uring_cqe *done;

	if (ret)
		return ret;
	done = (struct io_uring_cqe *)(ring->queues + cq->cqes) +
	       (*head & *ring_word(ring, cq->ring_mask));
	ret = done->res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return ret;
}

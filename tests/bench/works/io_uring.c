// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * io_uring's registered buffers: their pages are pinned for a long time, and
 * direct I/O to a disk then uses them without looking at the mapping again.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/io_uring.h>

#include "../../selftests/loop_device.h"
#include "../../selftests/node.h"
#include "cell.h"

struct ring {
	int fd;
	uint8_t *queues;
	struct io_uring_sqe *entries;
	struct io_uring_params params;
};

static int ring_open(struct ring *ring)
{
	size_t size;

	memset(ring, 0, sizeof(*ring));
	ring->fd = (int)syscall(SYS_io_uring_setup, 4, &ring->params);
	if (ring->fd < 0)
		return -1;
	/* both queues lie in one mapping since 5.4 */
	size = ring->params.cq_off.cqes +
	       ring->params.cq_entries * sizeof(struct io_uring_cqe);
	if (size < ring->params.sq_off.array +
			   ring->params.sq_entries * sizeof(uint32_t))
		size = ring->params.sq_off.array +
		       ring->params.sq_entries * sizeof(uint32_t);
	ring->queues = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			    ring->fd, IORING_OFF_SQ_RING);
	ring->entries = mmap(
		NULL, ring->params.sq_entries * sizeof(struct io_uring_sqe),
		PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQES);
	return ring->queues == MAP_FAILED || ring->entries == MAP_FAILED ? -1
									 : 0;
}

static uint32_t *ring_word(struct ring *ring, uint32_t offset)
{
	return (uint32_t *)(ring->queues + offset);
}

/* Runs one operation on the registered buffer; its count, or -1 and errno. */
static long ring_run(struct ring *ring, uint8_t operation, int file,
		     const struct memory *memory)
{
	const struct io_sqring_offsets *sq = &ring->params.sq_off;
	const struct io_cqring_offsets *cq = &ring->params.cq_off;
	uint32_t *tail = ring_word(ring, sq->tail);
	uint32_t slot = *tail & *ring_word(ring, sq->ring_mask);
	uint32_t *head = ring_word(ring, cq->head);
	struct io_uring_cqe *done;

	ring->entries[slot] = (struct io_uring_sqe){
		.opcode = operation,
		.fd = file,
		.addr = (uintptr_t)memory->bytes,
		.len = (uint32_t)memory->size,
	};
	ring_word(ring, sq->array)[slot] = slot;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS,
		    NULL, 0) != 1)
		return -1;
	done = (struct io_uring_cqe *)(ring->queues + cq->cqes) +
	       (*head & *ring_word(ring, cq->ring_mask));
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	if (done->res >= 0)
		return done->res;
	errno = -done->res;
	return -1;
}

/* With the ring open and the memory registered: WORKS. */
static enum outcome prepare(const struct memory *memory, struct cell *cell,
			    struct ring *ring, struct loop_device *disk)
{
	struct iovec iovec = { .iov_base = memory->bytes,
			       .iov_len = memory->size };
	int ret;

	cell_step(cell, "a loop device");
	ret = loop_device_open(disk, memory->size);
	errno = -ret;
	if (ret)
		return cell_absent(cell);
	cell_step(cell, "io_uring_setup");
	if (ring_open(ring))
		return cell_absent(cell);
	cell_step(cell, "IORING_REGISTER_BUFFERS");
	if (syscall(SYS_io_uring_register, ring->fd, IORING_REGISTER_BUFFERS,
		    &iovec, 1) < 0)
		return cell_refused(cell);
	return WORKS;
}

static enum outcome read_fixed(const struct memory *memory, struct cell *cell)
{
	uint8_t *wanted = cell_bytes(memory->size, 1);
	struct loop_device disk;
	enum outcome outcome;
	struct ring ring;

	outcome = prepare(memory, cell, &ring, &disk);
	if (outcome != WORKS)
		return outcome;
	cell_step(cell, "pwrite of ordinary memory");
	if (pwrite(disk.direct, wanted, memory->size, 0) !=
	    (ssize_t)memory->size)
		return cell_absent(cell);
	cell_step(cell, "IORING_OP_READ_FIXED");
	outcome = cell_short(cell,
			     ring_run(&ring, IORING_OP_READ_FIXED, disk.direct,
				      memory),
			     memory->size);
	if (outcome != WORKS)
		return outcome;
	return cell_compare(cell, memory->bytes, wanted, memory->size);
}

static enum outcome write_fixed(const struct memory *memory, struct cell *cell)
{
	uint8_t *seen = cell_bytes(memory->size, 1);
	struct loop_device disk;
	enum outcome outcome;
	struct ring ring;

	outcome = prepare(memory, cell, &ring, &disk);
	if (outcome != WORKS)
		return outcome;
	fill_random(memory->bytes, memory->size, 2);
	cell_step(cell, "IORING_OP_WRITE_FIXED");
	outcome = cell_short(cell,
			     ring_run(&ring, IORING_OP_WRITE_FIXED, disk.direct,
				      memory),
			     memory->size);
	if (outcome != WORKS)
		return outcome;
	cell_step(cell, "pread into ordinary memory");
	if (pread(disk.direct, seen, memory->size, 0) != (ssize_t)memory->size)
		return cell_absent(cell);
	return cell_compare(cell, seen, cell_bytes(memory->size, 2),
			    memory->size);
}

const struct consumer io_uring_consumers[] = {
	{ "io_uring fixed buffer, read", read_fixed },
	{ "io_uring fixed buffer, write", write_fixed },
	{ 0 },
};

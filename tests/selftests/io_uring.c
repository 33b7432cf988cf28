// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * io_uring's registered buffers over a mapping: they pin its pages for a long
 * time, and let go of them some time after the last file was closed.  On a
 * heap that cannot be pinned the kernel must refuse and must not hang.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>

#include <linux/io_uring.h>

#include "fixture_dray.h"
#include "fixture_heap.h"

#define SIZE (256 * 1024)

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
		return -errno;
	/* both rings lie in one mapping since 5.4 */
	size = ring->params.cq_off.cqes +
	       ring->params.cq_entries * sizeof(struct io_uring_cqe);
	if (size < ring->params.sq_off.array +
			   ring->params.sq_entries * sizeof(uint32_t))
		size = ring->params.sq_off.array +
		       ring->params.sq_entries * sizeof(uint32_t);
	ring->queues =
		mmap(NULL, size, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_POPULATE, ring->fd, IORING_OFF_SQ_RING);
	ring->entries =
		mmap(NULL,
		     ring->params.sq_entries * sizeof(struct io_uring_sqe),
		     PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		     ring->fd, IORING_OFF_SQES);
	if (ring->queues == MAP_FAILED || ring->entries == MAP_FAILED)
		return -errno;
	return 0;
}

static int ring_register(struct ring *ring, const struct buffer *buffer)
{
	struct iovec iovec = { .iov_base = buffer->bytes,
			       .iov_len = buffer->size };

	return syscall(SYS_io_uring_register, ring->fd, IORING_REGISTER_BUFFERS,
		       &iovec, 1) < 0
		       ? -errno
		       : 0;
}

/* Before 6.5 io_uring registered no mapping of a file but shmem's. */
static bool registers_mappings_of_files(void)
{
	struct utsname name;
	int major, minor;

	if (uname(&name) || sscanf(name.release, "%d.%d", &major, &minor) != 2)
		return true;
	return major > 6 || (major == 6 && minor >= 5);
}

/* Runs one operation on the registered buffer; its result. */
static int ring_run(struct ring *ring, uint8_t operation, int file,
		    const struct buffer *buffer)
{
	uint32_t *tail = (uint32_t *)(ring->queues + ring->params.sq_off.tail);
	uint32_t *mask =
		(uint32_t *)(ring->queues + ring->params.sq_off.ring_mask);
	uint32_t *array =
		(uint32_t *)(ring->queues + ring->params.sq_off.array);
	uint32_t *head = (uint32_t *)(ring->queues + ring->params.cq_off.head);
	uint32_t *done =
		(uint32_t *)(ring->queues + ring->params.cq_off.ring_mask);
	struct io_uring_cqe *completions =
		(struct io_uring_cqe *)(ring->queues +
					ring->params.cq_off.cqes);
	uint32_t slot = *tail & *mask;
	int result;

	ring->entries[slot] = (struct io_uring_sqe){
		.opcode = operation,
		.fd = file,
		.addr = (uintptr_t)buffer->bytes,
		.len = (uint32_t)buffer->size,
	};
	array[slot] = slot;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS,
		    NULL, 0) != 1)
		return -errno;
	result = completions[*head & *done].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return result;
}

#define OPEN_RING(ring)                                                 \
	do {                                                            \
		int _ret = ring_open(ring);                             \
		if (_ret == -ENOSYS || _ret == -EPERM)                  \
			SKIP(return, "this kernel has no io_uring: %s", \
				   strerror(-_ret));                    \
		ASSERT_EQ(0, _ret);                                     \
	} while (0)

#define NEEDS_PINS()                                                        \
	do {                                                                \
		if (!(self->heap.flags & DRAY_HEAP_PINNABLE))               \
			SKIP(return, "this heap's mappings have no pages"); \
		if (!registers_mappings_of_files())                         \
			SKIP(return, "io_uring before 6.5 takes no file's " \
				     "mapping");                            \
	} while (0)

TEST_F(heap, a_registered_buffer_is_read_into_and_written_from)
{
	uint8_t *expected = malloc(SIZE), *seen = malloc(SIZE);
	int file = memfd_create("file", 0);
	struct buffer buffer;
	struct ring ring;

	OPEN_RING(&ring);
	NEEDS_PINS();
	fill_random(expected, SIZE, 21);
	ASSERT_EQ(SIZE, pwrite(file, expected, SIZE, 0));
	ASSERT_EQ(0, buffer_open(self->node, self->heap.index, SIZE, &buffer));
	ASSERT_EQ(0, ring_register(&ring, &buffer));
	ASSERT_EQ(SIZE, ring_run(&ring, IORING_OP_READ_FIXED, file, &buffer));
	EXPECT_EQ(-1, first_difference(expected, buffer.bytes, SIZE));
	fill_random(buffer.bytes, SIZE, 22);
	ASSERT_EQ(SIZE, ring_run(&ring, IORING_OP_WRITE_FIXED, file, &buffer));
	ASSERT_EQ(SIZE, pread(file, seen, SIZE, 0));
	EXPECT_EQ(-1, first_difference(buffer.bytes, seen, SIZE));
}

TEST_F(dray, what_cannot_be_pinned_is_refused_at_once)
{
	struct dray_heap_info heap;
	struct buffer buffer;
	struct ring ring;
	uint32_t i;
	int ret;

	OPEN_RING(&ring);
	for (i = 0; i < self->info.heap_count; i++) {
		ASSERT_EQ(0, node_heap(self->node, i, &heap));
		if (heap.flags & DRAY_HEAP_PINNABLE &&
		    registers_mappings_of_files())
			continue;
		ASSERT_EQ(0, buffer_open(self->node, i, SIZE, &buffer));
		ret = ring_register(&ring, &buffer);
		EXPECT_TRUE(ret == -EFAULT || ret == -EOPNOTSUPP)
		{
			TH_LOG("register says %d on %s", ret, heap.name);
		}
		buffer_close(&buffer);
	}
}

TEST_F(heap, pinned_memory_is_not_given_to_others_and_comes_back)
{
	uint8_t *kept = malloc(SIZE), *seen = malloc(SIZE);
	int file = memfd_create("file", 0);
	struct buffer buffer, other;
	struct dray_heap_info now;
	struct ring ring;

	OPEN_RING(&ring);
	NEEDS_PINS();
	ASSERT_EQ(0, buffer_open(self->node, self->heap.index, SIZE, &buffer));
	fill_random(buffer.bytes, SIZE, 23);
	memcpy(kept, buffer.bytes, SIZE);
	ASSERT_EQ(0, ring_register(&ring, &buffer));
	munmap(buffer.bytes, buffer.size);
	close(buffer.fd);
	/* the kernel closes files after the call: ask until it has */
	ASSERT_EQ(0, node_heap(self->node, self->heap.index, &now));
	if (variant->type == DRAY_HEAP_RESERVED) {
		EXPECT_EQ(SIZE, now.quarantined);
	}
	ASSERT_EQ(0, buffer_open(self->node, self->heap.index, SIZE, &other));
	memset(other.bytes, 0xee, SIZE);
	ASSERT_EQ(SIZE, ring_run(&ring, IORING_OP_WRITE_FIXED, file, &buffer));
	ASSERT_EQ(SIZE, pread(file, seen, SIZE, 0));
	EXPECT_EQ(-1, first_difference(kept, seen, SIZE));
	buffer_close(&other);
	close(ring.fd);
	munmap(ring.entries,
	       ring.params.sq_entries * sizeof(struct io_uring_sqe));
	/* and the test's end, which takes the rest of the ring's mappings */
}

static int register_and_die(void *context)
{
	struct dray_heap_info *heap = context;
	struct buffer buffer;
	struct ring ring;
	int node = node_open();

	if (node < 0 || ring_open(&ring))
		return 1;
	if (buffer_open(node, heap->index, SIZE, &buffer) ||
	    ring_register(&ring, &buffer))
		return 2;
	raise(SIGKILL);
	return 3;
}

TEST_F(heap, a_process_killed_with_pinned_memory_leaves_nothing)
{
	struct ring ring;
	int i;

	OPEN_RING(&ring);
	NEEDS_PINS();
	for (i = 0; i < 5; i++)
		EXPECT_EQ(-SIGKILL, process_run(register_and_die, &self->heap));
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * io_uring's registered buffers over a mapping: they pin its pages for a long
 * time, and let go of them some time after the last file was closed.  On a
 * heap that cannot be pinned the kernel must refuse and must not hang.
 */
#include <sys/utsname.h>

#include "fixture_dray.h"
#include "fixture_heap.h"
#include "ring.h"
#include "step.h"

#define SIZE (256 * 1024)

/* Before 6.5 io_uring registered no mapping of a file but shmem's. */
static bool registers_mappings_of_files(void)
{
	struct utsname name;
	int major, minor;

	if (uname(&name) || sscanf(name.release, "%d.%d", &major, &minor) != 2)
		return true;
	return major > 6 || (major == 6 && minor >= 5);
}

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
	struct ring ring;

	OPEN_RING(&ring);
	NEEDS_PINS();
	fill_random(expected, SIZE, 21);
	ASSERT_EQ(SIZE, pwrite(file, expected, SIZE, 0));
	OPEN_BUFFER(buffer, self->heap.index, SIZE);
	ASSERT_EQ(0, ring_register(&ring, buffer.bytes, SIZE));
	ASSERT_EQ(SIZE, ring_run(&ring, IORING_OP_READ_FIXED, file,
				 buffer.bytes, SIZE));
	EXPECT_EQ(-1, first_difference(expected, buffer.bytes, SIZE));
	fill_random(buffer.bytes, SIZE, 22);
	ASSERT_EQ(SIZE, ring_run(&ring, IORING_OP_WRITE_FIXED, file,
				 buffer.bytes, SIZE));
	ASSERT_EQ(SIZE, pread(file, seen, SIZE, 0));
	EXPECT_EQ(-1, first_difference(buffer.bytes, seen, SIZE));
}

TEST_F(dray, what_cannot_be_pinned_is_refused_at_once)
{
	struct dray_heap_info heap;
	struct buffer buffer;
	struct ring ring;
	int ret;

	OPEN_RING(&ring);
	for (uint32_t i = 0; i < self->info.heap_count; i++) {
		ASSERT_EQ(0, node_heap(self->node, i, &heap));
		if (heap.flags & DRAY_HEAP_PINNABLE &&
		    registers_mappings_of_files())
			continue;
		ASSERT_EQ(0, buffer_open(self->node, i, SIZE, &buffer));
		ret = ring_register(&ring, buffer.bytes, SIZE);
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
	struct ring ring;

	OPEN_RING(&ring);
	NEEDS_PINS();
	OPEN_BUFFER(buffer, self->heap.index, SIZE);
	fill_random(buffer.bytes, SIZE, 23);
	memcpy(kept, buffer.bytes, SIZE);
	ASSERT_EQ(0, ring_register(&ring, buffer.bytes, SIZE));
	munmap(buffer.bytes, buffer.size);
	close(buffer.fd);
	/* the kernel closes files after the call: ask until it has */
	READ_HEAP(now, self->heap.index);
	if (variant->type == DRAY_HEAP_RESERVED) {
		EXPECT_EQ(SIZE, now.quarantined);
	}
	OPEN_BUFFER(other, self->heap.index, SIZE);
	memset(other.bytes, 0xee, SIZE);
	ASSERT_EQ(SIZE, ring_run(&ring, IORING_OP_WRITE_FIXED, file,
				 buffer.bytes, SIZE));
	ASSERT_EQ(SIZE, pread(file, seen, SIZE, 0));
	EXPECT_EQ(-1, first_difference(kept, seen, SIZE));
	buffer_close(&other);
	ring_close(&ring);
}

static int register_and_die(void *context)
{
	struct dray_heap_info *heap = context;
	struct buffer buffer;
	struct ring ring;
	int node = node_open();

	STEP_LE(0, node);
	STEP_EQ(0, ring_open(&ring));
	STEP_EQ(0, buffer_open(node, heap->index, SIZE, &buffer));
	STEP_EQ(0, ring_register(&ring, buffer.bytes, SIZE));
	return raise(SIGKILL);
}

TEST_F(heap, a_process_killed_with_pinned_memory_leaves_nothing)
{
	struct ring ring;

	OPEN_RING(&ring);
	NEEDS_PINS();
	for (int i = 0; i < 5; i++)
		EXPECT_EQ(-SIGKILL, process_run(register_and_die, &self->heap));
	EXPECT_EQ(0, ledger_differences(&self->before));
}

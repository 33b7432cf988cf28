// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * EXPORT, mappings: by no way that a process has to its memory is a buffer
 * written through a read-only descriptor.
 */
#include "attach.h"
#include "export.h"
#include "fixture_heap.h"

TEST_F(heap, a_writable_mapping_is_refused)
{
	OPEN_READ_ONLY(buffer, reader);
	EXPECT_EQ(-EACCES, map_error(buffer.size, PROT_READ | PROT_WRITE,
				     MAP_SHARED, reader));
	EXPECT_EQ(-EACCES,
		  map_error(buffer.size, PROT_WRITE, MAP_SHARED, reader));
}

TEST_F(heap, a_private_mapping_is_refused)
{
	OPEN_READ_ONLY(buffer, reader);
	EXPECT_EQ(-EINVAL,
		  map_error(buffer.size, PROT_READ, MAP_PRIVATE, reader));
	EXPECT_EQ(-EACCES, map_error(buffer.size, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE, reader));
}

TEST_F(heap, mprotect_does_not_make_it_writable)
{
	OPEN_READ_ONLY(buffer, reader);
	MAP_READ_ONLY(bytes, buffer.size, reader);
	EXPECT_EQ(-1, mprotect(bytes, buffer.size, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
}

TEST_F(heap, proc_self_mem_does_not_write_it)
{
	int memory = open("/proc/self/mem", O_RDWR);
	uint8_t value = 0x33;

	OPEN_READ_ONLY(buffer, reader);
	MAP_READ_ONLY(bytes, buffer.size, reader);
	ASSERT_LE(0, memory);
	EXPECT_EQ(-1, pwrite(memory, &value, 1, (off_t)(uintptr_t)bytes));
	EXPECT_EQ(0x11, buffer.bytes[0]);
	/* reading is another matter */
	if (!(self->heap.flags & DRAY_HEAP_PINNABLE) &&
	    !process_debugs_frames())
		return;
	EXPECT_EQ(1, pread(memory, &value, 1, (off_t)(uintptr_t)bytes));
	EXPECT_EQ(0x11, value);
}

TEST_F(heap, process_vm_writev_does_not_write_it)
{
	uint8_t value = 0x33;
	struct iovec from = { &value, 1 }, to;

	OPEN_READ_ONLY(buffer, reader);
	MAP_READ_ONLY(bytes, buffer.size, reader);
	to = (struct iovec){ bytes, 1 };
	EXPECT_EQ(-1, process_vm_writev(getpid(), &from, 1, &to, 1, 0));
	EXPECT_EQ(0x11, buffer.bytes[0]);
}

TEST_F(heap, a_read_into_it_fails)
{
	int zero;

	OPEN_READ_ONLY(buffer, reader);
	MAP_READ_ONLY(bytes, buffer.size, reader);
	zero = open("/dev/zero", O_RDONLY);
	ASSERT_LE(0, zero);
	EXPECT_EQ(-1, read(zero, bytes, 1));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(0x11, buffer.bytes[0]);
}

TEST_F(heap, its_mapping_is_not_attached_for_a_device_that_writes)
{
	struct dray_attach attach;

	OPEN_READ_ONLY(buffer, reader);
	MAP_READ_ONLY(bytes, buffer.size, reader);
	EXPECT_GT(0, attach_memory(self->node, bytes, buffer.size, 0, &attach));
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0x11));
}

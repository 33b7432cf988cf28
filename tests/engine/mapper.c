// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A buffer mapped by the file of another driver (dma_buf_mmap), which is open
 * for writing: through a read-only dma-buf nothing of that is writable, now or
 * later.  Needs dray_test_mapper.ko, and dray.ko with a node.
 */
#include "../selftests/binding.h"
#include "../selftests/export.h"
#include "../selftests/fixture_heap.h"

#define PARAMETER "/sys/module/dray_test_mapper/parameters/show"

/* The driver's file, which maps that dma-buf; or a negative errno. */
static int show(int fd)
{
	char text[16];
	int ret;

	snprintf(text, sizeof(text), "%d", fd);
	ret = write_text(PARAMETER, text);
	if (ret)
		return ret;
	ret = open("/dev/dray_test_mapper", O_RDWR | O_CLOEXEC);
	return ret < 0 ? -errno : ret;
}

/* A buffer with 0x11 everywhere, and a file that maps its reader. */
#define SHOW_READER(buffer, mapper)              \
	OPEN_READ_ONLY(buffer, mapper##_reader); \
	int mapper = show(mapper##_reader);      \
	ASSERT_LE(0, mapper)

/* The module lets go of the dma-buf, whatever the test did. */
static void hide(struct __test_metadata *_metadata)
{
	EXPECT_EQ(0, write_text(PARAMETER, "-1"));
}

TEST_F(heap, the_buffers_own_dma_buf_is_mapped_for_writing)
{
	uint8_t *bytes;
	int mapper;

	OPEN_BUFFER(buffer, self->heap.index, 4 * self->page);
	mapper = show(buffer.fd);
	ASSERT_LE(0, mapper);
	bytes = mmap(NULL, buffer.size, PROT_READ | PROT_WRITE, MAP_SHARED,
		     mapper, 0);
	hide(_metadata);
	ASSERT_NE(MAP_FAILED, bytes);
	memset(bytes, 0x22, buffer.size);
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0x22));
}

TEST_F(heap, a_read_only_one_is_mapped_for_reading)
{
	const uint8_t *bytes;

	SHOW_READER(buffer, mapper);
	bytes = mmap(NULL, buffer.size, PROT_READ, MAP_SHARED, mapper, 0);
	hide(_metadata);
	ASSERT_NE(MAP_FAILED, bytes);
	EXPECT_EQ(-1, first_other_byte(bytes, buffer.size, 0x11));
	buffer.bytes[buffer.size - 1] = 0x33;
	EXPECT_EQ(0x33, bytes[buffer.size - 1]);
}

TEST_F(heap, a_read_only_one_is_not_mapped_for_writing)
{
	SHOW_READER(buffer, mapper);
	EXPECT_EQ(-EACCES, map_error(buffer.size, PROT_READ | PROT_WRITE,
				     MAP_SHARED, mapper));
	EXPECT_EQ(-EACCES,
		  map_error(buffer.size, PROT_WRITE, MAP_SHARED, mapper));
	hide(_metadata);
}

TEST_F(heap, mprotect_does_not_make_a_read_only_one_writable)
{
	uint8_t *bytes;

	SHOW_READER(buffer, mapper);
	bytes = mmap(NULL, buffer.size, PROT_READ, MAP_SHARED, mapper, 0);
	hide(_metadata);
	ASSERT_NE(MAP_FAILED, bytes);
	EXPECT_EQ(-1, mprotect(bytes, buffer.size, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect(bytes, self->page, PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
}

/* Who debugs itself may write where a mapping could become writable. */
TEST_F(heap, proc_self_mem_does_not_write_a_read_only_one)
{
	uint8_t *bytes, value = 0x44;
	int memory;

	SHOW_READER(buffer, mapper);
	bytes = mmap(NULL, buffer.size, PROT_READ, MAP_SHARED, mapper, 0);
	hide(_metadata);
	ASSERT_NE(MAP_FAILED, bytes);
	memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, memory);
	EXPECT_EQ(-1, pwrite(memory, &value, 1, (off_t)(uintptr_t)bytes));
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0x11));
}

TEST_F(heap, a_private_mapping_is_refused)
{
	SHOW_READER(buffer, mapper);
	EXPECT_EQ(-EINVAL,
		  map_error(buffer.size, PROT_READ, MAP_PRIVATE, mapper));
	EXPECT_NE(0, map_error(buffer.size, PROT_READ | PROT_WRITE, MAP_PRIVATE,
			       mapper));
	hide(_metadata);
}

TEST_F(heap, the_mapping_keeps_the_buffer)
{
	const uint8_t *bytes;
	int mapper;

	OPEN_READ_ONLY(buffer, reader);
	mapper = show(reader);
	ASSERT_LE(0, mapper);
	bytes = mmap(NULL, buffer.size, PROT_READ, MAP_SHARED, mapper, 0);
	hide(_metadata);
	ASSERT_NE(MAP_FAILED, bytes);
	buffer_close(&buffer);
	close(reader);
	close(mapper);
	EXPECT_EQ(1, node_lists(self->node, buffer.id));
	EXPECT_EQ(-1, first_other_byte(bytes, buffer.size, 0x11));
	munmap((void *)bytes, 4 * self->page);
	EXPECT_EQ(0, node_lists(self->node, buffer.id));
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Cache modes: what a mapping shows.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fixture_mode.h"
#include "process.h"

TEST_F(mode, it_is_mapped_unless_it_is_for_devices_only)
{
	struct buffer buffer;

	if (self->effect < 0)
		SKIP(return, "this heap does not have that mode");
	ASSERT_EQ(0, allocate(self, variant->mode, &buffer));
	EXPECT_EQ(self->effect == DRAY_MODE_DEVICE ? -EACCES : 0, map(&buffer));
}

TEST_F(mode, every_byte_is_zero_at_first)
{
	struct buffer buffer;
	int i;

	if (self->effect < 0 || self->effect == DRAY_MODE_DEVICE)
		SKIP(return, "there is no such mapping");
	/* the second time the memory may be what the first left behind */
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, allocate(self, variant->mode, &buffer));
		ASSERT_EQ(0, map(&buffer));
		EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0));
		memset(buffer.bytes, 0xff, buffer.size);
		buffer_close(&buffer);
	}
}

TEST_F(mode, what_is_written_is_there_in_a_later_mapping)
{
	uint8_t *data = malloc(PAGES * self->page), *part;
	struct buffer buffer;

	if (self->effect < 0 || self->effect == DRAY_MODE_DEVICE)
		SKIP(return, "there is no such mapping");
	ASSERT_EQ(0, allocate(self, variant->mode, &buffer));
	ASSERT_EQ(0, map(&buffer));
	fill_random(data, buffer.size, 3);
	memcpy(buffer.bytes, data, buffer.size);
	ASSERT_EQ(0, munmap(buffer.bytes, buffer.size));
	ASSERT_EQ(0, map(&buffer));
	EXPECT_EQ(-1, first_difference(data, buffer.bytes, buffer.size));
	part = mmap(NULL, self->page, PROT_READ, MAP_SHARED, buffer.fd,
		    (off_t)(2 * self->page));
	ASSERT_NE(MAP_FAILED, part);
	EXPECT_EQ(-1,
		  first_difference(data + 2 * self->page, part, self->page));
}

TEST_F(mode, protection_can_be_taken_and_given_back)
{
	struct buffer buffer;

	if (self->effect < 0 || self->effect == DRAY_MODE_DEVICE)
		SKIP(return, "there is no such mapping");
	ASSERT_EQ(0, allocate(self, variant->mode, &buffer));
	ASSERT_EQ(0, map(&buffer));
	memset(buffer.bytes, 0x11, buffer.size);
	ASSERT_EQ(0, mprotect(buffer.bytes, buffer.size, PROT_READ));
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0x11));
	ASSERT_EQ(0,
		  mprotect(buffer.bytes, buffer.size, PROT_READ | PROT_WRITE));
	memset(buffer.bytes, 0x22, buffer.size);
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, 0x22));
}

TEST_F(mode, a_debugger_sees_what_a_mapping_shows)
{
	char path[] = "/proc/self/mem";
	uint8_t byte = 0x77;
	struct buffer buffer;
	off_t at;
	int fd;

	if (self->effect < 0 || self->effect == DRAY_MODE_DEVICE)
		SKIP(return, "there is no such mapping");
	if (!process_debugs_frames())
		SKIP(return, "this kernel does not ask drivers for a debugger");
	ASSERT_EQ(0, allocate(self, variant->mode, &buffer));
	ASSERT_EQ(0, map(&buffer));
	fd = open(path, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	at = (off_t)(uintptr_t)buffer.bytes + (off_t)(3 * self->page) + 5;
	ASSERT_EQ(1, pwrite(fd, &byte, 1, at));
	EXPECT_EQ(0x77, buffer.bytes[3 * self->page + 5]);
	buffer.bytes[3 * self->page + 5] = 0x66;
	ASSERT_EQ(1, pread(fd, &byte, 1, at));
	EXPECT_EQ(0x66, byte);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Cache modes: what a mapping shows, and what its entries in the page tables
 * say of caches.
 */
#include "fixture_mode.h"
#include "probes.h"
#include "process.h"

TEST_F(mode, it_is_mapped_unless_it_is_for_devices_only)
{
	OPEN_MODE(buffer);
	EXPECT_EQ(self->effect == DRAY_MODE_DEVICE ? -EACCES : 0, map(&buffer));
}

TEST_F(mode, every_byte_is_zero_at_first)
{
	struct buffer buffer;

	SKIP_IF(self->effect < 0 || self->effect == DRAY_MODE_DEVICE,
		"there is no such mapping");
	/* the second time the memory may be what the first left behind */
	for (int i = 0; i < 2; i++) {
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

	SKIP_IF(self->effect < 0 || self->effect == DRAY_MODE_DEVICE,
		"there is no such mapping");
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

	SKIP_IF(self->effect < 0 || self->effect == DRAY_MODE_DEVICE,
		"there is no such mapping");
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

	SKIP_IF(self->effect < 0 || self->effect == DRAY_MODE_DEVICE,
		"there is no such mapping");
	SKIP_IF(!process_debugs_frames(),
		"this kernel does not ask drivers for a debugger");
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

/* What memory mapped by frame number gets: the fifth argument. */
static const struct probe entries = { "entries", "remap_pfn_range",
				      "protection=$arg5:x64" };

/* Of the one mapping that was made since probes_begin(), or 0. */
static uint64_t protection_of(const struct probe *probe)
{
	FILE *file = probes_open();
	uint64_t protection = 0;
	char line[512];
	int count = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (probes_find(probe, 1, line))
			continue;
		protection = probe_field(line, "protection");
		count++;
	}
	if (file)
		fclose(file);
	return count == 1 ? protection : 0;
}

/* The kind of memory that entries of arm64 name: their bits 2 to 4. */
#define KIND(protection) ((protection) >> 2 & 7)

static int protection_of_mapping(uint32_t heap, uint32_t mode, int node,
				 size_t size, uint64_t *protection)
{
	struct dray_alloc alloc = { .size = size, .heap = heap, .mode = mode };
	struct buffer buffer = { .size = size };
	int ret = node_call(node, DRAY_IOC_ALLOC, &alloc);

	if (ret)
		return ret;
	buffer.fd = alloc.fd;
	ret = probes_begin(&entries, 1);
	if (!ret) {
		ret = map(&buffer);
		*protection = protection_of(&entries);
		probes_end(&entries, 1);
	}
	buffer_close(&buffer);
	return ret;
}

/* An emulated processor has no caches that would show it. */
TEST_F(mode, its_entries_say_whether_caches_may_have_it)
{
	uint64_t cached = 0, mine = 0;
	struct dray_heap_info cma;
	int ret;

#ifndef __aarch64__
	SKIP(return, "what entries say is known of arm64");
#endif
	SKIP_IF(self->effect != DRAY_MODE_WRITE_COMBINED &&
			self->effect != DRAY_MODE_COHERENT,
		"caches may have it, or there is no mapping");
	ret = node_find_heap(self->node, DRAY_HEAP_CMA, &cma);
	SKIP_IF(ret == -ENOENT, "no other memory is mapped by frame number");
	ASSERT_EQ(0, ret);
	ret = protection_of_mapping(cma.index, DRAY_MODE_CACHED, self->node,
				    self->page, &cached);
	SKIP_IF(ret == -ENODEV, "this kernel tells no arguments");
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, protection_of_mapping(self->heap.index, variant->mode,
					   self->node, self->page, &mine));
	ASSERT_NE(0, cached);
	ASSERT_NE(0, mine);
	EXPECT_NE(KIND(cached), KIND(mine));
	/* writable and for everyone, as the other */
	EXPECT_EQ(cached & ~(7ull << 2), mine & ~(7ull << 2));
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Mappings that lie so that the kernel could use one entry for 2 MiB of them,
 * filled by faults.  It must not: it would never drop the entry's reference to
 * the memory.
 */
#include "export.h"
#include "fixture_heap.h"

#define LARGE (2ul << 20)

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

/* Two places of LARGE bytes that are aligned to as many. */
struct places {
	uint8_t *first;
	uint8_t *second;
};

static bool places_find(struct places *places)
{
	uint8_t *area =
		mmap(NULL, 4 * LARGE, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (area == MAP_FAILED)
		return false;
	places->first =
		(uint8_t *)(((uintptr_t)area + LARGE - 1) & ~(LARGE - 1));
	places->second = places->first + 2 * LARGE;
	if (places->second + LARGE > area + 4 * LARGE)
		places->second = places->first + LARGE;
	return true;
}

static uint8_t *map_at(uint8_t *place, int fd, int protection)
{
	return mmap(place, LARGE, protection, MAP_SHARED | MAP_FIXED, fd, 0);
}

/* KiB of this process's memory in files that large entries map, or -1. */
static long large_entries(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	long size = -1;

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "FilePmdMapped: %ld kB", &size) == 1)
			break;
	fclose(file);
	return size;
}

/* Touches each page, so that all of them are mapped again. */
static void read_all(const volatile uint8_t *bytes, size_t page)
{
	for (size_t i = 0; i < LARGE; i += page)
		(void)bytes[i];
}

/* A buffer of 2 MiB, mapped at the first place. */
#define OPEN_LARGE(buffer, places)                                            \
	do {                                                                  \
		if (!(self->heap.flags & DRAY_HEAP_PINNABLE))                 \
			SKIP(return, "no faults fill this heap's mappings");  \
		if (node_copies())                                            \
			SKIP(return,                                          \
				   "no device gets a copy that is so large"); \
		ASSERT_TRUE(places_find(&(places)));                          \
		ASSERT_EQ(0, buffer_allocate(self->node, self->heap.index,    \
					     LARGE, &(buffer)));              \
		ASSERT_EQ((places).first, map_at((places).first, (buffer).fd, \
						 PROT_READ | PROT_WRITE));    \
		fill_random((places).first, LARGE, 1);                        \
	} while (0)

#define EXPECT_SMALL_ENTRIES()                \
	do {                                  \
		long large = large_entries(); \
		if (large >= 0)               \
			EXPECT_EQ(0, large);  \
	} while (0)

/* All of it, when nothing has it any more. */
#define EXPECT_BACK(buffer, places)                                        \
	do {                                                               \
		munmap((places).first, LARGE);                             \
		munmap((places).second, LARGE);                            \
		close((buffer).fd);                                        \
		EXPECT_EQ(0, ledger_reclaimed_differences(&self->before)); \
	} while (0)

TEST_F(heap, a_second_mapping_by_mremap)
{
	struct places places;
	struct buffer buffer;

	OPEN_LARGE(buffer, places);
	ASSERT_EQ(places.second,
		  mremap(places.first, 0, LARGE, MREMAP_MAYMOVE | MREMAP_FIXED,
			 places.second));
	EXPECT_EQ(-1, first_difference(places.first, places.second, LARGE));
	places.second[5] ^= 0xff;
	EXPECT_EQ(places.second[5], places.first[5]);
	EXPECT_SMALL_ENTRIES();
	EXPECT_BACK(buffer, places);
}

TEST_F(heap, the_place_that_a_mapping_was_moved_from)
{
	struct places places;
	struct buffer buffer;

	OPEN_LARGE(buffer, places);
	ASSERT_EQ(places.second,
		  mremap(places.first, LARGE, LARGE,
			 MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
			 places.second));
	places.first[5] = 1;
	EXPECT_EQ(1, places.second[5]);
	EXPECT_EQ(-1, first_difference(places.first, places.second, LARGE));
	EXPECT_SMALL_ENTRIES();
	EXPECT_BACK(buffer, places);
}

TEST_F(heap, a_mapping_that_was_emptied)
{
	struct places places;
	struct buffer buffer;
	uint8_t *copy = malloc(LARGE);

	OPEN_LARGE(buffer, places);
	memcpy(copy, places.first, LARGE);
	ASSERT_EQ(0, madvise(places.first, LARGE, MADV_DONTNEED));
	EXPECT_EQ(-1, first_difference(copy, places.first, LARGE));
	ASSERT_EQ(0, madvise(places.first, LARGE, MADV_DONTNEED));
	places.first[LARGE - 1] ^= 0xff;
	EXPECT_EQ((uint8_t)~copy[LARGE - 1], places.first[LARGE - 1]);
	EXPECT_SMALL_ENTRIES();
	EXPECT_BACK(buffer, places);
}

TEST_F(heap, many_times)
{
	struct places places;
	struct buffer buffer;

	OPEN_LARGE(buffer, places);
	ASSERT_EQ(places.second,
		  mremap(places.first, 0, LARGE, MREMAP_MAYMOVE | MREMAP_FIXED,
			 places.second));
	for (int i = 0; i < 100; i++) {
		places.second[i] = (uint8_t)i;
		ASSERT_EQ(0, madvise(places.second, LARGE, MADV_DONTNEED));
	}
	EXPECT_EQ(99, places.first[99]);
	EXPECT_BACK(buffer, places);
}

TEST_F(heap, a_read_only_descriptor)
{
	struct places places;
	struct buffer buffer;
	int reader;

	OPEN_LARGE(buffer, places);
	reader = export_fd(self->node, buffer.fd);
	ASSERT_LE(0, reader);
	ASSERT_EQ(0, munmap(places.first, LARGE));
	ASSERT_EQ(places.first, map_at(places.first, reader, PROT_READ));
	ASSERT_EQ(places.second,
		  mremap(places.first, 0, LARGE, MREMAP_MAYMOVE | MREMAP_FIXED,
			 places.second));
	EXPECT_EQ(-1, first_difference(places.first, places.second, LARGE));
	ASSERT_EQ(0, madvise(places.first, LARGE, MADV_DONTNEED));
	EXPECT_EQ(-1, first_difference(places.first, places.second, LARGE));
	EXPECT_EQ(-1, mprotect(places.second, LARGE, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_SMALL_ENTRIES();
	close(reader);
	EXPECT_BACK(buffer, places);
}

struct child {
	struct places places;
	size_t page;
};

static int touch_in_child(void *context)
{
	struct child *child = context;

	read_all(child->places.second, child->page);
	child->places.second[child->page] = 0x77;
	return large_entries() > 0;
}

TEST_F(heap, a_child_that_inherits_an_empty_mapping)
{
	struct child child = { .page = self->page };
	struct buffer buffer;

	OPEN_LARGE(buffer, child.places);
	ASSERT_EQ(child.places.second,
		  mremap(child.places.first, 0, LARGE,
			 MREMAP_MAYMOVE | MREMAP_FIXED, child.places.second));
	EXPECT_EQ(0, process_run(touch_in_child, &child));
	EXPECT_EQ(0x77, child.places.first[self->page]);
	EXPECT_BACK(buffer, child.places);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What a device of another driver is told of a buffer of any heap: pieces no
 * longer than it takes, and right also where it reaches only some of them, so
 * that it gets copies of the others.  Needs dray_test_importer.ko, and on the PC
 * dray.ko with nodes=1; copies there are only on a kernel that was told to have
 * room for them (iommu=soft).
 */
#include <sys/sysinfo.h>

#include "../selftests/binding.h"
#include "../selftests/fixture_heap.h"
#include "importing.h"

#define PIECE 65536 /* bytes; what devices take that say nothing else */

/* Of no pages. */
/* clang-format off */
FIXTURE_VARIANT_ADD(heap, carveout) { .type = DRAY_HEAP_CARVEOUT };
/* clang-format on */

static int set(const char *parameter, uint64_t value)
{
	char path[128], text[32];

	snprintf(path, sizeof(path), IMPORTER "%s", parameter);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return write_text(path, text);
}

TEST_F(heap, no_piece_is_longer_than_the_device_takes)
{
	const size_t page = self->page;
	const struct {
		uint64_t most; /* that it takes */
		size_t piece; /* whole pages of that */
	} cases[] = {
		{ 4 * page, 4 * page },
		{ 3 * page, 3 * page },
		{ page, page },
		{ 2 * page - 1, page },
		{ 5 * page + 1, 5 * page },
	};
	struct buffer buffer;
	size_t i;

	ASSERT_EQ(0, buffer_open(self->node, self->heap.index, 13 * page,
				 &buffer));
	fill_random(buffer.bytes, buffer.size, 41);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		ASSERT_EQ(0, set("max_segment", cases[i].most));
		EXPECT_EQ(0, import("to", buffer.fd));
		EXPECT_EQ(cases[i].piece, number_read(IMPORTER "longest"))
		{
			TH_LOG("case %zu", i);
		}
		EXPECT_EQ((13 * page + cases[i].piece - 1) / cases[i].piece,
			  number_read(IMPORTER "entries"));
		EXPECT_EQ(sum_of(&buffer), number_read(IMPORTER "sum"));
	}
	EXPECT_EQ(0, set("max_segment", PIECE));
}

TEST_F(heap, a_device_without_such_a_limit_is_told_one_piece)
{
	/* where devices get copies, a piece is no longer than one */
	size_t size = node_copies() ? 128 << 10 : 1 << 20;

	OPEN_BUFFER(buffer, self->heap.index, size);
	fill_random(buffer.bytes, buffer.size, 42);
	ASSERT_EQ(0, set("max_segment", UINT32_MAX));
	EXPECT_EQ(0, import("to", buffer.fd));
	EXPECT_EQ(1, number_read(IMPORTER "entries"));
	EXPECT_EQ(sum_of(&buffer), number_read(IMPORTER "sum"));
	EXPECT_EQ(0, set("max_segment", PIECE));
}

/* No copy is longer than a piece, so that there are many of each kind. */
#define SIZE (1 << 20)
#define MOST 600

/* A buffer, and a device that reaches the first half of it. */
FIXTURE(half)
{
	int node;
	size_t page;
	struct buffer buffer;
	struct ledger before;
};

static uint64_t address_of(int node, const struct buffer *buffer)
{
	struct dray_segment segment = { 0 };
	struct dray_address address = { .fd = buffer->fd,
					.segments = (uintptr_t)&segment,
					.room = 1 };

	return node_call(node, DRAY_IOC_ADDRESS, &address) ? 0
							   : segment.address;
}

/*
 * The highest of many buffers: the copies' own place has to be within reach,
 * and is high up itself.
 */
static int open_highest(int node, struct buffer *highest)
{
	static struct buffer buffers[MOST];
	uint64_t top = 0, address;
	int i, found = -1;

	for (i = 0; i < MOST; i++) {
		if (buffer_allocate(node, DRAY_HEAP_ANY, SIZE, &buffers[i]))
			break;
		address = address_of(node, &buffers[i]);
		if (address > top) {
			top = address;
			found = i;
		}
	}
	while (i--)
		if (i != found)
			buffer_close(&buffers[i]);
	if (found < 0)
		return -ENOMEM;
	*highest = buffers[found];
	highest->bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			      highest->fd, 0);
	return highest->bytes == MAP_FAILED ? -errno : 0;
}

/* For so many buffers, and for whoever else needs some meanwhile? */
static bool has_memory(void)
{
	struct sysinfo info;

	/* Where a kernel checks its own steps, much of it is the checkers'. */
	return machine_slowness() == 1 && !sysinfo(&info) &&
	       (uint64_t)info.freeram * info.mem_unit / SIZE > MOST + 64;
}

FIXTURE_SETUP(half)
{
	SETUP_NODE();
	SKIP_IF(node_copies(), "it gets a copy of all, whatever it reaches");
	SKIP_IF(!has_memory(), "too little memory to find what lies high");
	SKIP_IF(number_read("/sys/kernel/debug/swiotlb/io_tlb_nslabs") <= 0,
		"this kernel has no room for copies");
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	ASSERT_EQ(0, open_highest(self->node, &self->buffer));
	fill_random(self->buffer.bytes, SIZE, 43);
	ASSERT_EQ(0, set("limit",
			 address_of(self->node, &self->buffer) + SIZE / 2 - 1));
}

FIXTURE_TEARDOWN_PARENT(half)
{
	EXPECT_EQ(0, set("limit", 0));
	EXPECT_EQ(0, ledger_reclaimed_differences(&self->before));
}

TEST_F(half, it_reads_what_was_written)
{
	ASSERT_EQ(0, import("to", self->buffer.fd));
	EXPECT_LT(0, number_read(IMPORTER "gaps"));
	EXPECT_EQ(sum_of(&self->buffer), number_read(IMPORTER "sum"));
}

TEST_F(half, what_it_writes_is_there_when_it_has_gone)
{
	ASSERT_EQ(0, import("from", self->buffer.fd));
	EXPECT_LT(0, number_read(IMPORTER "gaps"));
	EXPECT_EQ(-1, first_other_byte(self->buffer.bytes, SIZE, 0x55));
}

TEST_F(half, what_it_reads_and_writes_is_there_when_it_has_gone)
{
	ASSERT_EQ(0, import("both", self->buffer.fd));
	EXPECT_LT(0, number_read(IMPORTER "gaps"));
	EXPECT_EQ(-1, first_other_byte(self->buffer.bytes, SIZE, 0x66));
}

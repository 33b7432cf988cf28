// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The `carveout` heap: memory that the kernel does not map, handed out to the
 * last page, with the alignment and below the limit that were asked for.
 */
#include "ledger.h"
#include "setup.h"

FIXTURE(carveout)
{
	int node;
	size_t page;
	struct dray_info info;
	struct dray_heap_info heap;
	struct ledger before;
};

FIXTURE_SETUP(carveout)
{
	SETUP_NODE();
	ASSERT_EQ(0, node_info(self->node, &self->info));
	SETUP_HEAP(DRAY_HEAP_CARVEOUT);
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
}

FIXTURE_TEARDOWN_PARENT(carveout)
{
	EXPECT_EQ(0, ledger_differences(&self->before));
}

/* For devices only, which every carveout has; @alloc has what is special. */
static int allocate(FIXTURE_DATA(carveout) * self, uint64_t size,
		    struct dray_alloc *alloc)
{
	alloc->size = size;
	alloc->heap = self->heap.index;
	alloc->mode = DRAY_MODE_DEVICE;
	return node_call(self->node, DRAY_IOC_ALLOC, alloc);
}

static uint64_t address_of(FIXTURE_DATA(carveout) * self,
			   const struct dray_alloc *alloc)
{
	struct dray_segment segment;
	struct dray_address address = { .fd = alloc->fd,
					.segments = (uintptr_t)&segment,
					.room = 1 };

	if (node_call(self->node, DRAY_IOC_ADDRESS, &address))
		return UINT64_MAX;
	return segment.address;
}

TEST_F(carveout, it_is_its_own_and_has_no_pages)
{
	EXPECT_EQ(0,
		  self->heap.flags & (DRAY_HEAP_SHARED | DRAY_HEAP_PINNABLE));
}

TEST_F(carveout, free_used_and_quarantined_are_the_total)
{
	EXPECT_LT(0, self->heap.total);
	EXPECT_EQ(self->heap.total,
		  self->heap.free + self->heap.used + self->heap.quarantined);
	EXPECT_EQ(self->heap.total, self->heap.largest_request);
}

TEST_F(carveout, cached_memory_is_refused_with_a_mode_that_there_is)
{
	struct dray_alloc alloc = { .size = 1, .heap = self->heap.index };

	EXPECT_EQ(-EOPNOTSUPP, node_call(self->node, DRAY_IOC_ALLOC, &alloc));
	EXPECT_EQ(DRAY_REASON_MODE, alloc.reason);
	EXPECT_EQ(DRAY_MODE_WRITE_COMBINED, alloc.limit);
}

TEST_F(carveout, the_kernel_has_no_mapping_of_it_and_knows_whose_it_is)
{
	unsigned long long start, end, at;
	struct dray_alloc alloc = { 0 };
	bool listed = false, named = false;
	char line[256];
	FILE *file;

	SKIP_IF(self->info.flags & DRAY_NODE_IOMMU, "addresses are translated");
	ASSERT_EQ(0, allocate(self, 1, &alloc));
	at = address_of(self, &alloc);
	/* A process that ends with a buffer whose address it had leaves it. */
	close(alloc.fd);
	file = fopen("/proc/iomem", "re");
	ASSERT_NE(NULL, file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx-%llx", &start, &end) != 2 ||
		    at < start || at > end)
			continue;
		listed = true;
		named = named || strstr(line, " : dray\n");
		EXPECT_EQ(NULL, strstr(line, "System RAM"));
	}
	fclose(file);
	EXPECT_TRUE(listed);
	EXPECT_TRUE(named);
}

TEST_F(carveout, all_of_it_in_one_piece_is_granted)
{
	struct dray_alloc all = { 0 }, more = { 0 };

	ASSERT_EQ(0, allocate(self, self->heap.total, &all));
	READ_HEAP(now, self->heap.index);
	EXPECT_EQ(0, now.free);
	EXPECT_EQ(self->heap.total, now.used);
	EXPECT_EQ(-ENOMEM, allocate(self, 1, &more));
	EXPECT_EQ(DRAY_REASON_FULL, more.reason);
	EXPECT_EQ(0, more.limit);
	close(all.fd);
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(carveout, more_than_it_has_is_refused_with_its_size)
{
	struct dray_alloc alloc = { 0 };

	EXPECT_EQ(-ENOMEM,
		  allocate(self, self->heap.total + self->page, &alloc));
	EXPECT_EQ(DRAY_REASON_SIZE, alloc.reason);
	EXPECT_EQ(self->heap.total, alloc.limit);
}

TEST_F(carveout, enough_in_pieces_is_refused_with_the_longest_piece)
{
	uint64_t quarter = self->heap.total / 4 / self->page * self->page;
	struct dray_alloc alloc[4] = { 0 }, large = { 0 };

	for (int i = 0; i < 4; i++)
		ASSERT_EQ(0, allocate(self, quarter, &alloc[i]));
	close(alloc[0].fd);
	close(alloc[2].fd);
	READ_HEAP(now, self->heap.index);
	EXPECT_EQ(-ENOMEM, allocate(self, 2 * quarter, &large));
	EXPECT_EQ(DRAY_REASON_FRAGMENTED, large.reason);
	EXPECT_EQ(now.largest_free, large.limit);
}

TEST_F(carveout, every_alignment_that_fits_is_kept)
{
	struct dray_alloc first = { 0 };

	SKIP_IF(self->info.flags & DRAY_NODE_IOMMU, "addresses are translated");
	/* so that the next free page is aligned to nothing */
	ASSERT_EQ(0, allocate(self, 1, &first));
	for (uint64_t alignment = self->page; alignment <= self->heap.total / 4;
	     alignment *= 2) {
		struct dray_alloc alloc = { .alignment = alignment };

		ASSERT_EQ(0, allocate(self, 1, &alloc));
		EXPECT_EQ(0, address_of(self, &alloc) % alignment);
		close(alloc.fd);
	}
}

TEST_F(carveout, an_alignment_above_its_size_is_refused)
{
	struct dray_alloc alloc = { .alignment = 1ull << 40 };

	EXPECT_EQ(-EINVAL, allocate(self, 1, &alloc));
	EXPECT_EQ(DRAY_REASON_ALIGNMENT, alloc.reason);
	EXPECT_LT(0, alloc.limit);
	EXPECT_LE(alloc.limit, self->heap.total);
}

TEST_F(carveout, an_address_limit_is_kept_or_named)
{
	struct dray_alloc low = { 0 }, high = { .flags = DRAY_ALLOC_TOP };
	struct dray_alloc below = { .flags = DRAY_ALLOC_TOP };
	struct dray_alloc refused = { 0 };
	uint64_t start, limit;

	SKIP_IF(self->info.flags & DRAY_NODE_IOMMU, "addresses are translated");
	ASSERT_EQ(0, allocate(self, 1, &low));
	ASSERT_EQ(0, allocate(self, 1, &high));
	start = address_of(self, &low);
	EXPECT_EQ(start + self->heap.total - self->page,
		  address_of(self, &high));
	close(high.fd);

	limit = start + self->heap.total / 2 - 1;
	below.address_limit = limit;
	ASSERT_EQ(0, allocate(self, 1, &below));
	EXPECT_EQ(limit + 1 - self->page, address_of(self, &below));

	refused.address_limit = start - 1;
	EXPECT_EQ(-ENOMEM, allocate(self, 1, &refused));
	EXPECT_EQ(DRAY_REASON_MASK, refused.reason);
	EXPECT_EQ(start - 1, refused.limit);
	close(below.fd);
	close(low.fd);
}

TEST_F(carveout, two_buffers_share_no_page)
{
	struct dray_alloc a = { 0 }, b = { 0 };
	uint64_t first, second;

	ASSERT_EQ(0, allocate(self, 3 * self->page, &a));
	ASSERT_EQ(0, allocate(self, 3 * self->page, &b));
	first = address_of(self, &a);
	second = address_of(self, &b);
	close(a.fd);
	close(b.fd);
	EXPECT_TRUE(first + 3 * self->page <= second ||
		    second + 3 * self->page <= first);
}

TEST_F(carveout, pages_of_a_mapping_cannot_be_taken_hold_of)
{
	struct dray_alloc alloc = { .size = self->page,
				    .heap = self->heap.index,
				    .mode = DRAY_MODE_WRITE_COMBINED };
	void *bytes;
	int pipes[2];
	struct iovec vector = { .iov_len = self->page };

	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ALLOC, &alloc));
	bytes = mmap(NULL, self->page, PROT_READ | PROT_WRITE, MAP_SHARED,
		     alloc.fd, 0);
	ASSERT_NE(MAP_FAILED, bytes);
	vector.iov_base = bytes;
	ASSERT_EQ(0, pipe(pipes));
	EXPECT_EQ(-1, vmsplice(pipes[1], &vector, 1, 0));
	EXPECT_EQ(EFAULT, errno);
}

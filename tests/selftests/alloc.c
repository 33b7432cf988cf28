// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ALLOC: what a buffer is, and every request that is refused, each with the
 * reason and the limit that the header promises.
 */
#include "fixture_dray.h"
#include "fixture_heap.h"

static int allocate(int node, struct dray_alloc *alloc)
{
	return node_call(node, DRAY_IOC_ALLOC, alloc);
}

TEST_F(heap, the_size_is_rounded_up_to_pages)
{
	struct dray_alloc alloc = { .size = self->page + 1,
				    .heap = self->heap.index };
	struct stat status;

	ASSERT_EQ(0, allocate(self->node, &alloc));
	EXPECT_EQ(2 * self->page, alloc.size);
	EXPECT_EQ(self->heap.index, alloc.heap);
	EXPECT_EQ(2 * self->page, lseek(alloc.fd, 0, SEEK_END));
	EXPECT_EQ(0, fstat(alloc.fd, &status));
}

TEST_F(heap, the_fd_is_closed_on_exec_and_readable_and_writable)
{
	ALLOCATE_BUFFER(buffer, self->heap.index, 1);
	EXPECT_EQ(FD_CLOEXEC, fcntl(buffer.fd, F_GETFD) & FD_CLOEXEC);
	EXPECT_EQ(O_RDWR, fcntl(buffer.fd, F_GETFL) & O_ACCMODE);
}

TEST_F(heap, ids_are_not_zero_and_not_used_again)
{
	uint64_t first;

	ALLOCATE_BUFFER(a, self->heap.index, 1);
	first = a.id;
	EXPECT_NE(0, first);
	buffer_close(&a);
	ASSERT_EQ(0, buffer_allocate(self->node, self->heap.index, 1, &a));
	ALLOCATE_BUFFER(b, self->heap.index, 1);
	EXPECT_NE(first, a.id);
	EXPECT_NE(first, b.id);
	EXPECT_NE(a.id, b.id);
}

TEST_F(heap, cached_memory_is_what_one_gets)
{
	struct dray_alloc alloc = { .size = 1,
				    .heap = self->heap.index,
				    .mode = DRAY_MODE_CACHED };

	ASSERT_EQ(0, allocate(self->node, &alloc));
	EXPECT_EQ(DRAY_MODE_CACHED, alloc.mode);
	EXPECT_EQ(DRAY_REASON_NONE, alloc.reason);
}

TEST_F(heap, from_the_upper_end_works_too)
{
	struct dray_alloc alloc = { .size = self->page,
				    .heap = self->heap.index,
				    .flags = DRAY_ALLOC_TOP };

	EXPECT_EQ(0, allocate(self->node, &alloc));
}

TEST_F(heap, a_size_above_the_largest_possible_is_refused)
{
	struct dray_alloc alloc = { .size = self->heap.largest_request + 1,
				    .heap = self->heap.index };

	EXPECT_EQ(-ENOMEM, allocate(self->node, &alloc));
	if (alloc.reason != DRAY_REASON_ORDER) {
		EXPECT_EQ(DRAY_REASON_SIZE, alloc.reason);
	}
	EXPECT_EQ(self->heap.largest_request, alloc.limit);
}

TEST_F(heap, a_limit_below_all_memory_is_refused)
{
	struct dray_alloc alloc = { .size = self->page,
				    .heap = self->heap.index,
				    .address_limit = self->page - 1 };

	EXPECT_EQ(-ENOMEM, allocate(self->node, &alloc));
	EXPECT_EQ(DRAY_REASON_MASK, alloc.reason);
	EXPECT_EQ(self->page - 1, alloc.limit);
}

TEST_F(heap, an_alignment_that_no_memory_has_is_refused)
{
	struct dray_alloc alloc = { .size = self->page,
				    .alignment = 1ull << 63,
				    .heap = self->heap.index };

	EXPECT_EQ(-EINVAL, allocate(self->node, &alloc));
	EXPECT_EQ(DRAY_REASON_ALIGNMENT, alloc.reason);
	EXPECT_LE(self->page, alloc.limit);
	EXPECT_GT(1ull << 63, alloc.limit);
}

TEST_F(heap, the_largest_alignment_that_a_refusal_names_is_granted)
{
	struct dray_alloc alloc = { .size = self->page,
				    .alignment = 1ull << 63,
				    .heap = self->heap.index };

	ASSERT_EQ(-EINVAL, allocate(self->node, &alloc));
	alloc.alignment = alloc.limit;
	alloc.reason = 0;
	alloc.limit = 0;
	/* possible at all, maybe not in what happens to be free */
	EXPECT_NE(-EINVAL, allocate(self->node, &alloc));
}

TEST_F(dray, a_size_of_zero_is_refused)
{
	struct dray_alloc alloc = { .heap = DRAY_HEAP_ANY };

	EXPECT_EQ(-EINVAL, allocate(self->node, &alloc));
	EXPECT_EQ(DRAY_REASON_SIZE, alloc.reason);
	EXPECT_LT(0, alloc.limit);
}

TEST_F(dray, a_huge_size_is_refused)
{
	const uint64_t sizes[] = { 1ull << 40, 1ull << 62, 1ull << 63 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct dray_alloc alloc = { .size = sizes[i],
					    .heap = DRAY_HEAP_ANY };

		EXPECT_EQ(-ENOMEM, allocate(self->node, &alloc));
		EXPECT_NE(DRAY_REASON_NONE, alloc.reason);
		EXPECT_LT(0, alloc.limit);
	}
}

TEST_F(dray, a_size_that_overflows_when_rounded_is_refused)
{
	const uint64_t sizes[] = { UINT64_MAX, UINT64_MAX - self->page + 2 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct dray_alloc alloc = { .size = sizes[i],
					    .heap = DRAY_HEAP_ANY };

		EXPECT_EQ(-EINVAL, allocate(self->node, &alloc));
		EXPECT_NE(DRAY_REASON_NONE, alloc.reason);
	}
}

TEST_F(dray, an_alignment_that_is_no_power_of_two_is_refused)
{
	const uint64_t alignments[] = { 3, self->page + 1, 3 * self->page,
					UINT64_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(alignments); i++) {
		struct dray_alloc alloc = { .size = 1,
					    .alignment = alignments[i],
					    .heap = DRAY_HEAP_ANY };

		EXPECT_EQ(-EINVAL, allocate(self->node, &alloc));
		EXPECT_EQ(DRAY_REASON_ALIGNMENT, alloc.reason);
	}
}

TEST_F(dray, an_alignment_below_a_page_is_granted)
{
	struct dray_alloc alloc = { .size = 1,
				    .alignment = 1,
				    .heap = DRAY_HEAP_ANY };

	EXPECT_EQ(0, allocate(self->node, &alloc));
}

TEST_F(dray, a_heap_that_is_not_there_is_refused)
{
	struct dray_alloc alloc = { .size = 1, .heap = self->info.heap_count };

	EXPECT_EQ(-EINVAL, allocate(self->node, &alloc));
	EXPECT_EQ(DRAY_REASON_HEAP, alloc.reason);
	EXPECT_EQ(self->info.heap_count, alloc.limit);
}

TEST_F(dray, an_unknown_mode_is_refused)
{
	struct dray_alloc alloc = { .size = 1,
				    .heap = DRAY_HEAP_ANY,
				    .mode = DRAY_MODE_DEVICE + 1 };

	EXPECT_EQ(-EINVAL, allocate(self->node, &alloc));
	EXPECT_EQ(DRAY_REASON_MODE, alloc.reason);
	EXPECT_EQ(DRAY_MODE_DEVICE, alloc.limit);
}

TEST_F(dray, unknown_flags_are_refused)
{
	for (uint32_t bit = 1; bit < 32; bit++) {
		struct dray_alloc alloc = { .size = 1,
					    .heap = DRAY_HEAP_ANY,
					    .flags = 1u << bit };

		EXPECT_EQ(-EINVAL, allocate(self->node, &alloc));
	}
}

TEST_F(dray, non_zero_padding_is_refused)
{
	struct dray_alloc alloc = { .size = 1,
				    .heap = DRAY_HEAP_ANY,
				    .reserved = 1 };

	EXPECT_EQ(-EINVAL, allocate(self->node, &alloc));
}

TEST_F(dray, a_name_without_an_end_is_refused)
{
	struct dray_alloc alloc = { .size = 1, .heap = DRAY_HEAP_ANY };

	memset(alloc.name, 'x', sizeof(alloc.name));
	EXPECT_EQ(-EINVAL, allocate(self->node, &alloc));
}

TEST_F(dray, the_longest_name_is_kept)
{
	struct dray_alloc alloc = { .size = 1, .heap = DRAY_HEAP_ANY };

	memset(alloc.name, 'x', sizeof(alloc.name) - 1);
	ASSERT_EQ(0, allocate(self->node, &alloc));
	READ_BUFFER(info, alloc.id);
	EXPECT_EQ(0, memcmp(alloc.name, info.name, sizeof(info.name)));
}

TEST_F(dray, no_fd_is_left_when_the_reply_cannot_be_written)
{
	struct dray_alloc alloc = { .size = 1, .heap = DRAY_HEAP_ANY };
	void *page = mmap(NULL, self->page, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int lowest, now;

	ASSERT_NE(MAP_FAILED, page);
	memcpy(page, &alloc, sizeof(alloc));
	ASSERT_EQ(0, mprotect(page, self->page, PROT_READ));
	lowest = dup(0);
	close(lowest);
	EXPECT_EQ(-EFAULT, node_call(self->node, DRAY_IOC_ALLOC, page));
	now = dup(0);
	EXPECT_EQ(lowest, now);
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(dray, no_buffer_is_left_when_no_fd_is_free)
{
	struct dray_alloc alloc = { .size = 1, .heap = DRAY_HEAP_ANY };
	struct rlimit limit = { .rlim_cur = 64, .rlim_max = 64 };

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	while (dup(0) >= 0)
		;
	ASSERT_EQ(EMFILE, errno);
	EXPECT_EQ(-EMFILE, allocate(self->node, &alloc));
	close(0);
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(dray, a_failed_call_leaves_the_heap_that_was_asked_for)
{
	struct dray_alloc alloc = { .size = 1, .heap = DRAY_HEAP_ANY };
	struct rlimit limit = { .rlim_cur = 64, .rlim_max = 64 };

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	while (dup(0) >= 0)
		;
	ASSERT_EQ(EMFILE, errno);
	EXPECT_EQ(-EMFILE, allocate(self->node, &alloc));
	EXPECT_EQ(DRAY_HEAP_ANY, alloc.heap);
	close(0);
	EXPECT_EQ(0, ledger_differences(&self->before));
	/* the same request again, with room for its fd now */
	EXPECT_EQ(0, allocate(self->node, &alloc));
	EXPECT_GT(self->info.heap_count, alloc.heap);
}

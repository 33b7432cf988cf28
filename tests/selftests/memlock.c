// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Locked memory: what the system could use otherwise is charged to the user, as
 * RLIMIT_MEMLOCK has it, and so are patterns of fills and large submissions.
 */
#include "fence.h"
#include "fixture_quota.h"
#include "step.h"

TEST_F(quota, shared_memory_is_locked_memory_of_the_user)
{
	struct taker taker = { .heap = self->heap.index,
			       .count = 8,
			       .error = -ENOMEM,
			       .reason = DRAY_REASON_MEMLOCK,
			       .locked = 8 * self->piece };

	SKIP_IF(!(self->heap.flags & DRAY_HEAP_SHARED),
		"dedicated memory is nobody's otherwise");
	/* each finds what the one before it gave back */
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(0, process_run(take_as_nobody, &taker));
	taker.locked = 8 * self->piece - 1;
	taker.count = 7;
	EXPECT_EQ(0, process_run(take_as_nobody, &taker));
}

TEST_F(quota, who_may_lock_memory_is_not_bound_by_the_limit_of_locked_memory)
{
	struct taker taker = { .heap = self->heap.index,
			       .count = MOST,
			       .locked = self->page,
			       .capabilities = CAPABILITY(CAP_IPC_LOCK) };

	EXPECT_EQ(0, process_run(take_as_nobody, &taker));
}

TEST_F(quota, dedicated_memory_is_not_locked_memory)
{
	struct taker taker = { .heap = self->heap.index,
			       .count = MOST,
			       .locked = 0 };

	SKIP_IF(self->heap.flags & DRAY_HEAP_SHARED,
		"this memory is not dedicated");
	EXPECT_EQ(0, process_run(take_as_nobody, &taker));
}

static bool one_page_can_be_had(void *heap)
{
	struct dray_alloc alloc;
	int node = node_open();
	int ret = take(node, *(uint32_t *)heap, &alloc);

	if (!ret)
		close(alloc.fd);
	close(node);
	return !ret;
}

/* Of a buffer that is all the user may lock, a pipe keeps the first page. */
static int splice_and_free_as_nobody(void *context)
{
	const struct taker *taker = context;
	struct rlimit limit = { taker->locked, taker->locked };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct iovec iovec = { .iov_len = page };
	uint32_t heap = taker->heap;
	uint8_t *seen = malloc(page);
	struct dray_alloc alloc;
	struct buffer buffer;
	int node, pipes[2];

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || process_become(NOBODY, OPENER))
		return 1;
	node = node_open();
	STEP_LE(0, node);
	STEP_EQ(0, pipe(pipes));
	STEP_EQ(0, buffer_open(node, heap, taker->locked, &buffer));
	iovec.iov_base = buffer.bytes;
	STEP_EQ((ssize_t)page, vmsplice(pipes[1], &iovec, 1, 0));
	buffer_close(&buffer);
	/* all of the compound page is still there */
	STEP_EQ(-ENOMEM, take(node, heap, &alloc));
	STEP_EQ(DRAY_REASON_MEMLOCK, alloc.reason);
	STEP_EQ((ssize_t)page, read(pipes[0], seen, page));
	STEP_TRUE(wait_for(one_page_can_be_had, &heap));
	return 0;
}

TEST_F(quota, what_a_pipe_holds_of_shared_memory_stays_locked)
{
	struct taker taker = { .heap = self->heap.index,
			       .locked = 4 * self->page };

	SKIP_IF(variant->type != DRAY_HEAP_PAGES,
		"a pipe takes no page of it, or nobody locks it");
	EXPECT_EQ(0, process_run(splice_and_free_as_nobody, &taker));
}

struct filler {
	rlim_t locked; /* bytes */
	uint32_t count; /* of transfers */
	uint32_t axes; /* of each, with one element */
	bool copies; /* the second half to the first, else fills */
	struct buffer *buffer;
};

static struct dray_transfer filler_transfer(const struct filler *filler)
{
	static struct dray_axis axes[DRAY_MAX_AXES];
	struct dray_transfer transfer = {
		.op = DRAY_OP_FILL,
		.dst_fd = filler->buffer->fd,
		.src_fd = -1,
		.run = filler->buffer->size,
		.pattern_size = 2,
		.pattern = { 1, 2 },
	};
	int i;

	for (i = 0; i < DRAY_MAX_AXES; i++)
		axes[i].count = 1;
	if (filler->copies)
		transfer = (struct dray_transfer)COPY_OF(
			filler->buffer->fd, filler->buffer->fd,
			filler->buffer->size / 2,
			.src_offset = filler->buffer->size / 2);
	transfer.axes = (uintptr_t)axes;
	transfer.axes_count = filler->axes;
	return transfer;
}

/* 1 refused for locked memory, 0 done, else something went wrong */
static int submit_as_nobody(void *context)
{
	const struct filler *filler = context;
	struct rlimit limit = { filler->locked, filler->locked };
	struct dray_transfer transfers[DRAY_MAX_TRANSFERS];
	struct dray_submit submit =
		SUBMIT_OF(DRAY_CHANNEL_ANY, transfers, filler->count);
	int ret;

	for (uint32_t i = 0; i < filler->count; i++)
		transfers[i] = filler_transfer(filler);
	STEP_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	STEP_OPEN_AS(node, NOBODY, OPENER);
	ret = node_call(node, DRAY_IOC_SUBMIT, &submit);
	if (ret == -ENOMEM && submit.reason == DRAY_REASON_MEMLOCK &&
	    submit.limit == filler->locked)
		return 1;
	STEP_EQ(0, ret);
	STEP_EQ(1, fence_wait(submit.fence_fd));
	return 0;
}

static bool nobody_can_submit(void *context)
{
	return !process_run(submit_as_nobody, context);
}

/* Bytes that a submission of so many transfers takes by itself. */
static rlim_t bytes_of_job(struct buffer *buffer, uint32_t count, uint32_t axes)
{
	struct filler copier = {
		.count = count, .axes = axes, .copies = true, .buffer = buffer
	};

	while (process_run(submit_as_nobody, &copier) == 1)
		copier.locked += buffer->size;
	return copier.locked;
}

TEST_F(quota, the_pattern_of_a_fill_is_locked_memory)
{
	struct buffer buffer;
	struct filler filler = { .count = 1, .buffer = &buffer };

	READ_NODE(info);
	SKIP_IF(!info.channel_count, "this node has no DMA channel");
	ASSERT_EQ(0, buffer_allocate(self->node, self->heap.index,
				     4 * self->page, &buffer));
	EXPECT_EQ(1, process_run(submit_as_nobody, &filler));
	/* a page is enough, if it takes more descriptors */
	filler.locked = self->page;
	EXPECT_EQ(0, process_run(submit_as_nobody, &filler));
	/* the pattern goes a little after the fence has signalled */
	EXPECT_TRUE(wait_for(nobody_can_submit, &filler));
	EXPECT_TRUE(wait_for(nobody_can_submit, &filler));
}

TEST_F(quota, all_patterns_of_a_submission_share_their_pages)
{
	struct buffer buffer;
	struct filler filler = { .count = DRAY_MAX_TRANSFERS,
				 .buffer = &buffer };
	rlim_t job;

	READ_NODE(info);
	SKIP_IF(!info.channel_count, "this node has no DMA channel");
	ASSERT_EQ(0, buffer_allocate(self->node, self->heap.index, self->page,
				     &buffer));
	job = bytes_of_job(&buffer, filler.count, 0);
	filler.locked = job + 65536;
	EXPECT_TRUE(wait_for(nobody_can_submit, &filler));
	/* the least: 256 bytes for each */
	if (self->page < 16384)
		filler.locked = job + 16384;
	EXPECT_TRUE(wait_for(nobody_can_submit, &filler));
	filler.locked--;
	EXPECT_EQ(1, process_run(submit_as_nobody, &filler));
}

TEST_F(quota, a_small_submission_is_free_and_a_large_one_locked_memory)
{
	rlim_t flat, deep;

	READ_NODE(info);
	SKIP_IF(!info.channel_count, "this node has no DMA channel");
	ALLOCATE_BUFFER(buffer, self->heap.index, self->page);
	EXPECT_EQ(0, bytes_of_job(&buffer, 1, 1));
	flat = bytes_of_job(&buffer, DRAY_MAX_TRANSFERS, 1);
	deep = bytes_of_job(&buffer, DRAY_MAX_TRANSFERS, DRAY_MAX_AXES);
	EXPECT_GE(flat, self->page);
	/* an axis takes more than what a caller tells of it, on both sides */
	EXPECT_GE(deep - flat, DRAY_MAX_TRANSFERS * (DRAY_MAX_AXES - 1) *
				       sizeof(struct dray_axis));
}

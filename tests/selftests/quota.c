// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Who is charged: the limits of a heap and of its users, and that every charge
 * ends when the memory is back.
 */
#include "fixture_quota.h"
#include "step.h"

/* Another user, who gets so many buffers before a quota stops it. */
#define STOPPED_AFTER(number)                                                  \
	{                                                                      \
		.heap = self->heap.index, .count = (number), .error = -EDQUOT, \
		.reason = DRAY_REASON_QUOTA, .locked = RLIM_INFINITY,          \
		.capabilities = CAPABILITY(CAP_IPC_LOCK),                      \
	}

TEST_F(quota, what_a_user_has_is_told_and_goes_with_the_buffer)
{
	ALLOCATE_BUFFER(buffer, self->heap.index, self->page);
	EXPECT_EQ(self->heap.user_used + self->piece,
		  user_used(self->node, self->heap.index));
	buffer_close(&buffer);
	EXPECT_EQ(self->heap.user_used,
		  user_used(self->node, self->heap.index));
}

TEST_F(quota, a_user_gets_its_limit_exactly_and_again_and_again)
{
	uint64_t limit = self->heap.user_used + 10 * self->piece;
	struct dray_alloc last;
	int i, ret;

	ASSERT_EQ(0, setting_write(self->user_limit, limit));
	READ_HEAP(now, self->heap.index);
	EXPECT_EQ(limit, now.user_limit);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(10,
			  take_all(self->node, self->heap.index, &last, &ret));
		EXPECT_EQ(-EDQUOT, ret);
		EXPECT_EQ(DRAY_REASON_QUOTA, last.reason);
		EXPECT_EQ(limit, last.limit);
	}
}

TEST_F(quota, what_all_users_have_is_told_and_goes_with_the_buffer)
{
	ALLOCATE_BUFFER(buffer, self->heap.index, self->page);
	READ_HEAP(then, self->heap.index);
	EXPECT_EQ(self->heap.charged + self->piece, then.charged);
	EXPECT_LE(then.user_used, then.charged);
	buffer_close(&buffer);
	READ_HEAP(now, self->heap.index);
	EXPECT_EQ(self->heap.charged, now.charged);
}

/* One page at each multiple of 64 KiB would leave nobody a run of 64 KiB. */
TEST_F(quota, an_alignment_costs_a_user_what_it_keeps_from_others)
{
	struct dray_alloc alloc = {
		.size = self->page,
		.alignment = 16 * self->page,
		.heap = self->heap.index,
	};
	uint64_t before = self->heap.user_used;

	SKIP_IF(variant->type == DRAY_HEAP_PAGES,
		"the page allocator takes back what is left");
	ASSERT_EQ(0, setting_write(self->user_limit,
				   before + 3 * alloc.alignment));
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ALLOC, &alloc));
	EXPECT_LE(before + 16 * self->page,
		  user_used(self->node, self->heap.index));
	ASSERT_EQ(0, close(alloc.fd));
	EXPECT_EQ(before, user_used(self->node, self->heap.index));
}

TEST_F(quota, a_byte_less_is_a_buffer_less)
{
	struct dray_alloc last;
	int ret;

	ASSERT_EQ(0, setting_write(self->user_limit,
				   self->heap.user_used + 4 * self->piece - 1));
	EXPECT_EQ(3, take_all(self->node, self->heap.index, &last, &ret));
	EXPECT_EQ(-EDQUOT, ret);
}

TEST_F(quota, one_user_at_its_limit_leaves_another_its_own)
{
	struct taker taker = STOPPED_AFTER(5);
	struct dray_alloc alloc, last;
	int ret;

	ASSERT_EQ(0, setting_write(self->user_limit, 5 * self->piece));
	while (!(ret = take(self->node, self->heap.index, &alloc)))
		;
	EXPECT_EQ(-EDQUOT, ret);
	EXPECT_EQ(-EDQUOT, take(self->node, self->heap.index, &last));
	EXPECT_EQ(0, process_run(take_as_nobody, &taker));
}

TEST_F(quota, the_limit_of_the_heap_is_for_all_users_together)
{
	struct taker taker = STOPPED_AFTER(2);
	struct dray_alloc alloc;

	ASSERT_EQ(0, setting_write(self->limit,
				   self->heap.used + 6 * self->piece));
	for (int i = 0; i < 4; i++)
		ASSERT_EQ(0, take(self->node, self->heap.index, &alloc));
	EXPECT_EQ(0, process_run(take_as_nobody, &taker));
}

TEST_F(quota, a_limit_below_what_is_taken_takes_nothing_away)
{
	struct dray_alloc alloc;

	OPEN_BUFFER(buffer, self->heap.index, 4 * self->page);
	ASSERT_EQ(0, setting_write(self->user_limit, 1));
	EXPECT_EQ(-EDQUOT, take(self->node, self->heap.index, &alloc));
	fill_random(buffer.bytes, buffer.size, 1);
	ASSERT_EQ(0, setting_write(self->user_limit, 0));
	EXPECT_EQ(0, take(self->node, self->heap.index, &alloc));
}

TEST_F(quota, what_is_no_number_is_no_limit)
{
	int fd = open(self->user_limit, O_WRONLY);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, write(fd, "much", 4));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(fd, "-1", 2));
}

TEST_F(quota, any_heap_goes_on_to_the_next)
{
	struct dray_alloc alloc;
	char path[PATH_MAX];

	READ_NODE(info);
	SKIP_IF(info.heap_count < 2 || self->heap.index,
		"for the first of several heaps");
	READ_HEAP(first, 0);
	setting_of_heap(path, first.name, "user_limit");
	ASSERT_EQ(0, setting_write(path, 1));
	ASSERT_EQ(0, take(self->node, DRAY_HEAP_ANY, &alloc));
	EXPECT_NE(0, alloc.heap);
	EXPECT_EQ(DRAY_REASON_NONE, alloc.reason);
}

/* Else a request for nearly all numbers would leave no room for others. */
TEST_F(quota, what_a_heap_never_has_is_refused_before_it_is_charged)
{
	struct dray_alloc alloc = { .size = self->heap.largest_request + 1,
				    .heap = self->heap.index };

	ASSERT_EQ(0, setting_write(self->user_limit, 1));
	EXPECT_EQ(-ENOMEM, node_call(self->node, DRAY_IOC_ALLOC, &alloc));
	EXPECT_EQ(variant->type == DRAY_HEAP_PAGES ? DRAY_REASON_ORDER
						   : DRAY_REASON_SIZE,
		  alloc.reason);
	EXPECT_EQ(self->heap.largest_request, alloc.limit);
	/* what it could have is */
	alloc.size = self->heap.largest_request;
	EXPECT_EQ(-EDQUOT, node_call(self->node, DRAY_IOC_ALLOC, &alloc));
}

struct used {
	uint32_t heap;
	uint64_t value;
};

static bool user_has(void *context)
{
	struct used *used = context;
	int node = node_open();
	bool equal = user_used(node, used->heap) == used->value;

	close(node);
	return equal;
}

/*
 * What a page in a pipe costs when its buffer of four is freed, in pages; a
 * negative errno.  The pipe is left to the caller.
 */
static int pages_kept(FIXTURE_DATA(quota) * self, size_t pages, int *pipes)
{
	uint64_t before = user_used(self->node, self->heap.index);
	struct iovec iovec = { .iov_len = self->page };
	struct buffer buffer;
	int ret;

	if (pipe(pipes))
		return -errno;
	ret = buffer_open(self->node, self->heap.index, pages * self->page,
			  &buffer);
	if (ret)
		return ret;
	iovec.iov_base = buffer.bytes + self->page;
	if (vmsplice(pipes[1], &iovec, 1, 0) != (ssize_t)self->page)
		return -errno;
	buffer_close(&buffer);
	return (int)((user_used(self->node, self->heap.index) - before) /
		     self->page);
}

TEST_F(quota, what_a_pipe_holds_is_charged_until_it_lets_go)
{
	struct used used = { self->heap.index, self->heap.user_used };
	uint8_t *seen = malloc(self->page);
	int pipes[2];

	SKIP_IF(!(self->heap.flags & DRAY_HEAP_PINNABLE),
		"a pipe cannot take pages of this heap");
	/* of three, each page is by itself */
	EXPECT_EQ(1, pages_kept(self, 3, pipes));
	ASSERT_EQ(self->page, read(pipes[0], seen, self->page));
	EXPECT_TRUE(wait_for(user_has, &used));
}

/* Four are one compound page there, which a pipe that has a part of it keeps. */
TEST_F(quota, a_page_of_a_compound_page_is_charged_as_all_of_it)
{
	bool compound = variant->type == DRAY_HEAP_PAGES;
	struct used used = { self->heap.index, self->heap.user_used };
	uint8_t *seen = malloc(self->page);
	int pipes[2];

	SKIP_IF(!(self->heap.flags & DRAY_HEAP_PINNABLE),
		"a pipe cannot take pages of this heap");
	EXPECT_EQ(compound ? 4 : 1, pages_kept(self, 4, pipes));
	READ_HEAP(heap, self->heap.index);
	EXPECT_EQ((compound ? 4 : 1) * self->page,
		  heap.quarantined - self->heap.quarantined);
	ASSERT_EQ(self->page, read(pipes[0], seen, self->page));
	EXPECT_TRUE(wait_for(user_has, &used));
}

struct victim {
	uint32_t heap;
	int told;
};

/* Takes all that nobody may have, and waits for its end. */
static int take_and_wait(void *context)
{
	const struct victim *victim = context;
	struct dray_alloc alloc;
	int node;

	STEP_EQ(0, process_become(NOBODY, OPENER | CAPABILITY(CAP_IPC_LOCK)));
	node = node_open();
	while (!take(node, victim->heap, &alloc))
		;
	STEP_EQ(1, write(victim->told, "", 1));
	for (;;)
		pause();
}

TEST_F(quota, a_killed_process_leaves_no_charge)
{
	struct taker taker = STOPPED_AFTER(6);
	struct victim victim = { .heap = self->heap.index };
	int told[2], i;
	pid_t child;
	char byte;

	ASSERT_EQ(0, setting_write(self->user_limit, 6 * self->piece));
	ASSERT_EQ(0, pipe(told));
	victim.told = told[1];
	for (i = 0; i < 3; i++) {
		child = process_start(take_and_wait, &victim);
		ASSERT_LT(0, child);
		ASSERT_EQ(1, read(told[0], &byte, 1));
		kill(child, SIGKILL);
		ASSERT_EQ(-SIGKILL, process_wait(child));
		ASSERT_EQ(0, ledger_differences(&self->before));
		EXPECT_EQ(0, process_run(take_as_nobody, &taker));
	}
}

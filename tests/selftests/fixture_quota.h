/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The fixture of tests that set limits: of each type of heap, and of what its
 * users have of it.
 */
#ifndef SELFTEST_FIXTURE_QUOTA_H
#define SELFTEST_FIXTURE_QUOTA_H

#include "ledger.h"
#include "process.h"
#include "setting.h"
#include "setup.h"
#include "step.h"

#define NOBODY 65534
#define MOST 256

/* A node for heaps that have a limit only while a test runs. */
FIXTURE(quota)
{
	int node;
	size_t page;
	uint64_t piece; /* bytes that the smallest buffer takes */
	struct dray_heap_info heap;
	struct ledger before;
	char limit[PATH_MAX];
	char user_limit[PATH_MAX];
};

HEAP_VARIANTS(quota);

FIXTURE_SETUP(quota)
{
	struct dray_heap_info now;
	struct buffer buffer;

	SETUP_NODE();
	SETUP_HEAP(variant->type);
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	setting_of_heap(self->limit, self->heap.name, "limit");
	setting_of_heap(self->user_limit, self->heap.name, "user_limit");
	ASSERT_EQ(0, buffer_allocate(self->node, self->heap.index, self->page,
				     &buffer));
	ASSERT_EQ(0, node_heap(self->node, self->heap.index, &now));
	self->piece = now.used - self->heap.used;
	buffer_close(&buffer);
}

FIXTURE_TEARDOWN_PARENT(quota)
{
	if (*self->limit) {
		EXPECT_EQ(0, setting_write(self->limit, 0));
		EXPECT_EQ(0, setting_write(self->user_limit, 0));
	}
	EXPECT_EQ(0, ledger_differences(&self->before));
}

static inline int take(int node, uint32_t heap, struct dray_alloc *alloc)
{
	*alloc = (struct dray_alloc){ .size = 1, .heap = heap };
	return node_call(node, DRAY_IOC_ALLOC, alloc);
}

/* How many of the smallest buffers can be had, up to MOST; *@last refuses. */
static inline unsigned int take_all(int node, uint32_t heap, struct dray_alloc *last,
			     int *ret)
{
	int fds[MOST];
	unsigned int count = 0, i;

	while (count < MOST && !(*ret = take(node, heap, last)))
		fds[count++] = last->fd;
	for (i = 0; i < count; i++)
		close(fds[i]);
	return count;
}

static inline uint64_t user_used(int node, uint32_t heap)
{
	struct dray_heap_info info;

	return node_heap(node, heap, &info) ? UINT64_MAX : info.user_used;
}

struct taker {
	uint32_t heap;
	unsigned int count; /* of buffers that it should get */
	uint32_t reason; /* of the refusal after them */
	int error;
	rlim_t locked; /* bytes that it may lock; RLIM_INFINITY: as it is */
	uint64_t capabilities;
};

/* 0 when another user gets exactly what it should. */
static inline int take_as_nobody(void *context)
{
	const struct taker *taker = context;
	struct rlimit limit = { taker->locked, taker->locked };
	struct dray_alloc last;
	int ret;

	if (taker->locked != RLIM_INFINITY)
		STEP_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	STEP_OPEN_AS(node, NOBODY, OPENER | taker->capabilities);
	STEP_EQ(taker->count, take_all(node, taker->heap, &last, &ret));
	if (taker->count == MOST)
		STEP_EQ(0, ret);
	return 0;
	STEP_EQ(taker->error, ret);
	STEP_EQ(taker->reason, last.reason);
	if (taker->reason == DRAY_REASON_MEMLOCK)
		STEP_EQ(taker->locked, last.limit);
	return 0;
}

#endif

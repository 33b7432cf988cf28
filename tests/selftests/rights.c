// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What somebody else may not: see the buffers of others, learn addresses, free
 * what is held, change limits; and that a node is never for everyone.
 */
#include "fixture_dray.h"
#include "fixture_heap.h"
#include "setting.h"
#include "step.h"

#define NOBODY 65534

struct other {
	struct buffer *buffer;
	char path[3][PATH_MAX];
};

/* A node that somebody else opened; opening is not the question here. */
static int open_as_nobody(void)
{
	int node;

	if (process_become(NOBODY, OPENER))
		return -EPERM;
	node = node_open();
	return process_keep(0) ? -EPERM : node;
}

static int look_as_nobody(void *context)
{
	const struct other *other = context;
	struct dray_buffer_info info;
	int node = open_as_nobody();

	STEP_LE(0, node);
	STEP_EQ(0, node_count(node));
	STEP_EQ(0, node_lists(node, other->buffer->id));
	STEP_EQ(-ENOENT, node_buffer_info(node, other->buffer->id, &info));
	STEP_EQ(0, info.size);
	STEP_EQ(0, *info.comm);
	STEP_EQ(0, *info.name);
	STEP_EQ(0, info.pid);
	return 0;
}

TEST_F(dray, another_users_buffers_cannot_be_seen)
{
	struct buffer buffer;
	struct other other = { .buffer = &buffer };

	ASSERT_EQ(0, buffer_allocate(self->node, DRAY_HEAP_ANY, self->page,
				     &buffer));
	EXPECT_EQ(0, process_run(look_as_nobody, &other));
}

static int count_as_nobody(void *context)
{
	struct dray_heap_info heap;
	int node = open_as_nobody();

	STEP_LE(0, node);
	STEP_EQ(0, node_heap(node, 0, &heap));
	STEP_EQ(0, heap.user_used);
	return 0;
}

TEST_F(dray, another_user_does_not_have_what_this_one_has)
{
	ALLOCATE_BUFFER(buffer, 0, self->page);
	EXPECT_EQ(0, process_run(count_as_nobody, NULL));
}

/* Whoever has the descriptor may use the buffer, and still gets no address. */
static int ask_as_nobody(void *context)
{
	const struct other *other = context;
	struct dray_segment segment = { 0 };
	struct dray_address address = { .fd = other->buffer->fd,
					.segments = (uintptr_t)&segment,
					.room = 1 };
	struct dray_reclaim reclaim = { 0 };
	int node = open_as_nobody();

	STEP_LE(0, node);
	STEP_EQ(-EPERM, node_call(node, DRAY_IOC_ADDRESS, &address));
	STEP_EQ(DRAY_REASON_PERMISSION, address.reason);
	STEP_EQ(0, segment.address);
	STEP_EQ(-EPERM, node_call(node, DRAY_IOC_RECLAIM, &reclaim));
	STEP_EQ(DRAY_REASON_PERMISSION, reclaim.reason);
	reclaim = (struct dray_reclaim){ .id = other->buffer->id };
	STEP_EQ(-EPERM, node_call(node, DRAY_IOC_RECLAIM, &reclaim));
	return 0;
}

TEST_F(dray, another_user_gets_no_address_and_frees_nothing)
{
	struct buffer buffer;
	struct other other = { .buffer = &buffer };

	ASSERT_EQ(0, buffer_allocate(self->node, DRAY_HEAP_ANY, self->page,
				     &buffer));
	EXPECT_EQ(0, process_run(ask_as_nobody, &other));
	READ_BUFFER(info, buffer.id);
	EXPECT_EQ(0, info.flags & DRAY_BUFFER_DISCLOSED);
}

static int allocate_below(int node, uint32_t heap, uint64_t limit,
			  struct dray_alloc *alloc)
{
	*alloc = (struct dray_alloc){ .size = 1,
				      .heap = heap,
				      .address_limit = limit };
	return node_call(node, DRAY_IOC_ALLOC, alloc);
}

/* 0 if the map of a heap refuses the limit as ALLOC does. */
static int map_below(int node, uint32_t heap, const uint64_t limit[2])
{
	struct dray_heap_map map = { .heap = heap, .address_limit = limit[0] };

	STEP_EQ(-EPERM, node_call(node, DRAY_IOC_HEAP_MAP, &map));
	STEP_EQ(DRAY_REASON_PERMISSION, map.reason);
	STEP_EQ(limit[1], map.limit);
	STEP_EQ(0, map.reach);
	return 0;
}

static int name_any_limit(void *context)
{
	const uint64_t limits[][2] = {
		{ 2, 1 },
		{ 0xfffffffe, 0x7fffffff },
		{ 0x100000000, 0xffffffff },
		{ UINT64_MAX - 1, UINT64_MAX / 2 },
	};
	const uint32_t *heap = context;
	int node = open_as_nobody(), i;
	struct dray_alloc alloc;

	for (i = 0; i < (int)ARRAY_SIZE(limits); i++)
		if (allocate_below(node, *heap, limits[i][0], &alloc) !=
			    -EPERM ||
		    alloc.reason != DRAY_REASON_PERMISSION ||
		    alloc.limit != limits[i][1] ||
		    map_below(node, *heap == DRAY_HEAP_ANY ? 0 : *heap,
			      limits[i]))
			return 1 + i;
	return 0;
}

BRIEF(TEST_F(heap, another_user_does_not_search_for_an_address_by_limits),
      EXPECT_EQ(0, process_run(name_any_limit, &self->heap.index)));

TEST_F(dray, another_user_does_not_search_all_heaps_by_limits)
{
	uint32_t heap = DRAY_HEAP_ANY;

	EXPECT_EQ(0, process_run(name_any_limit, &heap));
}

static int name_a_mask(void *context)
{
	const uint64_t limits[] = { 0xffffffff, UINT64_MAX };
	const uint32_t *heap = context;
	int node = open_as_nobody(), i, ret;
	struct dray_alloc alloc;

	for (i = 0; i < (int)ARRAY_SIZE(limits); i++) {
		ret = allocate_below(node, *heap, limits[i], &alloc);
		/* there may be nothing below it */
		if (ret && (ret != -ENOMEM || alloc.reason != DRAY_REASON_MASK))
			return 1 + i;
	}
	return 0;
}

BRIEF(TEST_F(heap, another_user_may_name_what_its_hardware_reaches),
      EXPECT_EQ(0, process_run(name_a_mask, &self->heap.index)));

static int open_node_as_nobody(void *context)
{
	int node;

	STEP_EQ(0, process_become(NOBODY, 0));
	node = node_open();
	STEP_EQ(-EACCES, node);
	return 0;
}

TEST_F(dray, a_node_is_not_for_everyone)
{
	struct stat status;

	ASSERT_EQ(0, fstat(self->node, &status));
	EXPECT_EQ(0, status.st_mode & 0007)
	{
		TH_LOG("the mode is %o", status.st_mode);
	}
	EXPECT_EQ(0, process_run(open_node_as_nobody, NULL));
}

static int set_as_nobody(void *context)
{
	const struct other *other = context;

	STEP_EQ(0, process_become(NOBODY, 0));
	for (int i = 0; i < 3; i++)
		if (setting_write(other->path[i], 0) != -EACCES)
			return 2 + i;
	return 0;
}

TEST_F(dray, limits_and_holding_are_for_root_to_change)
{
	struct other other;
	struct stat status;

	READ_HEAP(heap, 0);
	setting_of_heap(other.path[0], heap.name, "limit");
	setting_of_heap(other.path[1], heap.name, "user_limit");
	ASSERT_EQ(0, setting_of_node(other.path[2], self->node, "hold"));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, stat(other.path[i], &status))
		{
			TH_LOG("%s", other.path[i]);
		}
		EXPECT_EQ(0, status.st_uid);
		EXPECT_EQ(0644, status.st_mode & 0777);
	}
	EXPECT_EQ(0, process_run(set_as_nobody, &other));
}

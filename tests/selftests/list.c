// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * LIST: which buffers exist, and who sees them.
 */
#include "fixture_dray.h"
#include "step.h"

#define ROOM 16

static int list(int node, uint64_t *ids, uint32_t room, uint32_t *count)
{
	struct dray_list call = { .ids = (uintptr_t)ids, .room = room };
	int ret = node_call(node, DRAY_IOC_LIST, &call);

	*count = call.count;
	return ret;
}

TEST_F(dray, a_new_buffer_is_listed)
{
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	EXPECT_EQ(1, node_lists(self->node, buffer.id));
	EXPECT_EQ(self->before.buffers + 1, node_count(self->node));
}

TEST_F(dray, a_freed_buffer_is_not_listed)
{
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	buffer_close(&buffer);
	EXPECT_EQ(0, ledger_differences(&self->before));
	EXPECT_EQ(0, node_lists(self->node, buffer.id));
}

TEST_F(dray, every_buffer_is_listed_once)
{
	struct buffer buffer[8];
	uint64_t ids[4096];
	uint32_t count, i, j, seen;

	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, buffer_allocate(self->node, DRAY_HEAP_ANY, 1,
					     &buffer[i]));
	ASSERT_EQ(0, list(self->node, ids, 4096, &count));
	ASSERT_EQ((uint32_t)self->before.buffers + 8, count);
	for (i = 0; i < 8; i++) {
		for (seen = 0, j = 0; j < count; j++)
			seen += ids[j] == buffer[i].id;
		EXPECT_EQ(1, seen);
	}
}

TEST_F(dray, a_short_list_tells_how_many_there_are)
{
	uint64_t ids[ROOM];
	struct buffer buffer[3];
	uint32_t count, i;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, buffer_allocate(self->node, DRAY_HEAP_ANY, 1,
					     &buffer[i]));
	for (i = 0; i < ROOM; i++)
		ids[i] = UINT64_MAX;
	ASSERT_EQ(0, list(self->node, ids, 2, &count));
	EXPECT_EQ((uint32_t)self->before.buffers + 3, count);
	EXPECT_NE(UINT64_MAX, ids[0]);
	EXPECT_NE(UINT64_MAX, ids[1]);
	EXPECT_EQ(UINT64_MAX, ids[2]);
}

TEST_F(dray, without_room_they_are_counted)
{
	uint32_t count;

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	ASSERT_EQ(0, list(self->node, NULL, 0, &count));
	EXPECT_EQ((uint32_t)self->before.buffers + 1, count);
}

TEST_F(dray, a_list_to_nowhere_is_refused)
{
	uint32_t count;

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	EXPECT_EQ(-EFAULT, list(self->node, NULL, ROOM, &count));
}

TEST_F(dray, a_huge_room_costs_nothing)
{
	uint64_t ids[4096];
	uint32_t count;

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	ASSERT_EQ(0, list(self->node, ids, UINT32_MAX, &count));
	EXPECT_EQ((uint32_t)self->before.buffers + 1, count);
}

TEST_F(dray, another_opener_sees_the_same)
{
	OPEN_NODE(other);
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	EXPECT_EQ(1, node_lists(other, buffer.id));
}

struct stranger {
	uint64_t id;
	uint64_t capabilities;
};

/* 0 not seen, 1 seen; 16 added where the count says otherwise */
static int look(void *context)
{
	struct stranger *stranger = context;
	int seen, count;

	STEP_OPEN_AS(node, 65534, stranger->capabilities);
	seen = node_lists(node, stranger->id);
	count = node_count(node);
	STEP_LE(0, seen);
	STEP_LE(0, count);
	return seen + (seen != !!count ? 16 : 0);
}

TEST_F(dray, another_user_does_not_see_it)
{
	struct stranger stranger = { .capabilities = OPENER };

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	stranger.id = buffer.id;
	EXPECT_EQ(0, process_run(look, &stranger));
}

TEST_F(dray, an_administrator_of_another_uid_sees_it)
{
	struct stranger stranger = { .capabilities = ADMINISTRATOR };

	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	stranger.id = buffer.id;
	EXPECT_EQ(1, process_run(look, &stranger));
}

static int own(void *context)
{
	struct buffer buffer;

	STEP_OPEN_AS(node, 65534, OPENER);
	STEP_EQ(0, buffer_allocate(node, DRAY_HEAP_ANY, 1, &buffer));
	return node_lists(node, buffer.id) == 1 && node_count(node) == 1;
}

TEST_F(dray, a_user_sees_his_own)
{
	/* one of root's, so that "all" and "his own" differ */
	ALLOCATE_BUFFER(buffer, DRAY_HEAP_ANY, 1);
	EXPECT_EQ(1, process_run(own, NULL));
}

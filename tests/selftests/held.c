// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Memory whose address was given out, and what becomes of it when the process
 * that got the address has ended: it is held, until RECLAIM.
 */
#include "fixture_held.h"

TEST_F(held, what_a_killed_process_knew_the_address_of_is_held)
{
	uint64_t id = hold_one(self);

	ASSERT_NE(0, id);
	EXPECT_EQ(1, node_lists(self->node, id));
	READ_BUFFER(info, id);
	EXPECT_EQ(DRAY_BUFFER_HELD | DRAY_BUFFER_DISCLOSED | DRAY_BUFFER_ORPHAN,
		  info.flags);
	EXPECT_EQ(PAGES * self->page, info.size);
	EXPECT_EQ(0, info.mapped);
	READ_HEAP(heap, self->heap.index);
	EXPECT_EQ(self->heap.held + PAGES * self->page, heap.held);
	EXPECT_EQ(self->heap.used + PAGES * self->page, heap.used);
	EXPECT_EQ(self->heap.user_used + PAGES * self->page, heap.user_used);
}

TEST_F(held, an_exit_with_all_open_holds_too)
{
	struct owner owner = { .end = EXITS, .socket = -1 };
	uint64_t id = run_owner(self, &owner);

	ASSERT_NE(0, id);
	EXPECT_TRUE(is_held(self->node, id));
}

TEST_F(held, a_mapping_that_goes_with_its_process_holds_too)
{
	struct owner owner = { .map = true, .socket = -1 };
	uint64_t id = run_owner(self, &owner);

	ASSERT_NE(0, id);
	EXPECT_TRUE(is_held(self->node, id));
}

TEST_F(held, a_process_that_lives_and_closes_frees_at_once)
{
	struct owner owner = { .end = CLOSES, .socket = -1 };
	uint64_t id = run_owner(self, &owner);

	ASSERT_NE(0, id);
	EXPECT_EQ(0, node_lists(self->node, id));
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(held, without_an_address_nothing_is_held)
{
	struct owner owner = { .asking = NOTHING, .socket = -1 };

	ASSERT_NE(0, run_owner(self, &owner));
	EXPECT_EQ(0, ledger_differences(&self->before));
	owner.asking = COUNT;
	ASSERT_NE(0, run_owner(self, &owner));
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(held, a_node_that_does_not_hold_frees)
{
	ASSERT_EQ(0, setting_write(self->hold, 0));
	ASSERT_NE(0, hold_one(self));
	EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(held, whoever_drops_the_last_reference_the_end_of_the_process_counts)
{
	struct owner owner = { 0 };
	int sockets[2], fd;
	uint64_t id;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	owner.socket = sockets[1];
	id = run_owner(self, &owner);
	ASSERT_NE(0, id);
	fd = receive_descriptor(sockets[0]);
	ASSERT_LE(0, fd);
	EXPECT_FALSE(is_held(self->node, id));
	close(fd);
	EXPECT_TRUE(is_held(self->node, id));
}

TEST_F(held, a_buffer_tells_that_its_address_was_given_out)
{
	struct dray_segment segment;
	struct dray_address call = { .segments = (uintptr_t)&segment,
				     .room = 1 };

	ALLOCATE_BUFFER(buffer, self->heap.index, self->page);
	READ_BUFFER(info, buffer.id);
	EXPECT_EQ(0, info.flags);
	call.fd = buffer.fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ADDRESS, &call));
	ASSERT_EQ(0, node_buffer_info(self->node, buffer.id, &info));
	EXPECT_EQ(DRAY_BUFFER_DISCLOSED, info.flags);
	buffer_close(&buffer);
}

TEST_F(held, what_is_held_is_not_given_out)
{
	SKIP_IF(self->heap.flags & DRAY_HEAP_SHARED,
		"others take from this heap too");
	ASSERT_NE(0, hold_one(self));
	READ_HEAP(heap, self->heap.index);
	EXPECT_EQ(self->heap.free - PAGES * self->page, heap.free);
}

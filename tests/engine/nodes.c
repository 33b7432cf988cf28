// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * One buffer and many nodes: how many devices may use it, and that other users
 * who have its descriptor leave its owner's engine room.  Needs
 * dray_test_engine.ko, then dray.ko with nodes=10 channels=2.
 */
#include "../selftests/step.h"
#include "../selftests/fixture_engine.h"

#define NODES 10
#define DEVICES 8 /* of other nodes on one buffer */
#define GUESTS 4 /* of those, what other users bring */
#define NOBODY 65534

/* Has the device of a node find the buffer, without telling where it is. */
static int map_for(int index, int fd, struct dray_address *address)
{
	char path[32];
	int node, ret;

	snprintf(path, sizeof(path), "/dev/dray%d", index);
	node = open(path, O_RDWR | O_CLOEXEC);
	if (node < 0)
		return -errno;
	*address = (struct dray_address){ .fd = fd };
	ret = node_call(node, DRAY_IOC_ADDRESS, address);
	close(node);
	return ret;
}

/* On all nodes but the first: how many can be mapped for, until one cannot. */
static int map_for_many(int fd, struct dray_address *address)
{
	int i, ret;

	for (i = 1; i < NODES; i++) {
		ret = map_for(i, fd, address);
		if (ret)
			return ret == -ENOSPC ? i - 1 : ret;
	}
	return NODES;
}

/* 0, or what is wrong. */
static int take_all_as_nobody(void *buffer)
{
	struct dray_address address;
	int fd = ((struct buffer *)buffer)->fd;

	STEP_EQ(0, process_become(NOBODY, OPENER | CAPABILITY(CAP_SYS_RAWIO)));
	STEP_EQ(GUESTS, map_for_many(fd, &address));
	STEP_EQ(DRAY_REASON_DEVICES, address.reason);
	STEP_EQ(GUESTS, address.limit);
	/* what is there stays of use */
	STEP_EQ(0, map_for(GUESTS, fd, &address));
	return 0;
}

TEST_F(engine, nodes_of_another_user_leave_room_for_the_engine)
{
	struct dray_transfer transfer = engine_copy(self, self->page);

	ASSERT_EQ(0, process_run(take_all_as_nobody, &self->dst));
	EXPECT_EQ(0, engine_run(self, &transfer, 1));
	EXPECT_EQ(-1, engine_difference(self));
}

TEST_F(engine, nodes_of_another_user_leave_room_for_the_owners)
{
	struct dray_address address;

	ASSERT_EQ(0, process_run(take_all_as_nobody, &self->dst));
	/* four of them are mapped for already */
	EXPECT_EQ(DEVICES, map_for_many(self->dst.fd, &address));
	EXPECT_EQ(DRAY_REASON_DEVICES, address.reason);
	EXPECT_EQ(DEVICES, address.limit);
}

/* 0, or what is wrong. */
static int copy_as_nobody(void *context)
{
	FIXTURE_DATA(engine) *self = context;
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_submit submit = SUBMIT_OF(DRAY_CHANNEL_ANY, &transfer, 1);
	int ret = take_all_as_nobody(&self->dst), node;

	if (ret)
		return ret;
	node = node_open();
	STEP_LE(0, node);
	STEP_EQ(0, node_call(node, DRAY_IOC_SUBMIT, &submit));
	STEP_EQ(1, fence_wait(submit.fence_fd));
	return 0;
}

TEST_F(engine, another_user_has_the_engine_of_the_buffers_node)
{
	EXPECT_EQ(0, process_run(copy_as_nobody, self));
}

TEST_F(engine, the_owner_has_eight_devices_of_other_nodes_and_no_ninth)
{
	struct dray_address address;

	EXPECT_EQ(DEVICES, map_for_many(self->dst.fd, &address));
	EXPECT_EQ(DRAY_REASON_DEVICES, address.reason);
	EXPECT_EQ(DEVICES, address.limit);
}

TEST_F(engine, the_buffers_node_has_it_with_all_its_devices)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_address address;

	EXPECT_EQ(DEVICES, map_for_many(self->dst.fd, &address));
	EXPECT_EQ(0, map_for(0, self->dst.fd, &address));
	EXPECT_EQ(0, engine_run(self, &transfer, 1));
	EXPECT_EQ(-1, engine_difference(self));
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * One buffer and many nodes, also those of another user.  Needs
 * dray_test_engine.ko, then dray.ko with nodes=10 channels=2.
 */
#include "../selftests/step.h"
#include "../selftests/fixture_engine.h"

#define NODES 10
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

/* On all nodes but the first; 0, or the first error. */
static int map_for_all(int fd)
{
	struct dray_address address;
	int i, ret = 0;

	for (i = 1; i < NODES && !ret; i++)
		ret = map_for(i, fd, &address);
	return ret;
}

/* 0, or what is wrong. */
static int map_for_all_as_nobody(void *buffer)
{
	STEP_EQ(0, process_become(NOBODY, CAPABILITY(CAP_DAC_OVERRIDE) |
						  CAPABILITY(CAP_SYS_RAWIO)));
	STEP_EQ(0, map_for_all(((struct buffer *)buffer)->fd));
	return 0;
}

TEST_F(engine, nodes_of_another_user_leave_room_for_the_engine)
{
	struct dray_transfer transfer = engine_copy(self, self->page);

	ASSERT_EQ(0, process_run(map_for_all_as_nobody, &self->dst));
	EXPECT_EQ(0, engine_run(self, &transfer, 1));
	EXPECT_EQ(-1, engine_difference(self));
}

TEST_F(engine, a_buffer_is_mapped_for_the_devices_of_all_nodes)
{
	struct dray_transfer transfer = engine_copy(self, self->page);
	struct dray_address address;

	EXPECT_EQ(0, map_for_all(self->dst.fd));
	EXPECT_EQ(0, map_for(0, self->dst.fd, &address));
	EXPECT_EQ(0, engine_run(self, &transfer, 1));
	EXPECT_EQ(-1, engine_difference(self));
}

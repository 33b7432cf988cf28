// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Two nodes on one engine: a channel is asked for when it is first used, and
 * the node that comes too late is told so, until the other one goes.  Needs
 * dray_test_engine.ko, which has two channels, then dray.ko with nodes=2
 * channels=2.
 */
#include "../selftests/binding.h"
#include "../selftests/fixture_engine.h"

#define DRIVER "/sys/bus/platform/drivers/dray/"
#define CHANNELS 2
#define SIZE 8192

static const char *const names[] = { "dray-virtual.0", "dray-virtual.1" };
static const char *const paths[] = { "/dev/dray0", "/dev/dray1" };

/* Two nodes that have asked for no channel, and a buffer of the second's. */
FIXTURE(busy)
{
	int node[2];
	struct buffer buffer;
	struct ledger before;
};

static bool node_is_there(void *path)
{
	return !access(path, R_OK | W_OK);
}

FIXTURE_SETUP(busy)
{
	for (int i = 0; i < 2; i++) {
		write_text(DRIVER "unbind", names[i]);
		ASSERT_EQ(0, write_text(DRIVER "bind", names[i]));
		ASSERT_TRUE(wait_for(node_is_there, (void *)paths[i]));
		self->node[i] = open(paths[i], O_RDWR | O_CLOEXEC);
		ASSERT_LE(0, self->node[i]);
	}
	ASSERT_EQ(0, ledger_take(self->node[1], &self->before));
	ASSERT_EQ(0, buffer_open(self->node[1], DRAY_HEAP_ANY, SIZE,
				 &self->buffer));
	fill_random(self->buffer.bytes, SIZE, 3);
}

FIXTURE_TEARDOWN_PARENT(busy)
{
	if (access(paths[0], F_OK)) {
		EXPECT_EQ(0, write_text(DRIVER "bind", names[0]));
	}
	EXPECT_TRUE(wait_for(node_answers, NULL));
	EXPECT_EQ(0, ledger_differences(&self->before));
}

/* The lower half to the upper one; 1, or what the call or the fence says. */
static int copy(FIXTURE_DATA(busy) * self, int which, uint32_t channel,
		struct dray_submit *submit)
{
	struct dray_transfer transfer =
		COPY_OF(self->buffer.fd, self->buffer.fd, SIZE / 2,
			.dst_offset = SIZE / 2);
	int ret;

	*submit = (struct dray_submit)SUBMIT_OF(channel, &transfer, 1);
	ret = node_call(self->node[which], DRAY_IOC_SUBMIT, submit);
	if (ret)
		return ret;
	ret = fence_wait(submit->fence_fd);
	close(submit->fence_fd);
	return ret;
}

static bool is_copied(FIXTURE_DATA(busy) * self)
{
	return first_difference(self->buffer.bytes,
				self->buffer.bytes + SIZE / 2, SIZE / 2) == -1;
}

/* The first node uses so many channels, and has them from then on. */
#define TAKE(count)                                                  \
	do {                                                         \
		struct dray_submit taking;                           \
		uint32_t taken;                                      \
		for (taken = 0; taken < (count); taken++)            \
			ASSERT_EQ(1, copy(self, 0, taken, &taking)); \
		memset(self->buffer.bytes, 0, SIZE / 2);             \
		fill_random(self->buffer.bytes, SIZE / 2, 4);        \
	} while (0)

TEST_F(busy, submit_to_a_channel_of_another_node_is_refused)
{
	struct dray_submit submit;

	TAKE(CHANNELS);
	EXPECT_EQ(-EBUSY, copy(self, 1, 0, &submit));
	EXPECT_EQ(DRAY_REASON_CHANNEL, submit.reason);
	EXPECT_EQ(CHANNELS, submit.limit);
	EXPECT_FALSE(is_copied(self));
}

TEST_F(busy, submit_to_any_channel_is_refused_when_none_is_left)
{
	struct dray_submit submit;

	TAKE(CHANNELS);
	EXPECT_EQ(-EBUSY, copy(self, 1, DRAY_CHANNEL_ANY, &submit));
	EXPECT_EQ(DRAY_REASON_CHANNEL, submit.reason);
	EXPECT_EQ(CHANNELS, submit.limit);
}

TEST_F(busy, sync_for_a_channel_of_another_node_is_refused)
{
	struct dray_range range = { .fd = self->buffer.fd,
				    .width = SIZE,
				    .rows = 1 };
	struct dray_sync sync =
		SYNC_OF(0, DRAY_SYNC_FOR_DEVICE, DRAY_TO_DEVICE, &range, 1);

	TAKE(CHANNELS);
	EXPECT_EQ(-EBUSY, node_call(self->node[1], DRAY_IOC_SYNC, &sync));
	EXPECT_EQ(DRAY_REASON_CHANNEL, sync.reason);
	EXPECT_EQ(CHANNELS, sync.limit);
}

TEST_F(busy, a_node_takes_what_another_one_has_not_used)
{
	struct dray_submit submit;

	TAKE(CHANNELS - 1);
	EXPECT_EQ(1, copy(self, 1, 0, &submit));
	EXPECT_TRUE(is_copied(self));
	EXPECT_EQ(-EBUSY, copy(self, 1, 1, &submit));
}

TEST_F(busy, a_refused_channel_works_when_the_other_node_has_gone)
{
	struct dray_submit submit;

	TAKE(CHANNELS);
	ASSERT_EQ(-EBUSY, copy(self, 1, 0, &submit));
	ASSERT_EQ(0, write_text(DRIVER "unbind", names[0]));
	EXPECT_EQ(1, copy(self, 1, 0, &submit));
	EXPECT_TRUE(is_copied(self));
}

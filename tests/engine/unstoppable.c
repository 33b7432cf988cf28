// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * An engine that nothing stops, and which might go on when its node is gone: its
 * channels are not used.  Needs dray_test_engine.ko with no_terminate=1, then
 * dray.ko with nodes=1 channels=2.
 */
#include "fixture_fault.h"

/* How often a record of the kernel's log has this text, or a negative errno. */
static int log_count(const char *text)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char record[1024];
	ssize_t length;
	int count = 0;

	if (log < 0)
		return -errno;
	for (;;) {
		length = read(log, record, sizeof(record) - 1);
		if (length < 0 && errno == EPIPE)
			continue;
		if (length < 0)
			break;
		record[length] = 0;
		count += strstr(record, text) != NULL;
	}
	close(log);
	return count;
}

TEST_F(fault, submit_to_a_channel_that_cannot_be_stopped_is_refused)
{
	struct dray_submit submit;

	EXPECT_EQ(-EBUSY, submit_on(self, 0, &submit));
	EXPECT_EQ(DRAY_REASON_CHANNEL, submit.reason);
	EXPECT_EQ(2, submit.limit);
	READ_CHANNEL(channel, 0);
	EXPECT_EQ(0, channel.flags & DRAY_CHANNEL_OPEN);
	EXPECT_EQ(0, parameter_read("dray_test_engine", "descriptors"));
	EXPECT_FALSE(is_equal(self));
}

TEST_F(fault, submit_to_any_channel_is_refused_when_none_can_be_stopped)
{
	struct dray_submit submit;

	EXPECT_EQ(-EBUSY, submit_on(self, DRAY_CHANNEL_ANY, &submit));
	EXPECT_EQ(DRAY_REASON_CHANNEL, submit.reason);
	EXPECT_EQ(2, submit.limit);
}

TEST_F(fault, the_log_says_once_of_each_node_that_a_channel_is_not_used)
{
	int before = log_count("channel copy1: its engine ");
	struct dray_submit submit;

	ASSERT_LE(0, before);
	EXPECT_EQ(-EBUSY, submit_on(self, 1, &submit));
	EXPECT_EQ(-EBUSY, submit_on(self, 1, &submit));
	EXPECT_EQ(before + 1, log_count("channel copy1: its engine "));
}

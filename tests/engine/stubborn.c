// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * An engine that refuses to be stopped when its node goes, and goes on later:
 * what it calls back into is still there.  Needs dray_test_engine.ko, then
 * dray.ko with nodes=1 channels=2, which stays for good.
 */
#include "fixture_fault.h"

static bool one_was_done(void *before)
{
	return parameter_read("dray_test_engine", "descriptors") >
	       *(int *)before;
}

static int references(void)
{
	char text[16] = "";
	int fd = open("/sys/module/dray/refcnt", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	close(fd);
	return length > 0 ? atoi(text) : -1;
}

static bool so_many_refer(void *count)
{
	return references() == *(int *)count;
}

/* A round hangs that nobody but the engine knows any more. */
static int lose_a_round(FIXTURE_DATA(fault) * self)
{
	int ret = copy_and_hang(self);

	buffer_close(&self->src);
	buffer_close(&self->dst);
	return ret;
}

TEST_F(fault, what_a_stubborn_engine_calls_back_into_is_there)
{
	int before = parameter_read("dray_test_engine", "descriptors");
	int one = 1;

	ASSERT_LE(0, before);
	ASSERT_EQ(-ETIMEDOUT, lose_a_round(self));
	ASSERT_EQ(0, knob("stubborn", 1));
	ASSERT_EQ(0, write_text(DRIVER "unbind", "dray-virtual.0"));
	close(self->node);
	EXPECT_TRUE(wait_for(so_many_refer, &one));

	ASSERT_EQ(0, knob("hang", 0));
	EXPECT_TRUE(wait_for(one_was_done, &before));
	EXPECT_EQ(1, references());
	/* as the fixture expects it; the other channel is as good as ever */
	ASSERT_EQ(0, knob("stubborn", 0));
	ASSERT_EQ(0, write_text(DRIVER "bind", "dray-virtual.0"));
	ASSERT_TRUE(wait_for(node_answers, NULL));
	self->node = node_open();
	ASSERT_LE(0, self->node);
	ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY, 8 * PIECE,
				 &self->src));
	ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY, 8 * PIECE,
				 &self->dst));
	fill_random(self->src.bytes, self->src.size, 8);
	ASSERT_EQ(0, watchdog(PATIENT));
	EXPECT_EQ(1, copy_on(self, DRAY_CHANNEL_ANY));
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The end and the sleep of an engine under a node: the node goes before its
 * engine does, and the engine has nothing to do while the system sleeps.
 */
#include "../selftests/shared.h"
#include "../selftests/sleep.h"
#include "fixture_fault.h"

#define ENGINE_DRIVER "/sys/bus/platform/drivers/dray-test-engine/"
#define ENGINE "dray-test-engine"
#define NODE "dray-virtual.0"

#define TRACING "/sys/kernel/tracing/"
#define INSTANCE TRACING "instances/dray_life"

/* How often a channel's work item was woken, or a negative errno. */
static int feeds(void)
{
	FILE *file = fopen(INSTANCE "/trace", "r");
	char line[512];
	int count = 0;

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file))
		count += strstr(line, "function=dray_feed") != NULL;
	fclose(file);
	return count;
}

/* An engine without device_synchronize: the last of it comes with the release. */
TEST_F(fault, a_callback_as_the_channel_is_released_wakes_nobody)
{
	int before = parameter_read("dray_test_engine", "descriptors"), count;
	struct dray_submit submit;

	SKIP_IF(access(TRACING "instances", W_OK),
		"this kernel does not trace");
	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, watchdog(IMPATIENT));
	ASSERT_EQ(0, knob("parting", 1));
	ASSERT_EQ(0, submit_on(self, 0, &submit));
	EXPECT_EQ(-ETIMEDOUT, fence_wait(submit.fence_fd));
	rmdir(INSTANCE);
	ASSERT_EQ(0, mkdir(INSTANCE, 0700));
	ASSERT_EQ(0, write_text(INSTANCE "/events/workqueue/"
					 "workqueue_queue_work/enable",
				"1"));
	EXPECT_EQ(0, write_text(DRIVER "unbind", NODE));
	count = feeds();
	rmdir(INSTANCE);
	/* each channel once, to end its jobs */
	EXPECT_EQ((int)self->info.channel_count, count);
	EXPECT_LT(before, parameter_read("dray_test_engine", "descriptors"));
}

TEST_F(fault, unbinding_an_engine_takes_the_node_first)
{
	struct dray_submit slow, queued;
	struct dray_info info;
	int ret;

	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, submit_on(self, 0, &slow));
	ASSERT_EQ(0, submit_on(self, 0, &queued));
	ASSERT_EQ(0, unbind_held(ENGINE_DRIVER, ENGINE));
	EXPECT_TRUE(node_is_gone(NULL));
	EXPECT_EQ(-ENODEV, node_info(self->node, &info));
	ret = fence_status(slow.fence_fd);
	EXPECT_TRUE(ret == 1 || ret == -ENODEV)
	{
		TH_LOG("the fence says %d", ret);
	}
	EXPECT_EQ(-ENODEV, fence_status(queued.fence_fd));
	/* the mappings stay, and can be written */
	memset(self->dst.bytes, 1, self->dst.size);

	ASSERT_EQ(0, write_text(ENGINE_DRIVER "bind", ENGINE));
	ASSERT_EQ(0, write_text(DRIVER "bind", NODE));
	close(self->node);
	self->node = node_open();
	ASSERT_LE(0, self->node);
	EXPECT_EQ(1, copy_on(self, 0));
}

TEST_F(fault, unbinding_an_engine_leaves_what_is_shared)
{
	struct dray_submit slow;
	struct shared shared;
	int fences[2], ret, i;

	ret = shared_open(self->node, &self->dst, &shared);
	NEED_VGEM(ret);
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, submit_on(self, 0, &slow));
	ASSERT_EQ(0, shared_submit(self->node, &self->dst, &shared, fences));
	ASSERT_EQ(0, unbind_held(ENGINE_DRIVER, ENGINE));
	EXPECT_TRUE(node_is_gone(NULL));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(-ENODEV, fence_status(fences[i]));
	ASSERT_EQ(0, write_text(ENGINE_DRIVER "bind", ENGINE));
	ASSERT_EQ(0, write_text(DRIVER "bind", NODE));
	close(self->node);
	self->node = node_open();
	ASSERT_LE(0, self->node);
	EXPECT_STREQ("", shared_change(self->node, &self->dst, &shared, true));
	shared_close(&shared);
	EXPECT_EQ(0, node_lists(self->node, shared.user.id));
	EXPECT_EQ(0, node_lists(self->node, shared.dmabuf.id));
	EXPECT_EQ(1, copy_on(self, 0));
}

TEST_F(fault, unbinding_an_engine_that_hangs_completes)
{
	struct dray_submit submit;
	int ret;

	ASSERT_EQ(0, knob("hang", 1));
	ASSERT_EQ(0, watchdog(IMPATIENT));
	ASSERT_EQ(0, submit_on(self, 0, &submit));
	ASSERT_EQ(0, write_text(ENGINE_DRIVER "unbind", ENGINE));
	/* whether the engine had been given anything or not */
	ret = fence_status(submit.fence_fd);
	EXPECT_TRUE(ret == -ETIMEDOUT || ret == -ENODEV)
	{
		TH_LOG("the fence says %d", ret);
	}
	EXPECT_TRUE(node_is_gone(NULL));
	ASSERT_EQ(0, write_text(ENGINE_DRIVER "bind", ENGINE));
	ASSERT_EQ(0, write_text(DRIVER "bind", NODE));
}

static bool engine_lingers(void *unused)
{
	return knob_is_on("lingers");
}

static bool engine_is_locked(void *unused)
{
	return knob_is_on("locked");
}

static int submits(void *context)
{
	FIXTURE_DATA(fault) *self = context;
	struct dray_submit submit;

	return -submit_on(self, 0, &submit);
}

static bool child_has_ended(void *child)
{
	siginfo_t info = { 0 };
	const pid_t *pid = child;

	return !waitid(P_PID, (id_t)*pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
	       info.si_pid;
}

/* One asks for the channel and cannot get on, the other waits for that one. */
TEST_F(fault, who_waits_for_a_channel_to_be_opened_can_be_killed)
{
	pid_t children[2];

	ASSERT_EQ(0, knob("lock", 1));
	ASSERT_TRUE(wait_for(engine_is_locked, NULL));
	for (int i = 0; i < 2; i++) {
		children[i] = process_start(submits, self);
		ASSERT_LT(0, children[i]);
		ASSERT_TRUE(wait_for(process_waits, &children[i]));
	}
	ASSERT_EQ(0, kill(children[1], SIGKILL));
	EXPECT_TRUE(wait_for(child_has_ended, &children[1]));
	ASSERT_EQ(0, kill(children[0], SIGKILL));
	EXPECT_EQ(-SIGKILL, process_wait(children[0]));
	ASSERT_EQ(0, knob("linger", 0));
	EXPECT_EQ(-SIGKILL, process_wait(children[1]));
}

/* Whoever took a channel now would not be told when the engine goes. */
TEST_F(fault, an_engine_on_its_way_out_gives_no_channel)
{
	struct dray_submit submit;
	struct dray_info info;
	struct unbinding engine = { ENGINE_DRIVER, ENGINE, 0 };

	ASSERT_EQ(0, knob("linger", 1));
	engine.child = process_start(unbind, &engine);
	ASSERT_LT(0, engine.child);
	ASSERT_TRUE(wait_for(engine_lingers, NULL));
	EXPECT_EQ(-EBUSY, submit_on(self, 0, &submit));
	EXPECT_EQ(DRAY_REASON_CHANNEL, submit.reason);
	READ_CHANNEL(channel, 0);
	EXPECT_EQ(0, channel.flags & DRAY_CHANNEL_OPEN);
	ASSERT_EQ(0, knob("linger", 0));
	EXPECT_EQ(0, process_wait(engine.child));
	/* the node had nothing of it and stays, for the next one */
	EXPECT_EQ(0, node_info(self->node, &info));
	ASSERT_EQ(0, write_text(ENGINE_DRIVER "bind", ENGINE));
	EXPECT_EQ(1, copy_on(self, 0));
}

TEST_F(fault, an_engine_has_nothing_to_do_while_the_system_sleeps)
{
	struct dray_submit submit[4];
	int slept, i;

	ASSERT_EQ(0, knob("delay_ms", 40));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, submit_on(self, (uint32_t)i % 2, &submit[i]));
	slept = system_sleep();
	SKIP_IF(slept == -ENOENT, "the kernel has no test of suspend");
	ASSERT_EQ(0, slept);
	EXPECT_EQ(0, parameter_read("dray_test_engine", "restless"));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(1, fence_wait(submit[i].fence_fd));
	EXPECT_TRUE(is_equal(self));
}

TEST_F(fault, a_transfer_that_waits_for_another_is_done_before_sleep)
{
	struct dray_transfer transfer = whole(self);
	struct dray_submit slow, after = {
		.channel = 1,
		.transfers = (uintptr_t)&transfer,
		.count = 1,
		.in_fence_count = 1,
	};
	int slept;

	ASSERT_EQ(0, knob("delay_ms", 40));
	ASSERT_EQ(0, submit_on(self, 0, &slow));
	after.in_fences = (uintptr_t)&slow.fence_fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_SUBMIT, &after));
	slept = system_sleep();
	SKIP_IF(slept == -ENOENT, "the kernel has no test of suspend");
	ASSERT_EQ(0, slept);
	EXPECT_EQ(1, fence_status(after.fence_fd));
	EXPECT_EQ(1, fence_status(slow.fence_fd));
}

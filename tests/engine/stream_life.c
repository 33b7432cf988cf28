// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The end and the sleep of a node and of its engine during transfers of a
 * stream, and an engine that does not stop.
 */
#include <pthread.h>

#include "../selftests/map.h"
#include "../selftests/sleep.h"
#include "streams.h"

static int take_away(FIXTURE_DATA(stream) * self, const char *folder,
		     const char *name, int fences[2])
{
	struct dray_transfer transfer = RECV_OF(self->dst.fd, 0, 4096);
	struct dray_submit submit;
	int ret = stream_open(self, 1);

	for (int i = 0; i < 2 && !ret; i++) {
		ret = stream_submit(self, RX0, &transfer, 1,
				    DRAY_MAX_FENCE_DEADLINE, &submit);
		fences[i] = submit.fence_fd;
	}
	return ret ? ret : write_name(folder, "unbind", name);
}

static void expect_gone(struct __test_metadata *_metadata,
			FIXTURE_DATA(stream) * self, const int fences[2])
{
	struct dray_wait wait = { .number = 3 };

	EXPECT_TRUE(node_is_gone(NULL));
	EXPECT_EQ(-ENODEV, fence_status(fences[0]));
	EXPECT_EQ(-ENODEV, fence_status(fences[1]));
	EXPECT_EQ(-ENODEV, line_status(&self->rx, 1));
	EXPECT_EQ(-ENODEV, line_status(&self->rx, 2));
	EXPECT_EQ(-ENODEV, line_call(&self->rx, &wait));
	EXPECT_EQ(-ENODEV, stream_receive(self, 0, 100));
	EXPECT_EQ(0, stream_read("out", RX0) > 0);
	line_close(&self->rx);
	line_close(&self->tx);
}

TEST_F(stream, the_end_of_the_node_ends_transfers)
{
	int fences[2];

	ASSERT_EQ(0, take_away(self, self->binding.driver, self->binding.device,
			       fences));
	expect_gone(_metadata, self, fences);
}

TEST_F(stream, the_end_of_the_engine_takes_the_node_first)
{
	int fences[2];

	ASSERT_EQ(0, take_away(self, STREAM_DRIVER, STREAM_ENGINE, fences));
	expect_gone(_metadata, self, fences);
	ASSERT_EQ(0, write_name(STREAM_DRIVER, "bind", STREAM_ENGINE));
	/* A tree's link between both binds the node too. */
	if (node_is_gone(NULL))
		write_name(self->binding.driver, "bind", self->binding.device);
	ASSERT_TRUE(wait_for(node_answers, NULL));
	close(self->node);
	self->node = node_open();
	ASSERT_LE(0, self->node);
	ASSERT_EQ(0, stream_open(self, 1));
	EXPECT_EQ(0, stream_passes(self));
}

/* Opens the node again and again, and asks for each of its channels. */
static int use_channels(void *context)
{
	int node;

	(void)context;
	for (;;) {
		node = node_open();
		for (uint32_t i = 0; i < STREAM_CHANNELS && node >= 0; i++) {
			struct dray_sync sync =
				SYNC_OF(i, DRAY_SYNC_FOR_DEVICE, DRAY_TO_DEVICE,
					NULL, 0);

			node_call(node, DRAY_IOC_SYNC, &sync);
		}
		if (node >= 0)
			close(node);
	}
	return 0;
}

/* The kernel's log tells if a channel was used that its driver had freed. */
TEST_F(stream, channels_are_requested_beside_the_end_of_their_engine)
{
	pid_t users[3];

	NEED_KNOB("stall");
	SKIP_IF(*STREAM_ASLEEP == 0, "this node is linked to its engine");
	for (int i = 0; i < 3; i++)
		users[i] = process_start(use_channels, NULL);
	for (int i = 0; i < 300; i++) {
		ASSERT_EQ(0,
			  write_name(STREAM_DRIVER, "unbind", STREAM_ENGINE));
		ASSERT_EQ(0, write_name(STREAM_DRIVER, "bind", STREAM_ENGINE));
		if (node_is_gone(NULL))
			write_name(self->binding.driver, "bind",
				   self->binding.device);
	}
	for (int i = 0; i < 3; i++) {
		kill(users[i], SIGKILL);
		EXPECT_EQ(-SIGKILL, process_wait(users[i]));
	}
	ASSERT_TRUE(wait_for(node_answers, NULL));
	close(self->node);
	self->node = node_open();
	ASSERT_LE(0, self->node);
	ASSERT_EQ(0, stream_open(self, 1));
	EXPECT_EQ(0, stream_passes(self));
}

static int sleep_node(bool asleep)
{
	return write_text(STREAM_ASLEEP, asleep ? "1" : "0");
}

TEST_F(stream, a_silent_transfer_goes_on_after_sleep)
{
	bool blind;

	NEED_KNOB("asleep");
	/* Then the driver tells nothing of the first. */
	blind = stream_read("blind", 0) == 1;
	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(1, stream_receive(self, 0, 4096));
	ASSERT_EQ(2, stream_receive(self, 4096, 4096));
	ASSERT_TRUE(engine_gets(RX0, 2));
	ASSERT_EQ(0, sleep_node(true));
	EXPECT_EQ(0, stream_read("out", RX0));
	EXPECT_EQ(blind, line_completed(&self->rx));
	ASSERT_EQ(0, sleep_node(false));
	if (!blind)
		ASSERT_EQ(1, stream_send(self, 0, 100));
	ASSERT_LT(0, stream_send(self, 100, 100));
	EXPECT_EQ(blind ? -ECONNRESET : 100, line_bytes(&self->rx, 1));
	EXPECT_EQ(100, line_bytes(&self->rx, 2));
	EXPECT_EQ(-1, first_difference(self->src.bytes + 100,
				       self->dst.bytes + 4096, 100));
}

TEST_F(stream, sleep_breaks_off_a_packet_that_has_begun)
{
	struct engine_share moved = { RX0, stream_read("bytes", RX0) + 1000 };
	struct dray_point point;

	NEED_KNOB("join");
	ASSERT_EQ(0, stream_knob("join", 100));
	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(1, stream_receive(self, 0, 4096));
	ASSERT_EQ(1, stream_send(self, 0, 1000));
	ASSERT_TRUE(wait_for(engine_has_moved, &moved));
	ASSERT_EQ(0, sleep_node(true));
	ASSERT_EQ(0, sleep_node(false));
	ASSERT_EQ(0, line_wait(&self->rx, 1, &point));
	EXPECT_EQ(-ECONNRESET, point.status);
	EXPECT_EQ(stream_is_coarse() ? 0 : 1000, point.bytes);
	ASSERT_EQ(0, stream_knob("join", 0));
	EXPECT_EQ(0, stream_passes(self));
}

static void *put_to_sleep(void *ret)
{
	*(int *)ret = sleep_node(true);
	return NULL;
}

TEST_F(stream, sleep_lets_a_packet_under_way_end)
{
	struct engine_share moved = { RX0, stream_read("bytes", RX0) + 1000 };
	struct engine_share asked = { RX0 };
	pthread_t thread;
	int ret = -1;

	NEED_KNOB("ask");
	SKIP_IF(stream_is_coarse(), "this engine counts whole pieces only");
	ASSERT_EQ(0, stream_knob("join", 100));
	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(1, stream_receive(self, 0, 4096));
	ASSERT_EQ(1, stream_send(self, 0, 1000));
	ASSERT_TRUE(wait_for(engine_has_moved, &moved));
	asked.count = stream_read("asked", RX0);
	ASSERT_EQ(0, stream_knob("ask", 1u << RX0));
	ASSERT_EQ(0, pthread_create(&thread, NULL, put_to_sleep, &ret));
	ASSERT_TRUE(wait_for(engine_was_asked, &asked));
	/* Submissions would wait. */
	ASSERT_EQ(0, stream_knob("join", 0));
	ASSERT_EQ(0, stream_text("inject", "0 500"));
	ASSERT_TRUE(engine_gets(RX0, 0));
	ASSERT_EQ(0, stream_knob("ask", 0));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, sleep_node(false));
	EXPECT_EQ(1500, line_bytes(&self->rx, 1));
	EXPECT_EQ(0, stream_passes(self));
}

TEST_F(stream, the_engine_has_nothing_while_the_system_sleeps)
{
	int ret;

	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(1, stream_receive(self, 0, 4096));
	ASSERT_TRUE(engine_gets(RX0, 1));
	ret = system_sleep();
	SKIP_IF(ret == -ENOENT, "this kernel cannot try to sleep");
	ASSERT_EQ(0, ret);
	EXPECT_EQ(0, stream_read("restless", 0));
	if (stream_is_coarse()) {
		EXPECT_EQ(-ECONNRESET, line_status(&self->rx, 1));
		EXPECT_EQ(0, stream_passes(self));
		return;
	}
	ASSERT_EQ(1, stream_send(self, 0, 100));
	EXPECT_EQ(100, line_bytes(&self->rx, 1));
}

TEST_F(stream, an_engine_that_does_not_stop_keeps_its_memory)
{
	struct dray_buffer_info buffer;
	struct dray_channel_info channel;
	struct map *map = malloc(sizeof(*map));
	struct dray_heap_info heap;
	uint64_t before, condemned, longest;

	self->loses = true;
	ASSERT_NE(NULL, map);
	ASSERT_EQ(0, map_read(self->node, 0, map));
	condemned = map_bytes(map, DRAY_PART_CONDEMNED, &longest);
	ASSERT_EQ(0, node_heap(self->node, 0, &heap));
	before = heap.quarantined;
	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(1, stream_receive(self, 0, 4096));
	ASSERT_EQ(2, stream_receive(self, 8192, 4096));
	ASSERT_TRUE(engine_gets(RX0, 2));
	ASSERT_EQ(0, stream_knob("stubborn", 1u << RX0));
	EXPECT_EQ(1, stream_cancel(self, RX0, 1));
	EXPECT_EQ(-EIO, line_status(&self->rx, 1));
	EXPECT_EQ(-EIO, line_status(&self->rx, 2));
	ASSERT_EQ(0, node_channel(self->node, RX0, &channel));
	EXPECT_TRUE(channel.flags & DRAY_CHANNEL_DEAD);
	EXPECT_EQ(-EIO, stream_receive(self, 0, 100));
	ASSERT_EQ(0, node_buffer_info(self->node, self->dst.id, &buffer));
	EXPECT_EQ(2, buffer.transfers);
	/* It goes on, unless it is deaf as a whole. */
	if (stream_has("fifo")) {
		ASSERT_EQ(1, stream_send(self, 0, 100));
		EXPECT_EQ(100, line_bytes(&self->tx, 1));
	}
	ASSERT_EQ(0, stream_knob("stubborn", 0));
	line_close(&self->rx);
	line_close(&self->tx);
	buffer_close(&self->dst);
	close(self->node);
	ASSERT_EQ(0, binding_unbind(&self->binding));
	ASSERT_EQ(0, binding_bind(&self->binding));
	self->node = node_open();
	ASSERT_LE(0, self->node);
	ASSERT_EQ(0, node_heap(self->node, 0, &heap));
	EXPECT_EQ(before + STREAM_SIZE, heap.quarantined);
	/* A heap without a range of its own has no parts. */
	ASSERT_EQ(0, map_read(self->node, 0, map));
	condemned += map->call.size ? STREAM_SIZE : 0;
	EXPECT_EQ(condemned, map_bytes(map, DRAY_PART_CONDEMNED, &longest));
}

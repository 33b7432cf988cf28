// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Rings that take the place of others: frames anew, none at all, and packets
 * afterwards; and the old ring if that fails.
 */
#include <pthread.h>
#include <sys/syscall.h>

#include "streams.h"

#define FRAME 4096u
#define FRAMES 8u

static int ring_call(const struct line *line, struct dray_ring *args)
{
	return ioctl(line->fd, DRAY_IOC_RING, args) < 0 ? -errno : 0;
}

/* Gives a ring of frames one behind the other from @at on; 0 frames: takes it away. */
static int ring_give(const struct line *line, bool sends, int fd, uint64_t at,
		     uint32_t count, uint32_t flags)
{
	struct dray_transfer frames[FRAMES];
	struct dray_ring args = { .frames = (uintptr_t)frames,
				  .count = count,
				  .flags = flags };

	for (uint32_t i = 0; i < count; i++) {
		struct dray_transfer send = SEND_OF(fd, at + i * FRAME, FRAME);
		struct dray_transfer receive =
			RECV_OF(fd, at + i * FRAME, FRAME);

		frames[i] = sends ? send : receive;
	}
	return ring_call(line, &args);
}

static int ring_release(const struct line *line, uint32_t count)
{
	uint32_t frames[FRAMES];
	struct dray_release args = { .frames = (uintptr_t)frames,
				     .count = count };

	for (uint32_t i = 0; i < count; i++)
		frames[i] = i;
	return ioctl(line->fd, DRAY_IOC_RELEASE, &args) < 0 ? -errno : 0;
}

/* Frames from @at of src to @at of dst, in rings that replace those before. */
static int ring_passes(FIXTURE_DATA(stream) * self, uint64_t at, uint32_t count,
		       uint64_t *number)
{
	struct dray_point point;
	int ret;

	memset(self->dst.bytes, STREAM_GUARD, STREAM_SIZE);
	ret = ring_give(&self->rx, false, self->dst.fd, at, count,
			DRAY_RING_REPLACE);
	if (!ret)
		ret = ring_give(&self->tx, true, self->src.fd, at, count,
				DRAY_RING_REPLACE);
	if (!ret)
		ret = ring_release(&self->tx, count);
	*number += count;
	if (!ret)
		ret = line_wait(&self->rx, *number, &point);
	if (!ret)
		ret = line_wait(&self->tx, *number, &point);
	if (ret)
		return ret;
	if (point.status || point.bytes != FRAME || point.frame != count - 1)
		return -EMSGSIZE;
	for (uint64_t i = 0; i < STREAM_SIZE; i++)
		if (self->dst.bytes[i] != (i - at < count * FRAME
						   ? self->src.bytes[i]
						   : STREAM_GUARD))
			return -EBADMSG;
	return 0;
}

static int ring_ends(FIXTURE_DATA(stream) * self)
{
	int ret = ring_give(&self->rx, false, -1, 0, 0, DRAY_RING_REPLACE);

	return ret ? ret
		   : ring_give(&self->tx, true, -1, 0, 0, DRAY_RING_REPLACE);
}

TEST_F(stream, rings_and_packets_take_turns)
{
	struct dray_buffer_info info;
	uint64_t number = 0;

	ASSERT_EQ(0, stream_open(self, 2));
	for (uint32_t round = 0; round < 30; round++) {
		for (uint32_t i = 0; i <= round % 3; i++)
			ASSERT_EQ(0, ring_passes(self, (round + i) * FRAME,
						 2 + (round + i) % (FRAMES - 1),
						 &number));
		ASSERT_EQ(0, ring_ends(self));
		ASSERT_EQ(0, node_buffer_info(self->node, self->dst.id, &info));
		EXPECT_EQ(0, info.transfers);
		ASSERT_EQ(-EINVAL, ring_release(&self->tx, 1));
		ASSERT_EQ(0, stream_passes(self));
		ASSERT_EQ(++number, line_completed(&self->rx));
		ASSERT_EQ(number, line_completed(&self->tx));
	}
	EXPECT_EQ(0, self->rx.head->lost);
}

struct sleeper {
	const struct line *line;
	bool releases;
	pid_t thread;
	int ret;
};

static void *sleeper_run(void *data)
{
	struct sleeper *sleeper = data;
	struct dray_wait wait = { .number = 1, .until_ns = UINT64_MAX };
	struct dray_release release = { .number = 1, .until_ns = UINT64_MAX };
	int fd = sleeper->line->fd, ret;

	__atomic_store_n(&sleeper->thread, (pid_t)syscall(SYS_gettid),
			 __ATOMIC_RELEASE);
	ret = sleeper->releases ? ioctl(fd, DRAY_IOC_RELEASE, &release)
				: ioctl(fd, DRAY_IOC_WAIT, &wait);
	sleeper->ret = ret < 0 ? -errno : 0;
	return NULL;
}

TEST_F(stream, threads_that_wait_learn_that_the_ring_is_taken_away)
{
	struct sleeper sleepers[] = { { .line = &self->tx },
				      { .line = &self->tx, .releases = true } };
	pthread_t threads[2];

	ASSERT_EQ(0, line_open(self->node, TX0, 1, &self->tx));
	ASSERT_EQ(0, ring_give(&self->tx, true, self->src.fd, 0, 2, 0));
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, sleeper_run,
					    &sleepers[i]));
		ASSERT_TRUE(wait_for(process_sleeps, &sleepers[i].thread));
	}
	/* Another ring goes on with the numbers. */
	ASSERT_EQ(0, ring_give(&self->tx, true, self->src.fd, 0, 2,
			       DRAY_RING_REPLACE));
	ASSERT_EQ(0, ring_give(&self->tx, true, -1, 0, 0, DRAY_RING_REPLACE));
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(-ECANCELED, sleepers[i].ret);
	}
}

/* Nothing holds the memory of a ring that was replaced. */
TEST_F(stream, memory_of_a_replaced_ring_is_free_at_once)
{
	struct dray_buffer_info info;
	struct buffer other;

	ASSERT_EQ(0, stream_open(self, 2));
	ASSERT_EQ(0,
		  buffer_open(self->node, DRAY_HEAP_ANY, STREAM_SIZE, &other));
	ASSERT_EQ(0, ring_give(&self->tx, true, other.fd, 0, FRAMES, 0));
	buffer_close(&other);
	EXPECT_EQ(0, node_buffer_info(self->node, other.id, &info));
	EXPECT_EQ(FRAMES, info.transfers);
	ASSERT_EQ(0, ring_give(&self->tx, true, self->src.fd, 0, FRAMES,
			       DRAY_RING_REPLACE));
	EXPECT_EQ(-ENOENT, node_buffer_info(self->node, other.id, &info));
}

TEST_F(stream, a_ring_with_frames_on_their_way_stays)
{
	struct dray_point point;

	/* Both frames in a batch would be reported together. */
	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(0, ring_give(&self->rx, false, self->dst.fd, 0, 2, 0));
	ASSERT_EQ(0, ring_give(&self->tx, true, self->src.fd, 0, 2, 0));
	EXPECT_EQ(-EBUSY, ring_give(&self->rx, false, self->dst.fd, 8 * FRAME,
				    2, DRAY_RING_REPLACE));
	EXPECT_EQ(-EBUSY,
		  ring_give(&self->rx, false, -1, 0, 0, DRAY_RING_REPLACE));
	ASSERT_EQ(0, ring_release(&self->tx, 1));
	ASSERT_EQ(0, line_wait(&self->rx, 1, &point));
	EXPECT_EQ(0, point.status);
	EXPECT_EQ(-1,
		  first_difference(self->src.bytes, self->dst.bytes, FRAME));
	/* The engine has the other frame still. */
	EXPECT_EQ(-EBUSY,
		  ring_give(&self->rx, false, -1, 0, 0, DRAY_RING_REPLACE));
	ASSERT_LE(1, stream_cancel(self, RX0, 0));
	ASSERT_EQ(0, line_wait(&self->rx, 2, &point));
	EXPECT_EQ(-ECANCELED, point.status);
	EXPECT_EQ(0, ring_give(&self->rx, false, -1, 0, 0, DRAY_RING_REPLACE));
}

static const struct {
	const char *name;
	uint64_t at;
	uint32_t count, flags;
	int error;
} refused[] = {
	{ "without the flag", 0, 2, 0, -EBUSY },
	{ "one frame", 0, 1, DRAY_RING_REPLACE, -EINVAL },
	{ "beyond the buffer", STREAM_SIZE - FRAME, 2, DRAY_RING_REPLACE,
	  -EINVAL },
	{ "unknown flags", 0, 2, DRAY_RING_RELEASED << 1, -EINVAL },
	{ "overwriting", 0, 2, DRAY_RING_REPLACE | DRAY_RING_OVERWRITE,
	  -EINVAL },
};

TEST_F(stream, frames_that_are_refused_leave_the_old_ring)
{
	struct dray_transfer none;
	struct dray_ring many = { .frames = (uintptr_t)&none,
				  .count = DRAY_MAX_FRAMES + 1,
				  .flags = DRAY_RING_REPLACE };
	struct dray_ring nowhere = { .frames = 4096,
				     .count = 2,
				     .flags = DRAY_RING_REPLACE };
	struct dray_point point;

	ASSERT_EQ(0, stream_open(self, 2));
	EXPECT_EQ(-EINVAL,
		  ring_give(&self->tx, true, -1, 0, 0, DRAY_RING_REPLACE));
	ASSERT_EQ(0, ring_give(&self->rx, false, self->dst.fd, 0, FRAMES, 0));
	ASSERT_EQ(0, ring_give(&self->tx, true, self->src.fd, 0, FRAMES, 0));
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		EXPECT_EQ(refused[i].error,
			  ring_give(&self->tx, true, self->src.fd,
				    refused[i].at, refused[i].count,
				    refused[i].flags))
		{
			TH_LOG("%s", refused[i].name);
		}
	}
	EXPECT_EQ(-EINVAL, ring_call(&self->tx, &many));
	EXPECT_EQ(-EFAULT, ring_call(&self->tx, &nowhere));
	ASSERT_EQ(0, ring_release(&self->tx, FRAMES));
	ASSERT_EQ(0, line_wait(&self->rx, FRAMES, &point));
	EXPECT_EQ(0, point.status);
	EXPECT_EQ(-1, first_difference(self->src.bytes, self->dst.bytes,
				       FRAMES * FRAME));
}

TEST_F(stream, a_ring_that_has_ended_is_not_replaced)
{
	struct dray_point point;

	ASSERT_EQ(0, stream_open(self, 2));
	ASSERT_EQ(0, ring_give(&self->rx, false, self->dst.fd, 0, 2, 0));
	ASSERT_EQ(0, ring_give(&self->rx, false, -1, 0, 0, 0));
	EXPECT_EQ(-ENODEV, line_wait(&self->rx, 1, &point));
	EXPECT_EQ(-ENODEV, ring_give(&self->rx, false, self->dst.fd, 0, 2,
				     DRAY_RING_REPLACE));
	EXPECT_EQ(-ENODEV,
		  ring_give(&self->rx, false, -1, 0, 0, DRAY_RING_REPLACE));
}

struct racer {
	const struct line *line;
	bool stop;
};

static void *release_for_ever(void *data)
{
	struct racer *racer = data;

	while (!__atomic_load_n(&racer->stop, __ATOMIC_RELAXED))
		ring_release(racer->line, 2);
	return NULL;
}

/* A thread releases frames of whichever ring there is, and never any other's. */
TEST_F(stream, releases_may_race_with_replacements)
{
	struct racer racer = { .line = &self->tx };
	pthread_t thread;
	int ret;

	ASSERT_EQ(0, stream_open(self, 2));
	ASSERT_EQ(0, ring_give(&self->rx, false, self->dst.fd, 0, FRAMES, 0));
	ASSERT_EQ(0, pthread_create(&thread, NULL, release_for_ever, &racer));
	for (uint32_t i = 0; i < 500; i++) {
		ret = ring_give(&self->tx, true, self->src.fd, i % 8 * FRAME,
				i % 5 ? 2 : 0, DRAY_RING_REPLACE);
		EXPECT_TRUE(!ret || ret == -EBUSY ||
			    (ret == -EINVAL && !(i % 5)))
		{
			TH_LOG("%u: %d", i, ret);
		}
		/* Without it, the line is full once, and all is busy. */
		if (!(i % 16))
			stream_cancel(self, TX0, 0);
	}
	__atomic_store_n(&racer.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The timeline of a stream: its points in the mapping, its file, its eventfd,
 * and WAIT.
 */
#include <pthread.h>

#include "streams.h"

/* Sends and receives so many packets of these lengths. */
static int pass(FIXTURE_DATA(stream) * self, uint64_t count, uint64_t bytes)
{
	int64_t in = 0, out = 0;

	for (uint64_t i = 0; i < count; i++) {
		in = stream_receive(self, 0, bytes);
		out = stream_send(self, 0, bytes);
		if (in < 0 || out < 0)
			return (int)(in < 0 ? in : out);
	}
	in = line_bytes(&self->rx, (uint64_t)in);
	out = line_bytes(&self->tx, (uint64_t)out);
	return in < 0 ? (int)in : out < 0 ? (int)out : 0;
}

TEST_F(stream, points_come_in_the_order_of_submissions)
{
	struct dray_point point, waited;
	uint64_t last = 0;

	ASSERT_EQ(0, stream_open(self, 8));
	EXPECT_EQ(0, line_completed(&self->rx));
	EXPECT_EQ(0, self->rx.head->published);
	EXPECT_EQ(1024, self->rx.head->points);
	EXPECT_EQ(0, self->rx.head->lost);
	EXPECT_EQ(0, self->rx.head->held_back);
	ASSERT_EQ(0, pass(self, 50, 100));
	EXPECT_EQ(50, line_completed(&self->rx));
	EXPECT_EQ(50, self->rx.head->published);
	for (uint64_t i = 1; i <= 50; i++) {
		ASSERT_EQ(0, line_read(&self->rx, i, &point));
		EXPECT_EQ(i, point.number);
		EXPECT_EQ(100, point.bytes);
		EXPECT_EQ(0, point.status);
		EXPECT_EQ(0, point.frame);
		EXPECT_LE(last, point.time_ns);
		EXPECT_GE(now_ns(), point.time_ns);
		last = point.time_ns;
		ASSERT_EQ(0, line_wait(&self->rx, i, &waited));
		EXPECT_EQ(0, memcmp(&point, &waited, sizeof(point)));
	}
	EXPECT_EQ(-EAGAIN, line_read(&self->rx, 51, &point));
}

TEST_F(stream, the_mapping_is_for_reading)
{
	const int shared = MAP_SHARED, private = MAP_PRIVATE;
	void *map;

	ASSERT_EQ(0, stream_open(self, 1));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, self->rx.size, PROT_READ | PROT_WRITE,
				   shared, self->rx.fd, 0));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, self->rx.size, PROT_READ | PROT_WRITE,
				   private, self->rx.fd, 0));
	EXPECT_EQ(-1, mprotect((void *)self->rx.head, self->rx.size,
			       PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	map = mmap(NULL, self->rx.size, PROT_READ, private, self->rx.fd, 0);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(-1, mprotect(map, self->rx.size, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, self->rx.size * 2 + 65536, PROT_READ,
				   shared, self->rx.fd, 0));
	EXPECT_EQ(O_RDONLY, fcntl(self->rx.fd, F_GETFL) & O_ACCMODE);
	EXPECT_EQ(FD_CLOEXEC, fcntl(self->rx.fd, F_GETFD));
}

TEST_F(stream, the_mapping_outlives_its_file)
{
	struct dray_point point;

	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(0, pass(self, 3, 100));
	close(self->rx.fd);
	EXPECT_EQ(3, line_completed(&self->rx));
	EXPECT_EQ(0, line_read(&self->rx, 3, &point));
}

TEST_F(stream, old_points_are_overwritten)
{
	struct dray_timeline args = {
		.channel = RX0, .points = 1, .batch = 8, .event_fd = -1
	};
	struct dray_point point;

	ASSERT_EQ(0, line_open(self->node, TX0, 8, &self->tx));
	ASSERT_EQ(0, line_open_as(self->node, &args, &self->rx));
	EXPECT_EQ(DRAY_MIN_POINTS, args.points);
	EXPECT_EQ(DRAY_MIN_POINTS, self->rx.head->points);
	ASSERT_EQ(0, pass(self, 200, 64));
	EXPECT_EQ(-EOVERFLOW, line_read(&self->rx, 1, &point));
	EXPECT_EQ(-EOVERFLOW, line_read(&self->rx, 72, &point));
	EXPECT_EQ(0, line_read(&self->rx, 73, &point));
	EXPECT_EQ(-EOVERFLOW, line_wait(&self->rx, 1, &point));
	EXPECT_EQ(-EOVERFLOW, line_wait(&self->rx, 72, &point));
	EXPECT_EQ(0, line_wait(&self->rx, 73, &point));
	EXPECT_EQ(0, line_wait(&self->rx, 200, &point));
}

struct reader {
	pthread_t thread;
	const struct line *line;
	uint64_t last;
	uint64_t read;
	uint64_t overwritten;
	uint64_t wrong; /* the first */
};

static uint64_t length_of(uint64_t number)
{
	return 1 + number * 7 % 251;
}

/* Follows the points as a program without calls does. */
static void *read_points(void *context)
{
	struct reader *reader = context;
	struct dray_point point;
	uint64_t number = 1;
	int ret;

	while (number <= reader->last && !reader->wrong) {
		ret = line_read(reader->line, number, &point);
		if (ret == -EAGAIN) {
			if (line_completed(reader->line) >= number &&
			    line_read(reader->line, number, &point) == -EAGAIN)
				sched_yield();
			continue;
		}
		if (!ret && (point.number != number || point.status ||
			     point.bytes != length_of(number)))
			reader->wrong = number;
		reader->read += !ret;
		reader->overwritten += ret == -EOVERFLOW;
		/* so that some are gone */
		if (!(number++ % 500))
			usleep(300000);
	}
	return NULL;
}

#define LATEST 1500

TEST_F(stream, a_reader_never_sees_half_a_point)
{
	struct dray_timeline args = { .channel = RX0,
				      .points = DRAY_MIN_POINTS,
				      .batch = 16,
				      .event_fd = -1 };
	struct reader reader = { .line = &self->rx, .last = LATEST };

	ASSERT_EQ(0, line_open(self->node, TX0, 16, &self->tx));
	ASSERT_EQ(0, line_open_as(self->node, &args, &self->rx));
	ASSERT_EQ(0,
		  pthread_create(&reader.thread, NULL, read_points, &reader));
	for (uint64_t i = 1; i <= LATEST; i++) {
		ASSERT_EQ((int64_t)i, stream_receive(self, 0, 256));
		ASSERT_EQ((int64_t)i, stream_send(self, 0, length_of(i)));
	}
	ASSERT_EQ(0, pthread_join(reader.thread, NULL));
	EXPECT_EQ(0, reader.wrong);
	EXPECT_EQ(LATEST, reader.read + reader.overwritten);
	TH_LOG("%" PRIu64 " read, %" PRIu64 " overwritten", reader.read,
	       reader.overwritten);
}

static short events(int fd, int milliseconds)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, milliseconds) < 0 ? -1 : poll_fd.revents;
}

TEST_F(stream, poll_tells_of_points_since_the_last_read)
{
	uint64_t count = 0;

	ASSERT_EQ(0, stream_open(self, 1));
	EXPECT_EQ(0, events(self->rx.fd, 0));
	ASSERT_EQ((ssize_t)sizeof(count),
		  read(self->rx.fd, &count, sizeof(count)));
	EXPECT_EQ(0, count);
	ASSERT_EQ(1, stream_receive(self, 0, 100));
	EXPECT_EQ(0, events(self->rx.fd, 0));
	ASSERT_EQ(1, stream_send(self, 0, 100));
	EXPECT_EQ(POLLIN, events(self->rx.fd, DEADLINE_MS));
	EXPECT_EQ(POLLIN, events(self->rx.fd, 0));
	ASSERT_EQ((ssize_t)sizeof(count),
		  read(self->rx.fd, &count, sizeof(count)));
	EXPECT_EQ(1, count);
	EXPECT_EQ(0, events(self->rx.fd, 0));
	EXPECT_EQ(-1, read(self->rx.fd, &count, 7));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(self->rx.fd, &count, sizeof(count)));
}

TEST_F(stream, an_eventfd_counts_the_points)
{
	struct dray_timeline args = { .channel = RX0 };
	uint64_t count = 0, sum = 0;

	args.event_fd = eventfd(0, EFD_CLOEXEC);
	ASSERT_LE(0, args.event_fd);
	ASSERT_EQ(0, line_open(self->node, TX0, 1, &self->tx));
	ASSERT_EQ(0, line_open_as(self->node, &args, &self->rx));
	ASSERT_EQ(0, pass(self, 5, 100));
	while (sum < 5) {
		ASSERT_EQ((ssize_t)sizeof(count),
			  read(args.event_fd, &count, sizeof(count)));
		sum += count;
	}
	EXPECT_EQ(5, sum);
	close(args.event_fd);
	EXPECT_EQ(0, pass(self, 1, 100));
}

TEST_F(stream, wait_ends_at_its_time)
{
	struct dray_wait wait = { .number = 1 };
	uint64_t before;

	ASSERT_EQ(0, stream_open(self, 1));
	EXPECT_EQ(-ETIME, line_call(&self->rx, &wait));
	wait.until_ns = 1;
	EXPECT_EQ(-ETIME, line_call(&self->rx, &wait));
	before = now_ns();
	wait.until_ns = before + 50 * MILLISECOND;
	EXPECT_EQ(-ETIME, line_call(&self->rx, &wait));
	EXPECT_LE(before + 50 * MILLISECOND, now_ns());
	wait.number = 0;
	EXPECT_EQ(-EINVAL, line_call(&self->rx, &wait));
	ASSERT_EQ(0, pass(self, 2, 100));
	wait = (struct dray_wait){ .number = 3 };
	EXPECT_EQ(-ETIME, line_call(&self->rx, &wait));
	EXPECT_EQ(2, wait.completed);
	wait = (struct dray_wait){ .number = 2 };
	EXPECT_EQ(0, line_call(&self->rx, &wait));
	EXPECT_EQ(2, wait.point.number);
	EXPECT_EQ(2, wait.completed);
}

struct waiter {
	const struct line *line;
	uint64_t number;
};

static int wait_without_end(void *context)
{
	const struct waiter *waiter = context;
	struct dray_wait wait = { .number = waiter->number,
				  .until_ns = UINT64_MAX };

	return -line_call(waiter->line, &wait);
}

TEST_F(stream, wait_without_an_end_wakes_with_the_point)
{
	struct waiter waiter = { &self->rx, 1 };
	pid_t child;

	ASSERT_EQ(0, stream_open(self, 1));
	child = process_start(wait_without_end, &waiter);
	ASSERT_LT(0, child);
	EXPECT_TRUE(wait_for(process_sleeps, &child));
	EXPECT_EQ(0, pass(self, 1, 100));
	EXPECT_EQ(0, process_wait(child));
}

TEST_F(stream, a_signal_ends_wait)
{
	struct waiter waiter = { &self->rx, 1 };
	pid_t child;

	ASSERT_EQ(0, stream_open(self, 1));
	child = process_start(wait_without_end, &waiter);
	ASSERT_LT(0, child);
	EXPECT_TRUE(wait_for(process_sleeps, &child));
	kill(child, SIGTERM);
	EXPECT_EQ(-SIGTERM, process_wait(child));
	EXPECT_EQ(0, pass(self, 1, 100));
}

TEST_F(stream, the_end_of_the_node_ends_all_waiting)
{
	struct waiter waiter = { &self->rx, 2 };
	struct dray_wait wait = { .number = 2 };
	pid_t child;

	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(0, pass(self, 1, 100));
	child = process_start(wait_without_end, &waiter);
	ASSERT_LT(0, child);
	EXPECT_TRUE(wait_for(process_sleeps, &child));
	ASSERT_EQ(0, binding_unbind(&self->binding));
	EXPECT_EQ(ENODEV, process_wait(child));
	EXPECT_EQ(-ENODEV, line_call(&self->rx, &wait));
	EXPECT_TRUE(events(self->rx.fd, 0) & POLLHUP);
	/* points that came can still be read */
	wait.number = 1;
	EXPECT_EQ(0, line_call(&self->rx, &wait));
	EXPECT_EQ(100, wait.point.bytes);
	EXPECT_EQ(1, line_completed(&self->rx));
	line_close(&self->rx);
	line_close(&self->tx);
}

TEST_F(stream, wait_checks_what_it_is_given)
{
	struct {
		struct dray_wait wait;
		uint64_t more;
	} large = { .wait = { .number = 1 } };
	const unsigned long less = _IOC(_IOC_READ | _IOC_WRITE, DRAY_IOC_MAGIC,
					32, sizeof(struct dray_wait) - 8);
	const unsigned long larger =
		_IOC(_IOC_READ | _IOC_WRITE, DRAY_IOC_MAGIC, 32, sizeof(large));

	ASSERT_EQ(0, stream_open(self, 1));
	EXPECT_EQ(-EINVAL, node_call(self->rx.fd, less, &large));
	EXPECT_EQ(-ETIME, node_call(self->rx.fd, larger, &large));
	large.more = 1;
	EXPECT_EQ(-E2BIG, node_call(self->rx.fd, larger, &large));
	EXPECT_EQ(-EFAULT, node_call(self->rx.fd, DRAY_IOC_WAIT, NULL));
	EXPECT_EQ(-ENOTTY, node_call(self->rx.fd, DRAY_IOC_INFO, &self->info));
	EXPECT_EQ(-ENOTTY, node_call(self->node, DRAY_IOC_WAIT, &large));
}

TEST_F(stream, a_deadline_behind_a_silent_transfer_passes_first)
{
	struct dray_transfer transfer = RECV_OF(self->dst.fd, 4096, 100);
	struct dray_submit submit;
	struct dray_point point;

	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(1, stream_receive(self, 0, 100));
	ASSERT_EQ(0, stream_submit(self, RX0, &transfer, 1, 50 * MILLISECOND,
				   &submit));
	ASSERT_EQ(2, submit.point);
	ASSERT_EQ(3, stream_receive(self, 8192, 100));
	EXPECT_EQ(-ETIMEDOUT, line_status(&self->rx, 2));
	EXPECT_EQ(-ETIMEDOUT, fence_wait(submit.fence_fd));
	EXPECT_EQ(0, line_completed(&self->rx));
	EXPECT_EQ(1, self->rx.head->published);
	EXPECT_EQ(-EAGAIN, line_read(&self->rx, 1, &point));
	EXPECT_EQ(0, line_read(&self->rx, 2, &point));
	ASSERT_EQ(1, stream_send(self, 0, 100));
	EXPECT_EQ(100, line_bytes(&self->rx, 1));
	EXPECT_EQ(2, line_completed(&self->rx));
	ASSERT_EQ(2, stream_send(self, 100, 100));
	EXPECT_EQ(100, line_bytes(&self->rx, 3));
	EXPECT_EQ(-1, first_difference(self->src.bytes + 100,
				       self->dst.bytes + 8192, 100));
}

TEST_F(stream, a_second_timeline_goes_on_with_the_numbers)
{
	struct dray_point point;

	ASSERT_EQ(0, stream_open(self, 1));
	ASSERT_EQ(0, pass(self, 3, 100));
	line_close(&self->rx);
	line_close(&self->tx);
	ASSERT_EQ(0, stream_open(self, 1));
	EXPECT_EQ(3, line_completed(&self->rx));
	EXPECT_EQ(0, self->rx.head->published);
	EXPECT_EQ(-EOVERFLOW, line_wait(&self->rx, 3, &point));
	ASSERT_EQ(4, stream_receive(self, 0, 100));
	ASSERT_EQ(4, stream_send(self, 0, 100));
	EXPECT_EQ(100, line_bytes(&self->rx, 4));
}

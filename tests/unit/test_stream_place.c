// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * stream: places of the timeline, when one packet stays in flight while as many
 * behind it end as there are points.
 */
#include <signal.h>

#include "child.h"
#include "streams.h"

FACTS_ON(on_host)

#define SIZE 4096

static const struct dray_packet_options nonblock = {
	.flags = DRAY_PACKET_NONBLOCK,
};
static const struct dray_packet_options brief = {
	.flags = DRAY_PACKET_NONBLOCK,
	.deadline_ns = 1,
};

static void reopen_rx(uint32_t points)
{
	struct dray_stream_options options = { .points = points };

	dray_stream_close(loop.rx);
	loop.rx = open_stream("rx0", &options);
}

/* Ends receives, by a cancel or a deadline, until there is no place; their count. */
static uint32_t end_receives(const struct dray_view *view, bool cancels)
{
	const struct dray_packet_options *options =
		cancels ? &nonblock : &brief;
	struct dray_event *event;
	uint32_t count = 0;

	while (count < 2000 &&
	       !dray_stream_recv(loop.rx, view, options, &event)) {
		if (cancels)
			assert_works(dray_event_cancel(event));
		assert_int_equal(dray_event_wait(event, DEADLINE * 1000),
				 cancels ? -ECANCELED : -ETIMEDOUT);
		dray_event_unref(event);
		count++;
	}
	return count;
}

static const struct {
	uint32_t points;
	bool cancels;
	uint32_t behind; /* receives that end behind the first */
	const char *sentence;
} timelines[] = {
	{ 1, true, 127,
	  "rx0 has no room for packet 129: packet 1 is in flight, and the timeline has 128 points" },
	{ 1, false, 127,
	  "packet 129: packet 1 is in flight, and the timeline has 128 points" },
	{ 129, true, 255,
	  "packet 257: packet 1 is in flight, and the timeline has 256 points" },
	{ 0, true, 1023,
	  "packet 1025: packet 1 is in flight, and the timeline has 1024 points" },
};

LOOP_FACT(memory_in_flight_is_kept_while_packets_behind_it_end)
{
	for (size_t i = 0; i < sizeof(timelines) / sizeof(timelines[0]); i++) {
		struct dray_view src = bytes_of(SIZE, 'S');
		struct dray_view dst = bytes_of(SIZE, 'D');
		struct dray_view rest = bytes_of(SIZE, 'R'), other;
		struct dray_event *first;

		reopen_rx(timelines[i].points);
		first = recv_view(&dst);
		assert_int_equal(end_receives(&rest, timelines[i].cancels),
				 timelines[i].behind);
		assert_fails(dray_stream_recv(loop.rx, &rest, &nonblock, NULL),
			     -EAGAIN, timelines[i].sentence);
		assert_int_equal(dray_event_status(first), 0);
		assert_int_equal(counts_of(loop.rx).in_flight, 1);
		discard(&dst);
		assert_true(stats_of(loop.pool).parked >= SIZE);
		other = bytes_of(SIZE, 'O');
		dray_event_unref(send_view(&src));
		assert_true(all_bytes(dst.data, 'S', SIZE));
		assert_true(all_bytes(other.data, 'O', SIZE));
		ends_with(first, SIZE);
		assert_int_equal(stats_of(loop.pool).parked, 0);
		/* and there is a place again */
		first = recv_view(&rest);
		dray_event_unref(send_view(&src));
		ends_with(first, SIZE);
		discard(&src);
		discard(&rest);
		discard(&other);
	}
}

struct receiver {
	pthread_t thread;
	const struct dray_view *view;
	struct dray_event *event;
	int ret;
};

static void *receive(void *data)
{
	struct receiver *receiver = data;

	receiver->ret = dray_stream_recv(loop.rx, receiver->view, NULL,
					 &receiver->event);
	return NULL;
}

static void ignore(int signal)
{
}

static bool a_thread_waits(const struct dray_view *view)
{
	int ret = dray_stream_recv(loop.rx, view, &nonblock, NULL);

	return ret == -EAGAIN &&
	       strstr(dray_last_error(), "another thread waits for room");
}

static int use_the_stream(void)
{
	struct dray_stream *stream;
	struct dray_node *node;

	STEP_EQ(0, dray_node_open("host", &node));
	STEP_EQ(0, dray_stream_open(node, "rx0", NULL, &stream));
	dray_stream_close(stream);
	dray_node_unref(node);
	return 0;
}

static void by_a_packet(const struct dray_view *src, struct dray_event *first)
{
	dray_event_unref(send_view(src));
	ends_with(dray_event_ref(first), SIZE);
}

static void by_a_cancel(const struct dray_view *src, struct dray_event *first)
{
	assert_works(dray_event_cancel(first));
}

static void by_a_cancel_of_all(const struct dray_view *src,
			       struct dray_event *first)
{
	assert_works(dray_stream_cancel(loop.rx));
}

static void (*const ends[])(const struct dray_view *src,
			    struct dray_event *first) = {
	by_a_packet,
	by_a_cancel,
	by_a_cancel_of_all,
};

LOOP_FACT(a_call_waits_for_a_place_until_the_first_packet_ends)
{
	struct dray_view src = bytes_of(SIZE, 'S'), dst = bytes_of(SIZE, 'D');
	struct dray_view rest = bytes_of(SIZE, 'R');
	struct receiver receiver = { .view = &rest };
	pid_t child;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct dray_event *first;

		reopen_rx(1);
		first = recv_view(&dst);
		end_receives(&rest, true);
		pthread_create(&receiver.thread, NULL, receive, &receiver);
		becomes_true(a_thread_waits(&rest));
		child = fork();
		if (!child)
			_exit(use_the_stream());
		assert_int_equal(status_of(child), 0);
		ends[i](&src, first);
		pthread_join(receiver.thread, NULL);
		assert_works(receiver.ret);
		dray_event_unref(send_view(&src));
		ends_with(receiver.event, SIZE);
		assert_true(all_bytes(rest.data, 'S', SIZE));
		dray_event_unref(first);
	}
	discard(&src);
	discard(&dst);
	discard(&rest);
}

LOOP_FACT(a_signal_ends_the_wait_for_a_place)
{
	struct sigaction action = { .sa_handler = ignore }, before;
	struct dray_view dst = bytes_of(SIZE, 'D');
	struct receiver receiver = { .view = &dst };
	struct dray_event *first;

	sigaction(SIGUSR1, &action, &before);
	reopen_rx(1);
	first = recv_view(&dst);
	end_receives(&dst, true);
	pthread_create(&receiver.thread, NULL, receive, &receiver);
	becomes_true(a_thread_waits(&dst));
	/* until the turn is free: a signal may come before the thread sleeps */
	do
		pthread_kill(receiver.thread, SIGUSR1);
	while (a_thread_waits(&dst));
	pthread_join(receiver.thread, NULL);
	assert_int_equal(receiver.ret, -EINTR);
	assert_null(receiver.event);
	assert_int_equal(dray_event_status(first), 0);
	assert_int_equal(counts_of(loop.rx).in_flight, 1);
	assert_works(dray_event_cancel(first));
	dray_event_unref(first);
	sigaction(SIGUSR1, &before, NULL);
	discard(&dst);
}

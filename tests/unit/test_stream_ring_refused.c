// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * stream: wrong calls of rings, their waits, and their end, in which the memory
 * comes back.
 */
#include <sys/time.h>

#include "child.h"
#include "rings.h"
#include "stream/stream.h"

FACTS_ON(on_host)

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct {
	bool sends;
	size_t count;
	uint32_t flags;
	const char *part;
} rings[] = {
	{ false, 0, 0, "0 frames, a ring has 2 to 1024" },
	{ false, 1, 0, "1 frame, a ring has 2 to 1024" },
	{ true, 1000000, 0, "1000000 frames, a ring has 2 to 1024" },
	{ false, SIZE_MAX, 0, "a ring has 2 to 1024" },
	{ false, 2, 25, "unknown flags 0x18 of a ring" },
	{ true, 2, DRAY_RING_OVERWRITE,
	  "tx0 sends, and only received frames are overwritten" },
	{ false, 129, 0,
	  "129 frames, and rx0 was opened with 128 points; open it with one for each frame" },
};

LOOP_FACT(wrong_rings_are_refused)
{
	const struct dray_stream_options few = { .points = 100 };
	struct frames *frames = frames_of(2);

	dray_stream_close(loop.rx);
	loop.rx = open_stream("rx0", &few);
	for (size_t i = 0; i < COUNT(rings); i++)
		assert_fails(dray_stream_ring(rings[i].sends ? loop.tx
							     : loop.rx,
					      frames->list, rings[i].count,
					      rings[i].flags),
			     -EINVAL, rings[i].part);
	drop(frames);
}

static const struct {
	int64_t offset; /* of frame 1; frame 0 begins at 0 */
	int64_t size, stride;
	uint32_t flags; /* that are unusual */
	int error;
	const char *part;
} wrong[] = {
	{ FRAME - 1, 1, 1, 0, -EINVAL, "frames 0 and 1 overlap" },
	{ 0, FRAME, 1, 0, -EINVAL, "each must end before another begins" },
	{ FRAME, 0, 1, 0, -EINVAL, "no bytes to receive (frame 1)" },
	{ FRAME, 4, 0, 0, -EINVAL, "(a stride of 0) (frame 1)" },
	{ FRAME, 4, 1, DRAY_WRITE, -EPERM, "is read-only (frame 1)" },
	{ FRAME, 2 * FRAME, 1, 0, -EOPNOTSUPP, "leaves its block" },
};

LOOP_FACT(wrong_frames_are_named)
{
	struct frames *frames = frames_of(2);

	for (size_t i = 0; i < COUNT(wrong); i++) {
		frames->view[1].data = frames->block + wrong[i].offset;
		frames->view[1].shape[0] = wrong[i].size;
		frames->view[1].strides[0] = wrong[i].stride;
		frames->view[1].flags = frames->view[0].flags ^ wrong[i].flags;
		assert_fails(dray_stream_ring(loop.rx, frames->list, 2, 0),
			     wrong[i].error, wrong[i].part);
	}
	frames->list[1] = NULL;
	assert_fails(dray_stream_ring(loop.rx, frames->list, 2, 0), -EINVAL,
		     "NULL");
	/* a refused ring leaves the stream as it was */
	dray_event_unref(recv_view(&frames->view[0]));
	drop(frames);
}

LOOP_FACT(read_only_memory_is_no_frame)
{
	struct dray_node *node = open_node("host:shareable");
	struct dray_buffer *buffer, *seen;
	struct dray_view views[2];
	const struct dray_view *list[] = { &views[0], &views[1] };
	struct dray_stream *stream;
	int fd;

	assert_works(dray_buffer_alloc(node, 4096, NULL, &buffer));
	assert_works(dray_buffer_share(buffer, true, &fd));
	assert_works(dray_buffer_import(node, fd, &seen));
	assert_works(dray_stream_open(node, "rx0", NULL, &stream));
	assert_works(dray_view_init(&views[0], dray_buffer_data(buffer), u1, 1,
				    DIMS(64), NULL));
	assert_works(dray_view_init(&views[1],
				    (char *)dray_buffer_data(seen) + 64, u1, 1,
				    DIMS(64), NULL));
	assert_fails(dray_stream_ring(stream, list, 2, 0), -EPERM,
		     "lies in read-only buffer");
	dray_stream_close(stream);
	close(fd);
	dray_buffer_unref(seen);
	dray_buffer_unref(buffer);
	dray_node_unref(node);
}

LOOP_FACT(a_ring_is_the_only_user_of_its_stream)
{
	struct dray_view view = bytes_of(64, 0);
	struct frames *frames = frames_of(2);
	struct dray_event *event = recv_view(&view), *none = NULL;
	struct dray_stream *stream = NULL;

	assert_fails(dray_stream_ring(loop.rx, frames->list, 2, 0), -EBUSY,
		     "rx0 has 1 packet in flight");
	assert_works(dray_event_cancel(event));
	dray_event_unref(event);
	assert_works(dray_stream_ring(loop.rx, frames->list, 2, 0));
	assert_fails(dray_stream_recv(loop.rx, &view, NULL, &none), -EBUSY,
		     "packets of rx0 pass in the frames of its ring");
	assert_fails(dray_stream_ring(loop.rx, frames->list, 2, 0), -EBUSY,
		     "packets of rx0 pass in the frames of its ring");
	assert_fails(dray_stream_open(loop.node, "rx0", NULL, &stream), -EBUSY,
		     "is open already");
	/* numbers go on after the packet before the ring */
	dray_event_unref(send_view(&view));
	assert_int_equal(acquire(loop.rx).number, 2);
	discard(&view);
	drop(frames);
}

static const struct {
	size_t count;
	uint32_t frames[3];
	const char *part; /* NULL: works */
} released[] = {
	{ 1, { 1 }, "frame 1 of rx0 is released twice, or was not acquired" },
	{ 1, { 3 }, "frame 3 of rx0, its ring has 3" },
	{ 1, { UINT32_MAX }, "frame 4294967295 of rx0, its ring has 3" },
	{ 2, { 0, 0 }, "frame 0 of rx0 is released twice" },
	{ 3, { 2, 0, 1 }, "frame 1 of rx0" },
	{ 1025, { 0 }, "1025 frames, a ring has up to 1024" },
	{ 0, { 0 }, NULL },
	{ 2, { 2, 0 }, NULL },
	{ 1, { 2 }, "frame 2 of rx0 is released twice" },
};

LOOP_FACT(only_acquired_frames_are_released)
{
	struct frames *frames = ring_of(loop.rx, 3, 0);
	struct dray_view src = bytes_of(64, 0);
	struct dray_point point;

	for (int i = 0; i < 3; i++)
		dray_event_unref(send_view(&src));
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(acquire(loop.rx).frame, i);
	release(loop.rx, 1);
	for (size_t i = 0; i < COUNT(released); i++) {
		int ret = dray_stream_release(loop.rx, released[i].frames,
					      released[i].count);

		assert_int_equal(ret, released[i].part ? -EINVAL : 0);
		if (ret && !strstr(dray_last_error(), released[i].part))
			fail_msg("'%s' does not say '%s'", dray_last_error(),
				 released[i].part);
	}
	assert_fails(dray_stream_acquire(loop.rx, &point, 0, 0), -EINVAL,
		     "no room for a frame of rx0");
	discard(&src);
	drop(frames);
}

LOOP_FACT(a_stream_without_a_ring_has_no_frames)
{
	struct dray_ring_counts counts = { .size = sizeof(counts) };
	struct dray_point point;
	uint32_t frame = 0;

	assert_fails(dray_stream_acquire(loop.rx, &point, 1, -1), -EINVAL,
		     "rx0 has no ring, dray_stream_ring() gives it one");
	assert_fails(dray_stream_release(loop.rx, &frame, 1), -EINVAL,
		     "rx0 has no ring");
	assert_fails(dray_stream_ring_counts(loop.rx, &counts), -EINVAL,
		     "rx0 has no ring");
}

static void on_signal(int number)
{
}

LOOP_FACT(a_wait_is_bounded)
{
	struct frames *frames = ring_of(loop.rx, 2, 0);
	struct frames *out = ring_of(loop.tx, 2, 0);
	struct itimerval often = { { 0, 5000 }, { 0, 5000 } }, never = {};
	struct sigaction action = { .sa_handler = on_signal };
	struct dray_point points[2];

	/* the engine has frames, then it has none */
	assert_fails(dray_stream_acquire(loop.rx, points, 2, 20), -ETIME,
		     "no frame of rx0 within 20 ms");
	assert_int_equal(dray_stream_acquire(loop.tx, points, 2, 0), 2);
	assert_fails(dray_stream_acquire(loop.tx, points, 2, 20), -ETIME,
		     "no frame of tx0 within 20 ms");
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	assert_fails(dray_stream_acquire(loop.rx, points, 2, -1), -EINTR,
		     "a signal came before a frame of rx0");
	assert_fails(dray_stream_acquire(loop.tx, points, 2, -1), -EINTR,
		     "a signal came before a frame of tx0");
	setitimer(ITIMER_REAL, &never, NULL);
	drop(frames);
	drop(out);
}

LOOP_FACT(a_cancelled_frame_is_acquired_with_its_status)
{
	struct frames *frames = ring_of(loop.rx, 2, 0);
	struct dray_view src = bytes_of(64, 3);
	struct dray_point point;

	assert_works(dray_stream_cancel(loop.rx));
	point = acquire(loop.rx);
	assert_int_equal(point.status, -ECANCELED);
	assert_int_equal(point.bytes, 0);
	release(loop.rx, point.frame);
	dray_event_unref(send_view(&src));
	point = acquire(loop.rx);
	assert_int_equal(point.status, 0);
	assert_int_equal(point.bytes, 64);
	discard(&src);
	drop(frames);
}

LOOP_FACT(frames_are_parked_until_the_stream_is_closed)
{
	struct frames *frames = ring_of(loop.rx, MOST, 0);
	struct dray_view src = bytes_of(64, 3);

	dray_event_unref(send_view(&src));
	acquire(loop.rx);
	drop(frames);
	assert_true(stats_of(loop.pool).parked >= MOST * FRAME);
	/* with a frame that the caller has */
	dray_stream_close(loop.rx);
	assert_int_equal(stats_of(loop.pool).parked, 0);
	loop.rx = open_stream("rx0", NULL);
	dray_event_unref(recv_view(&src));
	discard(&src);
}

static void *wait_for_frame(void *stream)
{
	struct dray_point point;

	return (void *)(intptr_t)dray_stream_acquire(stream, &point, 1, -1);
}

static bool is_used_by(struct dray_stream *stream, uint32_t threads)
{
	bool all;

	dray_streams_lock();
	all = stream->users == threads;
	dray_streams_unlock();
	return all;
}

LOOP_FACT(closing_a_stream_wakes_those_who_wait_for_frames)
{
	for (int round = 0; round < 100; round++) {
		/* without frames in the engine, and with all of them there */
		struct dray_stream **at = round % 2 ? &loop.rx : &loop.tx;
		struct frames *frames = ring_of(*at, 2, 0);
		struct dray_point points[2];
		pthread_t threads[3];
		void *status;

		if (at == &loop.tx)
			assert_int_equal(dray_stream_acquire(*at, points, 2, 0),
					 2);
		for (int i = 0; i < 3; i++)
			pthread_create(&threads[i], NULL, wait_for_frame, *at);
		becomes_true(is_used_by(*at, 3));
		dray_stream_close(*at);
		for (int i = 0; i < 3; i++) {
			pthread_join(threads[i], &status);
			assert_int_equal((intptr_t)status, -ECANCELED);
		}
		*at = open_stream(round % 2 ? "rx0" : "tx0", NULL);
		drop(frames);
	}
}

static struct frames *inherited;

static int be_a_child(void)
{
	struct dray_ring_counts counts = { .size = sizeof(counts) };
	struct dray_point point;
	uint32_t frame = 0;

	STEP_EQ(-ECHILD, dray_stream_acquire(loop.rx, &point, 1, 0));
	STEP_EQ(-ECHILD, dray_stream_release(loop.rx, &frame, 1));
	STEP_EQ(-ECHILD,
		dray_stream_exchange(loop.rx, &frame, 1, &point, 1, 0));
	STEP_EQ(-ECHILD, dray_stream_ring(loop.rx, inherited->list, 2, 0));
	STEP_EQ(-ECHILD, dray_stream_ring_counts(loop.rx, &counts));
	dray_stream_close(loop.rx);
	return 0;
}

LOOP_FACT(a_ring_is_its_processs_own)
{
	struct dray_view src = bytes_of(64, 3);
	pid_t child;

	inherited = ring_of(loop.rx, 2, 0);
	dray_event_unref(send_view(&src));
	acquire(loop.rx);
	child = fork();
	if (!child)
		_exit(be_a_child());
	assert_int_equal(status_of(child), 0);
	dray_event_unref(send_view(&src));
	assert_int_equal(acquire(loop.rx).frame, 1);
	discard(&src);
	drop(inherited);
}

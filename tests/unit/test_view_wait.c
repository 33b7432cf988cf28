// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * view_wait: views that meet packets in flight and frames of a ring.  Queues are
 * in test_copy_fences.c.
 */
#include <pthread.h>

#include "child.h"
#include "rings.h"

FACTS_ON(on_host)

#define BYTES 4096

static struct dray_view part_of(const struct dray_view *whole, int64_t from,
				int64_t to)
{
	struct dray_index index = DRAY_SLICE(from, to, 1);
	struct dray_view part;

	assert_works(dray_view_index(whole, &index, 1, &part));
	return part;
}

FACT(nothing_is_in_flight_without_a_stream)
{
	assert_false(dray_transfers_in_flight());
}

LOOP_FACT(a_packet_is_in_flight_until_its_end_was_seen)
{
	struct dray_view in = bytes_of(BYTES, 1);
	struct dray_event *receive;

	assert_false(dray_transfers_in_flight());
	receive = recv_view(&in);
	assert_true(dray_transfers_in_flight());
	assert_works(dray_event_cancel(receive));
	assert_false(dray_transfers_in_flight());
	dray_event_unref(receive);
	discard(&in);
}

LOOP_FACT(a_view_waits_for_packets_that_meet_it)
{
	struct dray_view out = bytes_of(BYTES, 1), in = bytes_of(BYTES, 2);
	struct dray_view sent = part_of(&out, 1000, 2000);
	struct dray_view asked = part_of(&in, 1000, 2000);
	const struct {
		const struct dray_view *whole;
		int64_t from, to;
		unsigned int access;
		int expected;
	} cases[] = {
		{ &out, 0, BYTES, DRAY_ACCESS_READ, 0 },
		{ &out, 0, BYTES, DRAY_ACCESS_WRITE, -ETIME },
		{ &out, 0, 1000, DRAY_ACCESS_WRITE, 0 },
		{ &out, 0, 1001, DRAY_ACCESS_WRITE, -ETIME },
		{ &out, 1999, BYTES, DRAY_ACCESS_WRITE, -ETIME },
		{ &out, 2000, BYTES, DRAY_ACCESS_WRITE, 0 },
		{ &out, 1500, 1500, DRAY_ACCESS_WRITE, 0 },
		{ &in, 0, BYTES, DRAY_ACCESS_READ, -ETIME },
		{ &in, 0, BYTES, DRAY_ACCESS_WRITE, -ETIME },
		{ &in, 0, 1000, DRAY_ACCESS_READ, 0 },
		{ &in, 2000, BYTES, DRAY_ACCESS_READ | DRAY_ACCESS_WRITE, 0 },
	};
	struct dray_event *receive = recv_view(&asked), *send = NULL;
	struct dray_stream *other = open_stream("tx1", NULL);

	/* To the other stream, so that the receive goes on. */
	assert_works(dray_stream_send(other, &sent, NULL, &send));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dray_view view =
			part_of(cases[i].whole, cases[i].from, cases[i].to);

		for (int wait = 0; wait < 2; wait++)
			if (dray_view_wait(&view, cases[i].access, wait) !=
			    cases[i].expected)
				fail_msg("case %zu", i);
	}
	assert_works(dray_event_cancel(receive));
	assert_works(dray_event_cancel(send));
	assert_works(dray_view_wait(&in, DRAY_ACCESS_WRITE, 0));
	assert_works(dray_view_wait(&out, DRAY_ACCESS_WRITE, 0));
	dray_event_unref(receive);
	dray_event_unref(send);
	dray_stream_close(other);
	discard(&out);
	discard(&in);
}

static void *send_all(void *view)
{
	return dray_stream_send(loop.tx, view, NULL, NULL) ? view : NULL;
}

/* The thread that waits copies a staged packet, or waits for the one that does. */
LOOP_FACT(a_view_is_filled_when_its_wait_is_over)
{
	struct dray_packet_options staged = { .flags = DRAY_PACKET_STAGE };
	struct dray_view out = bytes_of(BYTES, 7), in;
	struct dray_event *event;
	pthread_t sender;
	void *failed;
	char bytes[BYTES];

	assert_works(dray_view_init(&in, bytes, u1, 1, DIMS(BYTES), NULL));
	for (int i = 0; i < 100; i++) {
		memset(bytes, 0, sizeof(bytes));
		assert_works(dray_stream_recv(loop.rx, &in, &staged, &event));
		pthread_create(&sender, NULL, send_all, &out);
		assert_works(dray_view_wait(&in, DRAY_ACCESS_READ, -1));
		assert_true(all_bytes(bytes, 7, BYTES));
		pthread_join(sender, &failed);
		assert_null(failed);
		assert_int_equal(dray_event_status(event), 1);
		dray_event_unref(event);
	}
	discard(&out);
}

LOOP_FACT(a_frame_must_be_acquired_first)
{
	struct frames *frames = ring_of(loop.rx, 3, 0);
	struct dray_view out = bytes_of(FRAME, 1);

	assert_fails(dray_view_wait(&frames->view[1], DRAY_ACCESS_READ, -1),
		     -EBUSY, "frame 1 of rx0");
	assert_works(dray_stream_send(loop.tx, &out, NULL, NULL));
	assert_int_equal(acquire(loop.rx).frame, 0);
	assert_works(dray_view_wait(&frames->view[0], DRAY_ACCESS_WRITE, 0));
	drop(frames);
	discard(&out);
}

LOOP_FACT(a_frame_is_in_use_from_the_ring_to_its_end)
{
	struct frames *frames = ring_of(loop.rx, 3, 0);

	assert_true(dray_transfers_in_flight());
	assert_fails(dray_view_wait(&frames->view[0], DRAY_ACCESS_READ, 0),
		     -EBUSY, "frame 0 of rx0");
	dray_stream_close(loop.rx);
	loop.rx = NULL;
	assert_false(dray_transfers_in_flight());
	assert_works(dray_view_wait(&frames->view[0], DRAY_ACCESS_WRITE, 0));
	drop(frames);
}

/* A child has no transfer: what its parent has begun ends in the parent. */
LOOP_FACT(a_child_waits_for_nothing_of_its_parent)
{
	struct dray_view in = bytes_of(BYTES, 1);
	struct dray_event *receive = recv_view(&in);
	pid_t child = fork();

	if (!child) {
		if (dray_transfers_in_flight() ||
		    dray_view_wait(&in, DRAY_ACCESS_WRITE, -1))
			_exit(1);
		/* Ends the parent's packet for the child alone. */
		dray_stream_close(loop.rx);
		dray_event_unref(receive);
		_exit(dray_transfers_in_flight());
	}
	assert_int_equal(status_of(child), 0);
	assert_fails(dray_view_wait(&in, DRAY_ACCESS_WRITE, 0), -ETIME,
		     "uses the view");
	assert_works(dray_event_cancel(receive));
	dray_event_unref(receive);
	discard(&in);
}

LOOP_FACT(access_is_to_be_named)
{
	struct dray_view view = bytes_of(8, 1), wrong = view;

	assert_fails(dray_view_wait(&view, 0, 0), -EINVAL, "access 0x0");
	assert_fails(dray_view_wait(&view, 4, 0), -EINVAL, "access 0x4");
	wrong.ndim = 99;
	assert_fails(dray_view_wait(&wrong, DRAY_ACCESS_READ, 0), -EINVAL,
		     "the view");
	discard(&view);
}

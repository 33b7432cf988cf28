// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * stream: rings that receive and send, in time and late.  On the host, and with
 * DRAY_TEST_LOOP on a node with such a loop.
 */
#include "rings.h"

static bool has_loop(void)
{
	return on_host() || getenv("DRAY_TEST_LOOP");
}

FACTS_ON(has_loop)

/* Sends a packet with this number, and does not wait for its end. */
static struct dray_event *send_begin(uint64_t number)
{
	struct dray_view view = bytes_of(FRAME, 0);
	struct dray_event *event;

	set_number(view.data, number);
	event = send_view(&view);
	discard(&view);
	return event;
}

static void send_number(uint64_t number)
{
	dray_event_unref(send_begin(number));
}

LOOP_FACT(frames_come_whole_and_in_order)
{
	struct frames *frames = ring_of(loop.rx, 3, 0);
	uint64_t last = 0;

	for (uint64_t i = 1; i <= 20; i++) {
		struct dray_point point;

		send_number(i);
		point = acquire(loop.rx);
		assert_int_equal(point.number, i);
		assert_int_equal(point.frame, (i - 1) % 3);
		assert_int_equal(point.bytes, FRAME);
		assert_int_equal(point.status, 0);
		assert_true(point.time_ns > last);
		last = point.time_ns;
		assert_int_equal(number_of(frames->view[point.frame].data), i);
		release(loop.rx, point.frame);
	}
	drop(frames);
}

LOOP_FACT(many_frames_are_acquired_and_released_at_once)
{
	struct frames *frames = ring_of(loop.rx, 4, 0);
	const uint32_t order[] = { 2, 0, 3, 1 };
	struct dray_point points[MOST];
	int n = 0;

	for (uint64_t i = 1; i <= 4; i++)
		send_number(i);
	while (n < 4) {
		int ret = dray_stream_acquire(loop.rx, points + n, MOST,
					      DEADLINE * 1000);

		assert_true(ret > 0);
		n += ret;
	}
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(points[i].frame, i);
	assert_works(dray_stream_release(loop.rx, order, 4));
	for (uint64_t i = 5; i <= 8; i++) {
		send_number(i);
		points[0] = acquire(loop.rx);
		assert_int_equal(points[0].frame, order[i - 5]);
		assert_int_equal(number_of(frames->view[points[0].frame].data),
				 i);
	}
	drop(frames);
}

LOOP_FACT(a_short_packet_and_a_long_one_have_their_bytes)
{
	struct frames *frames = ring_of(loop.rx, 4, 0);
	struct dray_view view = bytes_of(FRAME + 8, 9);
	const uint64_t bytes[] = { 16, FRAME, 8 };

	view.shape[0] = 16;
	dray_event_unref(send_view(&view));
	view.shape[0] = FRAME + 8;
	dray_event_unref(send_view(&view));
	for (int i = 0; i < 3; i++) {
		struct dray_point point = acquire(loop.rx);

		assert_int_equal(point.bytes, bytes[i]);
		assert_true(
			all_bytes(frames->view[point.frame].data, 9, bytes[i]));
	}
	discard(&view);
	drop(frames);
}

LOOP_FACT(frames_to_send_are_the_callers_at_first)
{
	struct frames *frames = ring_of(loop.tx, 3, 0);
	struct dray_view dst = bytes_of(FRAME, 0);
	const uint32_t order[] = { 1, 2, 0 };
	struct dray_point points[MOST];

	assert_int_equal(dray_stream_acquire(loop.tx, points, MOST, -1), 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(points[i].frame, i);
		assert_int_equal(points[i].number, 0);
	}
	assert_fails(dray_stream_acquire(loop.tx, points, 1, 0), -ETIME,
		     "no frame of tx0 within 0 ms");
	for (uint64_t i = 1; i <= 30; i++) {
		uint32_t frame = i <= 3 ? order[i - 1] : acquire(loop.tx).frame;

		set_number(frames->view[frame].data, i);
		release(loop.tx, frame);
		assert_works(dray_stream_recv(loop.rx, &dst, NULL, NULL));
		assert_int_equal(number_of(dst.data), i);
	}
	assert_int_equal(ring_counts(loop.tx).lost, 0);
	discard(&dst);
	drop(frames);
}

LOOP_FACT(a_frame_may_have_any_strides_and_block)
{
	struct dray_view src = bytes_of(FRAME, 0), dst[2];
	const struct dray_view *list[] = { &dst[0], &dst[1] };
	const ptrdiff_t row_bytes = 64, pitch = 128;
	char *blocks[2];

	for (int i = 0; i < 2; i++) {
		blocks[i] = take(loop.pool, 2 * FRAME, 64);
		memset(blocks[i], 1, 2 * FRAME);
		/* 8 rows of 64 bytes, from the last one on */
		assert_works(dray_view_init(&dst[i], blocks[i] + 7 * pitch, u1,
					    2, DIMS(8, 64), DIMS(-128, 1)));
	}
	set_number(src.data, 77);
	assert_works(dray_stream_ring(loop.rx, list, 2, 0));
	for (uint32_t i = 0; i < 2; i++) {
		dray_event_unref(send_view(&src));
		assert_int_equal(acquire(loop.rx).frame, i);
		for (ptrdiff_t row = 0; row < 8; row++) {
			char *at = blocks[i] + (7 - row) * pitch;

			assert_memory_equal(
				at, (char *)src.data + row * row_bytes, 64);
			assert_true(all_bytes(at + 64, 1, 64));
		}
	}
	for (int i = 0; i < 2; i++)
		dray_pool_free(loop.pool, blocks[i]);
	discard(&src);
}

/* Frames to send and frames that come, all from the start. */
static void pass_all(struct frames *sent, struct frames *come, uint32_t count,
		     uint64_t *number)
{
	struct dray_point points[MOST];
	uint32_t n = 0;

	for (uint32_t i = 0; i < count; i++)
		set_number(sent->view[i].data, *number + i + 1);
	assert_works(dray_stream_ring(loop.rx, come->list, count,
				      DRAY_RING_REPLACE));
	assert_works(dray_stream_ring(loop.tx, sent->list, count,
				      DRAY_RING_REPLACE | DRAY_RING_RELEASED));
	while (n < count) {
		int ret = dray_stream_acquire(loop.rx, points, MOST,
					      DEADLINE * 1000);

		assert_true(ret > 0);
		for (int k = 0; k < ret; k++, n++) {
			assert_int_equal(points[k].frame, n);
			assert_int_equal(points[k].number, ++*number);
			assert_int_equal(number_of(come->view[n].data),
					 *number);
		}
	}
	for (n = 0; n < count; n++)
		acquire(loop.tx);
}

LOOP_FACT(rings_and_packets_take_turns)
{
	struct frames *sent = frames_of(MOST), *come = frames_of(MOST);
	struct dray_view view = bytes_of(FRAME, 0);
	struct dray_event *event, *sending;
	uint64_t number = 0;

	for (uint32_t round = 0; round < 20; round++) {
		for (uint32_t i = 0; i <= round % 3; i++)
			pass_all(sent, come, 2 + (round + i) % (MOST - 1),
				 &number);
		assert_works(
			dray_stream_ring(loop.rx, NULL, 0, DRAY_RING_REPLACE));
		assert_works(
			dray_stream_ring(loop.tx, NULL, 0, DRAY_RING_REPLACE));
		sending = send_begin(++number);
		event = recv_view(&view);
		assert_works(dray_event_wait(event, DEADLINE * 1000));
		/* A ring begins without packets in flight. */
		assert_works(dray_event_wait(sending, DEADLINE * 1000));
		dray_event_unref(event);
		dray_event_unref(sending);
		assert_int_equal(number_of(view.data), number);
	}
	discard(&view);
	/* No stream has their memory. */
	drop(sent);
	drop(come);
}

LOOP_FACT(a_ring_is_replaced_only_if_callers_have_all_frames)
{
	struct frames *frames = ring_of(loop.rx, 2, 0);
	struct frames *others = frames_of(3);
	const struct dray_view *twice[] = { others->list[0], others->list[0] };

	assert_fails(dray_stream_ring(loop.rx, others->list, 3,
				      DRAY_RING_REPLACE),
		     -EBUSY, "0 of 2 frames of rx0 are acquired");
	send_number(1);
	acquire(loop.rx);
	assert_fails(dray_stream_ring(loop.rx, NULL, 0, DRAY_RING_REPLACE),
		     -EBUSY, "1 of 2 frames of rx0 are acquired");
	send_number(2);
	acquire(loop.rx);
	assert_fails(dray_stream_ring(loop.rx, others->list, 3, 0), -EBUSY,
		     "packets of rx0 pass in the frames of its ring");
	/* Wrong frames leave the old ring. */
	assert_fails(dray_stream_ring(loop.rx, twice, 2, DRAY_RING_REPLACE),
		     -EINVAL, "frames 0 and 1 overlap");
	assert_fails(dray_stream_ring(loop.rx, others->list, 1,
				      DRAY_RING_REPLACE),
		     -EINVAL, "a ring has 2 to");
	assert_int_equal(ring_counts(loop.rx).frames, 2);
	release(loop.rx, 1);
	send_number(3);
	assert_int_equal(acquire(loop.rx).frame, 1);
	assert_int_equal(number_of(frames->view[1].data), 3);
	assert_works(
		dray_stream_ring(loop.rx, others->list, 3, DRAY_RING_REPLACE));
	assert_int_equal(ring_counts(loop.rx).frames, 3);
	send_number(4);
	assert_int_equal(acquire(loop.rx).number, 4);
	assert_int_equal(number_of(others->view[0].data), 4);
	drop(frames);
	drop(others);
}

LOOP_FACT(a_late_reader_holds_the_stream_back)
{
	struct frames *frames = ring_of(loop.rx, 2, 0);
	struct dray_ring_counts counts = { .size = sizeof(counts) };

	for (uint64_t i = 1; i <= 10; i++)
		send_number(i);
	becomes_true(ring_counts(loop.rx).waiting == 2);
	becomes_true(ring_counts(loop.rx).held_back == 1);
	for (uint64_t i = 1; i <= 10; i++) {
		struct dray_point point = acquire(loop.rx);

		assert_int_equal(number_of(frames->view[point.frame].data), i);
		release(loop.rx, point.frame);
	}
	counts = ring_counts(loop.rx);
	assert_int_equal(counts.frames, 2);
	assert_int_equal(counts.ended, 10);
	assert_int_equal(counts.acquired, 10);
	assert_int_equal(counts.lost, 0);
	assert_int_equal(counts.waiting, 0);
	assert_int_equal(counts.owned, 0);
	drop(frames);
}

LOOP_FACT(the_oldest_unread_frames_are_overwritten)
{
	struct frames *frames = ring_of(loop.rx, 4, DRAY_RING_OVERWRITE);
	struct dray_point points[MOST], first;
	uint64_t acquired = 1;
	int n;

	send_number(1);
	first = acquire(loop.rx);
	for (uint64_t i = 2; i <= 20; i++)
		send_number(i);
	becomes_true(ring_counts(loop.rx).ended == 20);
	do {
		n = dray_stream_acquire(loop.rx, points, MOST, 0);
		for (int i = 0; i < n; i++)
			assert_int_equal(
				number_of(frames->view[points[i].frame].data),
				points[i].number);
		acquired += n > 0 ? (uint64_t)n : 0;
	} while (n > 0);
	assert_int_equal(n, -ETIME);
	assert_int_equal(points[0].number > 1, 1);
	/* a frame that the caller has is not overwritten */
	assert_int_equal(number_of(frames->view[first.frame].data), 1);
	assert_int_equal(ring_counts(loop.rx).lost, 20 - acquired);
	assert_int_equal(ring_counts(loop.rx).owned, acquired);
	drop(frames);
}

static const struct {
	uint32_t flags;
	uint32_t room; /* of a call */
	uint32_t late; /* the reader is late after so many calls */
} readers[] = {
	{ 0, 1, 5000 },
	{ 0, MOST, 700 },
	{ DRAY_RING_OVERWRITE, 1, 3000 },
	{ DRAY_RING_OVERWRITE, MOST, 300 },
};

#define NUMBERED ((uint64_t)rounds(100000))

static void *send_numbered(void *data)
{
	struct frames *frames = data;

	for (uint64_t i = 1; i <= NUMBERED; i++) {
		uint32_t frame = acquire(loop.tx).frame;

		set_number(frames->view[frame].data, i);
		release(loop.tx, frame);
	}
	return NULL;
}

/* The reader waits until the stream is held back, or frames are lost. */
static bool is_late(const struct dray_ring_counts *before)
{
	struct dray_ring_counts now = ring_counts(loop.rx);

	return now.lost > before->lost ||
	       now.waiting + now.owned == now.frames || now.ended == NUMBERED;
}

/* Reads until the last number; returns the count of frames seen. */
static uint64_t read_numbered(const struct frames *frames, size_t row)
{
	struct dray_point points[MOST];
	uint64_t last = 0, seen = 0;
	uint32_t back[MOST];
	size_t count = 0;

	for (uint32_t calls = 0; last < NUMBERED; calls++) {
		struct dray_ring_counts before = ring_counts(loop.rx);
		int n;

		if (calls % readers[row].late == readers[row].late - 1)
			becomes_true(is_late(&before));
		n = dray_stream_exchange(loop.rx, back, count, points,
					 readers[row].room, DEADLINE * 1000);
		if (n <= 0)
			fail_msg("row %zu, behind %" PRIu64 ": %d, %s", row,
				 last, n, dray_last_error());
		for (count = 0; count < (size_t)n; count++) {
			const struct dray_point *point = &points[count];
			uint64_t number =
				number_of(frames->view[point->frame].data);

			assert_int_equal(number, point->number);
			assert_true(number > last);
			last = number;
			back[count] = point->frame;
			seen++;
		}
	}
	return seen;
}

/* None torn, none twice, and as many missing as were counted. */
LOOP_FACT(numbered_frames_come_once_or_are_counted_as_lost)
{
	for (size_t row = 0; row < sizeof(readers) / sizeof(readers[0]);
	     row++) {
		struct frames *from = ring_of(loop.tx, 4, 0);
		struct frames *to =
			ring_of(loop.rx, MOST / 2, readers[row].flags);
		struct dray_ring_counts counts = { .size = sizeof(counts) };
		pthread_t writer;
		uint64_t seen;

		pthread_create(&writer, NULL, send_numbered, from);
		seen = read_numbered(to, row);
		pthread_join(writer, NULL);
		counts = ring_counts(loop.rx);
		assert_int_equal(counts.ended, NUMBERED);
		assert_int_equal(counts.acquired, seen);
		assert_int_equal(counts.lost, NUMBERED - seen);
		if (readers[row].flags)
			assert_true(counts.lost > 0);
		dray_stream_close(loop.tx);
		dray_stream_close(loop.rx);
		loop.tx = open_stream("tx0", NULL);
		loop.rx = open_stream("rx0", NULL);
		drop(from);
		drop(to);
	}
}

static struct frames *shared;
static _Atomic uint64_t sum, taken;

/* Each thread takes frames until all were taken. */
static void *read_shared(void *data)
{
	struct dray_point point;

	while (dray_stream_acquire(loop.rx, &point, 1, -1) == 1) {
		atomic_fetch_add(&sum,
				 number_of(shared->view[point.frame].data));
		release(loop.rx, point.frame);
		atomic_fetch_add(&taken, 1);
	}
	return NULL;
}

LOOP_FACT(threads_share_the_frames)
{
	struct frames *from = ring_of(loop.tx, 3, 0);
	pthread_t readers_of[3];

	atomic_store(&sum, 0);
	atomic_store(&taken, 0);
	shared = ring_of(loop.rx, 4, 0);
	for (int i = 0; i < 3; i++)
		pthread_create(&readers_of[i], NULL, read_shared, NULL);
	for (uint64_t i = 1; i <= 2000; i++) {
		uint32_t frame = acquire(loop.tx).frame;

		set_number(from->view[frame].data, i);
		release(loop.tx, frame);
	}
	becomes_true(atomic_load(&taken) == 2000);
	assert_int_equal(atomic_load(&sum), 2000ull * 2001 / 2);
	/* wakes them */
	dray_stream_close(loop.rx);
	for (int i = 0; i < 3; i++)
		pthread_join(readers_of[i], NULL);
	loop.rx = open_stream("rx0", NULL);
	drop(shared);
	drop(from);
}

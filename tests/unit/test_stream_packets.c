// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * stream: packets of any length, back-pressure, and the ways in which a transfer
 * ends before its end.
 */
#include "streams.h"

FACTS_ON(on_host)

#define NUMBERS 4096

static unsigned char numbers[NUMBERS]; /* that follow each other */

/* A block whose bytes continue the numbers from @first on. */
static struct dray_view numbered(size_t size, size_t first)
{
	struct dray_view view = bytes_of(size, 0);

	for (size_t i = 0; i < NUMBERS; i++)
		numbers[i] = (unsigned char)(i ^ (i >> 5));
	memcpy(view.data, numbers + first, size);
	return view;
}

LOOP_FACT(a_longer_packet_goes_on_in_the_next_receive)
{
	struct dray_view src = numbered(1000, 0), dst = bytes_of(300, 0);
	struct dray_event *sent = send_view(&src);

	for (size_t at = 0; at < 900; at += 300) {
		ends_with(recv_view(&dst), 300);
		assert_memory_equal(dst.data, numbers + at, 300);
		assert_int_equal(dray_event_status(sent), 0);
	}
	ends_with(recv_view(&dst), 100);
	assert_memory_equal(dst.data, numbers + 900, 100);
	ends_with(sent, 1000);
	discard(&src);
	discard(&dst);
}

LOOP_FACT(a_shorter_packet_ends_the_receive)
{
	struct dray_view dst = bytes_of(1000, 0xee);
	struct dray_view a = numbered(1, 0), b = numbered(999, 1);
	struct dray_event *first = recv_view(&dst), *second;
	struct dray_view rest = dst;

	dray_event_unref(send_view(&a));
	ends_with(first, 1);
	rest.data = (char *)dst.data + 1;
	rest.shape[0] = 999;
	second = recv_view(&rest);
	dray_event_unref(send_view(&b));
	ends_with(second, 999);
	assert_memory_equal(dst.data, numbers, 1000);
	discard(&a);
	discard(&b);
	discard(&dst);
}

LOOP_FACT(packets_of_any_length_arrive_in_receives_of_any_length)
{
	struct dice dice = { 7 };
	struct dray_view src = numbered(NUMBERS, 0);
	struct dray_view dst = bytes_of(NUMBERS, 0);

	for (int round = 0; round < rounds(300); round++) {
		uint64_t packet = 1 + roll(&dice, 1000), left = packet;
		struct dray_view part;
		struct dray_event *sent;

		dray_view_copy(&part, &src);
		part.shape[0] = (int64_t)packet;
		sent = send_view(&part);
		while (left) {
			uint64_t room = 1 + roll(&dice, 700);
			uint64_t takes = left < room ? left : room;

			dray_view_copy(&part, &dst);
			part.data = (char *)dst.data + (packet - left);
			part.shape[0] = (int64_t)room;
			ends_with(recv_view(&part), takes);
			left -= takes;
		}
		assert_memory_equal(dst.data, numbers, packet);
		ends_with(sent, packet);
	}
	discard(&src);
	discard(&dst);
}

LOOP_FACT(packets_that_are_sent_wait_for_receives)
{
	struct dray_view src = numbered(640, 0), dst = bytes_of(10, 0);
	struct dray_event *sent[64];
	struct dray_view part;

	dray_view_copy(&part, &src);
	part.shape[0] = 10;
	for (int i = 0; i < 64; i++) {
		part.data = (char *)src.data + 10 * i;
		sent[i] = send_view(&part);
	}
	for (int i = 0; i < 64; i++) {
		assert_int_equal(dray_event_status(sent[i]), 0);
		ends_with(recv_view(&dst), 10);
		assert_memory_equal(dst.data, numbers + 10 * i, 10);
		ends_with(sent[i], 10);
	}
	discard(&src);
	discard(&dst);
}

LOOP_FACT(receives_wait_for_packets)
{
	struct dray_view src = numbered(10, 0), dst = bytes_of(640, 0), part;
	struct dray_event *got[64];

	dray_view_copy(&part, &dst);
	part.shape[0] = 10;
	for (int i = 0; i < 64; i++) {
		part.data = (char *)dst.data + 10 * i;
		got[i] = recv_view(&part);
	}
	for (int i = 0; i < 64; i++) {
		assert_int_equal(dray_event_status(got[i]), 0);
		ends_with(send_view(&src), 10);
		ends_with(got[i], 10);
		assert_memory_equal((char *)dst.data + 10 * i, numbers, 10);
	}
	discard(&src);
	discard(&dst);
}

LOOP_FACT(without_room_a_call_may_refuse_to_wait)
{
	struct dray_packet_options options = { .flags = DRAY_PACKET_NONBLOCK };
	struct dray_view src = bytes_of(10, 1), dst = bytes_of(10, 2);
	struct dray_event *event = NULL;

	for (int i = 0; i < 64; i++)
		dray_event_unref(send_view(&src));
	assert_fails(dray_stream_send(loop.tx, &src, &options, &event), -EAGAIN,
		     "holds 64 submissions");
	assert_null(event);
	dray_event_unref(recv_view(&dst));
	assert_works(dray_stream_send(loop.tx, &src, &options, &event));
	assert_int_equal(counts_of(loop.tx).in_flight, 64);
	dray_event_unref(event);
	discard(&src);
	discard(&dst);
	assert_int_equal(stats_of(loop.pool).parked > 0, 1);
	assert_works(dray_stream_cancel(loop.tx));
}

#define PACKETS 2000

/* Sends numbers in packets of 1 to 37 bytes; the loop pushes back. */
static void *send_many(void *data)
{
	struct dray_view *src = data, part;
	struct dray_event *event;
	intptr_t failed = 0;

	dray_view_copy(&part, src);
	for (int i = 0; i < PACKETS; i++) {
		part.data = (char *)src->data + i;
		part.shape[0] = 1 + i % 37;
		failed += dray_stream_send(loop.tx, &part, NULL, &event) != 0;
		dray_event_unref(event);
	}
	return (void *)failed;
}

LOOP_FACT(a_sender_that_is_faster_waits_for_the_receiver)
{
	struct dray_view src = numbered(NUMBERS, 0), dst = bytes_of(64, 0);
	struct dray_stream_counts counts = { .size = sizeof(counts) };
	pthread_t sender;
	void *failed;

	assert_int_equal(pthread_create(&sender, NULL, send_many, &src), 0);
	for (int i = 0; i < PACKETS; i++) {
		ends_with(recv_view(&dst), (uint64_t)(1 + i % 37));
		assert_memory_equal(dst.data, numbers + i,
				    (size_t)(1 + i % 37));
	}
	pthread_join(sender, &failed);
	assert_null(failed);
	counts = counts_of(loop.tx);
	assert_int_equal(counts.transfers, PACKETS);
	assert_int_equal(counts.in_flight, 0);
	assert_int_equal(counts.bytes, counts_of(loop.rx).bytes);
	discard(&src);
	discard(&dst);
}

/* Receives whole packets, in one of several threads. */
static void *recv_many(void *data)
{
	struct dray_view *dst = data;
	struct dray_packet_options options = { .flags = 0 };
	intptr_t failed = 0;
	uint64_t bytes;

	options.bytes = &bytes;
	for (int i = 0; i < PACKETS / 4; i++) {
		failed += dray_stream_recv(loop.rx, dst, &options, NULL) != 0;
		failed += bytes < 1 || bytes > 37;
	}
	return (void *)failed;
}

LOOP_FACT(several_threads_may_receive)
{
	struct dray_view src = numbered(NUMBERS, 0), dst[4];
	pthread_t sender, receivers[4];
	void *failed;

	for (int i = 0; i < 4; i++) {
		dst[i] = bytes_of(64, 0);
		pthread_create(&receivers[i], NULL, recv_many, &dst[i]);
	}
	pthread_create(&sender, NULL, send_many, &src);
	for (int i = 0; i < 4; i++) {
		pthread_join(receivers[i], &failed);
		assert_null(failed);
		discard(&dst[i]);
	}
	pthread_join(sender, &failed);
	assert_null(failed);
	assert_int_equal(counts_of(loop.rx).transfers, PACKETS);
	discard(&src);
}

LOOP_FACT(a_cancelled_transfer_ends_and_those_behind_it_go_on)
{
	struct dray_view one = bytes_of(10, 1), two = bytes_of(10, 2);
	struct dray_view dst = bytes_of(10, 0);
	struct dray_event *first = send_view(&one), *second = send_view(&two);

	assert_works(dray_event_cancel(first));
	assert_fails(dray_event_status(first), -ECANCELED,
		     "packet 1 of tx0 ended after 0 bytes: Operation canceled");
	assert_fails(dray_event_wait(first, -1), -ECANCELED, "packet 1 of tx0");
	ends_with(recv_view(&dst), 10);
	assert_true(all_bytes(dst.data, 2, 10));
	ends_with(second, 10);
	/* that has ended */
	assert_works(dray_event_cancel(first));
	assert_int_equal(point_of(first).status, -ECANCELED);
	dray_event_unref(first);
	discard(&one);
	discard(&two);
	discard(&dst);
}

LOOP_FACT(a_packet_that_is_cancelled_halfway_tells_its_bytes)
{
	struct dray_view src = numbered(1000, 0), dst = bytes_of(600, 0);
	struct dray_event *sent = send_view(&src), *got;

	ends_with(recv_view(&dst), 600);
	assert_works(dray_event_cancel(sent));
	assert_int_equal(point_of(sent).bytes, 600);
	assert_int_equal(point_of(sent).status, -ECANCELED);
	dray_event_unref(sent);
	/* the rest of it never comes */
	got = recv_view(&dst);
	dray_event_unref(send_view(&src));
	ends_with(got, 600);
	assert_memory_equal(dst.data, numbers, 600);
	assert_works(dray_stream_cancel(loop.tx));
	discard(&src);
	discard(&dst);
}

LOOP_FACT(cancel_ends_all_of_a_stream)
{
	struct dray_view src = bytes_of(10, 1);
	struct dray_event *sent[5];

	for (int i = 0; i < 5; i++)
		sent[i] = send_view(&src);
	assert_works(dray_stream_cancel(loop.tx));
	for (int i = 0; i < 5; i++) {
		assert_int_equal(dray_event_status(sent[i]), -ECANCELED);
		dray_event_unref(sent[i]);
	}
	assert_int_equal(counts_of(loop.tx).cancelled, 5);
	discard(&src);
}

LOOP_FACT(a_deadline_ends_a_transfer)
{
	struct dray_packet_options options = { .deadline_ns = 1000000 };
	struct dray_view dst = bytes_of(10, 0), src = bytes_of(10, 3);
	struct dray_event *event, *other = recv_view(&dst);
	struct timespec before;

	/* behind one that has none */
	clock_gettime(CLOCK_MONOTONIC, &before);
	assert_works(dray_stream_recv(loop.rx, &dst, &options, &event));
	assert_fails(dray_event_wait(event, -1), -ETIMEDOUT,
		     "packet 2 of rx0 ended after 0 bytes");
	assert_true(point_of(event).time_ns >=
		    (uint64_t)before.tv_sec * 1000000000 +
			    (uint64_t)before.tv_nsec + 1000000);
	dray_event_unref(event);
	assert_int_equal(dray_event_status(other), 0);
	dray_event_unref(send_view(&src));
	ends_with(other, 10);
	assert_fails(dray_stream_recv(loop.rx, &dst, &options, NULL),
		     -ETIMEDOUT, "packet 3 of rx0");
	assert_int_equal(counts_of(loop.rx).timed_out, 2);
	discard(&dst);
	discard(&src);
}

LOOP_FACT(a_deadline_that_is_met_changes_nothing)
{
	struct dray_packet_options options = { .deadline_ns =
						       DRAY_MAX_DEADLINE };
	struct dray_view dst = bytes_of(10, 0), src = bytes_of(10, 3);
	struct dray_event *event;

	assert_works(dray_stream_recv(loop.rx, &dst, &options, &event));
	dray_event_unref(send_view(&src));
	ends_with(event, 10);
	discard(&dst);
	discard(&src);
}

LOOP_FACT(a_wait_has_a_limit_of_its_own)
{
	struct dray_view dst = bytes_of(10, 0);
	struct dray_event *event = recv_view(&dst);

	assert_fails(dray_event_wait(event, 0), -ETIME,
		     "packet 1 of rx0 is still under way after 0 ms");
	assert_fails(dray_event_wait(event, 1), -ETIME, "after 1 ms");
	assert_int_equal(dray_event_status(event), 0);
	dray_event_unref(event);
	discard(&dst);
}

static _Atomic int waiting;

static void *wait_for(void *event)
{
	atomic_fetch_add(&waiting, 1);
	return (void *)(intptr_t)dray_event_wait(event, -1);
}

/* All threads see the same end. */
static void check_waiters(bool cancel)
{
	struct dray_view dst = bytes_of(10, 0), src = bytes_of(10, 3);
	struct dray_event *event = recv_view(&dst);
	pthread_t threads[4];
	void *status;

	atomic_store(&waiting, 0);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, wait_for, event);
	becomes_true(atomic_load(&waiting) == 4);
	if (cancel)
		assert_works(dray_stream_cancel(loop.rx));
	else
		dray_event_unref(send_view(&src));
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &status);
		assert_int_equal((intptr_t)status, cancel ? -ECANCELED : 0);
	}
	dray_event_unref(event);
	discard(&dst);
	discard(&src);
}

LOOP_FACT(several_threads_may_wait_for_one_event)
{
	for (int i = 0; i < 20; i++) {
		check_waiters(false);
		check_waiters(true);
	}
}

static void ignore(int signal)
{
}

static _Atomic bool over;

static void *interrupt(void *thread)
{
	while (!atomic_load(&over)) {
		pthread_kill(*(pthread_t *)thread, SIGUSR1);
		sched_yield();
	}
	return NULL;
}

LOOP_FACT(a_signal_ends_a_wait_which_may_be_repeated)
{
	struct sigaction action = { .sa_handler = ignore }, before;
	struct dray_packet_options late = { .deadline_ns = 10000000 };
	struct dray_view dst = bytes_of(10, 0), src = bytes_of(10, 1);
	struct dray_event *event = recv_view(&dst);
	pthread_t self = pthread_self(), other;

	sigaction(SIGUSR1, &action, &before);
	atomic_store(&over, false);
	pthread_create(&other, NULL, interrupt, &self);
	assert_fails(dray_event_wait(event, -1), -EINTR, "a signal came");
	/* a signal does not end the wait of a call that has begun */
	assert_int_equal(dray_stream_recv(loop.rx, &dst, &late, NULL),
			 -ETIMEDOUT);
	dray_event_unref(event);
	assert_works(dray_stream_cancel(loop.rx));
	/* and room, before anything is begun, is not */
	for (int i = 0; i < 64; i++)
		dray_event_unref(send_view(&src));
	assert_fails(dray_stream_send(loop.tx, &src, NULL, NULL), -EINTR,
		     "nothing was submitted");
	atomic_store(&over, true);
	pthread_join(other, NULL);
	sigaction(SIGUSR1, &before, NULL);
	discard(&dst);
	discard(&src);
}

LOOP_FACT(points_are_read_long_after_others_have_come)
{
	struct dray_view src = bytes_of(10, 1), dst = bytes_of(10, 0);
	struct dray_event *first = send_view(&src), *got = recv_view(&dst);

	for (int i = 0; i < 5000; i++) {
		dray_event_unref(send_view(&src));
		dray_event_unref(recv_view(&dst));
	}
	assert_int_equal(point_of(first).number, 1);
	assert_int_equal(point_of(first).bytes, 10);
	assert_int_equal(counts_of(loop.tx).transfers, 5001);
	dray_event_unref(first);
	ends_with(got, 10);
	discard(&src);
	discard(&dst);
}

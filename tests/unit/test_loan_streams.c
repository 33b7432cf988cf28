// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loans beside packets and rings of the host's loop: each order, staged packets, frames,
 * and threads that receive and lend the same bytes.
 */
#include <pthread.h>

#include "rings.h"

FACTS_ON(on_host)

#define BYTES 4096
#define BOTH (DRAY_ACCESS_READ | DRAY_ACCESS_WRITE)

static const struct dray_loan_options to_mpi = { .size = sizeof(to_mpi),
						 .to = "mpi" };

static struct dray_loan *lend(const struct dray_view *view, unsigned int access)
{
	struct dray_loan *loan = NULL;

	assert_works(dray_view_lend(view, access, 0, &to_mpi, &loan));
	return loan;
}

LOOP_FACT(a_packet_does_not_begin_on_lent_memory)
{
	static const struct {
		bool of_source;
		unsigned int access;
		int expected;
	} cases[] = {
		{ false, DRAY_ACCESS_READ, -EAGAIN },
		{ false, DRAY_ACCESS_WRITE, -EAGAIN },
		{ true, DRAY_ACCESS_READ, 0 },
		{ true, DRAY_ACCESS_WRITE, -EAGAIN },
	};
	const uint32_t flags[] = { 0, DRAY_PACKET_STAGE };
	struct dray_view out = bytes_of(BYTES, 7), in = bytes_of(BYTES, 0);
	char bytes[2][BYTES];
	struct dray_view views[2][2] = { { out, in }, { out, in } };

	/* Memory of the program is staged. */
	for (int i = 0; i < 2; i++) {
		memset(bytes[i], 7, BYTES);
		assert_works(dray_view_init(&views[1][i], bytes[i], u1, 1,
					    DIMS(BYTES), NULL));
	}
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		struct dray_view *way = views[i & 1];
		struct dray_packet_options options = {
			.flags = flags[i & 1] | DRAY_PACKET_NONBLOCK,
		};
		bool sends = cases[i / 2].of_source;
		struct dray_loan *loan =
			lend(&way[sends ? 0 : 1], cases[i / 2].access);
		struct dray_event *event = NULL;
		int ret = sends ? dray_stream_send(loop.tx, &way[0], &options,
						   &event)
				: dray_stream_recv(loop.rx, &way[1], &options,
						   &event);

		if (ret != cases[i / 2].expected)
			fail_msg("case %zu: %d, %s", i, ret, dray_last_error());
		if (ret)
			assert_non_null(
				strstr(dray_last_error(), "lent to mpi"));
		dray_loan_end(loan);
		assert_int_equal(dray_transfers_in_flight(), !ret);
		if (!ret) {
			ends_with(recv_view(&in), BYTES);
			ends_with(event, BYTES);
		}
	}
	discard(&out);
	discard(&in);
}

LOOP_FACT(a_loan_waits_for_packets)
{
	struct dray_view out = bytes_of(BYTES, 7), in = bytes_of(BYTES, 0);
	struct dray_event *receive = recv_view(&in), *send;
	struct dray_loan *loan = NULL;

	assert_fails(dray_view_lend(&in, DRAY_ACCESS_READ, 1, NULL, &loan),
		     -ETIME, "still under way after 1 ms");
	send = send_view(&out);
	assert_works(dray_view_lend(&in, DRAY_ACCESS_READ, DEADLINE * 1000,
				    NULL, &loan));
	assert_true(all_bytes(in.data, 7, BYTES));
	ends_with(receive, BYTES);
	ends_with(send, BYTES);
	dray_loan_end(loan);
	discard(&out);
	discard(&in);
}

/* A frame can be lent while the program owns it, and is not released then. */
LOOP_FACT(a_frame_is_lent_between_acquire_and_release)
{
	struct frames *frames = ring_of(loop.rx, 3, 0);
	struct dray_view out = bytes_of(FRAME, 1);
	struct dray_loan *loan = NULL;
	uint32_t both[2] = { 0, 1 };
	struct dray_point points[1];

	assert_fails(dray_view_lend(&frames->view[0], BOTH, -1, NULL, &loan),
		     -EBUSY, "frame 0 of rx0");
	for (int i = 0; i < 2; i++)
		assert_works(dray_stream_send(loop.tx, &out, NULL, NULL));
	assert_int_equal(acquire(loop.rx).frame, 0);
	assert_int_equal(acquire(loop.rx).frame, 1);
	loan = lend(&frames->view[1], DRAY_ACCESS_READ);
	assert_fails(dray_stream_release(loop.rx, both, 2), -EBUSY,
		     "lent to mpi, end the loan first (frame 1 of rx0)");
	assert_fails(dray_stream_exchange(loop.rx, both + 1, 1, points, 1, 0),
		     -EBUSY, "frame 1 of rx0");
	/* Both are still acquired. */
	dray_loan_end(lend(&frames->view[0], BOTH));
	release(loop.rx, 0);
	dray_loan_end(loan);
	release(loop.rx, 1);
	drop(frames);
	discard(&out);
}

LOOP_FACT(a_ring_does_not_begin_on_lent_memory)
{
	struct frames *frames = frames_of(3);
	struct dray_loan *loan = lend(&frames->view[2], DRAY_ACCESS_READ);

	assert_fails(dray_stream_ring(loop.rx, frames->list, 3, 0), -EBUSY,
		     "lent to mpi");
	/* It can be read, and a ring that sends belongs to the program at first. */
	assert_works(dray_stream_ring(loop.tx, frames->list, 3, 0));
	dray_loan_end(loan);
	assert_works(dray_stream_ring(loop.rx, frames->list, 3, 0));
	drop(frames);
}

#define PACKETS 200

static void *send_packets(void *view)
{
	for (int i = 0; i < PACKETS; i++) {
		memset(((struct dray_view *)view)->data, i, BYTES);
		if (dray_stream_send(loop.tx, view, NULL, NULL))
			return view;
	}
	return NULL;
}

static void *receive_packets(void *view)
{
	for (int i = 0; i < PACKETS; i++)
		if (dray_stream_recv(loop.rx, view, NULL, NULL))
			return view;
	return NULL;
}

/* Without order between the threads: a loan sees whole packets. */
LOOP_FACT(threads_that_receive_and_lend_exclude_each_other)
{
	struct dray_view out = bytes_of(BYTES, 0), in = bytes_of(BYTES, 0);
	pthread_t sender, receiver;
	struct dray_loan *loan;
	void *failed;
	unsigned char *data = in.data;

	pthread_create(&sender, NULL, send_packets, &out);
	pthread_create(&receiver, NULL, receive_packets, &in);
	do {
		assert_works(dray_view_lend(&in, BOTH, DEADLINE * 1000, &to_mpi,
					    &loan));
		assert_true(all_bytes(data, data[0], BYTES));
		if (data[0] != PACKETS - 1)
			memset(data, data[0] + 1, BYTES);
		dray_loan_end(loan);
	} while (counts_of(loop.rx).transfers < PACKETS);
	pthread_join(sender, &failed);
	assert_null(failed);
	pthread_join(receiver, &failed);
	assert_null(failed);
	discard(&out);
	discard(&in);
}

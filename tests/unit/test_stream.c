// SPDX-License-Identifier: Apache-2.0 OR MIT
/* stream: opening by name, one packet, and questions about it. */
#include <poll.h>

#include "streams.h"

FACTS_ON(on_host)

LOOP_FACT(what_is_sent_comes_back)
{
	struct dray_view src = bytes_of(5000, 7), dst = bytes_of(5000, 1);
	struct dray_event *sent = send_view(&src), *got;

	assert_int_equal(dray_event_status(sent), 0);
	got = recv_view(&dst);
	ends_with(got, 5000);
	assert_int_equal(dray_event_status(sent), 1);
	ends_with(sent, 5000);
	assert_true(all_bytes(dst.data, 7, 5000));
	discard(&src);
	discard(&dst);
}

LOOP_FACT(without_an_event_the_call_waits)
{
	struct dray_view src = bytes_of(300, 9), dst = bytes_of(1000, 1);
	struct dray_packet_options options = { .flags = 0 };
	uint64_t bytes = 0;

	options.bytes = &bytes;
	dray_event_unref(send_view(&src));
	assert_works(dray_stream_recv(loop.rx, &dst, &options, NULL));
	assert_int_equal(bytes, 300);
	assert_true(all_bytes(dst.data, 9, 300));
	assert_true(all_bytes((char *)dst.data + 300, 1, 700));
	dray_event_unref(recv_view(&dst));
	assert_works(dray_stream_send(loop.tx, &src, &options, NULL));
	assert_int_equal(bytes, 300);
	discard(&src);
	discard(&dst);
}

LOOP_FACT(the_second_pair_is_a_loop_of_its_own)
{
	struct dray_stream *tx = open_stream("tx1", NULL);
	struct dray_stream *rx = open_stream("rx1", NULL);
	struct dray_view one = bytes_of(100, 1), two = bytes_of(100, 2);
	struct dray_view dst = bytes_of(100, 0);
	struct dray_event *sent = send_view(&one), *event;

	assert_works(dray_stream_send(tx, &two, NULL, &event));
	dray_event_unref(event);
	assert_works(dray_stream_recv(rx, &dst, NULL, NULL));
	assert_true(all_bytes(dst.data, 2, 100));
	assert_int_equal(dray_event_status(sent), 0);
	ends_with(recv_view(&dst), 100);
	assert_true(all_bytes(dst.data, 1, 100));
	ends_with(sent, 100);
	dray_stream_close(tx);
	dray_stream_close(rx);
	discard(&one);
	discard(&two);
	discard(&dst);
}

LOOP_FACT(a_name_that_no_stream_has_is_answered_with_those_there_are)
{
	struct dray_stream *stream = NULL;

	assert_fails(
		dray_stream_open(loop.node, "rx9", NULL, &stream), -EINVAL,
		"no stream \"rx9\" on host, which has: tx0, rx0, tx1, rx1");
	assert_fails(dray_stream_open(loop.node, "", NULL, &stream), -EINVAL,
		     "no stream \"\"");
	assert_null(stream);
}

LOOP_FACT(a_stream_is_open_once)
{
	struct dray_node *again = open_node("host");
	struct dray_stream *stream = NULL;

	assert_fails(dray_stream_open(loop.node, "rx0", NULL, &stream), -EBUSY,
		     "is open already");
	assert_fails(dray_stream_open(again, "rx0", NULL, &stream), -EBUSY,
		     "is open already");
	assert_null(stream);
	dray_stream_close(loop.rx);
	assert_works(dray_stream_open(again, "rx0", NULL, &loop.rx));
	dray_node_unref(again);
}

static const struct {
	struct dray_stream_options options;
	int error;
	const char *part;
} opened[] = {
	{ { .points = 0 }, 0, NULL },
	{ { .points = 1, .batch = 64 }, 0, NULL },
	{ { .points = 65536 }, 0, NULL },
	{ { .points = 65537 },
	  -EINVAL,
	  "65537 points, a stream has up to 65536" },
	{ { .points = UINT32_MAX }, -EINVAL, "up to 65536" },
	{ { .batch = 65 }, -EINVAL, "a batch of 65 packets, at most 64" },
	{ { .flags = 4 }, -EINVAL, "unknown flags 0x4 of a stream" },
	{ { .reserved = 1 },
	  -EINVAL,
	  "reserved field of a stream's options is 1, not 0" },
};

LOOP_FACT(options_are_checked)
{
	struct dray_stream *stream;

	for (size_t i = 0; i < sizeof(opened) / sizeof(opened[0]); i++) {
		int ret = dray_stream_open(loop.node, "tx1", &opened[i].options,
					   &stream);

		assert_int_equal(ret, opened[i].error);
		if (!ret)
			dray_stream_close(stream);
		else if (!strstr(dray_last_error(), opened[i].part))
			fail_msg("'%s' does not say '%s'", dray_last_error(),
				 opened[i].part);
	}
}

LOOP_FACT(a_point_tells_number_bytes_and_time)
{
	struct dray_view src = bytes_of(64, 1), dst = bytes_of(64, 2);
	struct timespec now;
	struct dray_event *sent[3], *got;
	struct dray_point point;
	uint64_t last = 0;

	for (uint64_t i = 0; i < 3; i++)
		sent[i] = send_view(&src);
	assert_fails(dray_event_point(sent[2], &point, sizeof(point)),
		     -EINPROGRESS, "packet 3 of tx0 is not done");
	for (uint64_t i = 0; i < 3; i++) {
		got = recv_view(&dst);
		assert_works(dray_event_wait(got, -1));
		point = point_of(got);
		assert_int_equal(point.number, i + 1);
		assert_int_equal(point.bytes, 64);
		assert_int_equal(point.status, 0);
		assert_true(point.time_ns > last);
		last = point.time_ns;
		dray_event_unref(got);
		assert_int_equal(point_of(sent[i]).number, i + 1);
		dray_event_unref(sent[i]);
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	assert_true(last <=
		    (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
	discard(&src);
	discard(&dst);
}

LOOP_FACT(counts_are_of_one_stream)
{
	struct dray_view src = bytes_of(100, 1), dst = bytes_of(100, 2);
	struct dray_stream_counts counts = { .size = sizeof(counts) };
	struct dray_event *event;

	ends_with((dray_event_unref(send_view(&src)), recv_view(&dst)), 100);
	event = send_view(&src);
	counts = counts_of(loop.tx);
	assert_int_equal(counts.submitted, 2);
	assert_int_equal(counts.transfers, 1);
	assert_int_equal(counts.bytes, 100);
	assert_int_equal(counts.failed, 0);
	assert_int_equal(counts.in_flight, 1);
	assert_works(dray_event_cancel(event));
	dray_event_unref(event);
	counts = counts_of(loop.tx);
	assert_int_equal(counts.failed, 1);
	assert_int_equal(counts.cancelled, 1);
	assert_int_equal(counts.in_flight, 0);
	assert_int_equal(counts_of(loop.rx).submitted, 1);
	discard(&src);
	discard(&dst);
}

static bool is_readable(const struct dray_stream *stream, int timeout)
{
	struct pollfd poller = { .fd = dray_stream_fd(stream),
				 .events = POLLIN };

	return poll(&poller, 1, timeout) == 1 && poller.revents == POLLIN;
}

LOOP_FACT(the_descriptor_is_readable_when_a_transfer_has_ended)
{
	struct dray_view src = bytes_of(100, 1), dst = bytes_of(100, 2);
	struct dray_event *sent = send_view(&src);

	assert_false(is_readable(loop.tx, 0));
	assert_false(is_readable(loop.rx, 0));
	dray_event_unref(recv_view(&dst));
	assert_true(is_readable(loop.tx, 0));
	assert_true(is_readable(loop.rx, 0));
	assert_int_equal(dray_stream_ended(loop.tx), 1);
	assert_false(is_readable(loop.tx, 0));
	assert_true(is_readable(loop.rx, 0));
	ends_with(sent, 100);
	assert_false(is_readable(loop.tx, 0));
	discard(&src);
	discard(&dst);
}

LOOP_FACT(the_descriptor_is_readable_at_a_deadline)
{
	struct dray_packet_options options = { .deadline_ns = 1000000 };
	struct dray_view dst = bytes_of(100, 2);
	struct dray_event *event;

	assert_works(dray_stream_recv(loop.rx, &dst, &options, &event));
	assert_true(is_readable(loop.rx, DEADLINE * 1000));
	assert_int_equal(dray_stream_ended(loop.rx), 1);
	assert_false(is_readable(loop.rx, 0));
	assert_fails(dray_event_status(event), -ETIMEDOUT,
		     "packet 1 of rx0 ended after 0 bytes");
	dray_event_unref(event);
	discard(&dst);
}

LOOP_FACT(channels_of_the_host_are_its_streams)
{
	static const char *const names[] = { "tx0", "rx0", "tx1", "rx1" };
	struct dray_view src = bytes_of(100, 1), dst = bytes_of(100, 2);
	struct dray_channel_info before, info;

	for (uint32_t i = 0; i < 4; i++) {
		assert_works(
			dray_node_channel(loop.node, i, &info, sizeof(info)));
		assert_string_equal(info.name, names[i]);
		assert_int_equal(info.flags & DRAY_CHANNEL_COPY, 0);
		assert_int_equal(!!(info.flags & DRAY_CHANNEL_SEND),
				 i % 2 == 0);
		assert_int_equal(!!(info.flags & DRAY_CHANNEL_RECV), i % 2);
		assert_int_equal(!!(info.flags & DRAY_CHANNEL_OPEN), i < 2);
	}
	assert_works(dray_node_channel(loop.node, 1, &before, sizeof(before)));
	dray_event_unref(send_view(&src));
	ends_with(recv_view(&dst), 100);
	assert_works(dray_node_channel(loop.node, 1, &info, sizeof(info)));
	assert_int_equal(info.submitted, before.submitted + 1);
	assert_int_equal(info.bytes, before.bytes + 100);
	discard(&src);
	discard(&dst);
}

LOOP_FACT(an_older_program_gets_the_part_that_it_knows)
{
	struct dray_view src = bytes_of(100, 1);
	struct dray_event *event = send_view(&src);
	struct dray_point point;

	assert_works(dray_stream_cancel(loop.tx));
	memset(&point, 0xaa, sizeof(point));
	assert_works(dray_event_point(event, &point, 8));
	assert_int_equal(point.number, 1);
	assert_true(all_bytes(&point.bytes, 0xaa, sizeof(point) - 8));
	dray_event_unref(event);
	discard(&src);
}

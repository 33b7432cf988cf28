// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * stream: copies by the CPU that a caller allows, memory without a mapping, and
 * in-fences.
 */
#include "streams.h"
#include "memory/backend.h"
#include "transfer/fence.h"

FACTS_ON(on_host)

static const struct dray_packet_options staged = { .flags = DRAY_PACKET_STAGE };

LOOP_FACT(any_memory_is_sent_if_the_cpu_may_copy)
{
	unsigned char local[6][100];
	struct dray_view src, dst = bytes_of(300, 0);
	struct dray_event *sent;

	for (int i = 0; i < 6; i++)
		memset(local[i], i, 100);
	/* local[::-2] */
	assert_works(dray_view_init(&src, local[5], u1, 2, DIMS(3, 100),
				    DIMS(-200, 1)));
	assert_works(dray_stream_send(loop.tx, &src, &staged, &sent));
	/* it was copied, and is the caller's again */
	memset(local, 9, sizeof(local));
	ends_with(recv_view(&dst), 300);
	ends_with(sent, 300);
	for (int i = 0; i < 3; i++)
		assert_true(
			all_bytes((char *)dst.data + 100 * i, 5 - 2 * i, 100));
	assert_int_equal(counts_of(loop.tx).staged, 1);
	assert_int_equal(counts_of(loop.rx).staged, 0);
	discard(&dst);
}

LOOP_FACT(what_comes_is_copied_to_any_memory_and_no_more)
{
	unsigned char local[6][10], expected[6][10];
	struct dray_view src = bytes_of(15, 7), dst;
	struct dray_event *got;

	memset(local, 1, sizeof(local));
	memset(expected, 1, sizeof(expected));
	/* local.T[:, ::-2], which has columns as rows */
	assert_works(dray_view_init(&dst, local[5], u1, 2, DIMS(10, 3),
				    DIMS(1, -20)));
	assert_works(dray_stream_recv(loop.rx, &dst, &staged, &got));
	dray_event_unref(send_view(&src));
	assert_memory_equal(local, expected, sizeof(local));
	ends_with(got, 15);
	for (int i = 0; i < 5; i++)
		expected[5][i] = expected[3][i] = expected[1][i] = 7;
	assert_memory_equal(local, expected, sizeof(local));
	discard(&src);
}

LOOP_FACT(a_staged_receive_of_several_views_fills_them_in_turn)
{
	unsigned char a[10] = { 0 }, b[20] = { 0 };
	struct dray_view src = bytes_of(15, 7), views[2];
	const struct dray_view *pieces[] = { &views[0], &views[1] };
	struct dray_event *got;

	assert_works(dray_view_init(&views[0], a, u1, 1, DIMS(10), NULL));
	assert_works(dray_view_init(&views[1], b, u1, 1, DIMS(10), DIMS(2)));
	assert_works(
		dray_stream_recv_pieces(loop.rx, pieces, 2, &staged, &got));
	dray_event_unref(send_view(&src));
	ends_with(got, 15);
	assert_true(all_bytes(a, 7, 10));
	for (int i = 0; i < 20; i++)
		assert_int_equal(b[i], i < 10 && i % 2 == 0 ? 7 : 0);
	discard(&src);
}

LOOP_FACT(a_staged_receive_without_an_event_is_copied_too)
{
	struct dray_view src = bytes_of(10, 7), dst;
	unsigned char local[10] = { 0 };
	struct dray_event *got;

	assert_works(dray_view_init(&dst, local, u1, 1, DIMS(10), NULL));
	assert_works(dray_stream_recv(loop.rx, &dst, &staged, &got));
	dray_event_unref(got);
	dray_event_unref(send_view(&src));
	assert_int_equal(counts_of(loop.rx).transfers, 1);
	assert_true(all_bytes(local, 7, 10));
	/* nor if it ends by a close */
	assert_works(dray_stream_recv(loop.rx, &dst, &staged, &got));
	dray_stream_close(loop.rx);
	assert_int_equal(dray_event_status(got), -ECANCELED);
	dray_event_unref(got);
	assert_true(all_bytes(local, 7, 10));
	loop.rx = open_stream("rx0", NULL);
	discard(&src);
}

LOOP_FACT(what_the_engine_can_do_is_not_staged)
{
	struct dray_view src = bytes_of(10, 7), dst = bytes_of(10, 0);
	struct dray_event *event;

	assert_works(dray_stream_send(loop.tx, &src, &staged, &event));
	dray_event_unref(event);
	assert_works(dray_stream_recv(loop.rx, &dst, &staged, NULL));
	assert_int_equal(counts_of(loop.tx).staged, 0);
	assert_int_equal(counts_of(loop.rx).staged, 0);
	discard(&src);
	discard(&dst);
}

LOOP_FACT(more_views_than_a_packet_has_are_staged)
{
	struct dray_view src = bytes_of(100, 7), dst = bytes_of(1000, 0);
	const struct dray_view *pieces[100];
	struct dray_view one;
	struct dray_event *event;

	dray_view_copy(&one, &src);
	one.shape[0] = 10;
	for (int i = 0; i < 100; i++)
		pieces[i] = &one;
	assert_works(
		dray_stream_send_pieces(loop.tx, pieces, 100, &staged, &event));
	ends_with(recv_view(&dst), 1000);
	ends_with(event, 1000);
	assert_true(all_bytes(dst.data, 7, 1000));
	assert_int_equal(counts_of(loop.tx).staged, 1);
	discard(&src);
	discard(&dst);
}

LOOP_FACT(memory_without_a_mapping_is_moved_and_never_staged)
{
	struct dray_view src, dst = bytes_of(100, 0), other;
	struct dray_buffer *buffer;
	const struct dray_view *pieces[] = { &src, &other };
	unsigned char local[10] = { 0 };
	struct dray_event *event;

	assert_works(dray_buffer_alloc(loop.node, 4096, NULL, &buffer));
	memset(dray_buffer_data(buffer), 4, 4096);
	buffer->mode = DRAY_MODE_DEVICE; /* as a carve-out may be */
	assert_works(dray_view_init(&src, dray_buffer_data(buffer), u1, 1,
				    DIMS(100), NULL));
	assert_works(dray_view_init(&other, local, u1, 1, DIMS(10), NULL));
	dray_event_unref(send_view(&src));
	ends_with(recv_view(&dst), 100);
	assert_true(all_bytes(dst.data, 4, 100));
	dray_event_unref(send_view(&dst));
	ends_with(recv_view(&src), 100);
	assert_fails(
		dray_stream_send_pieces(loop.tx, pieces, 2, &staged, &event),
		-EOPNOTSUPP, "the CPU cannot copy view 0, which is not mapped");
	counts_of(loop.tx);
	dray_buffer_unref(buffer);
	discard(&dst);
}

/* Fences that the test signals. */
static struct {
	int status, waits, wait_error;
} fence_state;

WRAPPED(int, dray_fence_status, (struct dray_fence * fence))
{
	return fence_state.status;
}
WRAPPED(int, dray_fence_wait, (struct dray_fence * fence, int timeout_ms))
{
	fence_state.waits++;
	return fence_state.wait_error;
}

static const struct {
	int status, wait_error;
	uint32_t flags;
	int error, waits;
	const char *part;
} fenced[] = {
	{ 1, 0, 0, 0, 0, NULL },
	{ 0, 0, 0, 0, 1, NULL },
	{ 0, -EINTR, 0, -EINTR, 1, "" },
	{ 0, -EIO, 0, -ECANCELED, 1, "in-fence 0: nothing is done" },
	{ -EIO, 0, 0, -ECANCELED, 0, "in-fence 0: nothing is done" },
	{ 0, 0, DRAY_PACKET_NONBLOCK, -EAGAIN, 0, "would wait for in-fence 0" },
	{ 1, 0, DRAY_PACKET_NONBLOCK, 0, 0, NULL },
};

LOOP_FACT(a_packet_starts_behind_its_in_fences)
{
	struct dray_view src = bytes_of(10, 7);

	for (size_t i = 0; i < sizeof(fenced) / sizeof(fenced[0]); i++) {
		struct dray_fence *fence = dray_fence_signalled();
		struct dray_packet_options options = {
			.flags = fenced[i].flags,
			.fence_count = 1,
			.fences = &fence,
		};
		struct dray_event *event = NULL;
		int ret;

		fence_state.status = fenced[i].status;
		fence_state.wait_error = fenced[i].wait_error;
		fence_state.waits = 0;
		ret = dray_stream_send(loop.tx, &src, &options, &event);
		assert_int_equal(ret, fenced[i].error);
		assert_int_equal(fence_state.waits, fenced[i].waits);
		if (ret && !strstr(dray_last_error(), fenced[i].part))
			fail_msg("'%s' does not say '%s'", dray_last_error(),
				 fenced[i].part);
		dray_event_unref(event);
	}
	assert_int_equal(counts_of(loop.tx).submitted, 3);
	assert_works(dray_stream_cancel(loop.tx));
	discard(&src);
}

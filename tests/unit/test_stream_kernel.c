// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * stream: on the kernel back end, which a stand-in for the module answers: the
 * calls that reach it, and how its timeline is read.
 */
#include "stand_in.h"

static struct dray_node *node;
static struct dray_stream *tx, *rx;
static struct dray_buffer *buffer;

static struct dray_stream *open_stream(const char *name)
{
	struct dray_stream *stream = NULL;

	assert_works(dray_stream_open(node, name, NULL, &stream));
	return stream;
}

static int stream_setup(void **state)
{
	with_node(state);
	dray_node_unref(*state);
	module.streams = true;
	assert_works(dray_node_open("kernel:dray7", &node));
	assert_works(dray_buffer_alloc(node, 65536, NULL, &buffer));
	*state = node;
	tx = rx = NULL;
	return 0;
}

static int stream_teardown(void **state)
{
	dray_stream_close(tx);
	dray_stream_close(rx);
	dray_buffer_unref(buffer);
	if (module.head)
		munmap(module.head, sizeof(*module.head));
	return without_node(state);
}

#define KERNEL_FACT(name) FACT_WITH(name, stream_setup, stream_teardown)

static struct dray_view part(int64_t offset, int64_t size)
{
	struct dray_view view;

	assert_works(dray_view_init(&view,
				    (char *)dray_buffer_data(buffer) + offset,
				    u1, 1, &size, NULL));
	return view;
}

KERNEL_FACT(a_timeline_opens_a_stream)
{
	struct dray_stream_options options = { .points = 4096, .batch = 8 };
	struct dray_stream *none = NULL;

	assert_works(dray_stream_open(node, "rx0", &options, &rx));
	assert_int_equal(module.timeline.channel, 2);
	assert_int_equal(module.timeline.points, 4096);
	assert_int_equal(module.timeline.batch, 8);
	assert_int_equal(module.timeline.event_fd, -1);
	assert_true(dray_stream_fd(rx) >= 0);
	assert_fails(
		dray_stream_open(node, "mem0", NULL, &none), -EINVAL,
		"channel \"mem0\" of dray7 serves no stream; those are: tx0, rx0");
	assert_fails(dray_stream_open(node, "rx1", NULL, &none), -EINVAL,
		     "no stream \"rx1\" on dray7, which has: tx0, rx0");
	assert_null(none);
}

KERNEL_FACT(a_stream_that_cannot_be_opened_says_why)
{
	struct dray_stream *none = NULL;

	fail_with(DRAY_IOC_TIMELINE, EBUSY, DRAY_REASON_STREAM, 1);
	assert_fails(
		dray_stream_open(node, "tx0", NULL, &none), -EBUSY,
		"tx0 of dray7 is open already, here or in another process; close it first");
	fail_with(DRAY_IOC_TIMELINE, ENOTTY, 0, 0);
	assert_fails(dray_stream_open(node, "tx0", NULL, &none), -EOPNOTSUPP,
		     "the module behind dray7 does not know streams");
	fail_with(DRAY_IOC_TIMELINE, EINVAL, DRAY_REASON_RESIDUE, 2);
	assert_fails(dray_stream_open(node, "rx0", NULL, &none), -EINVAL,
		     "channel 2 cannot count the received bytes");
	module.failing = 0;
	module.mmap_fails = true;
	assert_fails(dray_stream_open(node, "tx0", NULL, &none), -ENOMEM,
		     "a timeline");
	assert_null(none);
	module.mmap_fails = false;
}

KERNEL_FACT(a_send_is_one_submission_with_the_strides_of_its_view)
{
	struct dray_packet_options options = { .flags = DRAY_PACKET_NONBLOCK |
							DRAY_PACKET_NO_SYNC,
					       .deadline_ns = 77 };
	struct dray_event *event;
	struct dray_view view;

	tx = open_stream("tx0");
	/* buffer[::-1, 0:4] of rows of 64 */
	assert_works(dray_view_init(&view,
				    (char *)dray_buffer_data(buffer) + 448, u1,
				    2, DIMS(8, 4), DIMS(-64, 1)));
	assert_works(dray_stream_send(tx, &view, &options, &event));
	assert_int_equal(module.submit.channel, 1);
	assert_int_equal(module.submit.flags, DRAY_SUBMIT_NO_FENCE |
						      DRAY_SUBMIT_NONBLOCK |
						      DRAY_SUBMIT_NO_SYNC);
	assert_int_equal(module.submit.count, 1);
	assert_int_equal(module.submit.deadline_ns, 77);
	assert_int_equal(module.submit.in_fence_count, 0);
	assert_int_equal(module.transfers[0].op, DRAY_OP_SEND);
	assert_int_equal(module.transfers[0].dst_fd, -1);
	assert_int_equal(module.transfers[0].dst_offset, 0);
	assert_int_equal(module.transfers[0].src_fd, dray_buffer_fd(buffer));
	assert_int_equal(module.transfers[0].src_offset, 448);
	assert_int_equal(module.transfers[0].run, 4);
	assert_int_equal(module.transfers[0].axes_count, 1);
	assert_int_equal(module.axes[0].count, 8);
	assert_int_equal(module.axes[0].src_stride, -64);
	assert_int_equal(module.axes[0].dst_stride, 0);
	publish(1, 32, 0);
	assert_int_equal(dray_event_status(event), 1);
	dray_event_unref(event);
}

KERNEL_FACT(a_receive_has_its_pieces_as_transfers)
{
	struct dray_view a = part(4096, 100), b = part(0, 200);
	const struct dray_view *pieces[] = { &a, &b };
	struct dray_event *event;

	rx = open_stream("rx0");
	assert_works(dray_stream_recv_pieces(rx, pieces, 2, NULL, &event));
	assert_int_equal(module.submit.channel, 2);
	assert_int_equal(module.submit.count, 2);
	assert_int_equal(module.submit.flags, DRAY_SUBMIT_NO_FENCE);
	assert_int_equal(module.transfers[0].op, DRAY_OP_RECV);
	assert_int_equal(module.transfers[0].src_fd, -1);
	assert_int_equal(module.transfers[0].dst_fd, dray_buffer_fd(buffer));
	assert_int_equal(module.transfers[0].dst_offset, 4096);
	assert_int_equal(module.transfers[0].run, 100);
	assert_int_equal(module.transfers[1].dst_offset, 0);
	assert_int_equal(module.transfers[1].run, 200);
	dray_event_unref(event);
}

KERNEL_FACT(a_finished_event_is_read_without_a_system_call)
{
	struct dray_view view = part(0, 100);
	struct dray_event *event;
	struct dray_point point;
	int before;

	rx = open_stream("rx0");
	assert_works(dray_stream_recv(rx, &view, NULL, &event));
	before = module.calls;
	assert_int_equal(dray_event_status(event), 0);
	assert_fails(dray_event_wait(event, 0), -ETIME, "after 0 ms");
	publish(1, 60, 0);
	assert_works(dray_event_wait(event, -1));
	assert_works(dray_event_point(event, &point, sizeof(point)));
	assert_int_equal(module.calls, before);
	assert_int_equal(point.bytes, 60);
	assert_int_equal(point.time_ns, 1001);
	dray_event_unref(event);
}

KERNEL_FACT(a_wait_is_a_call_and_a_signal_ends_it)
{
	struct dray_view view = part(0, 100);
	struct dray_event *event;

	rx = open_stream("rx0");
	assert_works(dray_stream_recv(rx, &view, NULL, &event));
	assert_fails(dray_event_wait(event, 5), -ETIME,
		     "packet 1 of rx0 is still under way after 5 ms");
	assert_int_equal(module.waits, 1);
	module.interruptions = 1;
	assert_fails(dray_event_wait(event, -1), -EINTR, "point 1");
	/* the device is gone, and the transfer with it */
	fail_with(DRAY_IOC_WAIT, ENODEV, 0, 0);
	assert_fails(dray_event_wait(event, -1), -ENODEV,
		     "packet 1 of rx0 ended");
	assert_int_equal(dray_event_status(event), -ENODEV);
	module.failing = 0;
	dray_event_unref(event);
}

KERNEL_FACT(a_later_point_in_its_place_does_not_end_a_transfer)
{
	struct dray_view view = part(0, 100);
	struct dray_event *first, *second;
	struct dray_point point;

	rx = open_stream("rx0");
	assert_works(dray_stream_recv(rx, &view, NULL, &first));
	assert_works(dray_stream_recv(rx, &view, NULL, &second));
	publish(1 + STAND_IN_POINTS, 100, 0);
	/* the timeline says that it came, and its place is empty */
	((struct dray_point *)(module.head + 1))[2].number = 0;
	assert_int_equal(dray_event_status(first), 0);
	assert_int_equal(dray_event_status(second), 0);
	assert_fails(dray_event_point(first, &point, sizeof(point)),
		     -EINPROGRESS, "packet 1 of rx0");
	assert_fails(dray_event_wait(first, -1), -EOVERFLOW, "point 1");
	publish(1, 60, 0);
	publish(2, 70, 0);
	assert_works(dray_event_wait(first, -1));
	assert_works(dray_event_wait(second, -1));
	dray_event_unref(first);
	dray_event_unref(second);
}

KERNEL_FACT(a_later_point_may_come_first)
{
	struct dray_view view = part(0, 100);
	struct dray_event *first, *second;

	rx = open_stream("rx0");
	assert_works(dray_stream_recv(rx, &view, NULL, &first));
	assert_works(dray_stream_recv(rx, &view, NULL, &second));
	publish(2, 0, -ETIMEDOUT);
	module.head->completed = 0;
	assert_int_equal(dray_event_status(first), 0);
	assert_int_equal(dray_event_status(second), -ETIMEDOUT);
	publish(1, 100, 0);
	assert_int_equal(dray_event_status(first), 1);
	dray_event_unref(first);
	dray_event_unref(second);
}

KERNEL_FACT(cancel_names_the_point)
{
	struct dray_view view = part(0, 100);
	struct dray_event *first, *second;

	rx = open_stream("rx0");
	assert_works(dray_stream_recv(rx, &view, NULL, &first));
	assert_works(dray_stream_recv(rx, &view, NULL, &second));
	assert_works(dray_event_cancel(second));
	assert_int_equal(module.cancel.fence_fd, -1);
	assert_int_equal(module.cancel.channel, 2);
	assert_int_equal(module.cancel.point, 2);
	assert_fails(dray_event_status(second), -ECANCELED, "after 3 bytes");
	module.head->completed = 0;
	assert_works(dray_stream_cancel(rx));
	assert_int_equal(module.cancel.point, 0);
	assert_int_equal(dray_event_status(first), -ECANCELED);
	fail_with(DRAY_IOC_CANCEL, ENODEV, 0, 0);
	assert_fails(dray_stream_cancel(rx), -ENODEV, "channel 2 of dray7");
	dray_event_unref(first);
	dray_event_unref(second);
}

KERNEL_FACT(a_stream_whose_device_is_gone_is_closed_all_the_same)
{
	struct dray_view view = part(0, 100);
	struct dray_event *event;

	rx = open_stream("rx0");
	assert_works(dray_stream_recv(rx, &view, NULL, &event));
	fail_with(DRAY_IOC_CANCEL, ENODEV, 0, 0);
	dray_stream_close(rx);
	rx = NULL;
	assert_int_equal(dray_event_status(event), -ECANCELED);
	dray_event_unref(event);
}

KERNEL_FACT(a_refused_submission_says_why_and_keeps_nothing)
{
	struct dray_view view = part(0, 100);
	struct dray_stream_counts counts = { .size = sizeof(counts) };
	struct dray_event *event = NULL;

	rx = open_stream("rx0");
	fail_with(DRAY_IOC_SUBMIT, EOPNOTSUPP, DRAY_REASON_PIECES, 5);
	assert_fails(dray_stream_recv(rx, &view, NULL, &event), -EOPNOTSUPP,
		     "the engine's limit for a packet is 5 contiguous pieces");
	module.failing = 0;
	module.interruptions = 1;
	assert_fails(dray_stream_recv(rx, &view, NULL, &event), -EINTR, "1");
	assert_null(event);
	assert_works(dray_stream_counts(rx, &counts));
	assert_int_equal(counts.submitted, 0);
}

KERNEL_FACT(limits_are_those_of_the_engine)
{
	struct dray_view view = part(2, 100);
	struct dray_event *event;

	tx = open_stream("tx0");
	assert_fails(dray_stream_send(tx, &view, NULL, &event), -EOPNOTSUPP,
		     "multiples of 4 bytes; the view is aligned to 2");
	assert_works(dray_view_init(&view, dray_buffer_data(buffer), f4, 1,
				    DIMS(9), DIMS(8)));
	assert_fails(dray_stream_send(tx, &view, NULL, &event), -EOPNOTSUPP,
		     "9 contiguous pieces; the engine's limit is 8");
}

KERNEL_FACT(ended_reads_the_file)
{
	tx = open_stream("tx0");
	publish(1, 10, 0);
	/* the stand-in's file begins with the head */
	assert_int_equal(dray_stream_ended(tx), 1);
}

KERNEL_FACT(memory_for_devices_alone_is_not_mapped)
{
	struct dray_buffer_options options = { .mode = DRAY_MODE_DEVICE };
	struct dray_buffer *device;
	struct dray_queue *queue;
	struct dray_view view, other = part(0, 100);
	struct dray_event *event;

	module.mmap_fails = true;
	assert_works(dray_buffer_alloc(node, 4096, &options, &device));
	module.mmap_fails = false;
	assert_int_equal(module.alloc.mode, DRAY_MODE_DEVICE);
	tx = open_stream("tx0");
	assert_works(dray_view_init(&view, dray_buffer_data(device), u1, 1,
				    DIMS(100), NULL));
	assert_works(dray_stream_send(tx, &view, NULL, &event));
	assert_int_equal(module.transfers[0].src_fd, dray_buffer_fd(device));
	dray_event_unref(event);
	assert_works(dray_queue_create(node, NULL, &queue));
	assert_fails(dray_copy(queue, &other, &view, DRAY_COPY_CPU, NULL),
		     -EOPNOTSUPP, "the source has no mapping for the CPU");
	assert_fails(dray_fill(queue, &view, "x", DRAY_COPY_CPU, NULL),
		     -EOPNOTSUPP, "the destination has no mapping");
	dray_queue_destroy(queue);
	assert_works(dray_stream_cancel(tx));
	dray_buffer_unref(device);
}
